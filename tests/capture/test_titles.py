"""A title has the name by which a program calls what it shows: of an object, its class."""

import functools

import pytest

from helpers import (
    show_bytecode,
    show_code,
    show_evaluator,
    show_journey,
    watch_breaks,
    watch_call,
    watch_compile,
    watch_frames,
    watch_names,
    watch_ops,
    watch_recompiles,
    watch_stack,
)

pytestmark = [pytest.mark.own_process(sharing="torch"), pytest.mark.filterwarnings("ignore")]
torch = pytest.importorskip("torch")


class Scaler:
    def __call__(self, x):
        return x * 2


class Layer(torch.nn.Module):
    def forward(self, x):
        return x * 2


class Deeper(Scaler):
    pass


def double(x):
    return x * 2


def forward(x):
    return x * 2


def _at_rest(show):
    return lambda fn, x: show(fn)


def _recompiles(fn, x):
    watched = watch_recompiles(fn)
    watched(x)
    return watched


VERBS = {
    "show_bytecode": _at_rest(show_bytecode),
    "show_code": _at_rest(show_code),
    "show_evaluator": _at_rest(show_evaluator),
    "watch_names": watch_names,
    "watch_stack": watch_stack,
    "watch_frames": watch_frames,
    "watch_call": watch_call,
    "watch_ops": watch_ops,
    "show_journey": show_journey,
    "watch_breaks": watch_breaks,
    "watch_compile": watch_compile,
    "watch_recompiles": _recompiles,
}
CALLED = {  # what the program calls -> a name in its title
    "an object": (Scaler, "Scaler"),
    "its method": (lambda: Scaler().__call__, "Scaler"),
    "a partial of an object": (lambda: functools.partial(Scaler()), "Scaler"),
    "a module": (Layer, "Layer"),
    "its forward": (lambda: Layer().forward, "Layer"),
    "a function": (lambda: double, "double"),
    "a function called forward": (lambda: forward, "forward"),
}


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_the_title_names_what_is_called(verb):
    for what, (make, name) in CALLED.items():
        words = verb(make(), torch.ones(2)).model.title.replace(".", " ").split()
        assert any(word.strip("():,") == name for word in words), (what, words)


@pytest.mark.parametrize("verb", [watch_names, watch_stack, watch_frames])
def test_an_inherited_call_is_named_by_the_class_that_has_it(verb):
    assert "Scaler.__call__" in verb(Deeper(), 2).model.title

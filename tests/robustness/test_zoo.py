"""Every verb that looks at an object bears awkward ones, and refuses misuse in one sentence.

The everyday suite draws some objects for each verb; `COURSE_SAMPLES=whole` puts all of them to all.
"""

import contextlib
import random

import pytest

import helpers
from tests.robustness import zoo
from tests.robustness.rendering import fault_of
from tests.samples import sample

pytestmark = pytest.mark.long


def holds(thing):
    """Hold a thing in a local, a list and a cell."""
    kept = [thing]

    def inner():
        return kept

    return inner


def small(n=3):
    """Add a few numbers."""
    total = 0
    for i in range(n):
        total += i
    return total


def raised_by(thing):
    """Return an error whose frame holds the thing."""
    try:
        holds(thing)(1)
    except TypeError as error:
        return error


def quietly(verb, *things):
    """Call a verb that returns a function, and that function; return what the verb gave."""
    made = verb(lambda *args: 1)
    with contextlib.suppress(Exception):
        made(*things)
    return made


def tf_function(*args):
    import tensorflow as tf

    return tf.function(lambda *args: 1)


PLAIN = {
    "show_table": lambda thing: helpers.show_table("T", {"a": thing, "b": [thing]}),
    "show_names": lambda thing: helpers.show_names("thing"),
    "watch_names": lambda thing: helpers.watch_names(holds, thing),
    "show_bindings": helpers.show_bindings,
    "show_binding_map": helpers.show_binding_map,
    "show_code": helpers.show_code,
    "show_bytecode": helpers.show_bytecode,
    "watch_stack": lambda thing: helpers.watch_stack(holds, thing),
    "watch_frames": lambda thing: helpers.watch_frames(holds, thing),
    "show_frame": lambda thing: helpers.show_frame(raised_by(thing).__traceback__.tb_frame),
    "show_traceback": lambda thing: helpers.show_traceback(raised_by(thing)),
    "watch_tracers": lambda thing: helpers.watch_tracers(holds, thing),
    "show_evaluator": helpers.show_evaluator,
    "watch_hooked": lambda thing: helpers.watch_hooked(holds, thing),
    "predict": lambda thing: helpers.predict("q?", ["a", "b"], run=lambda: thing),
    "check": lambda thing: list(helpers.check)[0](thing),
    "show_job": helpers.show_job,
    "show_registry": helpers.show_registry,
}
OF_TORCH = {
    "show_fx": helpers.show_fx,
    "show_compiled": helpers.show_compiled,
    "show_guards": helpers.show_guards,
    "watch_recompiles": lambda thing: quietly(helpers.watch_recompiles, thing),
    "watch_compile": lambda thing: helpers.watch_compile(holds, thing),
    "watch_breaks": lambda thing: helpers.watch_breaks(holds, thing),
    "show_grad_fn": helpers.show_grad_fn,
    "watch_ops": lambda thing: helpers.watch_ops(lambda x: None, thing),
    "show_journey": lambda thing: helpers.show_journey(lambda x: x, thing),
}
OF_TENSORFLOW = {
    "watch_traces": lambda thing: quietly(helpers.watch_traces, thing),
    "would_trace": lambda thing: helpers.would_trace(tf_function(), thing),
    "watch_mutations": lambda thing: helpers.watch_mutations({"a": (lambda x: None, thing)}),
    "show_graph": helpers.show_graph,
    "show_graph of a call": lambda thing: helpers.show_graph(tf_function(), thing),
    "show_autograph": helpers.show_autograph,
    "watch_call": lambda thing: helpers.watch_call(lambda x: None, thing),
}
MISUSE = {
    "show_names": (lambda: helpers.show_names("no_such_name"), lambda: helpers.show_names(3)),
    "show_names of none": (lambda: helpers.show_names(),),
    "watch_names": (lambda: helpers.watch_names(len), lambda: helpers.watch_names(None)),
    "watch_stack": (lambda: helpers.watch_stack(3), lambda: helpers.watch_stack(None)),
    "watch_frames": (lambda: helpers.watch_frames(len), lambda: helpers.watch_frames(1)),
    "show_bytecode": (lambda: helpers.show_bytecode(3), lambda: helpers.show_code("x")),
    "show_frame": (lambda: helpers.show_frame(small), lambda: helpers.show_traceback("e")),
    "predict": (lambda: helpers.predict("q?", ["a"], run=lambda: "a"), lambda: helpers.predict(3)),
    "watch_hooked": (lambda: helpers.watch_hooked(3), lambda: helpers.watch_tracers(1)),
    "show_fx": (lambda: helpers.show_fx(3), lambda: helpers.show_compiled(3)),
    "show_guards": (lambda: helpers.show_guards(small), lambda: helpers.show_guards(3)),
    "watch_compile": (lambda: helpers.watch_compile(len), lambda: helpers.watch_breaks(3)),
    "watch_ops": (lambda: helpers.watch_ops(3), lambda: helpers.watch_ops()),
    "watch_traces": (lambda: helpers.watch_traces(3), lambda: helpers.would_trace(3)),
    "show_graph": (lambda: helpers.show_graph(3), lambda: helpers.show_autograph(3)),
    "show_op_graph": (lambda: helpers.show_op_graph("T"), lambda: helpers.show_op_graph("T", a=3)),
}


HUGE = {"a million items", "a million keys"}  # Dynamo and TensorFlow look at each item


def faults(verb, call, makers) -> dict:
    """Return object -> what is wrong, of a seeded part of the objects."""
    drawn = random.Random(verb).sample(sorted(makers), sample(6, 12))
    found = {name: fault_of(lambda name=name: call(makers[name]())) for name in drawn}
    return {name: words for name, words in found.items() if words}


def _small(makers) -> dict:
    return {name: maker for name, maker in makers.items() if name not in HUGE}


@pytest.mark.parametrize("verb", PLAIN)
def test_verb_bears_awkward_objects(verb):
    assert not faults(verb, PLAIN[verb], zoo.MAKERS)


@pytest.mark.parametrize("verb", OF_TORCH)
def test_verb_of_torch_bears_awkward_objects(verb):
    pytest.importorskip("torch._dynamo")  # before TensorFlow
    assert not faults(verb, OF_TORCH[verb], _small(zoo.MAKERS) | zoo.torch_makers())


@pytest.mark.parametrize("verb", OF_TENSORFLOW)
def test_verb_of_tensorflow_bears_awkward_objects(verb):
    pytest.importorskip("torch._dynamo")  # before TensorFlow
    pytest.importorskip("tensorflow")
    assert not faults(verb, OF_TENSORFLOW[verb], _small(zoo.MAKERS) | zoo.tensorflow_makers())


@pytest.mark.parametrize("verb", MISUSE)
def test_misuse_is_refused_in_one_sentence(verb):
    pytest.importorskip("torch._dynamo")  # before TensorFlow
    for call in MISUSE[verb]:
        assert not fault_of(call, refused=True)

"""Without the collector, what a verb was used on is freed when the exhibit is: no cycle is left."""

import contextlib
import gc
import io
import types

import pytest

import helpers


class Thing:
    """What a program is called with."""

    def __init__(self):
        self.items = [1]


class Refused(Exception):
    """What a program raises."""


def changes(thing):
    thing.items.append(2)
    return thing.items


def makes(thing):
    return Thing()


def raises(thing):
    raise Refused(thing)


def encloses(thing):
    return lambda: thing


def yields(thing):
    yield thing


def catches(thing):
    try:
        raise Refused(thing)
    except Refused:
        return None


PROGRAMS = [changes, makes, raises, encloses, yields, catches]


def in_block(fn, thing):
    with helpers.watching_ops() as seen:
        fn(thing)
    return seen


def of_error(fn, thing):
    try:
        fn(thing)
        raise Refused(thing)
    except Refused as error:
        return helpers.show_traceback(error)


def of_two_errors(fn, thing):
    return helpers.watch_mutations(
        {"one": (fn, thing), "two": (fn, thing)}, ways={"same": lambda f: f}
    )


def rebinds(fn, thing):
    held = [fn]
    with helpers.rebind_everywhere(fn, lambda one: 1) as block:
        held[0](thing)
    return block


ONE_CALL = "watch_names watch_frames watch_stack watch_call watch_ops show_journey watch_hooked"
VERBS = {
    name: lambda fn, thing, name=name: getattr(helpers, name)(fn, thing)
    for name in ONE_CALL.split()
}
VERBS |= {
    "watching_ops": in_block,
    "show_traceback": of_error,
    "watch_mutations": of_two_errors,
    "watch_calls": lambda fn, thing: helpers.watch_calls({"call": (fn, thing)}),
    "show_bindings": lambda fn, thing: helpers.show_bindings(thing),
    "rebind_everywhere": rebinds,
}


@pytest.fixture(autouse=True)
def without_collector():
    gc.collect()
    gc.freeze()
    gc.disable()
    yield
    gc.enable()
    gc.unfreeze()


@pytest.mark.parametrize("verb", VERBS)
def test_no_cycle_keeps_what_a_verb_was_used_on(verb):
    kept = {}
    for program in PROGRAMS:
        use(VERBS[verb], program)
        left = [one for one in gc.get_objects() if type(one) in (Thing, Refused)]
        if left:
            kept[program.__name__] = [type(one).__name__ for one in left]
        del left
        gc.collect()
    assert not kept


def use(act, program) -> None:
    """Use a verb on a function of its own, which is freed with it, and draw the exhibit."""
    fn = types.FunctionType(program.__code__, program.__globals__, program.__name__)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Refused):
        made = act(fn, Thing())
        if hasattr(made, "text"):
            made.text()
            made._page()

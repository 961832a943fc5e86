"""A watched body replaces a builtin: the exhibit is made all the same, and the builtin is back.

In a process of its own: the threads by which a worker hears of its tests need these builtins too.
"""

import builtins
from contextlib import nullcontext

import pytest

import helpers

pytestmark = pytest.mark.own_process

RECORDERS = (helpers.watch_names, helpers.watch_stack, helpers.watch_frames, helpers.watch_hooked)


@pytest.mark.parametrize("name", ["len", "type"])
@pytest.mark.parametrize(
    "verb",
    [
        *RECORDERS,
        helpers.watch_tracers,
        lambda fn: helpers.watch_specialising(fn, {"once": ()}, times=1),
        lambda fn: helpers.watch_callers({"r": fn}, lambda r: f"{r()}", {"i": nullcontext}),
        lambda fn: helpers.watch_costs(fn, {"a": fn}),
    ],
)
def test_a_builtin_that_the_body_replaces_costs_no_exhibit(verb, name):
    def body():
        setattr(builtins, name, None)
        return 1

    kept = vars(builtins)[name]
    try:
        said = repr(verb(body))
    finally:
        left = vars(builtins)[name]
        setattr(builtins, name, kept)
    assert said and left is kept


@pytest.mark.parametrize("verb", [helpers.watch_frames, helpers.watch_stack, helpers.watch_call])
def test_error_of_a_recorder_is_not_told_as_the_learners(verb):
    def body():
        for name in ("len", "type", "id", "dict", "tuple", "isinstance", "getattr", "str"):
            setattr(builtins, name, None)
        (lambda: 1)()
        raise KeyError("their own")

    kept = dict(vars(builtins))
    try:
        said = repr(verb(body))
    finally:
        vars(builtins).update(kept)
    assert "KeyError" in said and "NoneType" not in said


@pytest.mark.parametrize("verb", [helpers.watch_hooked, helpers.watch_names, helpers.watch_frames])
@pytest.mark.parametrize("spoil", ["set to None", "deleted"])
def test_callbacks_of_a_verb_need_none_of_the_builtins(verb, spoil):
    def body(x):
        space = vars(builtins)
        for name in list(space):
            if spoil == "deleted":
                del space[name]
            else:
                space[name] = None
        inner = lambda y: y  # noqa: E731
        return inner(x), [inner(z) for z in (1, 2)]

    kept = dict(vars(builtins))
    try:
        said = repr(verb(body, [1, {"a": (2.5, "b")}]))
        left = dict(vars(builtins))
    finally:
        vars(builtins).update(kept)
    assert "body" in said and left == kept


LIES = {
    "len": lambda sized: 3,
    "id": lambda thing: 7,
    "isinstance": lambda thing, kind: True,
    "issubclass": lambda one, other: True,
    "hasattr": lambda thing, name: False,
    "getattr": lambda thing, name, *default: None,
    "any": lambda items: True,
    "sorted": lambda items, **how: [],
    "repr": lambda thing: "a lie",
    "min": lambda *items, **how: 1,
}
NOW = {}


@pytest.mark.parametrize("name", LIES)
@pytest.mark.parametrize("verb", RECORDERS)
def test_a_builtin_that_lies_changes_no_exhibit(verb, name):
    def body():
        vars(builtins).update(NOW)
        pair = [1, {"two": (2.5, None)}]
        again = [pair, pair]
        return (lambda both: both)(again)

    kept = dict(vars(builtins))
    said = []
    try:
        for put in (_truth(kept[name]), LIES[name]):
            NOW[name] = put
            said.append(repr(verb(body)))
            vars(builtins).update(kept)
    finally:
        vars(builtins).update(kept)
        NOW.clear()
    assert said[0] == said[1]


def _truth(builtin):
    return lambda *given, **named: builtin(*given, **named)


def test_prediction_of_code_that_takes_the_builtins_away_has_its_answer():
    def run():
        space = vars(builtins)
        for name in [name for name in space if name != "KeyError"]:
            space[name] = None
        raise KeyError

    kept = dict(vars(builtins))
    try:
        asked = helpers.predict("What does it raise?", ["KeyError", "nothing"], run=run)
    finally:
        vars(builtins).update(kept)
    assert asked.answer == "KeyError"

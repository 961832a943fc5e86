"""A verb that puts the program's tracer or profiler aside says so, and whether it is set again."""

import cProfile
import gc
import pstats
import sys
import threading
from collections import deque
from functools import partial
from sys import getprofile, gettrace

import pytest

import helpers
from helpers.capture.cpython import costs
from helpers.capture.cpython.aside import CHANGED, MAY_FIND, PROFILER, TRACER
from tests.safety.settings_programs import VERBS, in_fork

pytestmark = pytest.mark.own_process

SHOWN = {"watch_tracers"}  # in which a program finds the tracers of the verb
HOOKS = {TRACER: "trace", PROFILER: "profile"}
# No verb puts back what is in a deque. Of the last call of the program that found a hook: which it
# found, and which heard it. Of all its calls: which of the hooks that were set before heard one.
HEARD: deque[str] = deque()
EVER_HEARD: deque[str] = deque()
FOUND: deque = deque()


def first():
    """Be called where the hooks of before are still set."""


def hearing(name: str, *noted: deque):
    """Return a hook that notes its name where it hears the program."""

    def hook(frame, event, argument):
        if frame.f_code is first.__code__:
            for each in noted:
                each.append(name)

    return hook


OTHERS = {name: hearing(name, HEARD) for name in HOOKS}


def begins():
    found = [sys.gettrace(), sys.getprofile()]
    if any(found):
        HEARD.clear()
        FOUND.clear()
        FOUND.extend(found)
    first()


def leaves_them_alone():
    begins()


def sets_a_tracer():
    begins()
    sys.settrace(OTHERS[TRACER])


def sets_a_profiler():
    begins()
    sys.setprofile(OTHERS[PROFILER])


def takes_both_away():
    begins()
    sys.settrace(None)
    sys.setprofile(None)


def sets_the_same_again():
    begins()
    tracer, profiler = sys.gettrace(), sys.getprofile()
    sys.settrace(None)
    sys.setprofile(None)
    sys.setprofile(profiler)
    sys.settrace(tracer)


PROGRAMS = (
    *(leaves_them_alone, sets_a_tracer, sets_a_profiler, takes_both_away),
    sets_the_same_again,
)


def called_with(hooks: dict, call, program):
    """Return what a call of the program returns with these hooks set, and what is set after it."""
    for name, hook in reversed(hooks.items()):
        getattr(sys, f"set{HOOKS[name]}")(hook)
    try:
        return call(program), [sys.gettrace(), sys.getprofile()]
    finally:
        sys.settrace(None)
        sys.setprofile(None)


def told_and_true(verb: str, program, names) -> list:
    """Return what a verb says of each hook, what is so, and whether the same are set after it."""
    hooks = {name: hearing(name, HEARD, EVER_HEARD) for name in names}
    FOUND.clear()
    _, after_plain_run = called_with(hooks, lambda run: run(), program)
    EVER_HEARD.clear()
    made, after = called_with(hooks, VERBS[verb], program)
    found, heard, words = names, EVER_HEARD, made.model.note
    if verb not in SHOWN:
        found, heard = [n for n, one in zip(HOOKS, FOUND, strict=False) if one], HEARD
    unheard = [name for name in found if name not in heard]
    told = {
        "unheard": [name for name in HOOKS if name in words and "did not run" in words],
        "changed": [name for name in HOOKS if CHANGED.format(name) in words],
    }
    true = {"unheard": unheard, "changed": [name for name in unheard if sets_it(program, name)]}
    return [told, true, after == after_plain_run]


def sets_it(program, name: str) -> bool:
    """Return whether a program sets this hook."""
    ways = {sets_a_tracer: [TRACER], sets_a_profiler: [PROFILER], leaves_them_alone: []}
    return name in ways.get(program, HOOKS)


def programs(verb: str) -> list:
    """Return the programs of a verb; one is of no use where the verb's own tracers are found."""
    return [one for one in PROGRAMS if not (verb in SHOWN and one is sets_the_same_again)]


@pytest.fixture(scope="module", autouse=True)
def quick_verbs():
    for name in VERBS:
        getattr(helpers, name)
    before = costs.SHORTEST, costs.SAMPLES, costs.ENOUGH
    costs.SHORTEST = costs.ENOUGH = 1e-6
    costs.SAMPLES = 1
    yield
    costs.SHORTEST, costs.SAMPLES, costs.ENOUGH = before


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_says_which_of_your_hooks_did_not_run_and_whether_it_is_set_again(name):
    wrong = {}
    for program in programs(name):
        for hooks in ([TRACER], [PROFILER], [TRACER, PROFILER], []):
            told, true, is_same = in_fork(partial(told_and_true, name, program, hooks))
            if told != true or not is_same:
                wrong[program.__name__, *hooks] = told, true, is_same
    assert wrong == {}


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="cProfile sets no profiler there")
@pytest.mark.parametrize("name", VERBS)
def test_a_profiler_in_c_goes_on_after_the_call(name):
    def heard() -> list[str]:
        profile = cProfile.Profile()
        profile.enable()
        VERBS[name](lambda: None)
        is_set = sys.getprofile() is profile
        first()
        profile.disable()
        names = {key[2] for key in pstats.Stats(profile).stats}
        return [is_set, "first" in names]

    assert in_fork(heard) == [True, True]


def asks_for(name: str):
    """Return a program that asks for one thing by which a tracer or a profiler can be found."""

    def asks_sys():
        NOTED.append([sys.gettrace(), sys.getprofile(), threading.gettrace()])

    def asks_what_it_kept():
        NOTED.append([gettrace(), getprofile()])

    def asks_its_frame():
        frame = sys._getframe()
        NOTED.append([frame.f_trace, frame.f_trace_lines, frame.f_trace_opcodes])

    def asks_the_collector():
        NOTED.append([len(gc.callbacks)])

    def asks_nothing():
        NOTED.append([])

    programs = asks_sys, asks_what_it_kept, asks_its_frame, asks_the_collector, asks_nothing
    return next(program for program in programs if program.__name__ == name)


NOTED: deque = deque()
ASKING = "asks_sys", "asks_what_it_kept", "asks_its_frame", "asks_the_collector", "asks_nothing"


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_says_where_your_code_may_find_its_tracer(name):
    def found(program) -> list[bool]:
        program()
        plain = NOTED[0]
        NOTED.clear()
        words = VERBS[name](program).model.note
        is_other = any(noted != plain for noted in NOTED)
        return [is_other, MAY_FIND.partition("{}")[2] in words]

    told = {asking: in_fork(partial(found, asks_for(asking))) for asking in ASKING}
    # What differs is told, and what was asked for in a frame may be told where nothing differs.
    assert {asking for asking, (differs, says) in told.items() if differs and not says} == set()
    assert {asking for asking, (differs, says) in told.items() if says and not differs} <= {
        "asks_its_frame"
    }
    assert not told["asks_nothing"][1]
    assert not told["asks_sys"][0] or name in SHOWN

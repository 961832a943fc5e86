"""What a program sets, or finds set, stands in a watched run and after it as in a plain run."""

import os
import random
import sys

import pytest

import helpers
from helpers.capture.cpython import costs
from tests.safety.settings_programs import (
    SEEN,
    SETTINGS,
    TOGETHER,
    VERBS,
    in_fork,
    set_all,
    standing,
)

pytestmark = pytest.mark.own_process

# What a verb promises to do to its program: (verb, what stands, when).
PROMISED = {
    ("watch_mutations", "random", "after it"),  # it puts back what the program has changed
    ("watch_tracers", "tracers", "in it"),  # it runs the program under other tracers
    ("watch_tracers", "tracers", "once it is set"),
}
PLAIN: dict = {}


def call(fn):
    fn()


def observed(act, settings, is_before: bool) -> dict:
    """Return what stands in and after a call whose body sets these, or before which they were set.

    `act` gets the body, and calls it once or more often. The first time is what counts.
    """

    def body():
        if SEEN:
            return
        SEEN.append(standing())
        if not is_before:
            set_all(settings)
        SEEN.append(standing())

    random.seed(0)
    with open(os.devnull, "w") as sys.stdout:
        if is_before:
            set_all(settings)
        act(body)
        after = standing()
    return {"in it": SEEN[0], "once it is set": SEEN[1], "after it": after}


def plain(settings, is_before: bool) -> dict:
    """Return what stands in and after a plain run; all verbs are compared with it."""
    key = settings, is_before
    if key not in PLAIN:
        PLAIN[key] = in_fork(lambda: observed(call, settings, is_before))
    return PLAIN[key]


def differing(name: str, settings, is_before: bool) -> dict:
    """Return (what stands, when) -> how it is in a plain run and in a watched one."""
    expected = plain(settings, is_before)
    found = in_fork(lambda: observed(VERBS[name], settings, is_before))
    if isinstance(found, str) or isinstance(expected, str):
        return {"raised": (expected, found)}
    return {
        (what, when): (words, found[when][what])
        for when, stands in expected.items()
        for what, words in stands.items()
        if words != found[when][what] and (name, what, when) not in PROMISED
    }


@pytest.fixture(scope="module", autouse=True)
def quick_verbs():
    """Have the verbs imported, and those that measure time measure little of it."""
    for name in VERBS:
        getattr(helpers, name)
    helpers.watch_hooked(lambda: 1)
    before = costs.SHORTEST, costs.SAMPLES, costs.ENOUGH
    costs.SHORTEST = costs.ENOUGH = 1e-6
    costs.SAMPLES = 1
    yield
    costs.SHORTEST, costs.SAMPLES, costs.ENOUGH = before


@pytest.mark.parametrize("name", VERBS)
@pytest.mark.parametrize("is_before", [False, True], ids=["in the call", "before it"])
def test_what_a_program_sets_stands_as_in_a_plain_run(name, is_before):
    wrong = {settings: differing(name, settings, is_before) for settings in TOGETHER}
    assert {settings: found for settings, found in wrong.items() if found} == {}


def test_each_setting_is_set_in_a_run_and_is_felt_there():
    assert {name for settings in TOGETHER for name in settings} == {*SETTINGS}
    nothing = plain((), False)
    unfelt = {name for name in SETTINGS if plain((name,), False)["after it"] == nothing["after it"]}
    assert unfelt == {"no tracer", "a collection"}  # they ask for what stands already

"""helpers/capture/cpython/aside.py: what a verb's hooks disturb is told, and nothing else is."""

import re
from types import SimpleNamespace

import pytest

from helpers.capture.cpython.aside import (
    HOOK_NAMES_IN_SYS,
    HOOK_NAMES_OF_COLLECTOR,
    HOOK_NAMES_ON_FRAMES,
    PROFILER,
    TRACER,
    describe_replaced_hooks,
    describe_visible_hooks,
)


def reads_nothing():
    return 1


def reads_the_tracer(sys):
    return sys.gettrace()


NAMES = (*HOOK_NAMES_IN_SYS, *HOOK_NAMES_ON_FRAMES, *HOOK_NAMES_OF_COLLECTOR)


@pytest.mark.parametrize(
    ("fn", "asked", "found"),
    [
        (reads_nothing, (), []),
        (reads_the_tracer, (), ["gettrace"]),
        (reads_nothing, ["getprofile", "getprofile"], ["getprofile"]),
        (reads_the_tracer, ["gettrace"], ["gettrace"]),
    ],
)
def test_the_names_that_code_reads_are_told_once(fn, asked, found):
    said = describe_visible_hooks(fn.__code__, NAMES, asked)
    assert [word for word in re.findall(r"[\w.]+", said) if word in NAMES] == found
    assert bool(said) == bool(found)


def test_all_parts_of_a_dotted_name_must_be_there_and_inner_code_counts():
    space = {}
    exec("import gc\ndef whole():\n return lambda: gc.callbacks\ndef part():\n return gc", space)
    assert HOOK_NAMES_OF_COLLECTOR[0] in describe_visible_hooks(
        space["whole"].__code__, HOOK_NAMES_OF_COLLECTOR
    )
    assert describe_visible_hooks(space["part"].__code__, HOOK_NAMES_OF_COLLECTOR) == ""
    assert describe_visible_hooks(None, HOOK_NAMES_OF_COLLECTOR) == ""


def hook(had_own: bool, is_set_again: bool = True):
    return SimpleNamespace(had_own=had_own, is_set_again=is_set_again)


def test_only_hooks_that_the_program_had_are_told_and_whether_they_are_back():
    assert describe_replaced_hooks() == describe_replaced_hooks(hook(False), hook(False)) == ""
    back = describe_replaced_hooks(hook(True), hook(False))
    assert TRACER in back and PROFILER not in back
    assert describe_replaced_hooks(hook(True, is_set_again=False)) != back
    both = describe_replaced_hooks(hook(True), hook(True, is_set_again=False))
    assert both.count(TRACER) == both.count(PROFILER) == 1

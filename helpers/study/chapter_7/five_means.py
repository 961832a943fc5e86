"""The open task: five means to get hold of one call, each judged by itself.

A means must take the way in that it is named for and no other, note the call and only that, leave
the result as it is, and leave nothing behind, whatever the block does.
"""

import sys
from collections.abc import Mapping
from contextlib import contextmanager

from helpers.capture.text.error import said
from helpers.model.phrase import listed
from helpers.safety.arguments import kind_of
from helpers.study.chapter_7.call_routes import (
    OTHER,
    another_call,
    call_of_a_namesake,
    the_call,
    the_call_by_keyword,
)
from helpers.study.chapter_7.means_table import reach_listing
from helpers.study.chapter_7.ways_in import NAMES, Ways
from helpers.study.check import Exercise, Unfit, Untried, tried


class Meant(Exception):
    """What a block of the judge's raises."""


class MeantToEnd(BaseException):
    """The same, as Ctrl-C does."""


def _judge(means):
    given, left = _named(means)
    for name, make in given.items():
        if because := _judged(name, make):
            return f"{name}: {because}"
    if left:
        raise Untried(", ".join(left) if given else "")
    return None


def _named(means) -> tuple[dict, list[str]]:
    """Return the means that were tried, and the names of the others."""
    if not issubclass(type(means), Mapping) or {*means} != {*NAMES}:
        raise Unfit(f"means must be a dict with the keys {', '.join(NAMES)}")
    given = {name: means[name] for name in NAMES}
    left = [name for name in NAMES if given[name] is ...]
    return {name: make for name, make in given.items() if make is not ...}, left


def _judged(name: str, make) -> str | None:
    if not callable(make):
        return f"must be a function that gives a context manager, not {kind_of(make)}"
    with _others_there():
        ways = Ways()
        try:
            return _inside(name, make, ways) or _after(make, ways) or _raising(make, ways)
        except Untried:
            raise
        except Unfit as error:
            return str(error)
        except Exception as error:
            return f"in its block a call raised {said(error)}"
        finally:
            ways.put_back()


@contextmanager
def _others_there():
    """Let a tracer and a profiler be there already, as a debugger's would."""
    before = sys.gettrace(), sys.getprofile()
    sys.settrace(_other)
    sys.setprofile(_other)
    try:
        yield
    finally:
        sys.settrace(before[0])
        sys.setprofile(before[1])


def _other(frame, event, arg):
    """Do nothing, and trace no line."""


def _block(make):
    block = tried(make())
    if not hasattr(type(block), "__enter__"):
        raise Unfit(f"must give a context manager, not {kind_of(block)}")
    return block


def _inside(name: str, make, ways: Ways) -> str | None:
    """Return what is wrong while a block is open."""
    right = the_call().tolist()
    with _block(make) as notes:
        if because := _no_notes(notes) or _elsewhere(name, ways.taken()):
            return because
        if because := _others_noted(notes):
            return because
        for call in (the_call, the_call_by_keyword):
            many, found = len(notes), call()
            if not hasattr(found, "tolist") or found.tolist() != right:
                return "in its block softsign gives another result"
            if because := _miscounted(len(notes) - many):
                return because
    return None


def _miscounted(new: int) -> str | None:
    """Return what is wrong with so many new notes on one call."""
    if new < 1:
        return "a call of softsign by its name leaves no note"
    return None if new == 1 else f"one call of softsign leaves {new} notes: make one for each call"


def _others_noted(notes) -> str | None:
    """Return which calls are noted that are not to be."""
    many = len(notes)
    if another_call() != OTHER:
        return "in its block another function of torch gives another result"
    if len(notes) != many:
        return "it notes tanhshrink(x) / 2 + 1, too: note softsign alone, at an op of its own"
    call_of_a_namesake()
    if len(notes) != many:
        return "it notes another module's function of that name, too: ask which one is called"
    return None


def _no_notes(notes) -> str | None:
    if not hasattr(type(notes), "__len__"):
        return "the block must give its notes, such as a list: yield it"
    if len(notes):
        return "there are notes before softsign was called: note that alone, in a list of its own"
    return None


def _elsewhere(name: str, taken: list[str]) -> str | None:
    if taken == [name]:
        return None
    if not taken:
        return f"in its block nobody is there at the {name}, or at any other of the five ways in"
    return f"in its block somebody is there at the {listed(taken, 5)}; it must be the {name} alone"


def _after(make, ways: Ways) -> str | None:
    """Return what a second block, and the end of it, shows."""
    with _block(make) as notes:
        if because := _no_notes(notes):
            return because
        the_call()
        many = len(notes)
    if len(notes) != many:
        return "at its end the block changes its notes: they are of calls alone, and stay"
    the_call()
    if len(notes) != many:
        return "after its block it still notes"
    because = ways.left()
    return because and f"after its block {because}"


def _raising(make, ways: Ways) -> str | None:
    """Return what is wrong where the block raises."""
    for kind in (Meant, MeantToEnd):
        try:
            with _block(make):
                raise kind
        except kind:
            if because := ways.left():
                return f"after a block that raised {because}, in a finally"
        else:
            return "its block raised, and nobody heard of it"
    return None


FIVE_MEANS = Exercise(
    "five_means",
    _judge,
    "Five ways in to one call, and none sees every route of it. Here they are, measured.",
    (
        "Start from what you know: name, code (chapter 1: rebind, swap), frame (chapter 3: "
        "sys.settrace or sys.setprofile). Each is a @contextmanager that makes a list, puts "
        "itself in, yields the list, and in a finally puts back who was there before.",
        "The two modes are classes: TorchFunctionMode of torch.overrides, whose __torch_function__ "
        "gets (func, types, args, kwargs), and TorchDispatchMode of torch.utils._python_dispatch, "
        "whose __torch_dispatch__ gets ops: softsign itself is none, but torch.ops.aten.abs is in "
        "it. Note, and return func(*args, **(kwargs or {})).",
        "The new code has to find its notes, and what it replaces, in the globals of softsign: put "
        "them there for the length of the block. A function of the old code, "
        "FunctionType(softsign.__code__, softsign.__globals__), still works. No closure: the old "
        "code has none.",
    ),
    seconds=60,
    picture=lambda means: reach_listing(dict(means)),
)

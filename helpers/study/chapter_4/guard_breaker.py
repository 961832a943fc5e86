"""Chapter 4: change one thing so that exactly this guard fails; Dynamo's own guards are asked."""

from collections.abc import Mapping

from helpers.capture.text.error import said
from helpers.capture.text.value import brief
from helpers.capture.torch.guard_sets import Real
from helpers.capture.torch.guard_tree import all_failures, leaves
from helpers.study.answers import parts_tried
from helpers.study.chapter_4.guard_changes import changed, is_context, unasked
from helpers.study.check import Exercise

WANTED = (
    "L['n'] EQUALS_MATCH",
    "L['names'] LENGTH_CHECK",
    "L['names'] TYPE_MATCH",
    "L['options']['round'] FALSE_MATCH",
    "L['options'] TYPE_MATCH",
    "L['x'] TENSOR_MATCH",
    "(between values) NO_TENSOR_ALIASING",
    "G['RATE'] EQUALS_MATCH",
    "(the state of torch) GLOBAL_STATE",
)
CONTEXT = "context manager such as torch.no_grad()"


def _judge_guard_breaker(breakers, fn, first):
    if not issubclass(type(breakers), Mapping):
        return "breakers must be a dict: the guard's name -> what to change"
    import torch

    with torch.enable_grad():  # torch.set_grad_enabled(False) is in force once it is made
        return _judged(breakers, fn, first)


def _judged(breakers, fn, first) -> str | None:
    real = Real(fn, **first)
    guards = {guard.name: guard for guard in (leaf.guard(1) for leaf in leaves(real.entry))}
    for name in (*WANTED, *breakers):
        if name not in guards:
            told = brief(name) if type(name) is not str else name
            return f"{told} is no guard of this entry; show_guards(..., as_table=True) lists them"
        if name not in breakers:
            return f"{name} is missing"
    parts_tried({name: _whole(change) for name, change in breakers.items()})
    for name, change in breakers.items():
        try:
            because = _broken(real, first, guards[name], change)
        except Exception as error:
            because = f"this change raised {said(error)}"
        if because:
            return f"{name}: {because}"
    return None


def _whole(change):
    """Return the stub's `...` for a change that has one in it."""
    inside = change.values() if issubclass(type(change), Mapping) else ()
    return ... if any(value is ... for value in inside) else change


def _broken(real, first, guard, change) -> str | None:
    """Return why the change does not break this guard alone, if so."""
    is_table = issubclass(type(change), Mapping)
    if not is_table and not callable(change) and not is_context(change):
        return f"a change is a dict of one argument or global, or a {CONTEXT}, not {brief(change)}"
    if is_table and len(change) != 1:
        return f"this changes {len(change)} things; change one"
    space = real.function.__globals__
    for name in change if is_table else ():
        if name not in first and name not in space:
            return f"{name!r} is neither an argument nor a global"
    arguments, world = changed(first, space, dict(change) if is_table else change)
    if world is None:
        return f"calling this gives no {CONTEXT}"
    with world:
        seen = real.seen(**arguments)
        failed = [found.name for found in all_failures(1, real.entry, real.function, seen)]
        first_failed, gone = real.why_not(**arguments), unasked(real, first, seen)
    if real.why_not(**first) is not None:
        return "what it changes stays changed when the block is over; put it back in __exit__"
    return _verdict(guard, failed, first_failed, gone)


def _verdict(guard, failed, first_failed, gone) -> str | None:
    if first_failed is None:
        return f"every guard still holds with this change; this one holds if {guard.checks}"
    if gone and gone != [guard.name]:
        return f"with this change {gone[0]} cannot be asked any more: it fails, too"
    if not failed:
        return f"no guard could be asked: {first_failed}"
    if failed == [guard.name]:
        return None
    if guard.name in failed:
        return f"this change fails {len(failed)} guards: {', '.join(failed)}"
    return f"this change fails another guard: {', '.join(failed)}"


GUARD_BREAKER = Exercise(
    "guard_breaker",
    _judge_guard_breaker,
    "Nine guards, nine changes, and each fails that guard and no other.",
    (
        "Read the guard's words in show_guards(game, as_table=True) and ask: what is the least "
        "that makes them untrue, and leaves all the other words true?",
        "A list's length and a list's type are two guards. What has the same length and is no "
        "list? What holds the same keys as a dict, and is another type?",
        "An argument may be the very object that another argument is: first['x'] is at hand. The "
        "state of torch is changed by a context manager, such as torch.no_grad().",
    ),
)

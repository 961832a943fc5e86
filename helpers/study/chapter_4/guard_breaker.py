"""Chapter 4: change one thing so that exactly this guard fails; Dynamo's own guards are asked."""

from collections.abc import Mapping
from contextlib import nullcontext

from helpers.capture.text.error import said
from helpers.capture.text.value import brief
from helpers.capture.torch.guard_sets import Real, replacing
from helpers.capture.torch.guard_tree import MISSING, all_failures, leaves, resolve
from helpers.study.engine import Exercise, Unfit, parts_tried

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


def _judge(breakers, fn, first):
    if not isinstance(breakers, Mapping):
        return "breakers must be a dict: the guard's name -> what to change"
    import torch

    with torch.enable_grad():  # torch.set_grad_enabled(False) is in force once it is made
        real = Real(fn, **first)
        guards = {guard.name: guard for guard in (leaf.guard(1) for leaf in leaves(real.entry))}
        for name in (*WANTED, *breakers):
            if name not in guards:
                named = name if type(name) is str else brief(name)
                return (
                    f"{named} is no guard of this entry; show_guards(..., as_table=True) lists them"
                )
            if name not in breakers:
                return f"{name} is missing"
        parts_tried({name: _stub_or(change) for name, change in breakers.items()})
        for name, change in breakers.items():
            try:
                because = _try(real, first, guards[name], change)
            except Unfit as error:
                because = str(error)
            except Exception as error:
                because = f"this change raised {said(error)}"
            if because:
                return f"{name}: {because}"
    return None


def _stub_or(change):
    """Return the stub's `...` for a change that has one in it."""
    inside = change.values() if isinstance(change, Mapping) else ()
    return ... if any(value is ... for value in inside) else change


def _try(real: Real, first: dict, guard, change) -> str | None:
    """Return why the change does not break this guard alone, if so."""
    arguments, world = _apply(change, first, real.function.__globals__)
    with world:
        seen = real.seen(**arguments)
        failed = [found.name for found in all_failures(1, real.entry, real.function, seen)]
        first_failed, gone = real.why_not(**arguments), _unasked(real, first, seen)
    if real.why_not(**first) is not None:
        return "what it changes stays changed when the block is over; put it back in __exit__"
    if first_failed is None:
        return f"every guard still holds with this change; this one holds if {guard.checks}"
    if gone and gone != [guard.name]:
        return f"with this change {gone[0]} cannot be asked any more: it fails, too"
    if not failed:
        return f"no guard could be asked: {first_failed}"
    if failed == [guard.name]:
        return None
    many = f"{len(failed)} guards" if guard.name in failed else "another guard"
    return f"this change fails {many}: {', '.join(failed)}"


def _apply(change, first: dict, space: dict) -> tuple:
    """Return the arguments, and a context in which a global or a mode is changed."""
    is_context = hasattr(type(change), "__enter__")  # torch.no_grad() can be called, too
    if callable(change) and not is_context:
        change = change()
        if not hasattr(type(change), "__enter__"):
            raise Unfit(f"calling this gives no {CONTEXT}")
        is_context = True
    if is_context:
        return first, change
    if not isinstance(change, Mapping):
        raise Unfit(
            f"a change is a dict of one argument or global, or a {CONTEXT}, not {brief(change)}"
        )
    if len(change) != 1:
        raise Unfit(f"this changes {len(change)} things; change one")
    [(name, value)] = change.items()
    if name in first:
        return {**first, name: value}, nullcontext()
    if name in space:
        return first, replacing(space, name, value)()
    raise Unfit(f"{name!r} is neither an argument nor a global")


def _unasked(real: Real, first: dict, seen: dict) -> list[str]:
    """Return the guards that cannot be asked any more, so that they do not hold.

    What they look at is not there, or has no length, no key, …
    """
    scopes = [{"L": names, "G": real.function.__globals__} for names in (seen, real.seen(**first))]
    return [
        leaf.guard(1).name
        for leaf in leaves(real.entry)
        if leaf.source.startswith("L[")
        and leaf.kind != "NO_TENSOR_ALIASING"  # has a state of its own
        and not _can_be_asked(leaf, *(resolve(leaf.source, scope) for scope in scopes))
    ]


def _can_be_asked(leaf, value, before) -> bool:
    """Return whether a guard has an answer for a value; torch's of a length has none for a set."""
    if leaf.kind == "LENGTH_CHECK" and type(value) in (dict, set, frozenset):
        return len(value) == len(before)
    try:
        leaf.check(value)
    except Exception:
        return False
    return value is not MISSING


GUARD_BREAKER = Exercise(
    "guard_breaker",
    _judge,
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

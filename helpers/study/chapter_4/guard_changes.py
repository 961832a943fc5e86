"""One change of a call -> arguments and a context to run in; and the guards that it leaves mute."""

from contextlib import nullcontext

from helpers.capture.torch.guard_sets import replacing
from helpers.capture.torch.guard_tree import MISSING, leaves, resolve
from helpers.safety.arguments import is_exactly


def changed(first, space, change):
    """Return the arguments, and a context in which a global or a mode is changed.

    The context is None where calling the change makes none.
    """
    if is_context(change):  # asked first: an instance of torch.no_grad can be called, too
        return first, change
    if callable(change):
        made = change()
        return (first, made) if is_context(made) else (first, None)
    [(name, value)] = change.items()
    if name in first:
        return {**first, name: value}, nullcontext()
    return first, replacing(space, name, value)()


def is_context(change) -> bool:
    """Return whether this can stand in a with statement."""
    return hasattr(type(change), "__enter__")


def unasked(real, first, seen) -> list[str]:
    """Return the guards that cannot be asked any more, so that they do not hold.

    What they look at is not there, or has no length, no key, …
    """
    space, before = real.function.__globals__, real.seen(**first)
    scopes = [{"L": locals_, "G": space} for locals_ in (seen, before)]
    return [
        leaf.guard(1).name
        for leaf in leaves(real.entry)
        if leaf.source.startswith("L[")
        and leaf.kind != "NO_TENSOR_ALIASING"  # has a state of its own
        and not _can_be_asked(leaf, *(resolve(leaf.source, scope) for scope in scopes))
    ]


def _can_be_asked(leaf, value, before) -> bool:
    """Return whether a guard has an answer for a value; torch's of a length has none for a set."""
    if leaf.kind == "LENGTH_CHECK" and is_exactly(value, dict, set, frozenset):
        return len(value) == len(before)
    try:
        leaf.check(value)
    except Exception:
        return False
    return value is not MISSING

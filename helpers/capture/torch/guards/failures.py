"""A cache entry and a call -> the guards that the call fails, and the values that fail them.

Every judgement is torch's: `check_verbose` of the whole tree, or the call of one guard.
"""

import re

from helpers.capture.text.value import brief, type_name
from helpers.capture.torch.dynamo.text import source_words
from helpers.capture.torch.guards.text import check_of, clean, plain_source
from helpers.capture.torch.guards.tree import BETWEEN, MISSING, leaves, resolve
from helpers.model.guards import Failure, Guard
from helpers.safety.arguments import is_exactly

MISMATCH = re.compile(r"tensor '(.*?)' (.*)")
NUMBERS = re.compile(r"^\d+/\d+: ")
SIZE = re.compile(r"L\[[^]]*\]\.(?:size|stride)\(\)\[\d+\]")
CHANGED = "GLOBAL_STATE changed: "
DUPLICATE = "Duplicate tensor"
SIZED = (list, tuple, dict, str, set)


def failure(number: int, entry, fn, seen: dict) -> Failure | None:
    """Return the guard that these locals fail first, as torch says, or None if all hold."""
    told = entry.guard_manager.root.check_verbose(seen)
    if told.result:
        return None
    scope = {"L": seen, "G": fn.__globals__}
    part = _broken_part(list(told.verbose_code_parts), scope)
    if found := MISMATCH.match(part):
        source = plain_source(f"L['{found[1]}']" if found[1].isidentifier() else found[1])
        return Failure(number, source, "TENSOR_MATCH", clean(found[2]))
    known = leaves(entry)
    written = (leaf for leaf in known if part in leaf.parts)
    asked = (leaf for leaf in known if _fails(leaf, scope, part))
    leaf = next(written, None) or next(asked, None)
    if leaf is None:
        return Failure(number, "", "", plain_source(check_of(part)))
    return _failure(number, leaf, part, scope)


def reason_words(reason: str) -> str:
    """Return in plain words why torch says that it compiled a frame once more."""
    part = NUMBERS.sub("", reason).split("\n")[0]
    if found := MISMATCH.match(part):
        return f"{plain_source(found[1])}: {clean(found[2])}"
    return f"no longer {source_words(check_of(part))}"


def _broken_part(parts, scope) -> str:
    """Return the part that does not hold; torch gives all parts of a guard between values."""
    for part in parts if len(parts) > 1 else ():
        if _asked(part, scope) is False:
            return part
    return parts[0] if parts else "a guard that torch does not name"


def _asked(part: str, scope):
    """Return what torch's own expression gives for these values, or None if it cannot be asked."""
    try:
        return eval(check_of(part), {}, scope)
    except Exception:
        return None


def _failure(number, leaf, part, scope) -> Failure:
    guard = leaf.guard(number)
    if leaf.kind == "NO_TENSOR_ALIASING":
        return Failure(number, "", leaf.kind, guard.checks, "two of them are one tensor")
    if leaf.source == BETWEEN:
        sizes = dict.fromkeys(SIZE.findall(check_of(part)))
        value = ", ".join(f"{plain_source(size)} is {_asked(size, scope)}" for size in sizes)
        return Failure(number, "", leaf.kind, plain_source(check_of(part)), value)
    if leaf.source == "L":
        value = f"{clean(part).partition(': ')[2]} has changed" if CHANGED in part else ""
        return Failure(number, "", leaf.kind, guard.checks, value)
    value = _value_words(leaf.kind, resolve(leaf.source, scope))
    return Failure(number, plain_source(leaf.source), leaf.kind, guard.checks, value)


def _value_words(kind: str, value) -> str:
    if value is MISSING:
        return ""
    if kind == "TYPE_MATCH":
        return f"of type {type_name(value)}"
    if kind in ("LENGTH_CHECK", "DICT_LENGTH"):
        return f"of length {len(value)}" if is_exactly(value, *SIZED) else ""
    if kind == "DIMENSION_DYNAMIC_MARKING_GUARD":
        return "marked otherwise"
    if kind == "TENSOR_MATCH":
        return f"of type {type_name(value)}"
    return "another object" if kind == "ID_MATCH" else brief(value)


def all_failures(number: int, entry, fn, seen: dict) -> tuple[Guard, ...]:
    """Return every guard that these locals fail, each asked alone; torch stops at the first.

    What cannot be reached (a key that is gone) is not asked: the guard above it fails.
    """
    scope = {"L": seen, "G": fn.__globals__}
    told = entry.guard_manager.root.check_verbose(seen)
    if told.result:
        return ()
    part = " ".join(told.verbose_code_parts)
    broken = [leaf.guard(number) for leaf in leaves(entry) if _fails(leaf, scope, part)]
    return tuple(dict.fromkeys(broken))


def _fails(leaf, scope, part: str) -> bool:
    if leaf.kind == "NO_TENSOR_ALIASING":
        return DUPLICATE in part  # has a state of its own, so only the whole tree can tell
    value = scope["L"] if leaf.source in ("L", BETWEEN) else resolve(leaf.source, scope)
    try:
        return value is not MISSING and not leaf.check(value)
    except Exception:
        return False

"""One guard and the locals of a call -> whether the guard fails, and what differs.

Torch has one guard for all checks of sizes and numbers of a cache entry. A few other kinds of guard
look at several values, too. Torch's object for such a guard cannot be asked alone, so its text is
evaluated.
"""

import re

from ...model.guard_failures import Failure
from .failure_words import (
    TorchsReason,
    describe_shared_tensor,
    describe_sizes,
    list_differences,
)
from .guard_leaves import LeafGuard, evaluate_part
from .guard_side_effects import is_checked_by_users_code
from .guard_words import (
    BETWEEN_VALUES,
    TENSOR_MATCH,
    find_users_line,
    find_users_place,
    format_source,
    strip_remarks,
)
from .lookup import MISSING

# With torch._dynamo.config.enable_cpp_symbolic_shape_guards, the checks of sizes are in C++.
SIZES_IN_CPP = "SYMBOLIC_SHAPE_GUARD"
#: the kinds of guard that contain all checks of sizes and numbers of an entry in one guard
SIZE_KINDS = ("SHAPE_ENV", SIZES_IN_CPP)
# The line that torch notes for the guards on the parameters of its own modules. It helps nobody:
# `return F.linear(input, …)  # nn/modules/linear.py:125 in forward`, or a call with
# `*args, **kwargs)` in torch/nn/modules/module.py.
TORCHS_LINE = re.compile(r"\*args, \*\*kwargs\)|  # (?:nn/\w+|optim|torch)[/\\.][^#]+ in \w+[^#]*$")
NOT_EVALUATED = "unknown whether these hold, as they cannot be evaluated here"
NONE_FAILS = "unknown: torch refuses these together, and each holds when it is evaluated by itself"


def build_leaf_failures(
    number: int, leaf: LeafGuard, scope: dict, reason: TorchsReason
) -> list[Failure]:
    """Return a record for each thing that differs from what a guard of entry `number` asks for.

    `reason` is what torch says of the guard; it is empty for all guards but the first that fails.
    """
    if leaf.kind in SIZE_KINDS:
        return _build_size_failures(number, leaf, scope, is_first=bool(reason.part))

    part = reason.part if reason.part in leaf.parts else leaf.parts[0]
    line = ""
    place = ""
    if leaf.kind != TENSOR_MATCH or not TORCHS_LINE.search(part):
        line = find_users_line([part])
        place = find_users_place([part])

    failures = []
    for difference in list_differences(leaf, scope, reason):
        # A setting of torch differs because of no line of the program.
        is_of_leaf = difference.source in ("", format_source(leaf.source))
        failure = Failure(
            entry=number,
            source=difference.source,
            kind=leaf.kind,
            checks=difference.checks,
            line=line if is_of_leaf else "",
            value=difference.value,
            place=place if is_of_leaf else "",
        )
        failures.append(failure)
    return failures


def _build_size_failures(
    number: int, leaf: LeafGuard, scope: dict, is_first: bool
) -> list[Failure]:
    """Return which checks of sizes and numbers fail: torch has one guard for all of them.

    `is_first` says whether torch finds this guard failing first. Then something must be said, even
    if no check is seen to fail. If another guard fails first, a check may be about a dimension that
    a tensor of this call does not have, so nothing is said of what cannot be evaluated.
    """
    answers_by_part = {part: evaluate_check(part, scope) for part in leaf.parts}
    failures = [
        _build_size_failure(number, leaf.kind, part, scope)
        for part, answer in answers_by_part.items()
        if answer is False
    ]
    if not is_first:
        return failures

    unknown_parts = [part for part, answer in answers_by_part.items() if answer is None]
    if unknown_parts:
        checks = dict.fromkeys(format_source(strip_remarks(part)) for part in unknown_parts)
        sentence = f"{NOT_EVALUATED}: {'; '.join(checks)}"
        failures.append(Failure(entry=number, source="", kind=leaf.kind, checks=sentence))
    if not failures:
        sentence = f"{NONE_FAILS}: {leaf.to_record(number).checks}"
        failures.append(Failure(entry=number, source="", kind=leaf.kind, checks=sentence))
    return failures


def _build_size_failure(number: int, kind: str, part: str, scope: dict) -> Failure:
    """Return the record of one check of sizes and numbers that fails."""
    return Failure(
        entry=number,
        source="",
        kind=kind,
        checks=format_source(strip_remarks(part)),
        line=find_users_line([part]),
        value=describe_sizes(part, scope),
        place=find_users_place([part]),
    )


def evaluate_check(part: str, scope: dict) -> bool | None:
    """Return whether the check in a part of a guard holds; None if that cannot be told."""
    answer = evaluate_part(part, scope)
    if answer is MISSING:
        return None
    try:
        return bool(answer)
    except Exception:  # a `__bool__` of the user's
        return None


def is_failing(leaf: LeafGuard, scope: dict, torchs_text: str = "") -> bool:
    """Return whether a guard fails, asked by itself.

    Parameters
    ----------
    leaf : LeafGuard
        The guard.
    scope : dict
        `L` and `G`, the locals and globals of the call.
    torchs_text : str
        What torch says of the guard that fails first.
    """
    # These three kinds see several values one after another. Asked with one, they wait for others.
    if leaf.kind == "NO_TENSOR_ALIASING":
        if "Duplicate tensor" in torchs_text:
            return True
        return bool(describe_shared_tensor(leaf.parts[0], scope))
    if leaf.kind == "OBJECT_ALIASING" and torchs_text in leaf.parts:
        return True
    if leaf.kind in ("OBJECT_ALIASING", SIZES_IN_CPP):
        return any(evaluate_check(part, scope) is False for part in leaf.parts)

    looks_at_locals = leaf.source in ("L", BETWEEN_VALUES)
    value = scope["L"] if looks_at_locals else evaluate_part(leaf.source, scope)
    if is_checked_by_users_code(leaf.kind, value):
        return False
    try:
        return value is not MISSING and not leaf.check(value)
    except Exception:
        return False

"""One guard and the locals of a call -> whether the guard fails, and records of what differs.

For most guards, torch's guard object is called with the value. A few kinds look at several values:
one guard has all checks of sizes and numbers of a cache entry. Such an object cannot be called with
one value, so torch's text of the guard is evaluated instead. A `scope` is `{"L": locals,
"G": globals}` of the call.
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

# With torch._dynamo.config.enable_cpp_symbolic_shape_guards, the checks of sizes are in C++ and
# have this kind.
SIZES_IN_CPP = "SYMBOLIC_SHAPE_GUARD"
#: the kinds of guard that contain all checks of sizes and numbers of an entry in one guard
SIZE_KINDS = ("SHAPE_ENV", SIZES_IN_CPP)
# A remark in torch's text of a guard, for a line of torch's own modules. It is not shown, because
# it is not of the user's program. Such as `return F.linear(input, …)  # nn/modules/linear.py:125 in
# forward`, or a call with `*args, **kwargs)` in torch/nn/modules/module.py.
TORCHS_LINE = re.compile(r"\*args, \*\*kwargs\)|  # (?:nn/\w+|optim|torch)[/\\.][^#]+ in \w+[^#]*$")
NOT_EVALUATED = "unknown whether these hold, as they cannot be evaluated here"
NONE_FAILS = "unknown: torch refuses these together, and each holds when it is evaluated by itself"


def build_leaf_failures(
    entry_number: int, leaf: LeafGuard, scope: dict, reason: TorchsReason
) -> list[Failure]:
    """Return a record for each thing that differs from what a failing guard asks for.

    Parameters
    ----------
    entry_number : int
        The number of the cache entry, from 1, for the records.
    leaf : LeafGuard
        A guard that fails.
    scope : dict
        `L` and `G`, the locals and globals of the call.
    reason : TorchsReason
        What torch says of the guard. It is empty for all guards but the first that fails.
    """
    if leaf.kind in SIZE_KINDS:
        return _build_size_failures(entry_number, leaf, scope, is_first=bool(reason.part))

    part = reason.part if reason.part in leaf.parts else leaf.parts[0]
    line = ""  # of the user's program, such as `return x * n`
    place = ""  # of that line, such as `train.py:45`
    if leaf.kind != TENSOR_MATCH or not TORCHS_LINE.search(part):
        line = find_users_line([part])
        place = find_users_place([part])

    failures = []
    for difference in list_differences(leaf, scope, reason):
        # The guard on a tensor may fail because a setting of torch differs, such as inference mode.
        # The line of the program for which the guard was made has nothing to do with that.
        is_of_leaf = difference.source in ("", format_source(leaf.source))
        failure = Failure(
            entry=entry_number,
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
    entry_number: int, leaf: LeafGuard, scope: dict, is_first: bool
) -> list[Failure]:
    """Return records of the checks of sizes and numbers that fail.

    Torch has one guard for all these checks. Its parts are the checks, such as
    `L['x'].size()[0] == L['y'].size()[0]`.

    Parameters
    ----------
    entry_number : int
        The number of the cache entry, from 1, for the records.
    leaf : LeafGuard
        The guard.
    scope : dict
        `L` and `G`, the locals and globals of the call.
    is_first : bool
        Whether torch finds this guard failing first. Then the list is never empty: a record also
        says which checks cannot be evaluated. If another guard fails first, such checks are left
        out. They may be about a dimension that a tensor of this call does not have.
    """
    # check -> whether it holds, or None if it cannot be evaluated
    answers_by_part = {part: evaluate_check(part, scope) for part in leaf.parts}
    failures = [
        _build_size_failure(entry_number, leaf.kind, part, scope)
        for part, answer in answers_by_part.items()
        if answer is False
    ]
    if not is_first:
        return failures

    unknown_parts = [part for part, answer in answers_by_part.items() if answer is None]
    if unknown_parts:
        checks = dict.fromkeys(format_source(strip_remarks(part)) for part in unknown_parts)
        sentence = f"{NOT_EVALUATED}: {'; '.join(checks)}"
        failures.append(Failure(entry=entry_number, source="", kind=leaf.kind, checks=sentence))
    if not failures:  # each check holds, though torch refuses the call
        sentence = f"{NONE_FAILS}: {leaf.to_record(entry_number).checks}"
        failures.append(Failure(entry=entry_number, source="", kind=leaf.kind, checks=sentence))
    return failures


def _build_size_failure(entry_number: int, kind: str, part: str, scope: dict) -> Failure:
    """Return the record of one check of sizes and numbers that fails.

    `kind` is torch's name for the guard, and `part` the text of the check.
    """
    return Failure(
        entry=entry_number,
        source="",
        kind=kind,
        checks=format_source(strip_remarks(part)),
        line=find_users_line([part]),
        value=describe_sizes(part, scope),
        place=find_users_place([part]),
    )


def evaluate_check(part: str, scope: dict) -> bool | None:
    """Return whether the check in torch's text of a guard holds.

    Return None if the check cannot be evaluated without running the user's code.
    """
    answer = evaluate_part(part, scope)
    if answer is MISSING:
        return None
    try:
        return bool(answer)
    except Exception:  # a `__bool__` of the user's
        return None


def is_failing(leaf: LeafGuard, scope: dict, torchs_text: str = "") -> bool:
    """Return whether a guard fails for a call, checked without the other guards.

    Return False where that cannot be told without running the user's code.

    Parameters
    ----------
    leaf : LeafGuard
        The guard.
    scope : dict
        `L` and `G`, the locals and globals of the call.
    torchs_text : str
        What torch says of the guard that fails first.
    """
    # Torch calls a guard of the next three kinds with several values, one after another. Called
    # with one value only, such a guard would wait for the others. So its text is evaluated.
    if leaf.kind == "NO_TENSOR_ALIASING":
        if "Duplicate tensor" in torchs_text:  # torch's own words for a failure of this guard
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
    except Exception:  # torch's guard object cannot be called with this value
        return False

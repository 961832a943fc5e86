"""A new cache entry -> which sizes and numbers it leaves open, such as `dimension 0 of x`.

A dynamic entry is compiled for many sizes. It has guards on ranges instead of on one number.
"""

import re
from types import FunctionType

from .frame_words import use_users_names
from .guard_words import format_source, strip_remarks

# 2 <= L['x'].size()[0] <= 99, and 2 <= L['n']
RANGE = re.compile(r"(-?\d+) <= ([^=<>% ]+?)(?:\.size\(\)\[(\d+)\])?(?: <= (\d+))?")


def describe_dynamic_sizes(entry, fn: FunctionType | None = None) -> list[str]:
    """Return a sentence on the sizes and numbers that a cache entry leaves open.

    The sentence is the only item of a list. The list is empty if the entry accepts only
    the sizes of the call that it was compiled for.

    Parameters
    ----------
    entry : torch's cache entry
        The entry that Dynamo has just made.
    fn : function, optional
        The function that Dynamo compiled. If it is torch's own wrapper, which torch puts around a
        callable that Dynamo cannot start with, the sentence names the callable's parameters.
    """
    # Torch has the conditions on sizes in "epilogue" guards, which it checks last.
    guards = entry.guard_manager.root.get_epilogue_lambda_guards()
    checks = [strip_remarks(part) for guard in guards for part in guard.verbose_code_parts()]
    ranges = []  # texts such as `dimension 0 of x may be 2 to 99`
    conditions = []  # other conditions on sizes, such as `x.size()[0] == y.size()[0]`
    for check in dict.fromkeys(checks):
        match = RANGE.fullmatch(check)
        if match:
            ranges.append(_describe_range(*match.groups()))
        elif " is " not in check:  # a guard on identity says nothing of sizes
            conditions.append(format_source(check))
    if not ranges:
        return []

    sentence = f"the new entry is dynamic: {', '.join(ranges)}"
    if conditions:
        sentence += f", where {' and '.join(conditions)}"
    if fn is not None:
        sentence = use_users_names(sentence, fn)
    return [sentence]


def _describe_range(low: str, source: str, dimension: str | None, high: str | None) -> str:
    """Return `dimension 0 of x may be 2 to 99`, or `n may be 2 or more`.

    The arguments are what `RANGE` matches; `dimension` is None for a number, `high` if there is no
    upper limit.
    """
    name = format_source(source)
    if dimension:
        name = f"dimension {dimension} of {name}"
    limits = f"{low} to {high}" if high else f"{low} or more"
    return f"{name} may be {limits}"

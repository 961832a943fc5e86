"""Two arrays, one of which is right -> the first place where they part, in words; or None."""

import numpy as np

from helpers.study.two_answers import parted as apart

NEAR = {"float16": 4e-3, "float32": 4e-6, "float64": 4e-13}


def parted(which, who, mine, right, given, size, options, near=None) -> str | None:
    """Return the first place where two arrays differ by more than rounding; None if nowhere.

    `which`: what the learner's array is; `who` gives the right one. `given`: the arrays that went
    in, by name; the first has the right shape and dtype. `size`: how large the numbers are that
    were computed with; `near`: the share of it that may differ.
    """
    (x, *_) = given.values()
    if mine.shape != right.shape or mine.dtype != right.dtype:
        gives = f"gives {_spec(mine)}", f"gives {_spec(right)}"
        return apart(f"{which} of {_spec(x)}: ", *gives, who)
    near = near or NEAR[x.dtype.name]
    for place in zip(*np.nonzero(~_alike(mine, right, size, near)), strict=True):
        told = [f"{name} = {_number(array[place])}" for name, array in given.items()]
        told += [f"{name} = {value}" for name, value in options.items()]
        gives = (f"gives {number}" for number in _apart(mine[place], right[place]))
        rounded = _rounded(mine[place], right[place])
        return apart(f"{which} at {', '.join(told)} ({x.dtype}): ", *gives, who, rounded)
    return None


def _alike(mine, right, size, near):
    """Tell for each place whether the numbers are the same but for rounding; nan is nan."""
    mine, right, size = (np.atleast_1d(np.asarray(a, np.float64)) for a in (mine, right, size))
    with np.errstate(all="ignore"):
        finite = np.isfinite(mine) & np.isfinite(right)
        allowed = near * (np.abs(right) + np.where(np.isfinite(size), np.abs(size), 0))
        close = finite & (np.abs(mine - right) <= allowed)
    return close | (mine == right) | (np.isnan(mine) & np.isnan(right))


def _spec(array) -> str:
    return f"{array.dtype}[{', '.join(map(str, array.shape))}]"


def _number(value) -> str:
    return f"{value:.6g}"


def _apart(mine, right) -> tuple[str, str]:
    """Return both numbers with as many digits as it takes to see a difference."""
    texts = [(f"{mine:.{digits}g}", f"{right:.{digits}g}") for digits in (6, 9, 17)]
    return next(((ours, theirs) for ours, theirs in texts if ours != theirs), texts[-1])


def _rounded(mine, right) -> str:
    """Say so where a float64 is as far off as a float32 would be."""
    if right.dtype != np.float64 or not np.isfinite([mine, right]).all():
        return ""
    near = abs(float(mine) - float(right)) <= float(np.finfo(np.float32).eps) * abs(float(right))
    return " (yours is as exact as float32 only)" if near else ""

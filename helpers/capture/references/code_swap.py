"""Make a function run the code of another function, the donor, inside a `with` block. The block
sets `function.__code__ = donor.__code__` and restores the first code at its end.

No name is rebound. The function object itself changes, so every caller of it runs the other code.
"""

import types
from collections.abc import Callable
from functools import partial

from ...model.phrase import format_count
from ...safety.arguments import real_isinstance
from ...safety.restoring import HiddenFromSearch, speaks_to_users
from .fixed_places import find_fixed_reason
from .owner_names import describe_object
from .places import HiddenList

# All swaps that are active, in the order in which they began. Two swaps of one function may end in
# any order, so the earlier one must find the later one.
_ACTIVE_SWAPS = HiddenList()


class CodeSwap(HiddenFromSearch):
    """Makes `function` run the code of a donor inside a `with` block.

    Attributes
    ----------
    function : FunctionType
        The function that changes.
    code : CodeType
        The code of the donor.
    first : CodeType or None
        The code to restore at the end of the block; None outside of it.
    is_kept : bool
        Whether the program gave the function a code of its own in the block, which stays.
    """

    __slots__ = ("function", "code", "first", "is_kept")

    def __init__(self, function: Callable, donor: Callable):
        """Prepare to swap; nothing changes before the block is entered.

        TypeError says that one of the two is no Python function. ValueError says that `function`
        is needed as it is, or that the closures of the two do not fit.
        """
        for value in (function, donor):
            if not real_isinstance(value, types.FunctionType):
                description = describe_object(value)
                raise TypeError(f"{description} is not a Python function, so it has no code")
        reason = find_fixed_reason(function)  # such as: the kernel relies on it; "" for none
        if reason:
            raise ValueError(f"{describe_object(function)} keeps its code: {reason}")
        _require_same_closure(function, donor)
        self.function = function
        self.code = donor.__code__
        self.first: types.CodeType | None = None
        self.is_kept = False

    # An error of this method shows only frames of the learner, and names the verb.
    @partial(speaks_to_users, name="code_swapped")
    def __enter__(self) -> types.FunctionType:
        """Give the function the donor's code, and return the function.

        RuntimeError says that the block of this swap is still open.
        """
        if self.first is not None:
            raise RuntimeError("this swap is already active; make another one to nest it")
        self.first = self.function.__code__
        self.function.__code__ = self.code
        self.is_kept = False
        _ACTIVE_SWAPS.append(self)
        return self.function

    def __exit__(self, kind, error, trace) -> None:
        """Restore the function's first code, unless the program has set a third code meanwhile."""
        # `is`, because the position in the list is that of this very swap.
        indexes = [index for index, swap in enumerate(_ACTIVE_SWAPS) if swap is self]
        if not indexes:
            raise RuntimeError("this swap is not active: never entered, or already left")
        index = indexes[0]
        later_swaps = _ACTIVE_SWAPS[index + 1 :]
        nested = [swap for swap in later_swaps if swap.function is self.function]
        del _ACTIVE_SWAPS[index]

        if nested:
            # A later swap of the same function is still active. The code of the later swap stays
            # in the function. When the later swap ends, it must restore the code from before both.
            nested[0].first = self.first
        elif self.function.__code__ is self.code:
            self.function.__code__ = self.first
        else:  # the program has set a third code, which stays
            self.is_kept = True
        self.first = None


def _require_same_closure(function: types.FunctionType, donor: types.FunctionType) -> None:
    """Raise ValueError if two functions have different numbers of free variables.

    A function keeps its closure, which has one cell for each free variable of its own code. CPython
    refuses code that needs another number of cells.
    """
    own_count = len(function.__code__.co_freevars)
    donor_count = len(donor.__code__.co_freevars)
    if own_count != donor_count:
        raise ValueError(
            f"{describe_object(function)} has {format_count(own_count, 'free variable')} and "
            f"the donor has {donor_count}; the closure stays, so the numbers must be equal"
        )

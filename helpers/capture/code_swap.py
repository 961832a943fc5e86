"""A function and a donor of code -> the same function object running other code for a while."""

import types

from helpers.capture.heap import Own, Shelf, is_a
from helpers.capture.owners import describe

_ACTIVE = Shelf()


class code_swapped(Own):  # noqa: N801 (used like a function, as contextlib names its own)
    """Let `function` run the code of `donor` inside a `with` block.

    No name is rebound: every route to the function runs the other code, because the object
    itself changed (`func_set_code`, Objects/funcobject.c). Its globals, defaults and closure stay
    its own. TypeError where either is no Python function, ValueError where the numbers of free
    variables differ; nothing has changed then. RuntimeError where two swaps of one function are
    left in the wrong order; the first code still comes back in the end.
    """

    __slots__ = ("function", "code", "first")

    def __init__(self, function, donor):
        for thing in (function, donor):
            if not is_a(thing, types.FunctionType):
                raise TypeError(f"{describe(thing)} is no Python function: it has no code to swap")
        have, want = (len(each.__code__.co_freevars) for each in (function, donor))
        if have != want:
            raise ValueError(
                f"{describe(function)} has {have} free variable{'' if have == 1 else 's'} and the "
                f"donor has {want}; the closure stays, so the numbers must be equal"
            )
        self.function, self.code, self.first = function, donor.__code__, None

    def __enter__(self):
        self.first = self.function.__code__
        self.function.__code__ = self.code
        _ACTIVE.append(self)
        return self.function

    def __exit__(self, kind, error, trace) -> None:
        _ACTIVE.remove(self)
        if self.function.__code__ is self.code:
            self.function.__code__ = self.first
        else:
            self._hand_over(error)

    def _hand_over(self, error) -> None:
        """Let the swap entered inside this one put the first code back when it is left."""
        inner = (swap for swap in _ACTIVE if swap.function is self.function)
        for swap in inner:
            swap.first = self.first if swap.first is self.code else swap.first
        sentence = (
            f"the code of {describe(self.function)} was changed inside this swap and not changed "
            "back; leave the inner swap first (it will put the first code back)"
        )
        if error is None:
            raise RuntimeError(sentence)
        error.add_note(sentence)

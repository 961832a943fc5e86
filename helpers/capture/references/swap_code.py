"""A function and a donor of code -> the same function object running other code for a while."""

import types

from helpers.capture.references.heap import Shelf
from helpers.capture.references.kernel_modules import REASON, is_run_by_the_kernel
from helpers.capture.references.paths import describe
from helpers.model.phrase import counted
from helpers.safety.arguments import is_a
from helpers.safety.original_builtins import BUILTINS, is_ours
from helpers.safety.with_blocks import Block, note

__builtins__ = BUILTINS

_ACTIVE = Shelf()


class code_swapped(Block):  # noqa: N801 (used like a function, as contextlib names its own)
    """Let `function` run the code of `donor` inside a `with` block.

    No name is rebound: every route to the function runs the other code, because the object
    itself changed (`func_set_code`, Objects/funcobject.c). Its globals, defaults and closure stay
    its own; a call that runs already, or a generator that waits, goes on with the code it began
    with. TypeError where either is no Python function, ValueError where the numbers of free
    variables differ or the function is one that puts things back, or that the kernel runs in;
    nothing has changed then.
    RuntimeError where two swaps of one function are left in the wrong order; the first code still
    comes back in the end. Ctrl-C waits while the code is swapped and while it is swapped back.
    """

    __slots__ = ("function", "code", "first")

    def __init__(self, function, donor):
        for thing in (function, donor):
            if not is_a(thing, types.FunctionType):
                raise TypeError(f"{describe(thing)} is no Python function: it has no code to swap")
        have, want = (len(each.__code__.co_freevars) for each in (function, donor))
        if have != want:
            raise ValueError(
                f"{describe(function)} has {counted(have, 'free variable')} and the "
                f"donor has {want}; the closure stays, so the numbers must be equal"
            )
        if is_ours(function.__globals__):
            raise ValueError(f"{describe(function)} is a part of what puts the code back")
        if is_run_by_the_kernel(function.__globals__):
            raise ValueError(f"{describe(function)} keeps its code: {REASON}")
        self.function, self.code, self.first = function, donor.__code__, None

    def prepare(self) -> None:
        """Refuse a swap that is on already."""
        if self in _ACTIVE:
            raise RuntimeError("this swap is active already; make another one to nest it")

    def begin(self, plan):
        """Swap the code: the function, which the block is given."""
        self.first = self.function.__code__
        self.function.__code__ = self.code
        _ACTIVE.append(self)
        return self.function

    def end(self, kind, error) -> None:
        """Give the function its first code back, or leave that to the swap inside this one."""
        _ACTIVE.remove(self)
        if self.function.__code__ is self.code:
            self.function.__code__ = self.first
            self.first = None
            return
        for swap in _ACTIVE:
            if swap.function is self.function and swap.first is self.code:
                swap.first = self.first

    def afterwards(self, kind, error) -> None:
        """Say so where another swap was still on; the sentence joins an error on its way."""
        if self.first is None:
            return
        self.first = None
        sentence = (
            f"the code of {describe(self.function)} was changed inside this swap and not changed "
            "back; leave the inner swap first (it will put the first code back)"
        )
        if error is None:
            raise RuntimeError(sentence)
        note(error, sentence)

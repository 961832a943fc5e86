"""Functions of tensors with branches -> which of their lines a test of them runs, run plainly."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType


class Failed(Exception):
    """What a test raises that is to fail."""


def halved(x):
    """Return half of it, its rows summed up."""
    y = x / 2
    if x.dim() > 1:
        y = y.sum(0)
    return y


def summed(x):
    """Return twice the sum of it and the odd places."""
    total = x
    for place in range(x.shape[0]):
        if place % 2:
            total = total + place
    else:
        total = total * 2
    return total


def signed(x, up=True):
    """Return it with one sign."""
    if up:
        return x.abs()
    y = -x.abs()
    return y


@dataclass(frozen=True)
class Program:
    """A function, and the arguments of its calls, with the lines (from its first) that each runs.

    The lines do not depend on the Python: each stands for a statement.
    """

    function: FunctionType
    calls: tuple[tuple[tuple, tuple[int, ...]], ...]

    def choices(self) -> Iterator[tuple[int, ...]]:
        """Yield which calls a test makes: each alone, all, none."""
        yield from ((number,) for number in range(len(self.calls)))
        yield tuple(range(len(self.calls)))
        yield ()

    def results(self, call, some: tuple[int, ...] | None = None) -> list:
        """Return what some of the calls give, or all."""
        chosen = range(len(self.calls)) if some is None else some
        return [call(*self._arguments(number)) for number in chosen]

    def are_results(self, given, some: tuple[int, ...]) -> bool:
        """Tell whether these are the results of those calls."""
        import torch

        wanted = self.results(self.function, some)
        if type(given) is not list or len(given) != len(wanted):
            return False
        pairs = zip(given, wanted, strict=True)
        return all(type(g) is torch.Tensor and torch.equal(g, w) for g, w in pairs)

    def lines(self, some: tuple[int, ...]) -> list[int]:
        """Return the lines that those calls run."""
        return sorted({line for number in some for line in self.calls[number][1]})

    def _arguments(self, number: int) -> tuple:
        import torch

        shape, *more = self.calls[number][0]
        return torch.arange(1.0, 1 + torch.Size(shape).numel()).reshape(shape), *more


PROGRAMS = (
    Program(halved, ((((3,),), (2, 3, 5)), (((2, 2),), (2, 3, 4, 5)))),
    Program(summed, ((((1,),), (2, 3, 4, 7, 8)), (((3,),), (2, 3, 4, 5, 7, 8)))),
    Program(signed, ((((2,),), (2, 3)), (((2,), False), (2, 4, 5)))),
)

"""The methods of a machine -> the code objects that run for them, a learner's helpers' too."""

from collections.abc import Iterable, Iterator
from types import CellType, CodeType, FunctionType


def code_ids(methods: Iterable) -> set[int]:
    """Return the ids of the codes of these functions and of those that they lead to.

    They lead to what is written inside of them, what they close over, as a decorator's wrapper
    does, and what they name of their own module. By id, for a hash asks a code's constants.
    """
    seen, waiting = {}, [method for method in methods if type(method) is FunctionType]
    while waiting:
        function = waiting.pop()
        if id(function) not in seen:
            seen[id(function)] = set(_within(function.__code__))
            waiting += _called(function)
    return set().union(*seen.values())


def _within(code: CodeType) -> Iterator[int]:
    yield id(code)
    for constant in code.co_consts:
        if type(constant) is CodeType:
            yield from _within(constant)


def _called(function: FunctionType) -> list[FunctionType]:
    space = function.__globals__
    named = [space.get(name) for name in function.__code__.co_names]
    held = [_contents(cell) for cell in function.__closure__ or ()]
    found = (value for value in named + held if type(value) is FunctionType)
    return [each for each in found if each.__globals__ is space]


def _contents(cell: CellType):
    try:
        return cell.cell_contents
    except ValueError:  # empty by now
        return None

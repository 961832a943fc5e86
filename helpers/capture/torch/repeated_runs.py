"""Several runs of one program -> each with the same arguments, random numbers and buffers.

And whether two runs had the same result.
"""

import copy
import random
from collections.abc import Callable, Iterable
from contextlib import suppress

import numpy as np

from ...safety.arguments import real_isinstance
from ..cpython.objects import list_global_names
from ..text import tensors
from ..text.error import describe_error
from .dynamo_run import find_compilable

# types whose own `==` runs no code of the user's
_PLAIN_TYPES = (int, float, complex, bool, str, bytes, type(None))


def copy_arguments(values: tuple) -> tuple:
    """Return copies of arguments, as each run gets its own; TypeError for what has no copy."""
    values = [_make_leaf(value) for value in values]
    try:
        # all in one copy, so that arguments that share an object still share it
        return tuple(copy.deepcopy(values))
    except Exception as error:
        raise TypeError(
            f"each run needs copies of the arguments: {describe_error(error)}"
        ) from None


def _make_leaf(value):
    """Return a tensor without the graph that computed it, because torch copies leaves only."""
    if tensors.is_torch_tensor(value) and value.requires_grad and not value.is_leaf:
        return value.detach().requires_grad_()
    return value


def compare_values(first, second) -> bool | None:
    """Return whether two results are the same, nearly; None where only their code could tell."""
    if type(first) is not type(second):
        return False
    if real_isinstance(first, BaseException):
        return describe_error(first) == describe_error(second)
    if tensors.is_torch_tensor(first):
        return _compare_tensors(first, second)

    if type(first) is dict and first.keys() == second.keys():
        keys = [*first]
        return _compare_items([first[key] for key in keys], [second[key] for key in keys])
    if real_isinstance(first, dict):  # of a user's class, or with other keys
        return False
    if real_isinstance(first, list, tuple):
        return _compare_items(first, second)

    if type(first) not in _PLAIN_TYPES:
        return first is second or None
    is_nan = first != first
    return first == second or (is_nan and second != second)


def _compare_tensors(first, second) -> bool | None:
    """Return whether two tensors are the same; numbers with a point may differ by rounding."""
    import torch

    if tensors.format_dtype_and_sizes(first) != tensors.format_dtype_and_sizes(second):
        return False
    if not tensors.has_readable_elements(first) or not tensors.has_readable_elements(second):
        return first is second or None
    if first.is_floating_point() or first.is_complex():
        return torch.allclose(first, second, equal_nan=True)
    return torch.equal(first, second)


def _compare_items(first: Iterable, second: Iterable) -> bool | None:
    """Return whether two sequences are the same; None if no item differs but one is unknown."""
    if len(first) != len(second):
        return False
    answers = [
        item is other or compare_values(item, other)
        for item, other in zip(first, second, strict=True)
    ]
    if False in answers:
        return False
    return None if None in answers else True


def save_random_numbers() -> Callable[[], None]:
    """Return a function that sets Python's, NumPy's and torch's own generators back to now."""
    import torch

    python_state = random.getstate()
    numpy_state = np.random.get_state()
    torch_state = torch.get_rng_state()

    def set_back() -> None:
        """Set the three generators back."""
        random.setstate(python_state)
        np.random.set_state(numpy_state)
        torch.set_rng_state(torch_state)

    return set_back


def save_buffers(fn) -> Callable[[], None]:
    """Return a function that sets the buffers of the modules that `fn` uses back to now."""
    import torch

    copies = []
    for buffer in _find_buffers(fn):
        with suppress(Exception):  # it has no elements yet, or a mode of the program's refuses
            copies.append((buffer, buffer.detach().clone()))

    def set_back() -> None:
        """Give each buffer its values of then."""
        with torch.no_grad(), suppress(Exception):
            for buffer, before in copies:
                # writing into a buffer makes torch count a new version, so not without need
                if not torch.equal(buffer, before):
                    buffer.copy_(before)

    return set_back


def _find_buffers(fn) -> list:
    """Return the buffers of each module that `fn` is, is bound to, closes over or names."""
    import torch

    function = find_compilable(fn, "watch_fixes").function
    values = [fn, getattr(fn, "func", None), getattr(function, "__self__", None)]
    function = getattr(function, "__func__", function)
    values += [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    values += [function.__globals__.get(name) for name in list_global_names(function.__code__)]

    modules = [value for value in values if real_isinstance(value, torch.nn.Module)]
    # by id, because two modules may share a buffer, and `==` of tensors returns a tensor
    buffers_by_id = {id(buffer): buffer for module in modules for buffer in module.buffers()}
    return [*buffers_by_id.values()]


def _is_filled(cell) -> bool:
    """Return whether a cell of a closure has a value yet."""
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True

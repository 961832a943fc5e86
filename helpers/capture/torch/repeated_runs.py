"""Functions to run a program several times from the same state, and to compare the results.

The state is the arguments, the random number generators, and the buffers of modules.
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
    """Return copies of arguments, so that a run cannot change those of the next run.

    TypeError if an argument cannot be copied.
    """
    values = [_make_leaf(value) for value in values]
    try:
        # One call copies all arguments. So arguments that share an object still share it.
        return tuple(copy.deepcopy(values))
    except Exception as error:
        raise TypeError(
            f"each run needs copies of the arguments: {describe_error(error)}"
        ) from None


def _make_leaf(value):
    """Return a tensor without the autograd graph that computed it; any other value unchanged.

    Torch refuses to copy a tensor that has such a graph.
    """
    if tensors.is_torch_tensor(value) and value.requires_grad and not value.is_leaf:
        return value.detach().requires_grad_()
    return value


def compare_values(first, second) -> bool | None:
    """Return whether two results are the same, except for rounding of floating-point numbers.

    Return None if only a method of their class, such as `__eq__`, could tell. Exceptions are the
    same if their types and messages are.
    """
    if type(first) is not type(second):
        return False
    if real_isinstance(first, BaseException):
        return describe_error(first) == describe_error(second)
    if tensors.is_torch_tensor(first):
        return _compare_tensors(first, second)

    if type(first) is dict and first.keys() == second.keys():
        keys = [*first]
        return _compare_items([first[key] for key in keys], [second[key] for key in keys])
    if real_isinstance(first, dict):  # a dict with other keys, or of a user's subclass
        return False
    if real_isinstance(first, list, tuple):
        return _compare_items(first, second)

    # The same object is the same result. For two objects, only their `__eq__` could tell.
    if type(first) not in _PLAIN_TYPES:
        return first is second or None
    # NaN is the only value that is not equal to itself. Two NaNs count as the same result.
    are_both_nan = first != first and second != second
    return first == second or are_both_nan


def _compare_tensors(first, second) -> bool | None:
    """Return whether two tensors are the same, except for rounding.

    Return None if their elements cannot be read, as those of a sparse tensor.
    """
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
    """Save the states of the random number generators; return a function that restores them.

    These are the global generators of Python, NumPy and torch.
    """
    import torch

    python_state = random.getstate()
    numpy_state = np.random.get_state()
    torch_state = torch.get_rng_state()

    def restore_generators() -> None:
        """Restore the states of the three generators."""
        random.setstate(python_state)
        np.random.set_state(numpy_state)
        torch.set_rng_state(torch_state)

    return restore_generators


def save_buffers(fn) -> Callable[[], None]:
    """Save the buffers of the modules that `fn` uses; return a function that restores them.

    A buffer is a tensor that a module changes in a call, such as the running mean of BatchNorm.
    """
    import torch

    buffers_with_copies = []
    for buffer in _find_buffers(fn):
        # A buffer may have no elements yet, and a mode of the user's program may refuse a copy.
        with suppress(Exception):
            buffers_with_copies.append((buffer, buffer.detach().clone()))

    def restore_buffers() -> None:
        """Write the saved values into each buffer that has other values now."""
        with torch.no_grad(), suppress(Exception):
            for buffer, saved_copy in buffers_with_copies:
                # Each write makes torch count a new version of the buffer, which the user's program
                # may notice. So an unchanged buffer is not written.
                if not torch.equal(buffer, saved_copy):
                    buffer.copy_(saved_copy)

    return restore_buffers


def _find_buffers(fn) -> list:
    """Return the buffers of the modules that a call of `fn` may use.

    Such a module is `fn` itself, the object of a method, a variable of the closure, or a global
    that the function names.
    """
    import torch

    function = find_compilable(fn, "watch_fixes").function
    # `func` is the callable inside a partial, `__self__` the object of a method.
    values = [fn, getattr(fn, "func", None), getattr(function, "__self__", None)]
    function = getattr(function, "__func__", function)  # the function of a method
    values += [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    values += [function.__globals__.get(name) for name in list_global_names(function.__code__)]

    modules = [value for value in values if real_isinstance(value, torch.nn.Module)]
    # Two modules may share a buffer, which is returned once. The key is the id, because `==` of two
    # tensors returns a tensor.
    buffers_by_id = {id(buffer): buffer for module in modules for buffer in module.buffers()}
    return [*buffers_by_id.values()]


def _is_filled(cell) -> bool:
    """Return whether a cell of a closure has a value yet."""
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True

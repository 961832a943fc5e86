"""A function and the arguments of a call -> the locals of its frame, before the first line runs."""

import inspect
from types import FunctionType

from ..cpython.objects import read_function_name


def bind_frame_locals(fn: FunctionType, args: tuple, kwargs: dict) -> dict:
    """Return the local variables of a frame of `fn` at its start, by name.

    These are the arguments, with defaults, and the variables of the closure. Dynamo checks guards
    on these values. TypeError if the arguments do not fit.
    """
    return bind_arguments(fn, args, kwargs) | read_closure(fn)


def bind_arguments(fn: FunctionType, args: tuple, kwargs: dict) -> dict:
    """Return the arguments of a call by name, with defaults; TypeError if they do not fit."""
    signature = inspect.signature(fn, follow_wrapped=False)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(
            f"{read_function_name(fn)}() cannot be called with these: {error}"
        ) from None
    bound.apply_defaults()
    return dict(bound.arguments)


def read_closure(fn: FunctionType) -> dict:
    """Return name -> present value for the variables that a function has from outer functions."""
    cells = fn.__closure__ or ()
    values = [cell.cell_contents for cell in cells]
    return dict(zip(fn.__code__.co_freevars, values, strict=True))

"""Format a frame as a row of a table, and its variables as text such as `a = 1, b = [2, 3]`.
No code of the program is run: a `__repr__` of a user's class is not called.
"""

import inspect
from collections.abc import Mapping
from types import CodeType, FrameType
from typing import NamedTuple

from ...internals.interpreter_frame import read_local_variables
from ..text.value import format_text, short_repr

MOST_LOCALS = 6  # variables of a frame that are shown


class FrameRow(NamedTuple):
    """One frame in a table, as text. A table has a column for some of these fields."""

    #: The position of the frame in the stack, or of its link in a traceback.
    place: str
    #: The name of the frame's code object.
    function: str
    #: The number of the line that the frame runs.
    line: str = ""
    #: The offset of the instruction that the frame runs.
    lasti: str = ""
    #: What the frame does now: running, waits for a call, suspended, leaving.
    state: str = ""
    #: The first few variables of the frame.
    locals: str = ""
    #: Whether CPython has made a frame object, which Python code can get, for the frame.
    made: bool = True


def is_function_frame(frame: FrameType) -> bool:
    """Return whether a frame runs a function, not the body of a class, a module or an `exec`."""
    return bool(frame.f_code.co_flags & inspect.CO_OPTIMIZED)


def is_module_frame(frame: FrameType) -> bool:
    """Return whether a frame runs a module: its local variables are the global ones."""
    # `f_locals` of a function's frame is not read. Up to Python 3.12, reading it writes the dict
    # anew, and a program that has changed this dict would lose its changes.
    return not is_function_frame(frame) and frame.f_locals is frame.f_globals


def format_locals(frame: FrameType, separator: str = " = ") -> str:
    """Return a frame's first few variables as `a = 1, b = 2`.

    A module's frame is not listed, because it may have thousands of names.
    """
    if is_module_frame(frame):
        return "(the module's dict)"
    values = read_local_variables(frame)
    return _format_variables(values, list(values), separator)


def list_locals(frame: FrameType) -> tuple[tuple[str, str], ...]:
    """Return (name, value as text) of a frame's first few variables; () for a module's frame."""
    if is_module_frame(frame):
        return ()
    values = read_local_variables(frame)
    names = list(values)[:MOST_LOCALS]
    return tuple((format_text(name), short_repr(values[name])) for name in names)


def format_new_call(frame: FrameType) -> str:
    """Return the call of a frame that has just begun, such as `f(x = 1)`.

    A class body or a module has no parameters, so only its name is returned.
    """
    name = format_text(frame.f_code.co_name)
    if not is_function_frame(frame):
        return name
    values = read_local_variables(frame)
    # A generator that is resumed may have deleted a parameter, which has no value then.
    arguments = [name for name in _list_parameters(frame.f_code) if name in values]
    return f"{name}({_format_variables(values, arguments)})"


def _list_parameters(code: CodeType) -> tuple[str, ...]:
    """Return the names of all parameters, those of *args and **kwargs last."""
    # `co_varnames` begins with the parameters in this order.
    count = code.co_argcount + code.co_kwonlyargcount
    for flag in (inspect.CO_VARARGS, inspect.CO_VARKEYWORDS):
        if code.co_flags & flag:
            count += 1
    return code.co_varnames[:count]


def _format_variables(
    values: Mapping[str, object], names: list[str], separator: str = " = "
) -> str:
    """Return the variables with these names as text, such as `a = 1, b = 2, … 3 more`.

    Parameters
    ----------
    values : Mapping of str to object
        Name of a variable -> value.
    names : list of str
        The names of the variables to show. Only the first `MOST_LOCALS` are shown.
    separator : str
        What stands between a name and a value.
    """
    parts = []
    for name in names[:MOST_LOCALS]:
        parts.append(f"{format_text(name)}{separator}{short_repr(values[name])}")
    omitted_count = len(names) - len(parts)
    if omitted_count:
        parts.append(f"… {omitted_count} more")
    return ", ".join(parts)

"""The row of a frame in a table, and the words for its variables; no code of the program is run."""

import inspect
from collections.abc import Mapping
from types import CodeType, FrameType
from typing import NamedTuple

from ...internals.interpreter_frame import read_local_variables
from ..text.value import format_text, short_repr

MOST_LOCALS = 6


class FrameRow(NamedTuple):
    """One frame in a table; a table shows some of these."""

    #: Its place in the stack, or its link in a traceback.
    place: str
    #: The name of its code object.
    function: str
    #: The number of its line.
    line: str = ""
    #: The offset of its instruction.
    lasti: str = ""
    #: What it does at the moment: running, waits for a call, suspended, leaving.
    state: str = ""
    #: Its first few variables.
    locals: str = ""
    #: Whether CPython has made a frame object for it.
    made: bool = True


def is_function_frame(frame: FrameType) -> bool:
    """Return whether a frame runs a function; the code of a class or of `exec` is none."""
    return bool(frame.f_code.co_flags & inspect.CO_OPTIMIZED)


def is_module_frame(frame: FrameType) -> bool:
    """Return whether a frame's variables are the global ones.

    `f_locals` of a function is not read: up to Python 3.12 that overwrites the dict which the
    program may have from it.
    """
    return not is_function_frame(frame) and frame.f_locals is frame.f_globals


def format_locals(frame: FrameType, separator: str = " = ") -> str:
    """Return a frame's first few variables as `a = 1, b = 2`."""
    if is_module_frame(frame):
        return "(the module's dict)"
    values = read_local_variables(frame)
    return _format_variables(values, list(values), separator)


def list_locals(frame: FrameType) -> tuple[tuple[str, str], ...]:
    """Return (name, words) of a frame's first few variables; none of a module's frame."""
    if is_module_frame(frame):
        return ()
    values = read_local_variables(frame)
    names = list(values)[:MOST_LOCALS]
    return tuple((format_text(name), short_repr(values[name])) for name in names)


def format_new_call(frame: FrameType) -> str:
    """Return a call that begins as `f(x = 1)`, only as `f` where the frame has no arguments."""
    name = format_text(frame.f_code.co_name)
    if not is_function_frame(frame):
        return name
    values = read_local_variables(frame)
    # A parameter that has no value is left out.
    arguments = [name for name in _list_parameters(frame.f_code) if name in values]
    return f"{name}({_format_variables(values, arguments)})"


def _list_parameters(code: CodeType) -> tuple[str, ...]:
    """Return the names of all parameters, those of *args and **kwargs last."""
    count = code.co_argcount + code.co_kwonlyargcount
    for flag in (inspect.CO_VARARGS, inspect.CO_VARKEYWORDS):
        if code.co_flags & flag:
            count += 1
    return code.co_varnames[:count]


def _format_variables(
    values: Mapping[str, object], names: list[str], separator: str = " = "
) -> str:
    """Return the first few of these variables as words, and how many more there are."""
    shown = names[:MOST_LOCALS]
    parts = [f"{format_text(name)}{separator}{short_repr(values[name])}" for name in shown]
    rest = len(names) - len(shown)
    if rest:
        parts.append(f"… {rest} more")
    return ", ".join(parts)

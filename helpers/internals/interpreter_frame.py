"""A running frame -> the objects in its memory: its local variables, then its value stack.

CPython keeps both in one array, `localsplus`, at the end of `_PyInterpreterFrame`
(Include/internal/pycore_frame.h). Nothing in Python's own language leads there, so it is read by
address, and only where the layout is known.
"""

import ctypes
import inspect
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from types import CellType, CodeType, FrameType

VERSIONS = ((3, 11), (3, 12), (3, 13))
WORD = 8  # bytes of a pointer


class _Null:
    """The type of `NULL`."""

    def __repr__(self) -> str:
        return "NULL"


NULL = _Null()  # an empty slot: the interpreter keeps NULL on its stack, too


@dataclass(frozen=True)
class Layout:
    """Offsets in bytes of fields that are read, as in CPython 3.12 and 3.13."""

    #: In PyFrameObject: the pointer to its _PyInterpreterFrame.
    frame: int = 24
    #: In _PyInterpreterFrame, as all that follow: the code object.
    code: int = 0
    #: The caller's _PyInterpreterFrame.
    previous: int = 8
    #: The PyFrameObject, if Python code has asked for one.
    frame_object: int = 48
    #: How many slots of `localsplus` are in use, or -1 while the frame runs.
    stacktop: int = 64
    #: Who allocated the frame: a thread, a generator, a frame object, or C.
    owner: int = 70
    #: The first slot.
    localsplus: int = 72


def find_unsupported() -> str:
    """Return, in one sentence, why this interpreter's stack is never read; "" where it is read."""
    name = sys.implementation.name
    version = sys.version_info[:2]
    # Objects are laid out otherwise without the GIL, and with references traced.
    is_unusual = any(map(sysconfig.get_config_var, ("Py_GIL_DISABLED", "Py_TRACE_REFS")))
    if name == "cpython" and version in VERSIONS and not is_unusual:
        return ""
    build = ", of an unusual build" if is_unusual else ""
    return (
        "the value stack can be read on CPython 3.11, 3.12 and 3.13; "
        f"this is {name} {version[0]}.{version[1]}{build}"
    )


def read_layout() -> Layout:
    """Return the offsets for this version; 3.11 has four other pointers before the code."""
    if sys.version_info >= (3, 12):
        return Layout()
    return Layout(code=32, previous=48, frame_object=40, owner=69)


def find_interpreter_frame(frame: FrameType) -> int:
    """Return the address of the frame's `_PyInterpreterFrame`; it moves with a generator."""
    return read_word(id(frame) + read_layout().frame)


def list_slot_names(code: CodeType) -> tuple[str, ...]:
    """Return the names of the first slots: locals, cells that are no locals, free variables."""
    local_names = code.co_varnames
    cell_names = [name for name in code.co_cellvars if name not in local_names]
    return (*local_names, *cell_names, *code.co_freevars)


def read_local_variables(frame: FrameType) -> Mapping[str, object]:
    """Return name -> value of what is bound in a frame, without asking it for `f_locals`.

    Up to 3.12 that would write into a dict which the program may have changed, and which would keep
    the values alive. Of a module or a class it is the namespace itself.
    """
    code = frame.f_code
    is_function = code.co_flags & inspect.CO_OPTIMIZED
    if not is_function or sys.version_info >= (3, 13) or find_unsupported():
        return frame.f_locals

    first_slot = find_interpreter_frame(frame) + read_layout().localsplus
    shared_names = {*code.co_cellvars, *code.co_freevars}
    variables = {}
    for number, name in enumerate(list_slot_names(code)):
        value = read_object(read_word(first_slot + WORD * number))
        # A variable that an inner function shares is in a cell, once the function has made that.
        if name in shared_names and type(value) is CellType:
            is_empty = value == CellType()
            value = NULL if is_empty else value.cell_contents
        if value is not NULL:
            variables[name] = value
    return variables


def read_object(pointer: int | None) -> object:
    """Return the object at an address that was read from a slot; NULL for the address 0."""
    return ctypes.cast(pointer, ctypes.py_object).value if pointer else NULL


def read_word(address: int) -> int:
    """Return the pointer that lies at an address, 0 for NULL."""
    return ctypes.c_void_p.from_address(address).value or 0

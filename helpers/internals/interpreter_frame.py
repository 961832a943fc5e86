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
WORD = 8


class _Null:
    def __repr__(self):
        return "NULL"


NULL = _Null()  # an empty slot: the interpreter keeps NULL on its stack, too


@dataclass(frozen=True)
class Layout:
    """Byte offsets. `frame`: in PyFrameObject; the others: in _PyInterpreterFrame."""

    frame: int = 24
    code: int = 0
    previous: int = 8
    frame_object: int = 48
    stacktop: int = 64
    owner: int = 70
    localsplus: int = 72


def unsupported() -> str:
    """Return why this interpreter's stack is never read, in one sentence; nothing where it is."""
    name, version = sys.implementation.name, sys.version_info[:2]
    odd = any(map(sysconfig.get_config_var, ("Py_GIL_DISABLED", "Py_TRACE_REFS")))
    if name == "cpython" and version in VERSIONS and not odd:
        return ""
    found = f"{name} {version[0]}.{version[1]}{', of an unusual build' if odd else ''}"
    return f"the value stack can be read on CPython 3.11, 3.12 and 3.13; this is {found}"


def layout() -> Layout:
    """Return the offsets for this version; 3.11 has four other pointers before the code."""
    if sys.version_info >= (3, 12):
        return Layout()
    return Layout(code=32, previous=48, frame_object=40, owner=69)


def base(frame: FrameType) -> int:
    """Return the address of the frame's `_PyInterpreterFrame`; it moves with a generator."""
    return word(id(frame) + layout().frame)


def variables(code: CodeType) -> tuple[str, ...]:
    """Return the names of the first slots: locals, cells that are no locals, free variables."""
    local = code.co_varnames
    return (*local, *(name for name in code.co_cellvars if name not in local), *code.co_freevars)


def local_variables(frame: FrameType) -> Mapping[str, object]:
    """Return name -> value of what is bound in a frame, without asking it for `f_locals`.

    Up to 3.12 that would write into a dict which the program may have changed, and which would keep
    the values alive. Of a module or a class it is the namespace itself.
    """
    code = frame.f_code
    if not code.co_flags & inspect.CO_OPTIMIZED or sys.version_info >= (3, 13) or unsupported():
        return frame.f_locals
    first = base(frame) + layout().localsplus
    shared, found = {*code.co_cellvars, *code.co_freevars}, {}
    for place, name in enumerate(variables(code)):
        value = thing(word(first + WORD * place))
        if name in shared and type(value) is CellType:
            value = value.cell_contents if value != CellType() else NULL
        if value is not NULL:
            found[name] = value
    return found


def thing(pointer: int | None) -> object:
    """Return the object at an address that a slot in use holds; NULL for an empty one."""
    return ctypes.cast(pointer, ctypes.py_object).value if pointer else NULL


def word(address: int) -> int:
    """Return the pointer that lies at an address, 0 for NULL."""
    return ctypes.c_void_p.from_address(address).value or 0

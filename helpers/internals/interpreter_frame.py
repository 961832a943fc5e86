"""Read the local variables and the value stack of a running frame from CPython's memory.

CPython keeps both in one array, `localsplus`, at the end of its struct `_PyInterpreterFrame`
(Include/internal/pycore_frame.h). The first slots of the array are the local variables, and the
value stack follows. Python code has no access to the array, so it is read by address, and only
where the layout of the struct is known.
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


NULL = _Null()  # what an empty slot has; CPython also pushes NULL onto the value stack


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
    """Return why this Python's memory layout is unknown, as a sentence; "" where it is known."""
    name = sys.implementation.name
    version = sys.version_info[:2]
    # Builds without the GIL, and debug builds that trace references, have other object headers.
    is_unusual = any(map(sysconfig.get_config_var, ("Py_GIL_DISABLED", "Py_TRACE_REFS")))
    if name == "cpython" and version in VERSIONS and not is_unusual:
        return ""
    build = ", of an unusual build" if is_unusual else ""
    return (
        "the value stack can be read on CPython 3.11, 3.12 and 3.13; "
        f"this is {name} {version[0]}.{version[1]}{build}"
    )


def read_layout() -> Layout:
    """Return the offsets of fields in a frame's memory for the Python that runs now."""
    if sys.version_info >= (3, 12):
        return Layout()
    # In 3.11, the struct has its fields in another order: four pointers stand before the code.
    return Layout(code=32, previous=48, frame_object=40, owner=69)


def find_interpreter_frame(frame: FrameType) -> int:
    """Return the address of the frame's `_PyInterpreterFrame`.

    Read it anew each time: CPython moves the struct of a generator when the generator is freed.
    """
    return read_word(id(frame) + read_layout().frame)


def list_slot_names(code: CodeType) -> tuple[str, ...]:
    """Return the variables of a code object in the order of their slots in `localsplus`.

    First come the locals, then the cell variables that are not locals too, then the free variables.
    """
    local_names = code.co_varnames  # the parameters included
    cell_names = [name for name in code.co_cellvars if name not in local_names]
    return (*local_names, *cell_names, *code.co_freevars)


def read_local_variables(frame: FrameType) -> Mapping[str, object]:
    """Return name -> value for the variables of a frame that have a value.

    Up to 3.12, reading `frame.f_locals` of a function overwrites a dict that the program may have
    changed, and the dict keeps the values alive. So the values are read from memory there.
    """
    code = frame.f_code
    is_function = code.co_flags & inspect.CO_OPTIMIZED
    # `f_locals` does no harm in two cases. For a module or a class, it is the namespace itself.
    # Since 3.13, it is a view of the frame. Where the memory layout is unknown, it has to do.
    if not is_function or sys.version_info >= (3, 13) or find_unsupported():
        return frame.f_locals

    first_slot = find_interpreter_frame(frame) + read_layout().localsplus
    shared_names = {*code.co_cellvars, *code.co_freevars}
    variables = {}
    for number, name in enumerate(list_slot_names(code)):
        value = read_object(read_word(first_slot + WORD * number))
        # A variable that is shared with an inner or outer function is in a cell. At the start of
        # the function, its slot has the value itself, until the function has made the cell.
        if name in shared_names and type(value) is CellType:
            is_empty = value == CellType()  # an empty cell equals an empty cell
            value = NULL if is_empty else value.cell_contents
        if value is not NULL:
            variables[name] = value
    return variables


def read_object(pointer: int | None) -> object:
    """Return the object at an address that was read from a slot; NULL for the address 0 or None."""
    return ctypes.cast(pointer, ctypes.py_object).value if pointer else NULL


def read_word(address: int) -> int:
    """Return the pointer that is stored at an address in memory; 0 for a null pointer."""
    return ctypes.c_void_p.from_address(address).value or 0

"""A running frame -> the objects in its memory: its local variables, then its value stack.

CPython keeps both in one array, `localsplus`, at the end of `_PyInterpreterFrame`
(Include/internal/pycore_frame.h). Nothing in Python's own language leads there, so it is read by
address, and only after the addresses have been proved right on an object of known size.
"""

import ctypes
import sys
from dataclasses import dataclass
from functools import cache
from types import CodeType, FrameType

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


# 3.11 has the function and three namespaces before the code; 3.12 put the code first.
LAYOUTS = {
    (3, 11): Layout(code=32, previous=48, frame_object=40, owner=69),
    (3, 12): Layout(),
    (3, 13): Layout(),
}


def unsupported() -> str:
    """Return why this interpreter's stack is never read, in one sentence; nothing where it is."""
    name, version = sys.implementation.name, sys.version_info[:2]
    if name == "cpython" and version in VERSIONS:
        return ""
    found = f"{name} {version[0]}.{version[1]}"
    return f"the value stack is read on CPython 3.11, 3.12 and 3.13; this is {found}"


@cache
def doubt() -> str:
    """Return why the layout of frames is not the one we know, or nothing: the self-test."""
    if why := unsupported():
        return why
    return "" if _known_frame_reads_right(layout()) else "the self-test read something else"


def layout() -> Layout:
    """Return the offsets for this version."""
    return LAYOUTS[sys.version_info[:2]]


def base(frame: FrameType) -> int:
    """Return the address of the frame's `_PyInterpreterFrame`; it moves with a generator."""
    return _word(id(frame) + layout().frame)


def variables(code: CodeType) -> tuple[str, ...]:
    """Return the names of the first slots: locals, cells that are no locals, free variables."""
    local = code.co_varnames
    return (*local, *(name for name in code.co_cellvars if name not in local), *code.co_freevars)


def thing(pointer: int | None) -> object:
    """Return the object at an address that a slot in use holds; NULL for an empty one."""
    return ctypes.cast(pointer, ctypes.py_object).value if pointer else NULL


def saved_depth(frame: FrameType) -> int | None:
    """Return the depth that CPython has saved: in 3.11 before each traced opcode; None for none."""
    top = ctypes.c_int.from_address(base(frame) + layout().stacktop).value
    return top - len(variables(frame.f_code)) if top >= 0 else None


def _word(address: int) -> int:
    return ctypes.c_void_p.from_address(address).value or 0


def _known():
    first, second = object(), [object()]
    # Stops with three values waiting on its stack, so that both halves of the array are tested.
    third = (first, second, "known", [(yield)])
    return first, third


def _known_frame_reads_right(offsets: Layout) -> bool:
    """Return whether a suspended generator's frame has its code and values where we say."""
    generator = _known()
    next(generator)
    frame, code = generator.gi_frame, generator.gi_code
    # Sizes first: nothing is read before it is known to lie inside the two objects.
    if FrameType.__basicsize__ < offsets.frame + WORD:
        return False
    start, end = id(generator), id(generator) + type(generator).__sizeof__(generator)
    address = _word(id(frame) + offsets.frame)
    slots = len(variables(code)) + code.co_stacksize
    if not start < address or address + offsets.localsplus + slots * WORD > end:
        return False
    first, second = frame.f_locals["first"], frame.f_locals["second"]
    found = [_word(address + offsets.localsplus + WORD * i) for i in range(slots)]
    top = ctypes.c_int.from_address(address + offsets.stacktop).value
    found += [_word(address + offsets.code), _word(address + offsets.frame_object)]
    known = [*map(id, (first, second)), 0, *map(id, (first, second, "known"))]
    return [*found[:6], *found[-2:]] == [*known, id(code), id(frame)] and 6 <= top <= slots

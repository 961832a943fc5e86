"""Reads and sets the interpreter's slot for a frame evaluator (PEP 523), and names what is in it. A
*frame evaluator* is the C function that runs a frame: CPython's own, torch's, or this course's. The
slot has its address. The owner of an address is found by the library that it was loaded from.
"""

import ctypes
import os
from typing import NamedTuple

from ...internals import frame_callback, torch_private
from ...safety.restoring import frame_evaluator
from .building import NotBuilt, extension

DEFAULT = "_PyEval_EvalFrameDefault"
# After each error in a compiled call, torch may count one user of its evaluator too many.
# `put_back` takes away at most so many.
ERROR_LIMIT = 1000


class Evaluator(NamedTuple):
    """A function in C that evaluates frames."""

    #: Its name.
    name: str
    #: Who brought it: such as "CPython: Python/ceval.c", "torch", or the name of a library.
    owner: str


def address_installed() -> int:
    """Return the address in the slot: the evaluator that the interpreter calls now."""
    return frame_evaluator("Get")


def install(address: int) -> None:
    """Set the slot to the address of an evaluator. It must be one that was read from the slot."""
    frame_evaluator("Set", address)


def installed() -> tuple[Evaluator, ...]:
    """Return the evaluator in the slot and, if it is this course's, the one that it calls next."""
    current = address_installed()
    own, previous = _own_addresses()
    if current == own:
        return evaluator_at(current), evaluator_at(previous)
    return (evaluator_at(current),)


def evaluator_at(address: int) -> Evaluator:
    """Return the name and the owner of the evaluator at an address that was read from the slot."""
    own, _ = _own_addresses()
    if address == own:
        return Evaluator("evaluate", "this course: frame_hook/hook.c")
    if address == ctypes.cast(getattr(ctypes.pythonapi, DEFAULT), ctypes.c_void_p).value:
        return Evaluator(DEFAULT, "CPython: Python/ceval.c")
    file = _find_library_name(address)
    owner = "torch" if "torch" in file else file or "unknown"
    return Evaluator("a function without a public name", owner)


def _find_library_name(address: int) -> str:
    """Return the file name of the library with the C function at `address`; "" if unknown."""
    if os.name == "nt":  # Windows has no dladdr
        return ""
    info = (ctypes.c_char_p * 4)()  # the C struct Dl_info; its first field is the path
    dladdr = ctypes.CDLL(None).dladdr
    if not dladdr(ctypes.c_void_p(address), info):
        return ""
    return os.path.basename(os.fsdecode(info[0] or b""))


def put_back() -> Evaluator:
    """Take torch's evaluator out of the slot if an error left it there; return what is there now.

    Nothing is done if another evaluator is in the slot, or while torch is compiling or running a
    compiled call, because then torch needs its evaluator.
    """
    for _ in range(ERROR_LIMIT):
        current = installed()[0]
        if current.owner != "torch" or torch_private.callback() or torch_private.compiling():
            break
        frame_callback.release_callback_once()
    return current


def _own_addresses() -> tuple[int, int]:
    """Return (address of this course's evaluator, address of the one that it calls next).

    Both are 0 if the extension cannot be built.
    """
    try:
        return extension().addresses()
    except NotBuilt:
        return 0, 0

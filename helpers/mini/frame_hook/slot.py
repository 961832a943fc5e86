"""The interpreter's slot for a frame evaluator (PEP 523): read, set, and named.

An address is identified by the file that it was loaded from.
"""

import ctypes
import os
from typing import NamedTuple

from ...internals import frame_callback, torch_private
from ...safety.restoring import frame_evaluator
from .building import NotBuilt, extension

DEFAULT = "_PyEval_EvalFrameDefault"
# How many errors, since the last time, may each have made torch's evaluator stay.
MOST_LEFT = 1000


class Evaluator(NamedTuple):
    """A function in C that evaluates frames."""

    #: Its name.
    name: str
    #: Whose it is: the file that it was loaded from, in words.
    owner: str


def address_installed() -> int:
    """Return the address of the evaluator that the interpreter calls now."""
    return frame_evaluator("Get")


def install(address: int) -> None:
    """Have the interpreter call another evaluator, which must have been installed once."""
    frame_evaluator("Set", address)


def installed() -> tuple[Evaluator, ...]:
    """Return the evaluator that the interpreter calls now, then what this course's calls next."""
    current = address_installed()
    own, previous = _own_addresses()
    if current == own:
        return evaluator_at(current), evaluator_at(previous)
    return (evaluator_at(current),)


def evaluator_at(address: int) -> Evaluator:
    """Return whose evaluator is at an address that was read from the slot."""
    own, _ = _own_addresses()
    if address == own:
        return Evaluator("evaluate", "this course: frame_hook/hook.c")
    if address == ctypes.cast(getattr(ctypes.pythonapi, DEFAULT), ctypes.c_void_p).value:
        return Evaluator(DEFAULT, "CPython: Python/ceval.c")
    file = _file_of(address)
    owner = "torch" if "torch" in file else file or "unknown"
    return Evaluator("a function without a public name", owner)


def _file_of(address: int) -> str:
    """Return the name of the file that a function in C was loaded from; "" if unknown."""
    if os.name == "nt":  # which has no dladdr
        return ""
    info = (ctypes.c_char_p * 4)()  # a Dl_info; its first field is the file
    dladdr = ctypes.CDLL(None).dladdr
    if not dladdr(ctypes.c_void_p(address), info):
        return ""
    return os.path.basename(os.fsdecode(info[0] or b""))


def put_back() -> Evaluator:
    """Take torch's evaluator out of the slot if an error made it stay; return the one there now.

    Nothing is done in the midst of a compiled call, or where it is not torch's.
    """
    for _ in range(MOST_LEFT):
        current = installed()[0]
        if current.owner != "torch" or torch_private.callback() or torch_private.compiling():
            break
        frame_callback.release_callback_once()
    return current


def _own_addresses() -> tuple[int, int]:
    """Return the addresses of this course's evaluator and of what it calls next; else zeros."""
    try:
        return extension().addresses()
    except NotBuilt:
        return 0, 0

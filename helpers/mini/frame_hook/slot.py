"""The interpreter's slot for a frame evaluator (PEP 523): read, set, and named.

An address is identified by the file that it was loaded from.
"""

import ctypes
import os
from collections import namedtuple
from functools import partial

from ...internals import torch_private
from ...safety.restoring import frame_evaluator
from .building import NotBuilt, extension

DEFAULT = "_PyEval_EvalFrameDefault"
MOST_LEFT = 1000  # errors since the last time


# A function in C that evaluates frames: its `name`, and whose it is (`owner`).
Evaluator = namedtuple("Evaluator", "name owner")
# The address of the evaluator that the interpreter calls now, and how to have it call another,
# which must have been installed once.
address_installed, install = partial(frame_evaluator, "Get"), partial(frame_evaluator, "Set")


def installed() -> tuple[Evaluator, ...]:
    """Return the evaluator that the interpreter calls now, then what this course's calls next."""
    now, (ours, previous) = address_installed(), _own_addresses()
    return tuple(map(evaluator_at, [now, previous] if now == ours else [now]))


def evaluator_at(address: int) -> Evaluator:
    """Return whose evaluator is at an address that was read from the slot."""
    if address == _own_addresses()[0]:
        return Evaluator("evaluate", "this course: frame_hook/hook.c")
    if address == ctypes.cast(getattr(ctypes.pythonapi, DEFAULT), ctypes.c_void_p).value:
        return Evaluator(DEFAULT, "CPython: Python/ceval.c")
    where = (ctypes.c_char_p * 4)()  # a Dl_info; its first field is the file
    dladdr = None if os.name == "nt" else ctypes.CDLL(None).dladdr
    found = dladdr and dladdr(ctypes.c_void_p(address), where) and where[0]
    file = os.path.basename(os.fsdecode(found or b""))
    owner = "torch" if "torch" in file else file or "unknown"
    return Evaluator("a function without a public name", owner)


def put_back() -> Evaluator:
    """Take torch's evaluator out of the slot if an error made it stay; return the one there now.

    Nothing is done in the midst of a compiled call, or where it is not torch's.
    """
    for _ in range(MOST_LEFT):
        now = installed()[0]
        if now.owner != "torch" or torch_private.callback() or torch_private.compiling():
            break
        torch_private.count_one_out()
    return now


def _own_addresses() -> tuple[int, int]:
    """Return the addresses of this course's evaluator and of what it calls next; else zeros."""
    try:
        return extension().addresses()
    except NotBuilt:
        return 0, 0

"""A call -> how often TensorFlow's own C++ calls each function of the C API while it runs.

The functions of tensorflow/c/eager/c_api.h are in one library, and their caller,
tensorflow/python/eager/pywrap_tfe_src.cc, is in another; between the two lies a slot for each.
What follows is chapter 1 in C: each slot is rebound to a function that counts, and put back.
"""

import ctypes
from collections import Counter
from pathlib import Path

from helpers.internals.shared_libraries import import_slots
from helpers.mini.eager.c_api import POINTER, api

STEPS = ("TFE_NewOp", "TFE_OpSetDevice", "TFE_OpAddInput", "TFE_Execute", "TFE_DeleteOp")
OBJECTS = "op objects"
FIVE = ctypes.CFUNCTYPE(POINTER, *[POINTER] * 5)  # addresses and ints; no step takes more
_kept = []  # C may still be on its way to a counter after its slot has been put back


def counted(run, times: int = 20) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return how often each step is called while `run()` runs `times` times, and what was made.

    "op objects" among the counts: how many there were that `TFE_Execute` got. The second are the
    names of the ops that `TFE_NewOp` made, sorted, each once. Two calls before fill the caches.
    Both are empty where slots cannot be rebound (only ELF libraries have them).
    """
    slots = _slots()
    if not slots:
        return {}, ()
    run(), run()
    counts, made, live, before = Counter(), set(), set(), {}
    for name in STEPS:
        slot = POINTER.from_address(slots[name])
        before[name] = slot.value
        slot.value = ctypes.cast(_counter(name, counts, made, live), POINTER).value
    try:
        for _ in range(times):
            run()
    finally:
        for name, address in before.items():
            POINTER.from_address(slots[name]).value = address
    return {name: counts[name] for name in (*STEPS, OBJECTS)}, tuple(sorted(made))


def _slots() -> dict[str, int]:
    """Return the slots of the library between Python and the C API; empty if one is missing."""
    from tensorflow.python import pywrap_tfe

    folder = Path(pywrap_tfe.__file__).parent
    files = list(folder.glob("lib_pywrap_tensorflow_common.so*"))
    slots = import_slots(files[0]) if files else {}
    return slots if all(name in slots for name in STEPS) else {}


def _counter(name: str, counts: Counter, made: set[str], live: set[int]):
    """Return a C function that counts, and calls the function of this name."""
    original = FIVE(ctypes.cast(getattr(api(), name), POINTER).value)

    def count(*arguments):
        counts[name] += 1
        if name == "TFE_NewOp":
            made.add(ctypes.string_at(arguments[1]).decode())
        elif name == "TFE_Execute":
            counts[OBJECTS] += arguments[0] not in live
            live.add(arguments[0])
        elif name == "TFE_DeleteOp":
            live.discard(arguments[0])  # the next one may get the same address
        return original(*arguments)

    counter = FIVE(count)
    _kept.append(counter)
    return counter

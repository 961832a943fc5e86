"""A call -> how often TensorFlow's own C++ takes each step of an eager call.

Between its library and the one with the functions lies a slot for each step. The slot is rebound to
a function that counts, and restored.
"""

import ctypes
from collections import Counter
from pathlib import Path

from ...internals.shared_libraries import find_import_slots
from .c_api import POINTER, api

STEPS = ("TFE_NewOp", "TFE_OpSetDevice", "TFE_OpAddInput", "TFE_Execute", "TFE_DeleteOp")
OBJECTS = "op objects"
STEP_TYPE = ctypes.CFUNCTYPE(POINTER, *[POINTER] * 5)  # addresses and ints; no step takes more
# The counting functions, which live as long as the process: C may still be on its way to one after
# its slot has been restored.
_counters = []


def counted(run, times: int = 20) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return how often each step is called while `run()` runs `times` times, and the ops' names.

    The first is step -> count, and "op objects" -> how many op objects `TFE_Execute` got. The
    second are the names of the ops that `TFE_NewOp` made, sorted. Both are empty where slots cannot
    be rebound (only ELF libraries have them).
    """
    addresses = _find_slots()
    if not addresses:
        return {}, ()
    run()
    run()  # twice before, so that no step is counted that only fills a cache

    tally = _Tally()
    slots = {name: POINTER.from_address(addresses[name]) for name in STEPS}
    originals = {}
    for name, slot in slots.items():
        originals[name] = slot.value
        slot.value = ctypes.cast(_make_counter(name, tally), POINTER).value
    try:
        for _ in range(times):
            run()
    finally:
        for name, slot in slots.items():
            slot.value = originals[name]

    counts = {name: tally.counts[name] for name in (*STEPS, OBJECTS)}
    return counts, tuple(sorted(tally.op_names))


def _find_slots() -> dict[str, int]:
    """Return step -> the address of its slot, among others; {} where one of `STEPS` is missing."""
    from tensorflow.python import pywrap_tfe

    folder = Path(pywrap_tfe.__file__).parent
    libraries = list(folder.glob("lib_pywrap_tensorflow_common.so*"))
    if not libraries:
        return {}
    slots = find_import_slots(libraries[0])
    if not all(name in slots for name in STEPS):
        return {}
    return slots


class _Tally:
    """What the counting functions of one run note."""

    def __init__(self):
        """Begin with nothing counted."""
        self.counts = Counter()  # step, or `OBJECTS` -> how often
        self.op_names = set()
        self.live_ops = set()  # the addresses of op objects that have run and are not deleted

    def note(self, name: str, arguments: tuple) -> None:
        """Note a step and what it was called with: addresses, in the order of the C function."""
        self.counts[name] += 1
        if name == "TFE_NewOp":
            op_name = ctypes.string_at(arguments[1])  # (context, name, status)
            self.op_names.add(op_name.decode())
        elif name == "TFE_Execute":
            if arguments[0] not in self.live_ops:  # TensorFlow may run one op object again
                self.counts[OBJECTS] += 1
            self.live_ops.add(arguments[0])
        elif name == "TFE_DeleteOp":
            self.live_ops.discard(arguments[0])  # the next one may get the same address


def _make_counter(name: str, tally: _Tally):
    """Return a C function that notes a call of the step, and passes the call on to the step."""
    original = STEP_TYPE(ctypes.cast(getattr(api(), name), POINTER).value)

    def count(*arguments):
        tally.note(name, arguments)
        return original(*arguments)

    counter = STEP_TYPE(count)
    _counters.append(counter)
    return counter

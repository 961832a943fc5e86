"""Counts how often TensorFlow's own C++ takes each step of an eager call, such as TFE_Execute.
TensorFlow's library calls the function of another library through an *import slot*, which has the
address of the function. To count, the slot gets the address of a counting function, and afterwards
its old address again.
"""

import ctypes
from collections import Counter
from pathlib import Path

from ...internals.shared_libraries import find_import_slots
from .c_api import POINTER, api

STEPS = ("TFE_NewOp", "TFE_OpSetDevice", "TFE_OpAddInput", "TFE_Execute", "TFE_DeleteOp")
OBJECTS = "op objects"
# One C type for all steps: they take at most five arguments, which are addresses and ints.
STEP_TYPE = ctypes.CFUNCTYPE(POINTER, *[POINTER] * 5)
# The counting functions are kept alive for good: another thread of C may have read the address of
# one from its slot just before the slot was restored.
_counters = []


def counted(run, times: int = 20) -> tuple[dict[str, int], tuple[str, ...]]:
    """Run `run()` `times` times; return (counts, names of ops).

    `counts` maps each step to how often it was called, and "op objects" to how many op objects
    `TFE_Execute` received. The names, sorted, are those of the ops that `TFE_NewOp` made. Both are
    empty on a platform without import slots, which only ELF libraries have.
    """
    addresses = _find_slots()
    if not addresses:
        return {}, ()
    # Two runs before, because the first ones fill caches, with steps that later runs do not take.
    run()
    run()

    tally = _Tally()
    slots = {name: POINTER.from_address(addresses[name]) for name in STEPS}
    originals = {}  # step -> the address that was in its slot
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
    """Return function name -> address of its import slot, for the functions of a library.

    Return {} if the library is not there, or if it lacks a slot for one of `STEPS`.
    """
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
    """The counts of one measurement, which the counting functions fill in."""

    def __init__(self):
        """Begin with nothing counted."""
        self.counts = Counter()  # step, or `OBJECTS` -> count
        self.op_names = set()
        self.live_ops = set()  # the addresses of op objects that have run and are not deleted

    def note(self, name: str, arguments: tuple) -> None:
        """Count a call of the step `name`. `arguments` are the addresses that C passed to it."""
        self.counts[name] += 1
        if name == "TFE_NewOp":
            op_name = ctypes.string_at(arguments[1])  # the arguments are context, name, status
            self.op_names.add(op_name.decode())
        elif name == "TFE_Execute":
            if arguments[0] not in self.live_ops:  # TensorFlow may run one op object several times
                self.counts[OBJECTS] += 1
            self.live_ops.add(arguments[0])
        elif name == "TFE_DeleteOp":
            self.live_ops.discard(arguments[0])  # a new op object may get the same address


def _make_counter(name: str, tally: _Tally):
    """Return a C function that counts a call of the step `name`, then calls the step itself."""
    original = STEP_TYPE(ctypes.cast(getattr(api(), name), POINTER).value)

    def count(*arguments):
        tally.note(name, arguments)
        return original(*arguments)

    counter = STEP_TYPE(count)
    _counters.append(counter)
    return counter

"""An op's name, EagerTensors and attributes -> EagerTensors: one eager call, by hand.

Mirrors TFE_Py_ExecuteCancelable of tensorflow/python/eager/pywrap_tfe_src.cc: new op, device,
inputs, attributes, execute, delete. `counted` tells how often TensorFlow's own C++ takes each of
these steps: the functions of tensorflow/c/eager/c_api.h are in one library, their caller is in
another, and between the two lies a slot for each. That is chapter 1 in C: each slot is rebound to a
function that counts, and put back.
"""

import ctypes
from collections import Counter
from pathlib import Path

from helpers.internals.shared_libraries import import_slots
from helpers.mini.eager.attributes import set_attributes
from helpers.mini.eager.c_api import (
    INT,
    POINTER,
    Status,
    api,
    handle_of,
    live_context,
    tensor_of,
)
from helpers.mini.eager.checks import checked, completed, definition_of


def execute(op_name: str, inputs, attrs: tuple = (), num_outputs: int = 1) -> list:
    """Run one op, or a registered function by its name, and return its outputs.

    `inputs`: one EagerTensor per input of the op, in the order of its definition; a list of them
    where the definition has a list. `attrs`: names and values in turn. It runs on the device that
    `tf.device` asks for. No tape sees it.

    Raises TensorFlow's exceptions with its words; TypeError and ValueError of the guard for what
    would have ended the process.
    """
    inputs = checked(op_name, inputs, attrs, num_outputs)
    if len(attrs) % 2 == 0:
        attrs = completed(definition_of(op_name), inputs, attrs)
    return run(op_name, inputs, attrs, num_outputs)


def run(op_name: str, inputs: list, attrs: tuple, num_outputs: int) -> list:
    """Do the same without asking the guard: a wrong call can end the process."""
    with Status() as status:
        op = api().TFE_NewOp(live_context(), op_name.encode(), status.address)
        status.check()
        try:
            _set_device(op, status)
            _add_inputs(op, inputs, status)
            set_attributes(op, attrs, status)
            handles = _run(op, num_outputs, status)
        except _not_ok() as error:
            raise type(error)(None, None, f"{error.message} [Op:{op_name}]") from None
        finally:
            api().TFE_DeleteOp(op)
    return [tensor_of(handle) for handle in handles]


def _set_device(op, status):
    from tensorflow.python.eager import context

    api().TFE_OpSetDevice(op, (context.context().device_name or "").encode(), status.address)
    status.check()


def _add_inputs(op, inputs, status):
    for given in inputs:
        if isinstance(given, (list, tuple)):
            handles = (POINTER * len(given))(*map(handle_of, given))
            if given:  # of an empty list TensorFlow would look at the first tensor
                api().TFE_OpAddInputList(op, handles, len(given), status.address)
        else:
            api().TFE_OpAddInput(op, handle_of(given), status.address)
        status.check()


def _run(op, num_outputs, status) -> list[int]:
    handles, number = (POINTER * num_outputs)(), INT(num_outputs)
    api().TFE_Execute(op, handles, ctypes.byref(number), status.address)
    status.check()
    return handles[: number.value]


def _not_ok():
    from tensorflow.python.framework import errors

    return errors.OpError


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

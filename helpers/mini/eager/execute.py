"""An op's name, EagerTensors and attributes -> EagerTensors: one eager call, by hand.

Mirrors TFE_Py_ExecuteCancelable of tensorflow/python/eager/pywrap_tfe_src.cc: new op, device,
inputs, attributes, execute, delete. The C API trusts its caller, so `checked` asks the definition
first, or the interpreter dies; `completed` fills in defaults, as SetOpAttrWithDefaults does.
`counted` tells how often TensorFlow's own C++ takes each of these steps: between its library and
the one with the functions lies a slot for each, which is rebound to one that counts, and restored.
"""

import ctypes
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from ...internals.shared_libraries import import_slots
from ...safety.arguments import real_type_name
from .c_api import (
    INT,
    POINTER,
    Status,
    api,
    handle_of,
    live_context,
    set_attributes,
    tensor_of,
)


def execute(op_name: str, inputs, attrs: tuple = (), num_outputs: int = 1) -> list:
    """Run one op, or a registered function by its name, and return its outputs.

    `inputs`: one EagerTensor per input of the op, in the order of its definition; a list of them
    where the definition has a list. `attrs`: names and values in turn. It runs on the device that
    `tf.device` asks for. No tape sees it. TypeError and ValueError for what would have ended the
    process; else TensorFlow's exceptions with its words.
    """
    inputs = checked(op_name, inputs, attrs)
    if len(attrs) % 2 == 0:
        attrs = completed(definition_of(op_name), inputs, attrs)
    return run(op_name, inputs, attrs, num_outputs)


def run(op_name: str, inputs: list, attrs: tuple, num_outputs: int) -> list:
    """Do the same without asking the guard: a wrong call can end the process."""
    from tensorflow.python.eager import context
    from tensorflow.python.framework import errors

    with Status() as status:
        op = api().TFE_NewOp(live_context(), op_name.encode(), status.address)
        status.check()
        try:
            device = (context.context().device_name or "").encode()
            api().TFE_OpSetDevice(op, device, status.address)
            status.check()
            _add_inputs(op, inputs, status)
            set_attributes(op, attrs, status)
            handles, number = (POINTER * num_outputs)(), INT(num_outputs)
            api().TFE_Execute(op, handles, ctypes.byref(number), status.address)
            status.check()
        except errors.OpError as error:
            raise type(error)(None, None, f"{error.message} [Op:{op_name}]") from None
        finally:
            api().TFE_DeleteOp(op)
    return [tensor_of(handle) for handle in handles[: number.value]]


def _add_inputs(op, inputs, status):
    for given in inputs:
        if isinstance(given, (list, tuple)):
            handles = (POINTER * len(given))(*map(handle_of, given))
            api().TFE_OpAddInputList(op, handles, len(given), status.address)
        else:
            api().TFE_OpAddInput(op, handle_of(given), status.address)
        status.check()


# --- what is asked before C is called


def definition_of(op_name: str):
    """Return the OpDef of an op, or None for another name (such as a function's)."""
    from tensorflow.python.framework import op_def_registry

    return op_def_registry.get(op_name)


def checked(op_name, inputs, attrs) -> list:
    """Return `inputs` as a list, one entry per input of the op; raise if a call could not be."""
    if not isinstance(attrs, tuple):
        words = "attrs must be a tuple of names and values in turn"
        raise TypeError(f"{words}, not {real_type_name(attrs)}")
    definition = definition_of(op_name)
    if definition is None:
        _require_eager(inputs)
        return list(inputs)
    arguments = definition.input_arg
    if len(inputs) != len(arguments):
        names = ", ".join(argument.name for argument in arguments) or "none"
        takes = f"{len(arguments)} input" + "s" * (len(arguments) != 1)
        raise ValueError(f"{op_name} takes {takes} ({names}), got {len(inputs)}")
    types = dict(zip(attrs[::2], attrs[1::2], strict=False))
    for position, (argument, given) in enumerate(zip(arguments, inputs, strict=True)):
        tensors = [given]
        if argument.number_attr or argument.type_list_attr:
            tensors, position = given, 0
            if not isinstance(given, (list, tuple)) or not given:
                told = "an empty one" if isinstance(given, (list, tuple)) else real_type_name(given)
                words = f"input {argument.name} of {op_name} is a list of tensors"
                raise ValueError(f"{words}, not {told}")
        _require_eager(tensors, position)
        _require_dtype(op_name, argument, tensors, types.get(argument.type_attr))
    return list(inputs)


def _require_eager(tensors: Iterable, first: int = 0):
    from tensorflow.python.framework import ops

    for position, tensor in enumerate(tensors, first):
        if type(tensor) is not ops.EagerTensor:
            raise TypeError(
                "provided list of inputs contains objects other than 'EagerTensor'. "
                f"Item {position} is type: {real_type_name(tensor)}"
            )


def _require_dtype(op_name, argument, tensors, asked):
    """Stop a dtype that contradicts an input: set after the inputs, TensorFlow would ignore it."""
    from tensorflow.python.framework import dtypes

    number = getattr(asked, "_type_enum", asked)
    for tensor in tensors:
        if type(number) is int and argument.type_attr and number != tensor.dtype._type_enum:
            raise ValueError(
                f"attr {argument.type_attr} of {op_name} says {dtypes.as_dtype(number).name}, "
                f"but input {argument.name} is {tensor.dtype.name}"
            )


def completed(definition, inputs: list, attrs: tuple) -> tuple:
    """Return `attrs` and, behind them, each default that they do not name."""
    if definition is None:
        return attrs
    named, found = set(attrs[::2]), []
    for a in definition.input_arg:  # TensorFlow reads these off the inputs
        named |= {a.type_attr, a.number_attr, a.type_list_attr}
    for attr in definition.attr:
        if attr.HasField("default_value") and attr.name not in named:
            found += [attr.name, _value(attr.default_value)]
    return (*attrs, *found)


def _value(default):
    kind = default.WhichOneof("value")
    value = getattr(default, kind)
    if kind == "list":
        lists = (getattr(value, field) for field in ("s", "i", "type"))
        return next((list(found) for found in lists if found), [])
    if kind == "shape":
        return None if value.unknown_rank else [size.size for size in value.dim]
    return value


# --- what is counted

STEPS = ("TFE_NewOp", "TFE_OpSetDevice", "TFE_OpAddInput", "TFE_Execute", "TFE_DeleteOp")
OBJECTS = "op objects"
FIVE = ctypes.CFUNCTYPE(POINTER, *[POINTER] * 5)  # addresses and ints; no step takes more
_kept = []  # C may still be on its way to a counter after its slot has been restored


def counted(run, times: int = 20) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return how often each step is called while `run()` runs `times` times, and what was made.

    "op objects" among the counts: how many `TFE_Execute` got. The second are the names of the ops
    that `TFE_NewOp` made, sorted. Two calls before fill the caches. Both are empty where slots
    cannot be rebound (only ELF libraries have them).
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
    from tensorflow.python import pywrap_tfe

    folder = Path(pywrap_tfe.__file__).parent
    files = list(folder.glob("lib_pywrap_tensorflow_common.so*"))
    slots = import_slots(files[0]) if files else {}
    return slots if all(name in slots for name in STEPS) else {}


def _counter(name: str, counts: Counter, made: set[str], live: set[int]):
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

"""An op's name, EagerTensors and attributes -> EagerTensors: one eager call, by hand.

Mirrors TFE_Py_ExecuteCancelable of tensorflow/python/eager/pywrap_tfe_src.cc: new op, device,
inputs, attributes, execute, delete. The C API trusts its caller, so `checked` asks the definition
first, or the interpreter dies; `completed` fills in defaults, as SetOpAttrWithDefaults does.
"""

import ctypes
from collections.abc import Iterable

from ...safety.arguments import real_type_name
from .attributes import set_attributes
from .c_api import INT, POINTER, Status, api, handle_of, live_context, tensor_of


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
            handles = (POINTER * num_outputs)()
            handle_count = INT(num_outputs)
            api().TFE_Execute(op, handles, ctypes.byref(handle_count), status.address)
            status.check()
        except errors.OpError as error:
            raise type(error)(None, None, f"{error.message} [Op:{op_name}]") from None
        finally:
            api().TFE_DeleteOp(op)
    return [tensor_of(handle) for handle in handles[: handle_count.value]]


def _add_inputs(op, inputs, status):
    for value in inputs:
        if isinstance(value, (list, tuple)):
            handles = (POINTER * len(value))(*map(handle_of, value))
            api().TFE_OpAddInputList(op, handles, len(value), status.address)
        else:
            api().TFE_OpAddInput(op, handle_of(value), status.address)
        status.check()


# --- what is asked before C is called


def definition_of(op_name: str):
    """Return the OpDef of an op, or None for another name (such as a function's)."""
    from tensorflow.python.framework import op_def_registry

    return op_def_registry.get(op_name)


def checked(op_name, inputs, attrs) -> list:
    """Return `inputs` as a list, one entry per input of the op; raise if a call could not be."""
    if not isinstance(attrs, tuple):
        kind = real_type_name(attrs)
        raise TypeError(f"attrs must be a tuple of names and values in turn, not {kind}")
    definition = definition_of(op_name)
    if definition is None:
        _require_eager(inputs)
        return list(inputs)

    _require_count(op_name, definition.input_arg, inputs)
    attrs_by_name = dict(zip(attrs[::2], attrs[1::2], strict=False))
    pairs = zip(definition.input_arg, inputs, strict=True)
    for position, (argument, value) in enumerate(pairs):
        tensors = [value]
        first = position
        if argument.number_attr or argument.type_list_attr:
            tensors = value
            first = 0
            _require_filled_list(op_name, argument, tensors)
        _require_eager(tensors, first)
        _require_dtype(op_name, argument, tensors, attrs_by_name.get(argument.type_attr))
    return list(inputs)


def _require_count(op_name, arguments, inputs):
    if len(inputs) == len(arguments):
        return
    names = ", ".join(argument.name for argument in arguments) or "none"
    takes = "1 input" if len(arguments) == 1 else f"{len(arguments)} inputs"
    raise ValueError(f"{op_name} takes {takes} ({names}), got {len(inputs)}")


def _require_filled_list(op_name, argument, value):
    is_list = isinstance(value, (list, tuple))
    if is_list and value:
        return
    kind = "an empty one" if is_list else real_type_name(value)
    raise ValueError(f"input {argument.name} of {op_name} is a list of tensors, not {kind}")


def _require_eager(tensors: Iterable, first: int = 0):
    from tensorflow.python.framework import ops

    for position, tensor in enumerate(tensors, first):
        if type(tensor) is not ops.EagerTensor:
            raise TypeError(
                "provided list of inputs contains objects other than 'EagerTensor'. "
                f"Item {position} is type: {real_type_name(tensor)}"
            )


def _require_dtype(op_name, argument, tensors, requested):
    """Stop a dtype that contradicts an input: set after the inputs, TensorFlow would ignore it."""
    from tensorflow.python.framework import dtypes

    number = getattr(requested, "_type_enum", requested)
    if type(number) is not int or not argument.type_attr:
        return
    for tensor in tensors:
        if number != tensor.dtype._type_enum:
            raise ValueError(
                f"attr {argument.type_attr} of {op_name} says {dtypes.as_dtype(number).name}, "
                f"but input {argument.name} is {tensor.dtype.name}"
            )


def completed(definition, inputs: list, attrs: tuple) -> tuple:
    """Return `attrs` and, behind them, each default that they do not name."""
    if definition is None:
        return attrs
    names = set(attrs[::2])
    for argument in definition.input_arg:  # TensorFlow reads these off the inputs
        names |= {argument.type_attr, argument.number_attr, argument.type_list_attr}

    defaults = []
    for attr in definition.attr:
        if attr.HasField("default_value") and attr.name not in names:
            defaults += [attr.name, _python_value(attr.default_value)]
    return (*attrs, *defaults)


def _python_value(attr_value):
    """Return what an AttrValue (tensorflow/core/framework/attr_value.proto) contains."""
    kind = attr_value.WhichOneof("value")
    value = getattr(attr_value, kind)
    if kind == "list":
        for field in ("s", "i", "type"):
            items = getattr(value, field)
            if items:
                return list(items)
        return []
    if kind == "shape":
        return None if value.unknown_rank else [size.size for size in value.dim]
    return value

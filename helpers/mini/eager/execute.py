"""An op's name, EagerTensors and attributes -> EagerTensors: one eager call, by hand.

Mirrors TFE_Py_ExecuteCancelable of tensorflow/python/eager/pywrap_tfe_src.cc: new op, device,
inputs, attributes, execute, delete. The C API trusts its caller, so `checked` asks the definition
first, or the interpreter dies; `completed` fills in defaults, as SetOpAttrWithDefaults does.

`attrs` is everywhere a tuple of names and values in turn. A definition is an OpDef
(tensorflow/core/framework/op_def.proto), and its `input_arg` describes the inputs.
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
    if len(attrs) % 2 == 0:  # `set_attributes` refuses the others, with TensorFlow's words
        attrs = completed(definition_of(op_name), inputs, attrs)
    return run(op_name, inputs, attrs, num_outputs)


def run(op_name: str, inputs: list, attrs: tuple, num_outputs: int) -> list:
    """Do what `execute` does, without its checks and defaults: a wrong call can end the process."""
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
            handles = (POINTER * num_outputs)()  # C fills it in
            handle_count = INT(num_outputs)  # C sets how many it has filled in
            api().TFE_Execute(op, handles, ctypes.byref(handle_count), status.address)
            status.check()
        except errors.OpError as error:  # TensorFlow, too, says at the end which op it was
            raise type(error)(None, None, f"{error.message} [Op:{op_name}]") from None
        finally:
            api().TFE_DeleteOp(op)
    return [tensor_of(handle) for handle in handles[: handle_count.value]]


def _add_inputs(op: int, inputs: list, status: Status) -> None:
    """Add the inputs to the op at this address: EagerTensors, and lists of them."""
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


def checked(op_name: str, inputs, attrs: tuple) -> list:
    """Return `inputs` as a list, one entry per input of the op, if C can be called with them.

    An entry is an EagerTensor, or a list of them where the op has a list. Raise TypeError or
    ValueError for attributes that are no tuple, a wrong number of inputs, what is no EagerTensor,
    an empty list, and a dtype in `attrs` that an input does not have.
    """
    if not isinstance(attrs, tuple):
        kind = real_type_name(attrs)
        raise TypeError(f"attrs must be a tuple of names and values in turn, not {kind}")
    definition = definition_of(op_name)
    if definition is None:  # a function, or no op at all, as TFE_NewOp will say
        _require_eager(inputs)
        return list(inputs)

    _require_count(op_name, definition.input_arg, inputs)
    # A last name without a value is left out here; `set_attributes` refuses it later.
    attrs_by_name = dict(zip(attrs[::2], attrs[1::2], strict=False))
    arguments_and_inputs = zip(definition.input_arg, inputs, strict=True)
    for position, (argument, value) in enumerate(arguments_and_inputs):
        tensors = [value]
        first_position = position
        if argument.number_attr or argument.type_list_attr:  # the definition has a list here
            tensors = value
            first_position = 0
            _require_filled_list(op_name, argument, tensors)
        _require_eager(tensors, first_position)
        _require_dtype(op_name, argument, tensors, attrs_by_name.get(argument.type_attr))
    return list(inputs)


def _require_count(op_name, arguments, inputs):
    """Raise ValueError if there are not as many inputs as arguments in the definition."""
    if len(inputs) == len(arguments):
        return
    names = ", ".join(argument.name for argument in arguments) or "none"
    takes = "1 input" if len(arguments) == 1 else f"{len(arguments)} inputs"
    raise ValueError(f"{op_name} takes {takes} ({names}), got {len(inputs)}")


def _require_filled_list(op_name, argument, value):
    """Raise ValueError if the input for this argument is no list or tuple, or an empty one."""
    is_list = isinstance(value, (list, tuple))
    if is_list and value:
        return
    kind = "an empty one" if is_list else real_type_name(value)
    raise ValueError(f"input {argument.name} of {op_name} is a list of tensors, not {kind}")


def _require_eager(tensors: Iterable, first_position: int = 0):
    """Raise TypeError, in TensorFlow's words, for the first of these that is no EagerTensor.

    `first_position` is the number by which the message calls the first one.
    """
    from tensorflow.python.framework import ops

    for position, tensor in enumerate(tensors, first_position):
        if type(tensor) is not ops.EagerTensor:
            raise TypeError(
                "provided list of inputs contains objects other than 'EagerTensor'. "
                f"Item {position} is type: {real_type_name(tensor)}"
            )


def _require_dtype(op_name, argument, tensors, requested):
    """Raise ValueError if `requested`, an attribute's dtype or None, is not that of the tensors.

    TensorFlow would ignore it without a word, because attributes are set after the inputs.
    """
    from tensorflow.python.framework import dtypes

    # A DType has its number in `_type_enum`, and may be given as that number. `set_attributes`
    # refuses anything else.
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
    """Return `attrs` and, behind them, name and value of each default that they do not name.

    `definition` is the op's, or None for a function, which has no defaults.
    """
    if definition is None:
        return attrs
    known_names = set(attrs[::2])
    for argument in definition.input_arg:  # TensorFlow reads these off the inputs
        known_names |= {argument.type_attr, argument.number_attr, argument.type_list_attr}

    defaults = []
    for attr in definition.attr:
        if attr.HasField("default_value") and attr.name not in known_names:
            defaults += [attr.name, _python_value(attr.default_value)]
    return (*attrs, *defaults)


def _python_value(attr_value):
    """Return the Python value of an AttrValue (tensorflow/core/framework/attr_value.proto).

    A list has the first kind of items that it contains, and a shape is a list of sizes, or None if
    its rank is unknown.
    """
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

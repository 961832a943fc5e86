"""Runs one TensorFlow op by calling the C API step by step, without TensorFlow's Python code. Its
arguments are an op's name, EagerTensors and attributes. `attrs` is a tuple (name, value, name,
value, …) everywhere. A *definition* is an OpDef (tensorflow/core/framework/op_def.proto); its
`input_arg` describes the inputs of the op.

Mirrors TFE_Py_ExecuteCancelable of tensorflow/python/eager/pywrap_tfe_src.cc: new op, device,
inputs, attributes, execute, delete. The C API trusts its caller, and a wrong call can end the
interpreter. So `require_safe_inputs` checks the inputs against the definition first.
`add_default_attrs` adds default attributes, as SetOpAttrWithDefaults does.
"""

import ctypes
from collections.abc import Iterable

from ...safety.arguments import real_type_name
from .attributes import set_attributes
from .c_api import INT, POINTER, Status, api, handle_of, live_context, tensor_of


def execute(op_name: str, inputs, attrs: tuple = (), num_outputs: int = 1) -> list:
    """Run one op, or a registered function by its name, and return its outputs.

    `inputs` has one EagerTensor for each input in the definition, or a list of them where the
    definition has a list. The op runs on the device that `tf.device` says. Gradient tapes do not
    record it. TypeError or ValueError is raised for a call that could end the process, and
    TensorFlow's own exceptions for other wrong calls.
    """
    inputs = require_safe_inputs(op_name, inputs, attrs)
    if len(attrs) % 2 == 0:  # an odd number is left to `set_attributes`, which raises the error
        attrs = add_default_attrs(definition_of(op_name), inputs, attrs)
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
            handles = (POINTER * num_outputs)()  # C writes the address of each output's handle
            handle_count = INT(num_outputs)  # C writes how many outputs there are
            api().TFE_Execute(op, handles, ctypes.byref(handle_count), status.address)
            status.check()
        except errors.OpError as error:  # TensorFlow, too, appends the name of the op
            raise type(error)(None, None, f"{error.message} [Op:{op_name}]") from None
        finally:
            api().TFE_DeleteOp(op)
    return [tensor_of(handle) for handle in handles[: handle_count.value]]


def _add_inputs(op: int, inputs: list, status: Status) -> None:
    """Add the inputs, EagerTensors and lists of them, to the op at the address `op`."""
    for value in inputs:
        if isinstance(value, (list, tuple)):
            handles = (POINTER * len(value))(*map(handle_of, value))
            api().TFE_OpAddInputList(op, handles, len(value), status.address)
        else:
            api().TFE_OpAddInput(op, handle_of(value), status.address)
        status.check()


# --- checks and defaults before C is called


def definition_of(op_name: str):
    """Return the OpDef of an op; None if no op has this name, such as for a function."""
    from tensorflow.python.framework import op_def_registry

    return op_def_registry.get(op_name)


def require_safe_inputs(op_name: str, inputs, attrs: tuple) -> list:
    """Return `inputs` as a list if they are safe for C: one entry for each input in the definition.

    An entry is an EagerTensor, or a list of them where the definition has a list. Raise TypeError
    or ValueError for `attrs` that is no tuple, a wrong number of inputs, an object that is no
    EagerTensor, an empty list, and a dtype in `attrs` that differs from that of an input.
    """
    if not isinstance(attrs, tuple):
        kind = real_type_name(attrs)
        raise TypeError(f"attrs must be a tuple of names and values in turn, not {kind}")
    definition = definition_of(op_name)
    if definition is None:  # a function, or an unknown name, for which TFE_NewOp has an error
        _require_eager(inputs)
        return list(inputs)

    _require_count(op_name, definition.input_arg, inputs)
    # `zip` drops a last name without a value. `set_attributes` raises the error for it later.
    attrs_by_name = dict(zip(attrs[::2], attrs[1::2], strict=False))
    arguments_and_inputs = zip(definition.input_arg, inputs, strict=True)
    for position, (argument, value) in enumerate(arguments_and_inputs):
        tensors = [value]
        first_position = position
        if argument.number_attr or argument.type_list_attr:  # this input is a list of tensors
            tensors = value
            first_position = 0  # as TensorFlow counts in its message
            _require_filled_list(op_name, argument, tensors)
        _require_eager(tensors, first_position)
        _require_dtype(op_name, argument, tensors, attrs_by_name.get(argument.type_attr))
    return list(inputs)


def _require_count(op_name, arguments, inputs):
    """Raise ValueError unless there is one input for each argument in the definition."""
    if len(inputs) == len(arguments):
        return
    names = ", ".join(argument.name for argument in arguments) or "none"
    takes = "1 input" if len(arguments) == 1 else f"{len(arguments)} inputs"
    raise ValueError(f"{op_name} takes {takes} ({names}), got {len(inputs)}")


def _require_filled_list(op_name, argument, value):
    """Raise ValueError unless the input for this argument is a list or tuple with tensors in it."""
    is_list = isinstance(value, (list, tuple))
    if is_list and value:
        return
    kind = "an empty one" if is_list else real_type_name(value)
    raise ValueError(f"input {argument.name} of {op_name} is a list of tensors, not {kind}")


def _require_eager(tensors: Iterable, first_position: int = 0):
    """Raise TypeError, with TensorFlow's message, for the first object that is no EagerTensor.

    The message numbers the objects, starting with `first_position`.
    """
    from tensorflow.python.framework import ops

    for position, tensor in enumerate(tensors, first_position):
        if type(tensor) is not ops.EagerTensor:
            raise TypeError(
                "provided list of inputs contains objects other than 'EagerTensor'. "
                f"Item {position} is type: {real_type_name(tensor)}"
            )


def _require_dtype(op_name, argument, tensors, requested):
    """Raise ValueError if `requested`, the dtype in an attribute, is not the dtype of the tensors.

    `requested` is None if the caller gave no such attribute. TensorFlow would silently ignore a
    different dtype, because it sets attributes after the inputs.
    """
    from tensorflow.python.framework import dtypes

    # The dtype may be a DType, which has its number in `_type_enum`, or that number itself.
    # `set_attributes` raises the error for anything else.
    number = getattr(requested, "_type_enum", requested)
    if type(number) is not int or not argument.type_attr:
        return
    for tensor in tensors:
        if number != tensor.dtype._type_enum:
            raise ValueError(
                f"attr {argument.type_attr} of {op_name} says {dtypes.as_dtype(number).name}, "
                f"but input {argument.name} is {tensor.dtype.name}"
            )


def add_default_attrs(definition, inputs: list, attrs: tuple) -> tuple:
    """Return `attrs` with the default attributes of the op appended, each as name and value.

    An attribute that `attrs` already names is not added. `definition` is the OpDef of the op, or
    None for a function, which has no defaults.
    """
    if definition is None:
        return attrs
    known_names = set(attrs[::2])
    for argument in definition.input_arg:  # TensorFlow infers these attributes from the inputs
        known_names |= {argument.type_attr, argument.number_attr, argument.type_list_attr}

    defaults = []
    for attr in definition.attr:
        if attr.HasField("default_value") and attr.name not in known_names:
            defaults += [attr.name, _python_value(attr.default_value)]
    return (*attrs, *defaults)


def _python_value(attr_value):
    """Convert an AttrValue (tensorflow/core/framework/attr_value.proto) to a Python value.

    A list attribute becomes a list of strings, ints or type numbers. A shape becomes a list of
    sizes, or None if its rank is unknown.
    """
    kind = attr_value.WhichOneof("value")
    value = getattr(attr_value, kind)
    if kind == "list":
        for field in ("s", "i", "type"):  # only one of these fields of the message has items
            items = getattr(value, field)
            if items:
                return list(items)
        return []
    if kind == "shape":
        return None if value.unknown_rank else [size.size for size in value.dim]
    return value

"""A call to be made -> the same call, or one sentence on what would have killed the interpreter.

The C API trusts its caller. Wrappers that TensorFlow generates from an op's definition cannot call
it wrongly; whoever calls it by hand has to ask the definition first. They also hand over every
attribute: an op that is called without one has no value for it, whatever its definition says.
SetOpAttrWithDefaults of pywrap_tfe_src.cc fills them in for the fast path, and `completed` does so
here.
"""

from collections.abc import Iterable

from helpers.safety.arguments import kind_of

MOST_OUTPUTS = 2**16
FIELDS = ("s", "i", "f", "b", "type", "shape", "func")


def definition_of(op_name: str):
    """Return the OpDef of an op, or None for another name (such as a function's)."""
    from tensorflow.python.framework import op_def_registry

    return op_def_registry.get(op_name)


def checked(op_name, inputs, attrs, num_outputs) -> list:
    """Return `inputs` as a list with one entry per input of the op; raise if a call could not be.

    TypeError: a name, an input, the attributes or the number is of the wrong type. ValueError: the
    wrong number of inputs, a list where none belongs, a dtype that contradicts an input's.
    """
    if not isinstance(op_name, str):
        raise TypeError(f"an op's name is a str, not {kind_of(op_name)}")
    if "\0" in op_name:
        raise ValueError("an op's name is a str without a zero: C would end it there")
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"inputs must be a list of EagerTensors, not {kind_of(inputs)}")
    _attrs(attrs)
    if type(num_outputs) is not int or not 0 <= num_outputs <= MOST_OUTPUTS:
        raise ValueError(f"num_outputs must be an int from 0 to {MOST_OUTPUTS}")
    definition = definition_of(op_name)
    if definition is None:
        _eager(inputs)
        return list(inputs)
    _number(op_name, definition.input_arg, inputs)
    for position, (argument, given) in enumerate(zip(definition.input_arg, inputs, strict=True)):
        _place(op_name, argument, given, position)
    _dtypes(op_name, definition, inputs, attrs)
    return list(inputs)


def is_list(argument) -> bool:
    """Return whether an input of an OpDef takes a list of tensors."""
    return bool(argument.number_attr or argument.type_list_attr)


def _number(op_name, arguments, inputs):
    if len(inputs) != len(arguments):
        names = ", ".join(argument.name for argument in arguments) or "none"
        plural = "" if len(arguments) == 1 else "s"
        raise ValueError(
            f"{op_name} takes {len(arguments)} input{plural} ({names}), got {len(inputs)}"
        )


def _place(op_name, argument, given, position):
    if is_list(argument):
        if not isinstance(given, (list, tuple)):
            raise ValueError(
                f"input {argument.name} of {op_name} is a list of tensors, not {kind_of(given)}"
            )
        _eager(given)
    else:
        _eager([given], position)


def _eager(tensors: Iterable, first: int = 0):
    from tensorflow.python.framework import ops

    for position, tensor in enumerate(tensors, first):
        if type(tensor) is not ops.EagerTensor:
            raise TypeError(
                "provided list of inputs contains objects other than 'EagerTensor'. "
                f"Item {position} is type: {kind_of(tensor)}"
            )


def _attrs(attrs):
    if not isinstance(attrs, tuple):
        raise TypeError(f"attrs must be a tuple of names and values in turn, not {kind_of(attrs)}")
    for position, name in enumerate(attrs[::2]):
        if not isinstance(name, str) or "\0" in name:
            raise TypeError(
                f"attrs alternate name and value; item {2 * position} must be a name, "
                f"not {kind_of(name)}"
            )


def _dtypes(op_name, definition, inputs, attrs):
    """Stop a dtype that contradicts an input: set after the inputs, TensorFlow would ignore it."""
    given = dict(zip(attrs[::2], attrs[1::2], strict=False))
    for argument, value in zip(definition.input_arg, inputs, strict=True):
        asked = given.get(argument.type_attr)
        asked = getattr(asked, "_type_enum", asked)
        for tensor in value if is_list(argument) else [value]:
            if type(asked) is int and argument.type_attr and asked != tensor.dtype._type_enum:
                raise ValueError(
                    f"attr {argument.type_attr} of {op_name} says {_dtype(asked)}, "
                    f"but input {argument.name} is {tensor.dtype.name}"
                )


def _dtype(number: int) -> str:
    import tensorflow as tf

    try:
        return tf.as_dtype(number).name
    except TypeError:
        return f"{number}, which is no dtype"


def completed(definition, inputs: list, attrs: tuple) -> tuple:
    """Return `attrs` and, behind them, each default that they do not name.

    So with the length of an empty list of inputs: from others TensorFlow reads it off.
    """
    if definition is None:
        return attrs
    named, inferred = set(attrs[::2]), _inferred(definition)
    found = _empty(definition, inputs)
    for attr in definition.attr:
        if attr.HasField("default_value") and attr.name not in named | inferred:
            found += [attr.name, _value(attr.default_value)]
    return (*attrs, *found)


def _inferred(definition) -> set[str]:
    """Return the attributes that TensorFlow reads off the inputs."""
    arguments = definition.input_arg
    return {name for a in arguments for name in (a.type_attr, a.number_attr, a.type_list_attr)}


def _empty(definition, inputs) -> list:
    """Return the attributes that say how long an empty list is."""
    found = []
    for argument, given in zip(definition.input_arg, inputs, strict=True):
        if isinstance(given, (list, tuple)) and not given:
            found += [argument.number_attr, 0] if argument.number_attr else []
            found += [argument.type_list_attr, []] if argument.type_list_attr else []
    return found


def _value(default):
    kind = default.WhichOneof("value")
    if kind != "list":
        return _one(kind, getattr(default, kind))
    for field in FIELDS:
        if values := getattr(default.list, field):
            return [_one(field, value) for value in values]
    return []


def _one(kind, value):
    if kind == "shape":
        return None if value.unknown_rank else [size.size for size in value.dim]
    return value.name if kind == "func" else value

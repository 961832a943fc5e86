"""One node of a GraphDef -> its op, its dtypes, shapes and values, as text.

A NodeDef is a protocol buffer (tensorflow/core/framework/node_def.proto). Reading an attribute that
a NodeDef does not have writes that attribute into the caller's own graph, so `in` is asked first.
"""

import hashlib
import re
from collections.abc import Iterator
from contextlib import suppress
from math import prod

from ...internals import tensorflow_private
from ...model.graphs import Node
from ...model.phrase import clip_text, format_names

MOST_ELEMENTS = 8  # of a constant whose values are read
MOST_BYTES = 4_000  # of a constant whose values are read
MOST_OUTPUTS = 2  # of a node, with their shapes
LONGEST_CONSTANT = 32  # characters of its values
LONGEST_ATTRIBUTE = 120  # characters
DIGEST_DIGITS = 12
INPUT_OPS = ("Placeholder", "PlaceholderWithDefault", "_Arg", "_DeviceArg")
KINDS_BY_OP = {
    **dict.fromkeys(INPUT_OPS, "input"),
    "_Retval": "output",
    "_DeviceRetval": "output",
    "Const": "constant",
    "Identity": "pass",
}
FUNCTION_NAME = re.compile(r"(?:__inference_)?(.*?)(?:_\d+)?", re.DOTALL)


def build_node(node_def, key: str, label: str) -> Node:
    """Return the model's node of a NodeDef. Its group is the name scope in its key."""
    names = sorted(name for name in node_def.attr if not name.startswith("_"))
    attributes = tuple((name, _format_attribute(node_def.attr[name])) for name in names)
    group, _, _ = key.rpartition("/")
    detail = _describe_node(node_def)
    return Node(key, label, _find_kind(node_def), detail, group, node_def.op, attributes)


def _find_kind(node_def) -> str:
    """Return the kind of a node, by which it is drawn."""
    kind = KINDS_BY_OP.get(node_def.op)
    if kind is not None:
        return kind
    calls_a_function = any(list_functions(node_def))
    return "call" if calls_a_function else "op"


def list_functions(node_def) -> Iterator[tuple[str, str]]:
    """Yield the functions that a node calls: the name of an attribute, and that of a function.

    If an attribute has a list of functions, its name is followed by the index, as in `branches[1]`.
    """
    for attribute in sorted(node_def.attr):
        value = node_def.attr[attribute]
        if value.HasField("func"):
            yield attribute, value.func.name
        for index, function in enumerate(value.list.func):
            yield f"{attribute}[{index}]", function.name


def _describe_node(node_def) -> str:
    """Return the op of a node, its outputs, and the values of a small constant."""
    parts = [node_def.op]
    dtypes = _list_dtypes(node_def)
    shapes = ()
    if "_output_shapes" in node_def.attr:
        shapes = node_def.attr["_output_shapes"].list.shape

    if dtypes:
        outputs = []
        for index, dtype in enumerate(dtypes):
            has_shape = index < len(shapes) and index < MOST_OUTPUTS
            outputs.append(f"{dtype} {_format_shape_proto(shapes[index])}" if has_shape else dtype)
        parts.append(format_names(outputs, MOST_OUTPUTS))

    if node_def.op == "Const" and "value" in node_def.attr:
        tensor = node_def.attr["value"].tensor
        values = _format_values(tensor)
        if values is not None:
            parts.append(f"= {clip_text(values, LONGEST_CONSTANT)}")
        elif not shapes:
            parts.append(_format_shape_proto(tensor.tensor_shape))
    return " ".join(parts)


def _format_shape_proto(shape) -> str:
    """Return a TensorShapeProto as Python writes a tuple; `(?)` if the rank is unknown."""
    if shape.unknown_rank:
        return "(?)"
    # A size of -1 stands for any size.
    return str(tuple(dim.size if dim.size >= 0 else None for dim in shape.dim))


def _format_values(tensor) -> str | None:
    """Return the values of a TensorProto as nested lists; None if they are many or unreadable."""
    import tensorflow as tf

    sizes = [dim.size for dim in tensor.tensor_shape.dim]
    is_small = all(0 <= size <= MOST_ELEMENTS for size in sizes) and prod(sizes) <= MOST_ELEMENTS
    if not is_small:
        return None
    with suppress(Exception):  # a dtype without values, or a proto that is cut short
        if tensor.ByteSize() <= MOST_BYTES:
            return repr(tf.make_ndarray(tensor).tolist())
    return None


def _list_dtypes(node_def) -> list[str]:
    """Return the dtypes of a node's outputs; [] if TensorFlow does not know the op.

    The op's registered signature (tensorflow/core/framework/op_def.proto) says which attributes of
    the node contain them.
    """
    op_def = tensorflow_private.op_def_registry.get(node_def.op)
    if op_def is None:
        return []
    numbers = []
    # An output of the signature may stand for a list of outputs, each with its own dtype, or for
    # several of one dtype, whose number is in an attribute.
    for output in op_def.output_arg:
        if output.type_list_attr:
            numbers += _read_attribute(node_def, output.type_list_attr).list.type
            continue
        number = output.type
        if output.type_attr:
            number = _read_attribute(node_def, output.type_attr).type
        count = 1
        if output.number_attr:
            count = _read_attribute(node_def, output.number_attr).i
        numbers += [number] * count
    return [_format_dtype(number) for number in numbers if number]  # 0 is DT_INVALID


def _read_attribute(node_def, name: str):
    """Return an attribute of a node, or an empty one if the node does not have it."""
    import tensorflow as tf

    return node_def.attr[name] if name in node_def.attr else tf.compat.v1.AttrValue()


def _format_dtype(number: int) -> str:
    """Return the name of the dtype that TensorFlow's DataType enum gives this number."""
    import tensorflow as tf

    with suppress(TypeError, KeyError):  # a number of a newer TensorFlow
        return tf.as_dtype(number).name
    return f"dtype {number}"


def format_plain_name(name: str) -> str:
    """Return the name of a function without the prefix and the counter that TensorFlow adds."""
    return FUNCTION_NAME.fullmatch(name)[1] or name


def _format_attribute(value) -> str:
    """Return an AttrValue as text; a digest replaces a long one, so that two can be compared."""
    if value.HasField("func"):
        return format_plain_name(value.func.name)
    if value.HasField("type"):
        return _format_dtype(value.type)
    text = " ".join(str(value).split())
    if value.HasField("tensor"):
        tensor = value.tensor
        values = _format_values(tensor)
        if values:
            dtype = _format_dtype(tensor.dtype)
            text = f"{dtype} {_format_shape_proto(tensor.tensor_shape)} {values}"
    if len(text) <= LONGEST_ATTRIBUTE:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"{len(text)} characters, {digest[:DIGEST_DIGITS]}"

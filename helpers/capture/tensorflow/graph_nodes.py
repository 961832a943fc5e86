"""One node of a TensorFlow graph (a NodeDef) -> its op, its dtypes, shapes and values, as text. A
constant becomes, for example, "Const float32 (2,) = [1.0, 2.0]". A NodeDef is a protocol buffer
(tensorflow/core/framework/node_def.proto). Reading an attribute that a NodeDef does not have adds
that attribute to the caller's own graph, so `in` is asked first.
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
# TensorFlow calls the function of `def step` "__inference_step_42".
FUNCTION_NAME = re.compile(r"(?:__inference_)?(.*?)(?:_\d+)?", re.DOTALL)


def build_node(node_def, key: str, label: str) -> Node:
    """Return the model's node of a NodeDef.

    `key` is the unique name of the node in the model, and `label` the text on it. The group of the
    node is the name scope in the key: "layer/dense" for "layer/dense/MatMul". Attributes of the
    NodeDef that begin with "_" are TensorFlow's own notes and are left out.
    """
    names = sorted(name for name in node_def.attr if not name.startswith("_"))
    attributes = tuple((name, _format_attribute(node_def.attr[name])) for name in names)
    group, _, _ = key.rpartition("/")
    detail = _describe_node(node_def)
    return Node(key, label, _find_kind(node_def), detail, group, node_def.op, attributes)


def _find_kind(node_def) -> str:
    """Return the kind of a node, by which it is drawn: "input", "constant", "call", "op" and so on.

    A "call" is a node that runs other functions of the graph, such as a While with its body.
    """
    kind = KINDS_BY_OP.get(node_def.op)
    if kind is not None:
        return kind
    calls_a_function = any(list_functions(node_def))
    return "call" if calls_a_function else "op"


def list_functions(node_def) -> Iterator[tuple[str, str]]:
    """Yield (name of the attribute, name of the function) for each function that a node calls.

    An If yields ("else_branch", "else_3") and ("then_branch", "then_2"). If an attribute has a list
    of functions, its name is followed by the index, as in "branches[1]".
    """
    for attribute in sorted(node_def.attr):
        value = node_def.attr[attribute]
        if value.HasField("func"):
            yield attribute, value.func.name
        for index, function in enumerate(value.list.func):
            yield f"{attribute}[{index}]", function.name


def _describe_node(node_def) -> str:
    """Return the text under a node: its op, its outputs, and the values of a small constant.

    For example "Split float32 (2,), float32 (2,)" or "Const int32 () = 7".
    """
    parts = [node_def.op]
    dtypes = _list_dtypes(node_def)
    shapes = ()  # of the outputs; TensorFlow writes them only if it is asked to
    if "_output_shapes" in node_def.attr:
        shapes = node_def.attr["_output_shapes"].list.shape

    if dtypes:
        outputs = []
        for index, dtype in enumerate(dtypes):
            output = dtype
            # Only the first outputs are shown, so the shapes of the others are not formatted.
            if index < len(shapes) and index < MOST_OUTPUTS:
                output += f" {_format_shape_proto(shapes[index])}"
            outputs.append(output)
        parts.append(format_names(outputs, MOST_OUTPUTS))

    if node_def.op == "Const" and "value" in node_def.attr:
        tensor = node_def.attr["value"].tensor
        values = _format_values(tensor)
        if values is not None:
            parts.append(f"= {clip_text(values, LONGEST_CONSTANT)}")
        elif not shapes:  # else the shape is written already
            parts.append(_format_shape_proto(tensor.tensor_shape))
    return " ".join(parts)


def _format_shape_proto(shape) -> str:
    """Return a TensorShapeProto as Python writes a tuple; `(?)` if the rank is unknown."""
    if shape.unknown_rank:
        return "(?)"
    # A size of -1 stands for any size.
    return str(tuple(dim.size if dim.size >= 0 else None for dim in shape.dim))


def _format_values(tensor) -> str | None:
    """Return the values of a TensorProto as the text of nested lists, as in "[[1, 2], [3, 4]]".

    Return None if there are more than MOST_ELEMENTS values, or if they cannot be read.
    """
    import tensorflow as tf

    sizes = [dim.size for dim in tensor.tensor_shape.dim]
    is_small = all(0 <= size <= MOST_ELEMENTS for size in sizes) and prod(sizes) <= MOST_ELEMENTS
    if not is_small:
        return None
    with suppress(Exception):  # a dtype without values, or a proto that is cut short
        if tensor.ByteSize() <= MOST_BYTES:  # one element may be a long string
            return repr(tf.make_ndarray(tensor).tolist())
    return None


def _list_dtypes(node_def) -> list[str]:
    """Return the names of the dtypes of a node's outputs, as in ["float32", "int32"].

    A NodeDef has no list of them. The registered signature of the op (an OpDef, see
    tensorflow/core/framework/op_def.proto) says which attributes of the node contain the dtypes.
    Return [] if TensorFlow does not know the op.
    """
    op_def = tensorflow_private.op_def_registry.get(node_def.op)
    if op_def is None:
        return []
    enum_numbers = []  # of TensorFlow's DataType enum
    for output in op_def.output_arg:
        if output.type_list_attr:
            # This output stands for several outputs, and an attribute lists their dtypes.
            enum_numbers += _read_attribute(node_def, output.type_list_attr).list.type
            continue
        enum_number = output.type  # the dtype of this op is always the same, or 0
        if output.type_attr:
            enum_number = _read_attribute(node_def, output.type_attr).type
        output_count = 1
        if output.number_attr:
            # This output stands for several outputs of one dtype, and an attribute counts them.
            output_count = _read_attribute(node_def, output.number_attr).i
        enum_numbers += [enum_number] * output_count
    return [_format_dtype(number) for number in enum_numbers if number]  # 0 is DT_INVALID


def _read_attribute(node_def, name: str):
    """Return an attribute of a node, or an empty one if the node does not have it."""
    import tensorflow as tf

    return node_def.attr[name] if name in node_def.attr else tf.compat.v1.AttrValue()


def _format_dtype(number: int) -> str:
    """Return the name of the dtype with this number in TensorFlow's DataType enum: 1 is "float32".

    A number that this TensorFlow does not know becomes text such as "dtype 99".
    """
    import tensorflow as tf

    with suppress(TypeError, KeyError):  # a number of a newer TensorFlow
        return tf.as_dtype(number).name
    return f"dtype {number}"


def format_plain_name(name: str) -> str:
    """Return the name that the user gave to a function: "step" for "__inference_step_42"."""
    return FUNCTION_NAME.fullmatch(name)[1] or name


def _format_attribute(value) -> str:
    """Return the value of an attribute (an AttrValue) as text.

    Text of more than LONGEST_ATTRIBUTE characters is replaced by its length and a digest. Two such
    texts are equal if the values are equal.
    """
    if value.HasField("func"):
        return format_plain_name(value.func.name)
    if value.HasField("type"):
        return _format_dtype(value.type)
    text = " ".join(str(value).split())
    if value.HasField("tensor"):
        tensor = value.tensor
        values = _format_values(tensor)
        if values:  # else the text above stands for a large tensor
            dtype = _format_dtype(tensor.dtype)
            text = f"{dtype} {_format_shape_proto(tensor.tensor_shape)} {values}"
    if len(text) <= LONGEST_ATTRIBUTE:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"{len(text)} characters, {digest[:DIGEST_DIGITS]}"

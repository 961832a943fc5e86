"""A NodeDef (tensorflow/core/framework/node_def.proto) -> a node: op, dtype and shape in words.

Attributes whose names begin with an underscore are TensorFlow's notes to itself, and the device is
where a node ran; neither says what it computes, so neither is kept.
"""

import hashlib
import re
from math import prod

from helpers.model.graph import Node

MOST_SHOWN = 8  # elements of a constant
LONGEST_SHOWN, LONGEST_VALUE = 32, 120  # characters: of a constant, of an attribute
INPUTS = ("Placeholder", "PlaceholderWithDefault", "_Arg", "_DeviceArg")
OUTPUTS = ("_Retval", "_DeviceRetval")
_COUNTER = re.compile(r"(__inference_)?(.*?)(_\d+)?", re.DOTALL)


def node_of(node, prefix: str = "", cut: str = "") -> Node:
    """Return the node; `prefix` leads its key and its group, `cut` is left out of its label."""
    key = prefix + node.name
    detail = " ".join(part for part in (node.op, output_words(node), constant_words(node)) if part)
    group = key.rpartition("/")[0]
    shown = node.name.removeprefix(cut)
    return Node(key, shown, kind_of(node), detail, group, node.op, attributes_of(node))


def kind_of(node) -> str:
    """Return input, output, constant, call, pass (its input goes through), or op."""
    if node.op in INPUTS or node.op in OUTPUTS:
        return "input" if node.op in INPUTS else "output"
    if node.op == "Const":
        return "constant"
    if node.op == "Identity":
        return "pass"
    calls = any(v.HasField("func") or v.list.func for v in node.attr.values())
    return "call" if calls else "op"


def attributes_of(node) -> tuple[tuple[str, str], ...]:
    """Return (name, value) of what the node computes with, by name; a large value as a digest."""
    shown = sorted(name for name in node.attr if not name.startswith("_"))
    return tuple((name, _attribute(node, name)) for name in shown)


def output_words(node) -> str:
    """Return dtype and shape of the outputs, such as `float32 (None, 4)`; as much as is known."""
    types = _types(node)
    shapes = node.attr["_output_shapes"].list.shape if _has_shapes(node) else ()
    if not types:
        return ""
    words = [
        f"{kind} {shape_words(shapes[at])}" if at < len(shapes) else kind
        for at, kind in enumerate(types[:2])
    ]
    return ", ".join(words) + (f" and {len(types) - 2} more" if len(types) > 2 else "")


def shape_words(shape) -> str:
    """Return a TensorShapeProto as Python writes a tuple; `(?)` where the rank is unknown."""
    if shape.unknown_rank:
        return "(?)"
    sizes = [str(dim.size) if dim.size >= 0 else "None" for dim in shape.dim]
    return f"({', '.join(sizes)}{',' * (len(sizes) == 1)})"


def constant_words(node) -> str:
    """Return `= 7.0` of a small constant, the shape of a large one, nothing of another op."""
    if node.op != "Const" or "value" not in node.attr:
        return ""
    tensor = node.attr["value"].tensor
    if (values := _values(tensor)) is None:
        return "" if _has_shapes(node) else shape_words(tensor.tensor_shape)
    return f"= {values if len(values) <= LONGEST_SHOWN else values[: LONGEST_SHOWN - 1] + '…'}"


def _values(tensor) -> str | None:
    """Return the values of a small tensor as Python writes them; None if large or unreadable."""
    from tensorflow.python.framework.tensor_util import MakeNdarray

    if prod(dim.size for dim in tensor.tensor_shape.dim) > MOST_SHOWN:
        return None
    try:
        return repr(MakeNdarray(tensor).tolist())
    except (TypeError, ValueError):  # a dtype without values, or a proto that is cut short
        return None


def _has_shapes(node) -> bool:
    return "_output_shapes" in node.attr


def _types(node) -> list[str]:
    """Return the dtype of each output, read from the op's registered signature; none if unknown."""
    from tensorflow.python.framework import op_def_registry

    signature = op_def_registry.get(node.op)
    return [t for out in signature.output_arg for t in _type(node, out)] if signature else []


def _type(node, out) -> list[str]:
    if out.type_list_attr:
        return [_dtype_name(t) for t in node.attr[out.type_list_attr].list.type]
    kind = node.attr[out.type_attr].type if out.type_attr else out.type
    count = node.attr[out.number_attr].i if out.number_attr else 1
    return [_dtype_name(kind)] * min(count, 3) if kind else []


def _dtype_name(number: int) -> str:
    from tensorflow.python.framework import dtypes

    try:
        return dtypes.as_dtype(number).name
    except TypeError:
        return f"dtype {number}"


def plain_name(name: str) -> str:
    """Return a function's name without the prefix and the counter that TensorFlow adds."""
    return _COUNTER.fullmatch(name)[2] or name


def _attribute(node, name: str) -> str:
    value = node.attr[name]
    values = _values(value.tensor) if value.HasField("tensor") else None
    if values is not None and len(values) <= LONGEST_VALUE:
        shape = shape_words(value.tensor.tensor_shape)
        return f"{_dtype_name(value.tensor.dtype)} {shape} {values}"
    kind = value.WhichOneof("value")
    if kind in _SIMPLE:
        return _SIMPLE[kind](getattr(value, kind))
    written = value.SerializeToString(deterministic=True)
    if len(written) <= LONGEST_VALUE and not value.list.func:
        return " ".join(str(value).split())
    return f"{len(written)} bytes, {hashlib.sha256(written).hexdigest()[:12]}"


_SIMPLE = {
    "b": str,
    "i": str,
    "f": str,
    "s": lambda words: words.decode(errors="backslashreplace")[:LONGEST_VALUE],
    "type": _dtype_name,
    "shape": shape_words,
    "func": lambda function: plain_name(function.name),
}

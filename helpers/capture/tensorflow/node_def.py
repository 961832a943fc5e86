"""A NodeDef (tensorflow/core/framework/node_def.proto) -> a node: op, dtype and shape in words.

Attributes whose names begin with an underscore are TensorFlow's notes to itself, and the device is
where a node ran; neither says what it computes, so neither is kept.
"""

import hashlib
import re
from math import prod

from helpers.model.graph import Node
from helpers.safety.arguments import printable

MOST_SHOWN = 8  # elements of a constant
LONGEST_SHOWN, LONGEST_VALUE = 32, 120  # characters: of a constant, of an attribute
MOST_BYTES = 4_000  # of a constant whose values are read
MOST_ATTRIBUTES, MOST_SIZES, DEEPEST = 40, 12, 12  # of a node, of a shape, of its scopes
LONGEST_OP, MOST_OUTPUTS = 80, 2
INPUTS = ("Placeholder", "PlaceholderWithDefault", "_Arg", "_DeviceArg")
OUTPUTS = ("_Retval", "_DeviceRetval")
_COUNTER = re.compile(r"(__inference_)?(.*?)(_\d+)?", re.DOTALL)


def node_of(node, key: str, label: str) -> Node:
    """Return the node under this key; its group is the scopes of its key, the outermost ones."""
    op = printable(node.op, LONGEST_OP)
    detail = " ".join(part for part in (op, output_words(node), constant_words(node)) if part)
    return Node(key, label, kind_of(node), detail, scopes_of(key), op, attributes_of(node))


def scopes_of(key: str) -> str:
    """Return the scopes that a key stands in, the outermost `DEEPEST` of them."""
    return "/".join(key.rpartition("/")[0].split("/")[:DEEPEST])


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
    """Return (name, value) of what the node computes with, by name; a large value as a digest.

    Of very many attributes the last pair counts those that are left out, and is their digest.
    """
    names = sorted(name for name in node.attr if not name.startswith("_"))
    shown, rest = names[:MOST_ATTRIBUTES], names[MOST_ATTRIBUTES:]
    pairs = [(printable(name, LONGEST_VALUE), _attribute(node, name)) for name in shown]
    if rest:
        written = b"".join(node.attr[n].SerializeToString(deterministic=True) for n in rest)
        pairs.append((f"and {len(rest)} more", _digest(written)))
    return tuple(pairs)


def output_words(node) -> str:
    """Return dtype and shape of the outputs, such as `float32 (None, 4)`; as much as is known."""
    types, total = _types(node)
    shapes = node.attr["_output_shapes"].list.shape if _has_shapes(node) else ()
    words = [
        f"{kind} {shape_words(shapes[at])}" if at < len(shapes) else kind
        for at, kind in enumerate(types)
    ]
    return ", ".join(words) + (f" and {total - len(types)} more" if total > len(types) else "")


def shape_words(shape) -> str:
    """Return a TensorShapeProto as Python writes a tuple; `(?)` where the rank is unknown."""
    if shape.unknown_rank:
        return "(?)"
    sizes = [str(dim.size) if dim.size >= 0 else "None" for dim in shape.dim[:MOST_SIZES]]
    if len(shape.dim) > MOST_SIZES:
        sizes.append(f"… {len(shape.dim) - MOST_SIZES} more")
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

    sizes = [dim.size for dim in tensor.tensor_shape.dim]
    if len(sizes) > MOST_SIZES or not all(0 <= size <= MOST_SHOWN for size in sizes):
        return None
    if prod(sizes) > MOST_SHOWN or tensor.ByteSize() > MOST_BYTES:
        return None
    try:
        return repr(MakeNdarray(tensor).tolist())
    except Exception:  # a dtype without values, or a proto that is cut short: many types of error
        return None


def _has_shapes(node) -> bool:
    return "_output_shapes" in node.attr


def _types(node) -> tuple[list[str], int]:
    """Return the dtypes of the first outputs, and how many there are; none if the op is unknown.

    They are read from the op's registered signature.
    """
    from tensorflow.python.framework import op_def_registry

    signature = op_def_registry.get(node.op)
    first, total = [], 0
    for out in signature.output_arg if signature else ():
        kinds, count = _type(node, out)
        first += kinds[: MOST_OUTPUTS - len(first)]
        total += count
    return [_dtype_name(kind) for kind in first], total


def _type(node, out) -> tuple[list[int], int]:
    """Return the first dtypes of one output of the signature, and how many tensors it is."""
    if out.type_list_attr:
        kinds = _attr(node, out.type_list_attr).list.type
        return kinds[:MOST_OUTPUTS], len(kinds)
    kind = _attr(node, out.type_attr).type if out.type_attr else out.type
    count = max(0, _attr(node, out.number_attr).i) if out.number_attr else 1
    return ([kind] * min(count, MOST_OUTPUTS), count) if kind else ([], 0)


def _attr(node, name: str):
    """Return an attribute; an empty one if there is none. `node.attr[…]` would write it down."""
    from tensorflow.core.framework.attr_value_pb2 import AttrValue

    return node.attr[name] if name in node.attr else AttrValue()


def _dtype_name(number: int) -> str:
    from tensorflow.python.framework import dtypes

    try:
        return dtypes.as_dtype(number).name
    except (TypeError, KeyError):
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
    written = value.SerializeToString(deterministic=True)
    if kind in _SIMPLE and (len(written) <= LONGEST_VALUE or kind == "func"):
        return _SIMPLE[kind](getattr(value, kind))
    if len(written) <= LONGEST_VALUE and not value.list.func:
        return " ".join(str(value).split())
    return _digest(written)


def _digest(written: bytes) -> str:
    return f"{len(written)} bytes, {hashlib.sha256(written).hexdigest()[:12]}"


_SIMPLE = {
    "b": str,
    "i": str,
    "f": str,
    "s": lambda words: words.decode(errors="backslashreplace"),
    "type": _dtype_name,
    "shape": shape_words,
    "func": lambda function: printable(plain_name(function.name), LONGEST_VALUE),
}

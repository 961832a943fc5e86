"""The built-in ops of this small OneFlow: arithmetic for losses, and ops that gradients need. Each
has an inference function (specs of its inputs -> Spec of its output), a kernel (a numpy function)
and perhaps gradient functions. A Spec is the shape and dtype of a *blob*, a named array of a job.

Built-in ops are in the same registry as a learner's. Their inputs are all called "in". The input
and variable ops of a job have no kernel, and are not among them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from .autodiff import Request
from .errors import require
from .registry import AttrDef, GradientDef, Kernel, OpDef, Registry, Spec


@dataclass(frozen=True)
class BuiltInOp:
    """One built-in op. Its only output is called "out"."""

    #: (specs of the inputs, attributes) -> the Spec of the output.
    infer: Callable
    #: The numpy function: kernel(args) or kernel(args, attrs).
    kernel: Callable
    #: The type of each attribute.
    attr_types: dict[str, str] = field(default_factory=dict)
    #: For each input a function (Rule, blobs of all inputs …) -> blob of its gradient; () for none.
    gradients: tuple[Callable, ...] = ()


def built_in_registry():
    """Return a registry with only the built-in ops."""
    ops = {}
    gradients = {}
    for name, op in OPS.items():
        ops[name] = _make_definition(name, op)
        if op.gradients:
            gradients[name] = _make_gradient(name, op)
    return Registry(ops, gradients)


def _make_definition(name, op):
    """Return the OpDef of a BuiltInOp, whose `infer` has the form that OpDef wants."""

    def infer(inputs, values):
        specs = list(inputs.values())
        return {"out": op.infer(specs, values)}

    attrs = {attr: AttrDef(type_name) for attr, type_name in op.attr_types.items()}
    return OpDef(name, (), ("out",), attrs, infer)


def _make_gradient(name, op):
    """Return the GradientDef of a BuiltInOp. It binds a gradient for each input that needs one."""

    def generate(forward):
        rule = Rule(forward)
        for argument, gradient in zip(forward.inputs, op.gradients, strict=True):
            if argument in forward.wanted:
                forward.bound[argument] = gradient(rule, *forward.inputs.values())
        return rule.requests

    return GradientDef(name, generate)


class Rule:
    """Builds the backward ops of one op. `dy` is the blob with the gradient of its output."""

    def __init__(self, forward):
        """Begin without backward ops. `forward` is the ForwardOp whose gradients are wanted."""
        self.forward = forward
        self.dy = forward.output_grads["out", 0]
        self.requests = []

    def emit(self, type_name, *blobs, **attrs):
        """Add a Request for a backward op on `blobs`; return the name of its output blob."""
        name = f"{self.forward.name}_grad_{len(self.requests)}"
        self.requests.append(Request.built_in(name, type_name, blobs, attrs))
        return f"{name}/out_0"

    def sum_like(self, blob, like):
        """Return a gradient with the shape of `like`, an input that the op has broadcast.

        Broadcasting uses one number of `like` several times. Its gradient is the sum over those
        uses.
        """
        shape = self.forward.specs[like].shape
        if shape == self.forward.specs[self.dy].shape:
            return blob
        return self.emit("reduce_sum_like", blob, like)

    def multiply_transposed(self, a, b, *, transpose_a=False, transpose_b=False):
        """Add a matmul of two blobs, one of them transposed; return its output blob."""
        is_plain = not any(self.forward.attrs.values())
        require(is_plain, "knows only matrices that are not transposed")
        return self.emit("matmul", a, b, transpose_a=transpose_a, transpose_b=transpose_b)


# --- inference


def _infer_same_dtype(specs):
    """Return the common dtype of all inputs; OpError if they differ."""
    dtypes = sorted({spec.dtype for spec in specs})
    require(len(dtypes) == 1, f"needs one dtype, got {' and '.join(dtypes)}")
    return dtypes[0]


def _infer_broadcast(specs, attrs):
    """Return the Spec of an elementwise op on inputs that numpy can broadcast, else OpError."""
    shapes = [spec.shape for spec in specs]
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        require(False, f"cannot broadcast {' and '.join(map(str, specs))}")
    return Spec(shape, _infer_same_dtype(specs))


def _infer_scalar(specs, attrs):
    """Return the input's Spec; OpError if its dtype cannot represent the number `operand`."""
    dtype = np.dtype(specs[0].dtype)
    value = attrs["operand"]
    if dtype.kind != "f":
        fits = value.is_integer() and np.iinfo(dtype).min <= value <= np.iinfo(dtype).max
        require(fits, f"cannot hold the number {value} in {dtype}")
    return specs[0]


def _infer_matmul(specs, attrs):
    """Return the Spec of a matrix product; OpError if the shapes do not fit."""
    dtype = _infer_same_dtype(specs)
    shapes = [spec.shape for spec in specs]
    a, b = shapes
    if attrs["transpose_a"]:
        a = a[::-1]
    if attrs["transpose_b"]:
        b = b[::-1]
    require(len(a) == len(b) == 2 and a[1] == b[0], f"cannot multiply the shapes {shapes}")
    return Spec((a[0], b[1]), dtype)


def _infer_sum(specs, attrs):
    return Spec((), specs[0].dtype)


def _infer_like_first(specs, attrs):
    return specs[0]


def _infer_like_second(specs, attrs):
    return specs[1]


# --- kernels; a second parameter receives the attributes


def _add(args):
    a, b = args
    return a + b


def _subtract(args):
    a, b = args
    return a - b


def _multiply(args):
    a, b = args
    return a * b


def _add_scalar(args, attrs):
    (x,) = args
    operand = x.dtype.type(attrs["operand"])
    return np.add(x, operand)


def _multiply_by_scalar(args, attrs):
    (x,) = args
    operand = x.dtype.type(attrs["operand"])
    return np.multiply(x, operand)


def _matmul(args, attrs):
    a, b = args
    if attrs["transpose_a"]:
        a = a.T
    if attrs["transpose_b"]:
        b = b.T
    return a @ b


def _reduce_sum(args):
    (x,) = args
    return x.sum(dtype=x.dtype)


def _constant_like(args, attrs):
    (like,) = args
    return np.full_like(like, attrs["value"])


def _broadcast_like(args):
    x, like = args
    return np.broadcast_to(x, like.shape)


def _reduce_sum_like(args):
    # The opposite of broadcasting: sum over the axes that broadcasting `like` to `x` has added in
    # front, and over those that it has stretched from size 1.
    x, like = args
    new_axis_count = x.ndim - like.ndim
    axes = list(range(new_axis_count))
    for axis, size in enumerate(like.shape, new_axis_count):
        if size == 1 and x.shape[axis] != 1:
            axes.append(axis)
    total = x.sum(axis=tuple(axes), dtype=x.dtype)
    return total.reshape(like.shape)


def _add_n(args):
    return sum(args[1:], args[0])


# --- gradient functions: (Rule, blobs of the inputs …) -> the blob with the gradient of one input


def _grad_of_first_addend(rule, x, y):
    return rule.sum_like(rule.dy, x)


def _grad_of_second_addend(rule, x, y):
    return rule.sum_like(rule.dy, y)


def _grad_of_subtrahend(rule, x, y):
    negative = rule.emit("scalar_mul", rule.dy, operand=-1.0)
    return rule.sum_like(negative, y)


def _grad_of_first_factor(rule, x, y):
    product = rule.emit("broadcast_mul", rule.dy, y)
    return rule.sum_like(product, x)


def _grad_of_second_factor(rule, x, y):
    product = rule.emit("broadcast_mul", rule.dy, x)
    return rule.sum_like(product, y)


def _grad_of_scalar_add(rule, x):
    return rule.dy


def _grad_of_scalar_mul(rule, x):
    return rule.emit("scalar_mul", rule.dy, **rule.forward.attrs)


def _grad_of_left_matrix(rule, a, b):
    return rule.multiply_transposed(rule.dy, b, transpose_b=True)


def _grad_of_right_matrix(rule, a, b):
    return rule.multiply_transposed(a, rule.dy, transpose_a=True)


def _grad_of_reduce_sum(rule, x):
    return rule.emit("broadcast_like", rule.dy, x)


OPS = {
    "broadcast_add": BuiltInOp(
        infer=_infer_broadcast,
        kernel=_add,
        gradients=(_grad_of_first_addend, _grad_of_second_addend),
    ),
    "broadcast_sub": BuiltInOp(
        infer=_infer_broadcast,
        kernel=_subtract,
        gradients=(_grad_of_first_addend, _grad_of_subtrahend),
    ),
    "broadcast_mul": BuiltInOp(
        infer=_infer_broadcast,
        kernel=_multiply,
        gradients=(_grad_of_first_factor, _grad_of_second_factor),
    ),
    "scalar_add": BuiltInOp(
        infer=_infer_scalar,
        kernel=_add_scalar,
        attr_types={"operand": "double"},
        gradients=(_grad_of_scalar_add,),
    ),
    "scalar_mul": BuiltInOp(
        infer=_infer_scalar,
        kernel=_multiply_by_scalar,
        attr_types={"operand": "double"},
        gradients=(_grad_of_scalar_mul,),
    ),
    "matmul": BuiltInOp(
        infer=_infer_matmul,
        kernel=_matmul,
        attr_types={"transpose_a": "bool", "transpose_b": "bool"},
        gradients=(_grad_of_left_matrix, _grad_of_right_matrix),
    ),
    "reduce_sum": BuiltInOp(
        infer=_infer_sum,
        kernel=_reduce_sum,
        gradients=(_grad_of_reduce_sum,),
    ),
    "constant_like": BuiltInOp(
        infer=_infer_like_first,
        kernel=_constant_like,
        attr_types={"value": "double"},
    ),
    "broadcast_like": BuiltInOp(infer=_infer_like_second, kernel=_broadcast_like),
    "reduce_sum_like": BuiltInOp(infer=_infer_like_second, kernel=_reduce_sum_like),
    "add_n": BuiltInOp(infer=_infer_like_first, kernel=_add_n),
}
KERNELS = {name: Kernel(name, op.kernel) for name, op in OPS.items()}

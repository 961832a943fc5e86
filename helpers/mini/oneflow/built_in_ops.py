"""The ops that the framework itself brings: arithmetic for losses, and what gradients need.

They stand in the same registry as a learner's, with inference, kernel and gradient rule. Their
inputs are all called "in"; a job's input and variable ops have no kernel.
"""

import numpy as np

from helpers.mini.oneflow.autodiff import Request
from helpers.mini.oneflow.errors import need
from helpers.mini.oneflow.registry import AttrDef, GradientDef, Kernel, OpDef, Registry, Spec

KERNELS = {}  # op_type_name -> Kernel
_ops, _gradients = {}, {}


def built_in_registry():
    """Return a registry that holds the built-in ops alone."""
    return Registry(dict(_ops), dict(_gradients))


def op(name, infer, kernel, gradient=None, **attrs):
    """Register a built-in op; `infer(specs, attrs)` gives the only output's Spec."""
    types = {attr: AttrDef(kind) for attr, kind in attrs.items()}

    def inference(inputs, values):
        return {"out": infer(list(inputs.values()), values)}

    _ops[name] = OpDef(name, (), ("out",), types, inference)
    KERNELS[name] = Kernel(name, kernel, wants_attrs=bool(attrs))
    if gradient:
        _gradients[name] = GradientDef(name, lambda forward: Rule(forward).run(gradient))


class Rule:
    """A built-in gradient rule at work: `dy` names the output's gradient."""

    def __init__(self, forward):
        self.forward, self.dy, self.requests = forward, forward.output_grads["out", 0], []

    def run(self, gradient):
        """Bind what the functions that gradient(self, x, ...) returns give, one for each input."""
        inputs = self.forward.inputs
        for argument, get in zip(inputs, gradient(self, *inputs.values()), strict=True):
            if argument in self.forward.wanted:
                self.forward.bound[argument] = get()
        return self.requests

    def emit(self, type_name, *blobs, **attrs):
        """Ask for a backward op; return its blob's name."""
        name = f"{self.forward.name}_grad_{len(self.requests)}"
        self.requests.append(Request.built_in(name, type_name, blobs, attrs))
        return f"{name}/out_0"

    def shrunk(self, blob, like):
        """Undo broadcasting: add up what one number of `like` was spread over."""
        shape = self.forward.specs[like].shape
        same = shape == self.forward.specs[self.dy].shape
        return blob if same else self.emit("reduce_sum_like", blob, like)


def _same_dtype(specs):
    dtypes = sorted({spec.dtype for spec in specs})
    need(len(dtypes) == 1, f"needs one dtype, got {' and '.join(dtypes)}")
    return dtypes[0]


def _broadcast(specs, attrs):
    shapes = [spec.shape for spec in specs]
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        need(False, f"cannot broadcast the shapes {' and '.join(map(str, shapes))}")
    return Spec(shape, _same_dtype(specs))


def _scalar(specs, attrs):
    kind, value = np.dtype(specs[0].dtype), attrs["operand"]
    if kind.kind != "f":
        fits = value.is_integer() and np.iinfo(kind).min <= value <= np.iinfo(kind).max
        need(fits, f"cannot hold the number {value} in {kind}")
    return specs[0]


def _matmul(specs, attrs):
    dtype, shapes = _same_dtype(specs), [spec.shape for spec in specs]
    need(all(len(shape) == 2 for shape in shapes), f"takes two matrices, got shapes {shapes}")
    a = shapes[0][::-1] if attrs["transpose_a"] else shapes[0]
    b = shapes[1][::-1] if attrs["transpose_b"] else shapes[1]
    need(a[1] == b[0], f"cannot multiply the shapes {shapes[0]} and {shapes[1]}")
    return Spec((a[0], b[1]), dtype)


def _matmul_kernel(args, attrs):
    a, b = args
    return (a.T if attrs["transpose_a"] else a) @ (b.T if attrs["transpose_b"] else b)


def _matmul_gradient(rule, a, b):
    need(not any(rule.forward.attrs.values()), "knows only matrices that are not transposed")
    return (
        lambda: rule.emit("matmul", rule.dy, b, transpose_a=False, transpose_b=True),
        lambda: rule.emit("matmul", a, rule.dy, transpose_a=True, transpose_b=False),
    )


def _reduce_sum_like(args):
    x, like = args
    lead = x.ndim - like.ndim
    axes = [axis + lead for axis, n in enumerate(like.shape) if n == 1 != x.shape[axis + lead]]
    return x.sum(axis=(*range(lead), *axes), dtype=x.dtype).reshape(like.shape)


def _number(function):
    return lambda args, attrs: function(args[0], args[0].dtype.type(attrs["operand"]))


def _add_gradient(rule, x, y):
    return lambda: rule.shrunk(rule.dy, x), lambda: rule.shrunk(rule.dy, y)


def _sub_gradient(rule, x, y):
    return (
        lambda: rule.shrunk(rule.dy, x),
        lambda: rule.shrunk(rule.emit("scalar_mul", rule.dy, operand=-1.0), y),
    )


def _mul_gradient(rule, x, y):
    return (
        lambda: rule.shrunk(rule.emit("broadcast_mul", rule.dy, y), x),
        lambda: rule.shrunk(rule.emit("broadcast_mul", rule.dy, x), y),
    )


def _scale_gradient(rule, x):
    return (lambda: rule.emit("scalar_mul", rule.dy, operand=rule.forward.attrs["operand"]),)


def _first(specs, attrs):
    return specs[0]


def _second(specs, attrs):
    return specs[1]


op("broadcast_add", _broadcast, lambda args: args[0] + args[1], _add_gradient)
op("broadcast_sub", _broadcast, lambda args: args[0] - args[1], _sub_gradient)
op("broadcast_mul", _broadcast, lambda args: args[0] * args[1], _mul_gradient)
op("scalar_add", _scalar, _number(np.add), lambda rule, x: (lambda: rule.dy,), operand="double")
op("scalar_mul", _scalar, _number(np.multiply), _scale_gradient, operand="double")
op("matmul", _matmul, _matmul_kernel, _matmul_gradient, transpose_a="bool", transpose_b="bool")
op(
    "reduce_sum",
    lambda specs, attrs: Spec((), specs[0].dtype),
    lambda args: args[0].sum(dtype=args[0].dtype),
    lambda rule, x: (lambda: rule.emit("broadcast_like", rule.dy, x),),
)
op(
    "constant_like",
    _first,
    lambda args, attrs: np.full_like(args[0], attrs["value"]),
    value="double",
)
op("broadcast_like", _second, lambda args: np.broadcast_to(args[0], args[1].shape))
op("reduce_sum_like", _second, _reduce_sum_like)
op("add_n", _first, lambda args: sum(args[1:], args[0]))

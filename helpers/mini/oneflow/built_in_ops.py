"""The ops that the framework itself brings: arithmetic for losses, and what gradients need.

They stand in the same registry as a learner's, with inference, kernel and gradient rule. Their
inputs are all called "in"; a job's input and variable ops have no kernel.
"""

from dataclasses import dataclass, field

import numpy as np

from helpers.mini.oneflow.autodiff import Plan, Request
from helpers.mini.oneflow.errors import need
from helpers.mini.oneflow.registry import (
    FLOATS,
    AttrDef,
    GradientDef,
    Kernel,
    OpDef,
    Registry,
    Spec,
)

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


@dataclass
class Rule:
    """A built-in gradient rule at work: `x` and `y` name the inputs, `dy` the output's gradient."""

    forward: object
    plan: Plan = field(default_factory=Plan)

    def run(self, gradient):
        """Bind what gradient(self, x, ...) yields, one blob's name for each input."""
        inputs = self.forward.inputs
        for argument, get in zip(inputs, gradient(self, *inputs.values()), strict=True):
            if argument in self.forward.wanted:
                self.plan.bound[argument] = get()
        return self.plan

    @property
    def dy(self):
        """The name of the blob that holds the gradient of the output."""
        return self.forward.output_grads["out", 0]

    def emit(self, type_name, *blobs, **attrs):
        """Ask for a backward op; return its blob's name."""
        name = f"{self.forward.name}_grad_{len(self.plan.requests)}"
        self.plan.requests.append(Request.built_in(name, type_name, blobs, attrs))
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
        limits = np.iinfo(kind)
        fits = value.is_integer() and limits.min <= value <= limits.max
        need(fits, f"cannot hold the number {value} in {kind}")
    return specs[0]


def _scalar_divided(specs, attrs):
    need(specs[0].dtype in FLOATS, f"divides, and {specs[0].dtype} is no float dtype")
    return specs[0]


def _first(specs, attrs):
    return specs[0]


def _second(specs, attrs):
    return specs[1]


def _matmul(specs, attrs):
    dtype, shapes = _same_dtype(specs), [spec.shape for spec in specs]
    need(all(len(shape) == 2 for shape in shapes), f"takes two matrices, got shapes {shapes}")
    (n, k), (m, p) = (
        shape[::-1] if flipped else shape
        for shape, flipped in zip(shapes, (attrs["transpose_a"], attrs["transpose_b"]), strict=True)
    )
    need(k == m, f"cannot multiply the shapes {shapes[0]} and {shapes[1]}")
    return Spec((n, p), dtype)


def _matmul_kernel(args, attrs):
    a, b = args
    return (a.T if attrs["transpose_a"] else a) @ (b.T if attrs["transpose_b"] else b)


def _matmul_gradient(rule, a, b):
    flip_a, flip_b = rule.forward.attrs["transpose_a"], rule.forward.attrs["transpose_b"]

    def product(x, y, transpose_a, transpose_b):
        return rule.emit("matmul", x, y, transpose_a=transpose_a, transpose_b=transpose_b)

    def of_a():
        return (
            product(b, rule.dy, flip_b, True) if flip_a else product(rule.dy, b, False, not flip_b)
        )

    def of_b():
        return (
            product(rule.dy, a, True, flip_a) if flip_b else product(a, rule.dy, not flip_a, False)
        )

    yield of_a
    yield of_b


def _reduce_sum_like(args):
    x, like = args
    lead = x.ndim - like.ndim
    axes = [axis + lead for axis, n in enumerate(like.shape) if n == 1 != x.shape[axis + lead]]
    return x.sum(axis=(*range(lead), *axes), dtype=x.dtype).reshape(like.shape)


def _number(function):
    return lambda args, attrs: function(args[0], args[0].dtype.type(attrs["operand"]))


def _add_gradient(rule, x, y):
    yield lambda: rule.shrunk(rule.dy, x)
    yield lambda: rule.shrunk(rule.dy, y)


def _sub_gradient(rule, x, y):
    yield lambda: rule.shrunk(rule.dy, x)
    yield lambda: rule.shrunk(rule.emit("scalar_mul", rule.dy, operand=-1.0), y)


def _mul_gradient(rule, x, y):
    yield lambda: rule.shrunk(rule.emit("broadcast_mul", rule.dy, y), x)
    yield lambda: rule.shrunk(rule.emit("broadcast_mul", rule.dy, x), y)


def _scaled(type_name):
    def gradient(rule, x):
        operand = rule.forward.attrs["operand"]
        yield lambda: rule.emit(type_name, rule.dy, operand=operand)

    return gradient


def _passed_on(rule, x):
    yield lambda: rule.dy


def _spread(rule, x):
    yield lambda: rule.emit("broadcast_like", rule.dy, x)


op("broadcast_add", _broadcast, lambda args: args[0] + args[1], _add_gradient)
op("broadcast_sub", _broadcast, lambda args: args[0] - args[1], _sub_gradient)
op("broadcast_mul", _broadcast, lambda args: args[0] * args[1], _mul_gradient)
op("scalar_add", _scalar, _number(np.add), _passed_on, operand="double")
op("scalar_mul", _scalar, _number(np.multiply), _scaled("scalar_mul"), operand="double")
op("scalar_div", _scalar_divided, _number(np.divide), _scaled("scalar_div"), operand="double")
op("matmul", _matmul, _matmul_kernel, _matmul_gradient, transpose_a="bool", transpose_b="bool")
op(
    "reduce_sum",
    lambda specs, attrs: Spec((), specs[0].dtype),
    lambda args: args[0].sum(dtype=args[0].dtype),
    _spread,
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

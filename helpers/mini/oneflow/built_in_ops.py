"""The ops that the framework itself brings: arithmetic for losses, and what gradients need.

They are in the same registry as a learner's, with inference, kernel and gradient rule. Their
inputs are all called "in"; a job's input and variable ops have no kernel.
"""

import numpy as np

from .autodiff import Request
from .errors import need
from .registry import AttrDef, GradientDef, Kernel, OpDef, Registry, Spec


def built_in_registry():
    """Return a registry with only the built-in ops."""
    ops = {name: _definition(name, *row) for name, row in OPS.items()}
    return Registry(ops, {name: _gradient(name, *rules) for name, rules in GRADIENTS.items()})


def _definition(name, infer, kernel, attrs=None):
    def inference(inputs, values):
        return {"out": infer(list(inputs.values()), values)}

    types = {attr: AttrDef(kind) for attr, kind in (attrs or {}).items()}
    return OpDef(name, (), ("out",), types, inference)


def _gradient(name, *gradients):
    def generate(forward):
        rule = Rule(forward)
        for argument, gradient in zip(forward.inputs, gradients, strict=True):
            if argument in forward.wanted:
                forward.bound[argument] = gradient(rule, *forward.inputs.values())
        return rule.requests

    return GradientDef(name, generate)


class Rule:
    """A built-in gradient rule at work: `dy` names the output's gradient."""

    def __init__(self, forward):
        self.forward, self.dy, self.requests = forward, forward.output_grads["out", 0], []

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

    def turned(self, a, b, **which):
        """Multiply two matrices, one of them transposed."""
        plain = not any(self.forward.attrs.values())
        need(plain, "knows only matrices that are not transposed")
        return self.emit("matmul", a, b, **{"transpose_a": False, "transpose_b": False} | which)


def _same_dtype(specs):
    dtypes = sorted({spec.dtype for spec in specs})
    need(len(dtypes) == 1, f"needs one dtype, got {' and '.join(dtypes)}")
    return dtypes[0]


def _broadcast(specs, _):
    try:
        shape = np.broadcast_shapes(*[spec.shape for spec in specs])
    except ValueError:
        need(False, f"cannot broadcast {' and '.join(map(str, specs))}")
    return Spec(shape, _same_dtype(specs))


def _scalar(specs, attrs):
    kind, value = np.dtype(specs[0].dtype), attrs["operand"]
    if kind.kind != "f":
        fits = value.is_integer() and np.iinfo(kind).min <= value <= np.iinfo(kind).max
        need(fits, f"cannot hold the number {value} in {kind}")
    return specs[0]


def _matmul(specs, attrs):
    dtype, shapes = _same_dtype(specs), [spec.shape for spec in specs]
    turned = attrs["transpose_a"], attrs["transpose_b"]
    a, b = (s[::-1] if turn else s for s, turn in zip(shapes, turned, strict=True))
    need(len(a) == len(b) == 2 and a[1] == b[0], f"cannot multiply the shapes {shapes}")
    return Spec((a[0], b[1]), dtype)


def _matmul_kernel(args, attrs):
    a, b = args
    return (a.T if attrs["transpose_a"] else a) @ (b.T if attrs["transpose_b"] else b)


def _reduce_sum_like(args):
    x, like = args
    lead = x.ndim - like.ndim
    axes = [axis + lead for axis, n in enumerate(like.shape) if n == 1 != x.shape[axis + lead]]
    return x.sum(axis=(*range(lead), *axes), dtype=x.dtype).reshape(like.shape)


def _number(function):
    return lambda args, attrs: function(args[0], args[0].dtype.type(attrs["operand"]))


OPS = {  # op type -> inference of the only output, kernel, types of its attributes
    "broadcast_add": (_broadcast, lambda args: args[0] + args[1]),
    "broadcast_sub": (_broadcast, lambda args: args[0] - args[1]),
    "broadcast_mul": (_broadcast, lambda args: args[0] * args[1]),
    "scalar_add": (_scalar, _number(np.add), {"operand": "double"}),
    "scalar_mul": (_scalar, _number(np.multiply), {"operand": "double"}),
    "matmul": (_matmul, _matmul_kernel, {"transpose_a": "bool", "transpose_b": "bool"}),
    "reduce_sum": (lambda s, _: Spec((), s[0].dtype), lambda a: a[0].sum(dtype=a[0].dtype)),
    "constant_like": (
        *(lambda s, _: s[0], lambda a, k: np.full_like(a[0], k["value"])),
        {"value": "double"},
    ),
    "broadcast_like": (lambda s, _: s[1], lambda args: np.broadcast_to(args[0], args[1].shape)),
    "reduce_sum_like": (lambda s, _: s[1], _reduce_sum_like),
    "add_n": (lambda s, _: s[0], lambda args: sum(args[1:], args[0])),
}
KERNELS = {name: Kernel(name, kernel) for name, (_, kernel, *_) in OPS.items()}
GRADIENTS = {  # op type -> for each input, from the rule and the inputs' blobs to a blob
    "broadcast_add": (lambda r, x, y: r.shrunk(r.dy, x), lambda r, x, y: r.shrunk(r.dy, y)),
    "broadcast_sub": (
        lambda r, x, y: r.shrunk(r.dy, x),
        lambda r, x, y: r.shrunk(r.emit("scalar_mul", r.dy, operand=-1.0), y),
    ),
    "broadcast_mul": (
        lambda r, x, y: r.shrunk(r.emit("broadcast_mul", r.dy, y), x),
        lambda r, x, y: r.shrunk(r.emit("broadcast_mul", r.dy, x), y),
    ),
    "scalar_add": (lambda r, x: r.dy,),
    "scalar_mul": (lambda r, x: r.emit("scalar_mul", r.dy, **r.forward.attrs),),
    "matmul": (
        lambda r, a, b: r.turned(r.dy, b, transpose_b=True),
        lambda r, a, b: r.turned(a, r.dy, transpose_a=True),
    ),
    "reduce_sum": (lambda r, x: r.emit("broadcast_like", r.dy, x),),
}

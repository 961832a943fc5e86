"""The registry as data: what there is to draw. Live registry -> frozen records."""

from dataclasses import dataclass

from helpers.mini.oneflow import built_in_ops, kernels
from helpers.mini.oneflow.attributes import REQUIRED
from helpers.mini.oneflow.errors import OpError, need, place, shown
from helpers.mini.oneflow.session import session


@dataclass(frozen=True)
class OpType:
    """One registered op type.

    Attributes:
        name: its op_type_name.
        inputs: names, in the order in which a kernel gets them.
        outputs: names.
        attrs: (name, type, default as text; "" for none).
        front_end: "Python", "C++" or "built in".
        file: folder and file of the definition; "" for the framework's own.
        kernel: what computes it, such as "forward() (user_relu/user_relu_py_kernel.py)"; where
            several are registered, each with its predicate; "" for nothing.
        gradient: folder and file of its gradient rule; "built in"; "" for none.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attrs: tuple[tuple[str, str, str], ...]
    front_end: str
    file: str
    kernel: str
    gradient: str


def op_types(built_in=False) -> tuple[OpType, ...]:
    """Return the learner's op types (or the framework's own), in the order of registration."""
    fine = built_in is True or built_in is False
    need(fine, f"op_types(built_in): True or False, got {shown(built_in)}")
    registry = session().registry
    return tuple(
        _record(op, registry)
        for op in registry.ops.values()
        if (op.front_end == "built in") == built_in
    )


def _kernel(registry, type_name):
    if registered := registry.kernels(type_name):
        return ", ".join(f"{kernel} if {kernel.matches}" for kernel in registered)
    if type_name in built_in_ops.KERNELS:
        return str(built_in_ops.KERNELS[type_name])
    try:
        return str(kernels.named(registry, type_name))
    except OpError:
        return ""


def _record(op, registry):
    attrs = tuple(
        (name, attr.type, "" if attr.default is REQUIRED else str(attr.default))
        for name, attr in op.attrs.items()
    )
    kernel = _kernel(registry, op.name)
    rule = registry.gradients.get(op.name)
    gradient = "" if rule is None else place(rule.file) if rule.file else "built in"
    file = place(op.file) if op.file else ""
    return OpType(op.name, op.inputs, op.outputs, attrs, op.front_end, file, kernel, gradient)

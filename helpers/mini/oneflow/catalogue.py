"""The registry, and where this package does something else than OneFlow 0.3, as data."""

from dataclasses import dataclass
from typing import NamedTuple

from helpers.mini.oneflow import built_in_ops, kernels
from helpers.mini.oneflow.dtypes import REQUIRED
from helpers.mini.oneflow.errors import OpError, place
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


class Difference(NamedTuple):
    """One difference: its name, what it is about, the original's way, the way here."""

    name: str
    about: str
    original: str
    here: str


def differences() -> tuple[Difference, ...]:
    """Return all differences that a definition, a wrapper or a kernel can notice."""
    lines = ROWS.strip().splitlines()
    heads = (line.split(": ", 1) for line in lines[::3])
    rows = zip(heads, lines[1::3], lines[2::3], strict=True)
    return tuple(Difference(*head, then.strip(), here.strip()) for head, then, here in rows)


ROWS = """
shape: a kernel returns another shape with as many numbers
  taken as it is
  OpError: exact shape and dtype are checked
surplus: a kernel returns more arrays than the op has outputs
  the surplus is dropped
  OpError: the numbers must agree
missing: a kernel returns one array for two outputs
  the second output is whatever its memory held
  OpError: the numbers must agree
read-only: a kernel writes into its input
  the input changes for every op that reads it
  OpError: inputs are read-only
arguments: what forward(args) gets
  a list of arrays (the article says tuple)
  a tuple of arrays
several: how a kernel returns two outputs
  in a list; a tuple ends the process
  in a list or a tuple
exception: a kernel raises an exception
  segmentation fault, no message
  OpError with op, file, line and the exception
attrs: attributes in a Python kernel
  never handed over
  handed over to forward(args, attrs), if it is written so
folder: custom_op_module(name, path)
  deletes ./name and copies path/name there, unless path is the working folder
  reads the files where they are
stale: an edited C++ definition is loaded again
  not compiled again if the folder is in the working directory
  compiled again whenever a byte of what it reads differs
reload: the same folder is loaded twice in one process
  the process ends: op type registered twice
  the new definitions take the place of the old
crash: a C++ definition crashes
  the process ends
  OpError: it runs in a process of its own
front-end: the language of a definition
  C++
  Python or C++, with the same result
device: an op with a Python kernel is placed on the gpu
  OpKernelNotFoundError when the job is compiled
  OpError with the same words, when the op is built
placement: an op outside any flow.scope.placement
  goes to the gpu in a build with CUDA, to the cpu in one without
  goes to the gpu, and is refused: the placement must be said
attr-types: types of attributes
  14
  bool, int32, int64, float, double and string
by-dtype: a kernel for some dtypes only: REGISTER_USER_KERNEL with a predicate
  in C++; a Python kernel takes every dtype
  in a Python kernel file, too
api-early: .api before it is loaded
  None
  OpError
"""  # name: what it is about, then the original's way, then the way here

"""The seam: one registry where logical ops meet their gradients and their kernels.

Both front ends, definitions.py (Python) and cpp_def.py (compiled C++), fill it with records alike.
Mirrors oneflow/core/framework/user_op_registry_manager.cpp and, for kernels,
oneflow/python/ops/user_op_builder.py and oneflow/extension/python of 0.3.
"""

from collections import namedtuple
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...safety.arguments import quote_value
from .errors import in_file, listed, need, place, stage

NUMBERS = {"float16": 9, "float32": 2, "float64": 3, "int8": 4, "int32": 5, "int64": 6, "uint8": 7}
DTYPES = tuple(NUMBERS)  # and no bool; the numbers are those of enum DataType
FLOATS = DTYPES[:3]
TYPES = {"bool": bool, "int32": int, "int64": int, "float": float, "double": float, "string": str}
REQUIRED = object()  # an attribute without a default


def dtype_name(value, what):
    """Return the name of a dtype given as flow.float32, np.float32 or "float32"."""
    try:
        name = np.dtype(value).name if isinstance(value, (str, type, np.dtype)) else None
    except TypeError:
        name = None
    told = f"{what}: {quote_value(value)} is not a data type of a blob; there are {listed(DTYPES)}"
    need(name in DTYPES, told)
    return name


def is_list(value):
    """Say whether it is a list or a tuple, and of no class of its own."""
    return type(value) in (list, tuple)


# One attribute of an op type: its type's name, its default (REQUIRED: none).
AttrDef = namedtuple("AttrDef", "type default", defaults=(REQUIRED,))


def attr_def(where, type_name, default=REQUIRED):
    """Return an AttrDef; without a type name the default's own type decides."""
    names = {bool: "bool", int: "int64", float: "double", str: "string"}
    name, given = type_name or names.get(type(default)), quote_value(type_name or default)
    need(name in TYPES, f"{where}: {given} does not name an attr type; there are {listed(TYPES)}")
    return AttrDef(name, default if default is REQUIRED else attr_value(where, name, default))


def attr_value(where, type_name, value):
    """Return the value as the attr type keeps it (a float is rounded to 32 bits)."""
    wanted = TYPES[type_name]
    fits = type(value) is wanted or (wanted is float and type(value) is int)
    need(fits, f"{where} is a {type_name}, got {quote_value(value)}")
    if wanted is int:
        fits = np.iinfo(type_name).min <= value <= np.iinfo(type_name).max
        need(fits, f"{where} is an {type_name}, which cannot hold {value}")
    return float(np.float32(value)) if type_name == "float" else wanted(value)


class Spec(NamedTuple):
    """Shape and dtype of a blob: what inference is about."""

    shape: tuple[int, ...]
    dtype: str

    def __str__(self):
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


def checked_spec(shape, dtype, what):
    """Return a Spec; OpError unless it is a shape of ints >= 0 and a data type."""
    fine = is_list(shape) and all(isinstance(n, (int, np.integer)) and n >= 0 for n in shape)
    need(fine, f"{what}: a shape is a tuple such as (5,), of whole numbers from 0 up")
    return Spec(tuple(map(int, shape)), dtype_name(dtype, what))


@dataclass(frozen=True)
class OpDef:
    """An op type: arguments, attributes, inference. No arithmetic.

    `infer({(input, index): Spec}, {attr: value})` returns {output: Spec}.
    `front_end` is "Python", "C++" or "built in".
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attrs: dict[str, AttrDef]
    infer: Callable
    file: str = ""
    front_end: str = "built in"

    def __str__(self):
        return in_file(f'op type "{self.name}"', self.file)


class GradientDef(namedtuple("GradientDef", "name generate file", defaults=("",))):
    """A gradient rule: `generate(ForwardOp)` binds, and returns Requests (see autodiff.py)."""

    def __str__(self):
        return in_file(f'the gradient rule of "{self.name}"', self.file)


class Kernel(namedtuple("Kernel", "name function file", defaults=("",))):
    """A numpy function, forward(args) or forward(args, attrs); `file` is "" for built-in ops."""

    def __str__(self):
        return in_file(f"{self.name}()", self.file)


_loading = []  # of each file that is being loaded: op_def.py or py_kernel.py, its path, its chains


@contextmanager
def collect(kind, file):
    """Gather what a file registers; the list holds the records after the block."""
    records, chains = [], []
    _loading.append((kind, str(file), chains))
    try:
        yield records
    finally:
        _loading.pop()
    with stage("define" if kind == "op_def.py" else "load"):
        records += [chain.finish() for chain in chains]


class Chain:
    """What a chain of calls registers, under construction: each method returns the chain."""

    def __init__(self, name, file):
        self.name, self.file, self.function = name, file, None

    def keep(self, function):
        """Set the function that the chain is about."""
        self.function = function
        return self


def begin(kind, chain, name):
    """Begin a chain of calls in the file that is being loaded; OpError in any other place."""
    fine = _loading and _loading[-1][0] == kind
    need(fine, f'a registration such as that of "{name}" belongs in <name>_{kind}')
    _, file, chains = _loading[-1]
    chains.append(chain(name, file))
    return chains[-1]


@dataclass
class Registry:
    """Op types, gradient rules and loaded kernel files; `version` counts changes."""

    ops: dict[str, OpDef] = field(default_factory=dict)
    gradients: dict[str, GradientDef] = field(default_factory=dict)
    kernel_files: dict = field(default_factory=dict)  # op's name -> module, kernels, path
    version: int = 0

    def register(self, definitions, folder):
        """Replace a folder's earlier definitions with its new ones, all or none."""
        ops, gradients = (
            {name: item for name, item in table.items() if not item.file.startswith(folder)}
            for table in (self.ops, self.gradients)
        )
        for item in definitions:
            own = isinstance(item, OpDef)
            table, what = (ops, "op type") if own else (gradients, "a gradient for op type")
            by = place(item.name in table and table[item.name].file) or "the framework itself"
            told = f'{place(item.file)}: {what} "{item.name}" is already registered by {by}'
            need(item.name not in table, f"{told}; op_type_name must be unique")
            table[item.name] = item
        self.ops, self.gradients = ops, gradients
        self.version += 1

    def kernels(self, type_name):
        """Return the kernels that are registered for an op type, in the order of their files."""
        every = (kernel for _, kernels, _ in self.kernel_files.values() for kernel in kernels)
        return [kernel for kernel in every if kernel.op_type == type_name]

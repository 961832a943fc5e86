"""The seam: one registry where logical ops meet their gradients and their kernels.

Both front ends, definitions.py (Python) and cpp_def.py (compiled C++), fill it with records alike.
What a blob can hold, and the types of attributes, are told here too: six of the original's 14.
Mirrors oneflow/core/framework/user_op_registry_manager.cpp and, for kernels,
oneflow/python/ops/user_op_builder.py and oneflow/extension/python of 0.3.
"""

import inspect
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from helpers.mini.oneflow.errors import OpError, in_file, listed, need, place, stage
from helpers.safety.arguments import quote_value

DTYPES = ("float16", "float32", "float64", "int8", "int32", "int64", "uint8")  # and no bool
FLOATS = DTYPES[:3]
TYPES = {"bool": bool, "int32": int, "int64": int, "float": float, "double": float, "string": str}
REQUIRED = object()  # an attribute without a default


def dtype_name(value, what):
    """Return the name of a dtype given as flow.float32, np.float32 or "float32"."""
    try:
        name = np.dtype(value).name if isinstance(value, (str, type, np.dtype)) else None
    except TypeError:
        name = None
    told = f"{what}: {quote_value(value)} is no data type of a blob; there are {listed(DTYPES)}"
    need(name in DTYPES, told)
    return name


def shape_tuple(value, what):
    """Return a shape as a tuple of ints >= 0."""
    fine = is_list(value) and all(isinstance(n, (int, np.integer)) and n >= 0 for n in value)
    need(fine, f"{what}: a shape is a tuple such as (5,), of whole numbers from 0 up")
    return tuple(map(int, value))


def is_list(value):
    """Say whether it is a list or a tuple, and of no class of its own."""
    return type(value) in (list, tuple)


def is_number(value):
    """Say whether a value is a number that arithmetic can take: an int or a float, no bool."""
    return isinstance(value, (int, float, np.integer, np.floating)) and type(value) is not bool


class AttrDef(NamedTuple):
    """One attribute of an op type: its type's name, its default (REQUIRED: none)."""

    type: str
    default: object = REQUIRED


def attr_def(where, default, type_name):
    """Return an AttrDef; without a type name the default's own type decides."""
    if type_name is None:
        names = {bool: "bool", int: "int64", float: "double", str: "string"}
        type_name = names.get(type(default))
    if type_name not in TYPES:
        given = quote_value(default if type_name is None else type_name)
        raise OpError(f"{where}: {given} gives no attr type; there are {listed(TYPES)}")
    value = default if default is REQUIRED else attr_value(where, type_name, default)
    return AttrDef(type_name, value)


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


@dataclass(frozen=True)
class GradientDef:
    """A gradient rule: `generate(ForwardOp)` binds, and returns Requests (see autodiff.py)."""

    name: str
    generate: Callable
    file: str = ""

    def __str__(self):
        return in_file(f'the gradient rule of "{self.name}"', self.file)


@dataclass(frozen=True)
class Kernel:
    """A numpy function and how it is called; `file` is "" for built-in ops."""

    name: str
    function: Callable
    wants_attrs: bool = False
    file: str = ""

    @classmethod
    def of(cls, name, function, file):
        """Return the Kernel of a function that is written as forward(args) or (args, attrs)."""
        return cls(name, function, len(inspect.signature(function).parameters) > 1, file)

    def __str__(self):
        return in_file(f"{self.name}()", self.file)


_loading = []  # of each file that is being loaded: op_def.py or py_kernel.py, its path, its chains


@contextmanager
def collect(kind, file, at):
    """Gather what a file registers; the list holds the records after the block."""
    records, chains = [], []
    _loading.append((kind, str(file), chains))
    try:
        yield records
    finally:
        _loading.pop()
    with stage(at):
        records += [chain.finish() for chain in chains]


class Chain:
    """What a chain of calls registers, under construction: each method returns the chain."""

    def __init__(self, name, file):
        self.name, self.file, self.function = name, file, None

    def keep(self, function):
        """Set the function that the chain is about."""
        self.function = function
        return self


def begin(kind, chain, name, told):
    """Begin a chain of calls in the file that is being loaded; OpError in any other place."""
    need(_loading and _loading[-1][0] == kind, told)
    _, file, chains = _loading[-1]
    chains.append(chain(name, file))
    return chains[-1]


@dataclass
class Registry:
    """Op types, gradient rules and loaded kernel files; `version` counts changes."""

    ops: dict[str, OpDef] = field(default_factory=dict)
    gradients: dict[str, GradientDef] = field(default_factory=dict)
    kernel_files: dict = field(default_factory=dict)  # op folder's name -> (module, path)
    registered: dict = field(default_factory=dict)  # the same -> its REGISTER_USER_KERNELs
    version: int = 0

    def register(self, definitions, folder):
        """Put the definitions of a folder in the place of those it had before, all or none."""
        ops, gradients = (
            {name: item for name, item in table.items() if not item.file.startswith(folder)}
            for table in (self.ops, self.gradients)
        )
        for item in definitions:
            own = isinstance(item, OpDef)
            table, what = (ops, "op type") if own else (gradients, "a gradient for op type")
            if item.name in table:
                by = place(table[item.name].file) or "the framework itself"
                told = f'{place(item.file)}: {what} "{item.name}" is already registered by {by}'
                raise OpError(f"{told}; op_type_name must be unique")
            table[item.name] = item
        self.ops, self.gradients = ops, gradients
        self.version += 1

    def add_kernels(self, name, module, path, registered=()):
        """Register the functions forward and backward of an op's kernel file, and the others."""
        self.kernel_files[name] = module, str(path)
        self.registered[name] = tuple(registered)
        self.version += 1

    def kernels(self, type_name):
        """Return the kernels that are registered for an op type, in the order of their files."""
        return [k for known in self.registered.values() for k in known if k.op_type == type_name]

    def op(self, name):
        """Return the OpDef of an op_type_name."""
        own = [known for known, item in self.ops.items() if item.file]
        need(name in self.ops, f'there is no op type "{name}"; registered: {listed(own)}')
        return self.ops[name]

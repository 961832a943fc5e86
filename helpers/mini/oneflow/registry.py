"""The seam: one registry where logical ops meet their gradients and their kernels.

Both front ends, definitions.py (Python) and cpp_def.py (compiled C++), fill it with records alike.
Mirrors oneflow/core/framework/user_op_registry_manager.cpp and, for kernels,
oneflow/python/ops/user_op_builder.py and oneflow/extension/python of 0.3.
"""

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...safety.arguments import quote_value
from .errors import OpError, in_file, listed, need, place, stage

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
    need(
        name in DTYPES,
        f"{what}: {quote_value(value)} is not a data type of a blob; there are {listed(DTYPES)}",
    )
    return name


def is_list(value):
    """Say whether it is a list or a tuple, and of no class of its own."""
    return type(value) in (list, tuple)


class AttrDef(NamedTuple):
    """One attribute of an op type."""

    #: The name of its type, a key of TYPES.
    type: str
    #: The value without which an op takes this one; REQUIRED if there is none.
    default: object = REQUIRED


def attr_def(where, type_name, default=REQUIRED):
    """Return an AttrDef; without a type name the default's own type decides."""
    names_by_type = {bool: "bool", int: "int64", float: "double", str: "string"}
    name = type_name or names_by_type.get(type(default))
    shown = quote_value(type_name or default)
    need(name in TYPES, f"{where}: {shown} does not name an attr type; there are {listed(TYPES)}")
    if default is not REQUIRED:
        default = attr_value(where, name, default)
    return AttrDef(name, default)


def attr_value(where, type_name, value):
    """Return the value as the attr type keeps it (a float is rounded to 32 bits)."""
    python_type = TYPES[type_name]
    fits = type(value) is python_type or (python_type is float and type(value) is int)
    need(fits, f"{where} is a {type_name}, got {quote_value(value)}")
    if python_type is int:
        limits = np.iinfo(type_name)
        fits = limits.min <= value <= limits.max
        need(fits, f"{where} is an {type_name}, which cannot hold {value}")
    if type_name == "float":
        return float(np.float32(value))
    return python_type(value)


class Spec(NamedTuple):
    """Shape and dtype of a blob: what inference is about."""

    #: The size of each dimension.
    shape: tuple[int, ...]
    #: A name in DTYPES.
    dtype: str

    def __str__(self):
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


def checked_spec(shape, dtype, what):
    """Return a Spec; OpError unless it is a shape of ints >= 0 and a data type."""
    fits = is_list(shape) and all(isinstance(n, (int, np.integer)) and n >= 0 for n in shape)
    need(fits, f"{what}: a shape is a tuple such as (5,), of whole numbers from 0 up")
    return Spec(tuple(map(int, shape)), dtype_name(dtype, what))


@dataclass(frozen=True)
class OpDef:
    """An op type: arguments, attributes, inference. No arithmetic."""

    #: The op type's name.
    name: str
    #: The names of its inputs.
    inputs: tuple[str, ...]
    #: The names of its outputs.
    outputs: tuple[str, ...]
    #: Its attributes by name.
    attrs: dict[str, AttrDef]
    #: infer({(input, index): Spec}, {attr: value}) returns {output: Spec}.
    infer: Callable
    #: The path of its definition; "" for the framework's own.
    file: str = ""
    #: "Python", "C++" or "built in".
    front_end: str = "built in"

    def __str__(self):
        return in_file(f'op type "{self.name}"', self.file)


class GradientDef(NamedTuple):
    """A gradient rule."""

    #: The op type of the forward op.
    name: str
    #: generate(ForwardOp) binds gradients, and returns Requests (see autodiff.py).
    generate: Callable
    #: The path of its definition; "" for the framework's own.
    file: str = ""

    def __str__(self):
        return in_file(f'the gradient rule of "{self.name}"', self.file)


class Kernel(NamedTuple):
    """What computes an op."""

    #: The function's name, "forward" or "backward" for most.
    name: str
    #: A numpy function: forward(args) or forward(args, attrs).
    function: Callable
    #: The path of its file; "" for the framework's own.
    file: str = ""

    def __str__(self):
        return in_file(f"{self.name}()", self.file)


# The files that are being loaded, the innermost last: the ending of each one's name ("op_def.py",
# "py_kernel.py"), its path, and the chains that it has begun.
_loading = []


@contextmanager
def collect(kind, file):
    """Gather what a file registers while the block runs it.

    `kind` is the ending of the file's name. The block gets a list, which has the records, such as
    OpDefs, after the block.
    """
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
        """Begin the registration of an op type by its name, in the file of this path."""
        self.name = name
        self.file = file
        self.function = None

    def keep(self, function):
        """Set the function that the chain is about."""
        self.function = function
        return self


def begin(kind, chain, name):
    """Return a new chain of calls of the class `chain`, noted for the file that is being loaded.

    OpError where no file is loaded whose name has the ending `kind`.
    """
    is_right_file = _loading and _loading[-1][0] == kind
    need(is_right_file, f'a registration such as that of "{name}" belongs in <name>_{kind}')
    _, file, chains = _loading[-1]
    begun = chain(name, file)
    chains.append(begun)
    return begun


@dataclass
class Registry:
    """Op types, gradient rules and loaded kernel files; `version` counts changes."""

    #: Op types by name.
    ops: dict[str, OpDef] = field(default_factory=dict)
    #: Gradient rules by the op type of the forward op.
    gradients: dict[str, GradientDef] = field(default_factory=dict)
    #: The op's name -> module, kernels, path.
    kernel_files: dict = field(default_factory=dict)
    #: How many changes there were.
    version: int = 0

    def register(self, definitions, folder):
        """Replace a folder's earlier definitions with its new ones, all or none."""
        ops = _without_folder(self.ops, folder)
        gradients = _without_folder(self.gradients, folder)
        for definition in definitions:
            if isinstance(definition, OpDef):
                _add_definition(ops, "op type", definition)
            else:
                _add_definition(gradients, "a gradient for op type", definition)
        self.ops = ops
        self.gradients = gradients
        self.version += 1

    def kernels(self, type_name):
        """Return the kernels that are registered for an op type, in the order of their files."""
        found = []
        for _, kernels, _ in self.kernel_files.values():
            found += [kernel for kernel in kernels if kernel.op_type == type_name]
        return found


def _without_folder(definitions, folder) -> dict:
    """Return the definitions that come from the files of other folders."""
    return {name: item for name, item in definitions.items() if not item.file.startswith(folder)}


def _add_definition(definitions, what, definition):
    """Add one definition; OpError if its name is taken."""
    name = definition.name
    if name in definitions:
        owner = place(definitions[name].file) or "the framework itself"
        raise OpError(
            f'{place(definition.file)}: {what} "{name}" is already registered by {owner}; '
            "op_type_name must be unique"
        )
    definitions[name] = definition

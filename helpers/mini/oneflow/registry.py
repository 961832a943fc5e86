"""The registry of op types, gradient rules and kernels, and the records in it. An op type has a
definition (its inputs, outputs, attributes and shape inference), a gradient rule and a kernel (the
numpy function that computes it). A *chain* is a registration in the style
REGISTER_USER_OP("relu").Input("in").Output("out"). Definitions come from two front ends, which make
the same records: definitions.py (Python) and cpp_def.py (compiled C++).

Mirrors oneflow/core/framework/user_op_registry_manager.cpp and, for kernels,
oneflow/python/ops/user_op_builder.py and oneflow/extension/python of 0.3.
"""

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...safety.arguments import quote_value
from .errors import OpError, add_file, quote_names, require, short_path, stage

NUMBERS = {"float16": 9, "float32": 2, "float64": 3, "int8": 4, "int32": 5, "int64": 6, "uint8": 7}
DTYPES = tuple(NUMBERS)  # and no bool; the numbers are those of enum DataType
FLOATS = DTYPES[:3]
TYPES = {"bool": bool, "int32": int, "int64": int, "float": float, "double": float, "string": str}
REQUIRED = object()  # an attribute without a default


def dtype_name(value, subject):
    """Return the name of a dtype, such as "float32", for np.float32 or "float32".

    Raise OpError for anything that is not in DTYPES. `subject` begins the message.
    """
    try:
        name = np.dtype(value).name if isinstance(value, (str, type, np.dtype)) else None
    except TypeError:
        name = None
    require(
        name in DTYPES,
        f"{subject}: {quote_value(value)} is not a data type of a blob; "
        f"there are {quote_names(DTYPES)}",
    )
    return name


def is_plain_list(value):
    """Return whether a value is a list or a tuple, and not of a subclass."""
    return type(value) in (list, tuple)


class AttrDef(NamedTuple):
    """One attribute of an op type."""

    #: The name of its type, a key of TYPES.
    type: str
    #: The default value; REQUIRED if an op has to give the attribute.
    default: object = REQUIRED


def make_attr_def(location, type_name, default=REQUIRED):
    """Return an AttrDef, checked; OpError if it is wrong. `location` begins the message.

    If `type_name` is None, it follows from the type of the default: 0.1 -> "double".
    """
    names_by_type = {bool: "bool", int: "int64", float: "double", str: "string"}
    name = type_name or names_by_type.get(type(default))
    shown = quote_value(type_name or default)
    require(
        name in TYPES,
        f"{location}: {shown} does not name an attr type; there are {quote_names(TYPES)}",
    )
    if default is not REQUIRED:
        default = convert_attr_value(location, name, default)
    return AttrDef(name, default)


def convert_attr_value(location, type_name, value):
    """Return an attribute's value, converted to the attribute's type; OpError if it does not fit.

    `type_name` is a key of TYPES, and `location` begins the message. A "float" is rounded to 32
    bits.
    """
    python_type = TYPES[type_name]
    # An int may be given for a float. The exact type is compared, because a bool is no int here.
    fits = type(value) is python_type or (python_type is float and type(value) is int)
    require(fits, f"{location} is a {type_name}, got {quote_value(value)}")
    if python_type is int:
        limits = np.iinfo(type_name)
        fits = limits.min <= value <= limits.max
        require(fits, f"{location} is an {type_name}, which cannot hold {value}")
    if type_name == "float":
        return float(np.float32(value))
    return python_type(value)


class Spec(NamedTuple):
    """The shape and dtype of a blob. A blob is a named array of a job."""

    #: The size of each dimension.
    shape: tuple[int, ...]
    #: A name in DTYPES.
    dtype: str

    def __str__(self):
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


def make_spec(shape, dtype, subject):
    """Return a Spec, checked; OpError for a wrong shape or dtype. `subject` begins the message."""
    fits = is_plain_list(shape) and all(isinstance(n, (int, np.integer)) and n >= 0 for n in shape)
    require(fits, f"{subject}: a shape is a tuple such as (5,), of whole numbers from 0 up")
    return Spec(tuple(map(int, shape)), dtype_name(dtype, subject))


@dataclass(frozen=True)
class OpDef:
    """The definition of an op type: its arguments, attributes and inference, but no arithmetic."""

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
        return add_file(f'op type "{self.name}"', self.file)


class GradientDef(NamedTuple):
    """The gradient rule of an op type: it says which backward ops compute its gradients."""

    #: The op type of the forward op.
    name: str
    #: generate(ForwardOp) binds gradients, and returns Requests (see autodiff.py).
    generate: Callable
    #: The path of its definition; "" for the framework's own.
    file: str = ""

    def __str__(self):
        return add_file(f'the gradient rule of "{self.name}"', self.file)


class Kernel(NamedTuple):
    """The numpy function that computes an op."""

    #: The function's name, "forward" or "backward" for most.
    name: str
    #: A numpy function: forward(args) or forward(args, attrs).
    function: Callable
    #: The path of its file; "" for the framework's own.
    file: str = ""

    def __str__(self):
        return add_file(f"{self.name}()", self.file)


# The files that are being loaded: (ending of the name, path, chains that the file has begun). The
# ending is such as "op_def.py". A file that another file loads comes after it.
_files_being_loaded = []


@contextmanager
def collect(kind, file):
    """Collect what a file registers while the block runs the file.

    `kind` is the ending of the file's name, such as "op_def.py". The block receives a list. It is
    empty during the block, and has the records, such as OpDefs, after it.
    """
    records = []
    chains = []
    _files_being_loaded.append((kind, str(file), chains))
    try:
        yield records
    finally:
        _files_being_loaded.pop()
    with stage("define" if kind == "op_def.py" else "load"):
        records += [chain.finish() for chain in chains]


class Chain:
    """A registration while its chain of calls runs. Each method returns the chain itself."""

    def __init__(self, name, file):
        """Begin the registration of an op type by its name, in the file of this path."""
        self.name = name
        self.file = file
        self.function = None

    def set_function(self, function):
        """Set the function that the chain registers."""
        self.function = function
        return self


def begin_chain(kind, chain, name):
    """Return a new chain for the op type `name`, and add it to those of the file being loaded.

    `chain` is a subclass of Chain. OpError if no file is being loaded, or if its name does not have
    the ending `kind`, such as "op_def.py".
    """
    is_right_file = _files_being_loaded and _files_being_loaded[-1][0] == kind
    require(is_right_file, f'a registration such as that of "{name}" belongs in <name>_{kind}')
    _, file, chains = _files_being_loaded[-1]
    new_chain = chain(name, file)
    chains.append(new_chain)
    return new_chain


@dataclass
class Registry:
    """The op types, the gradient rules and the loaded kernel files of a session."""

    #: Op types by name.
    ops: dict[str, OpDef] = field(default_factory=dict)
    #: Gradient rules by the op type of the forward op.
    gradients: dict[str, GradientDef] = field(default_factory=dict)
    #: An op's name -> (module, kernels that it registers, path) of its kernel file.
    kernel_files: dict = field(default_factory=dict)
    #: How often it has changed. A planned run is outdated if this has grown.
    version: int = 0

    def register(self, definitions, folder):
        """Replace the definitions from the files of a folder by new ones.

        If one of them raises OpError, the registry stays as it was.
        """
        # Copies are changed first, and become the registry's only after the last check.
        ops = _list_without_folder(self.ops, folder)
        gradients = _list_without_folder(self.gradients, folder)
        for definition in definitions:
            if isinstance(definition, OpDef):
                _add_definition(ops, "op type", definition)
            else:
                _add_definition(gradients, "a gradient for op type", definition)
        self.ops = ops
        self.gradients = gradients
        self.version += 1

    def kernels(self, type_name):
        """Return the RegisteredKernels for an op type, from all kernel files."""
        matching = []
        for _, kernels, _ in self.kernel_files.values():
            matching += [kernel for kernel in kernels if kernel.op_type == type_name]
        return matching


def _list_without_folder(definitions, folder) -> dict:
    """Return the definitions whose file is not in `folder`, by name."""
    return {name: item for name, item in definitions.items() if not item.file.startswith(folder)}


def _add_definition(definitions, subject, definition):
    """Add one definition to the dict, by its name; OpError if the name is taken already."""
    name = definition.name
    if name in definitions:
        owner = short_path(definitions[name].file) or "the framework itself"
        raise OpError(
            f'{short_path(definition.file)}: {subject} "{name}" is already registered by {owner}; '
            "op_type_name must be unique"
        )
    definitions[name] = definition

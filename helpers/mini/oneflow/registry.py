"""The seam: one registry where logical ops meet their gradients and their kernels.

Both front ends, definitions.py (Python) and cpp_def.py (compiled C++), fill it with records alike.
Mirrors oneflow/core/framework/user_op_registry_manager.cpp and, for kernels,
oneflow/python/ops/user_op_builder.py and oneflow/extension/python of 0.3.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from helpers.mini.oneflow.dtypes import AttrDef
from helpers.mini.oneflow.errors import OpError, listed, need, place


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
        return f'op type "{self.name}"' + (f" ({place(self.file)})" if self.file else "")


@dataclass(frozen=True)
class GradientDef:
    """A gradient rule: `generate(ForwardOp)` returns a Plan (both in backward_op_conf.py)."""

    name: str
    generate: Callable
    file: str = ""

    def __str__(self):
        return f'the gradient rule of "{self.name}"' + (f" ({place(self.file)})" * bool(self.file))


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
        return cls(name, function, _wants_attrs(function), file)

    def __str__(self):
        return f"{self.name}()" + (f" ({place(self.file)})" if self.file else "")


def _wants_attrs(function):
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return len([p for p in parameters if p.kind in places]) > 1


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
        kept = {
            OpDef: _without(self.ops, folder),
            GradientDef: _without(self.gradients, folder),
        }
        for item in definitions:
            table = kept[type(item)]
            if item.name in table:
                raise OpError(_taken(item, table[item.name]))
            table[item.name] = item
        self.ops, self.gradients = kept[OpDef], kept[GradientDef]
        self.version += 1

    def add_kernels(self, name, module, path, registered=()):
        """Register the functions forward and backward of an op's kernel file, and the others."""
        self.kernel_files[name] = module, str(path)
        self.registered[name] = tuple(registered)
        self.version += 1

    def kernels(self, type_name):
        """Return the kernels that are registered for an op type, in the order of their files."""
        known = [kernel for kernels in self.registered.values() for kernel in kernels]
        return [kernel for kernel in known if kernel.op_type == type_name]

    def op(self, name):
        """Return the OpDef of an op_type_name."""
        own = [known for known, item in self.ops.items() if item.file]
        need(name in self.ops, f'there is no op type "{name}"; registered: {listed(own)}')
        return self.ops[name]


def _without(table, folder):
    return {name: item for name, item in table.items() if not item.file.startswith(folder)}


def _taken(item, other):
    by = place(other.file) if other.file else "the framework itself"
    what = "op type" if isinstance(item, OpDef) else "a gradient for op type"
    return (
        f'{place(item.file)}: {what} "{item.name}" is already registered by {by}; '
        "op_type_name must be unique"
    )

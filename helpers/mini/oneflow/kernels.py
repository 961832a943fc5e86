"""From an op to the numpy function that computes it.

The rule of the original: X_forward is computed by forward() of X's kernel file, X_backward by its
backward(). Mirrors oneflow/extension/python/py_compute.cpp (0.3). An op type that kernels are
registered for takes the one whose predicate is true of the op. A predicate is a hob, a high order
bool, as in oneflow/core/framework/user_op_hob.h; the choice is that of GetOpKernelRegistryResult in
user_op_registry_manager.cpp.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ...safety.arguments import quote_value
from . import built_in_ops
from .errors import OpError, listed, lookup, need, place
from .registry import Chain, Kernel, begin, dtype_name

DEVICES = ("cpu", "gpu")
# The original's words for none and for several.
NO_KERNEL = "Cannot find the kernel matching Current OperatorConf."
TOO_MANY = "There are more than one kernels matching Current OperatorConf."


class KernelRegContext(NamedTuple):
    """What a predicate is asked about: one op that looks for its kernel."""

    #: The op type's name.
    op_type: str
    #: One of DEVICES.
    device: str
    #: (argument, index) -> dtype, of its inputs and then of its outputs.
    dtypes: dict[tuple[str, int], str]

    def __str__(self):
        parts = [f"op_type_name: {self.op_type}", f"device: {self.device}"]
        for (name, index), dtype in self.dtypes.items():
            parts.append(f"{name}_{index}: {dtype}")
        return ", ".join(parts)


@dataclass(eq=False)
class Hob:
    """A predicate: `hob(context)` is True or False. `&`, `|` and `~` make another of it."""

    #: The predicate as it was written.
    text: str
    #: What decides.
    function: Callable[[KernelRegContext], bool]

    def __call__(self, context):
        """Ask it of an op."""
        return self.function(context)

    def __and__(self, other):
        return self._joined("&", other, lambda context: self(context) and other(context))

    def __or__(self, other):
        return self._joined("|", other, lambda context: self(context) or other(context))

    def __invert__(self):
        return Hob(f"~({self.text})", lambda context: not self(context))

    def __bool__(self):
        raise OpError(
            f"{self.text} is neither true nor false before an op is known; "
            "join predicates with & and |, each in brackets, not with and, or, not, in"
        )

    def __str__(self):
        return self.text

    def _joined(self, sign, other, function):
        """Return the predicate of two that `function` asks; OpError if `other` is none."""
        need(
            isinstance(other, Hob),
            f"{self.text} {sign} {quote_value(other)}: a predicate joins only another one; "
            "put each in brackets",
        )
        return Hob(f"({self.text}) {sign} ({other.text})", function)


@dataclass(eq=False)
class HobContextGetter:
    """What can be asked for: a device, or the dtype of an argument. `==` makes a predicate."""

    #: How it is written.
    text: str
    #: KernelRegContext -> the value.
    get: Callable
    #: (value, text) -> the value in its usual form; OpError if it can never be equal.
    normalize: Callable
    __hash__ = None

    def __eq__(self, value):
        value = self.normalize(value, self.text)
        return Hob(f'{self.text} == "{value}"', lambda context: self.get(context) == value)

    def __ne__(self, value):
        return ~(self == value)


def HobDataType(name, index):
    """The dtype of an argument of the op, an input or an output, in a predicate."""
    text = f'HobDataType("{name}", {index})'

    def get(context):
        owner = f'{text}: op type "{context.op_type}" '
        return lookup(context.dtypes, "argument", (name, index), owner)

    return HobContextGetter(text, get, dtype_name)


def HobDeviceTag():
    """The device that the op is placed on, in a predicate."""
    return HobContextGetter("HobDeviceTag()", lambda context: context.device, lambda tag, _: tag)


class RegisteredKernel(NamedTuple):
    """A kernel and the ops that it is for."""

    #: The op type's name.
    op_type: str
    #: A predicate that is true of the ops that it is for.
    matches: Hob
    #: What computes them.
    kernel: Kernel

    def __str__(self):
        return str(self.kernel)


def choose(kernels: list[RegisteredKernel], context: KernelRegContext) -> RegisteredKernel:
    """Return the one kernel whose predicate is true of an op; OpError for none and for several."""
    matching = [kernel for kernel in kernels if kernel.matches(context)]
    need(matching, f"{NO_KERNEL} {context}")
    need(len(matching) == 1, f"{TOO_MANY} {context}")
    return matching[0]


def REGISTER_USER_KERNEL(op_type_name):
    """Begin the registration of a kernel."""
    return begin("py_kernel.py", KernelChain, op_type_name)


class KernelChain(Chain):
    """A registration under construction."""

    SetCreateFn = Chain.keep  # the function that computes: function(args) or function(args, attrs)
    predicate = None

    def SetIsMatchedHob(self, predicate):
        """Say for which ops it is: a predicate such as HobDataType("in", 0) == "float32"."""
        self.predicate = predicate
        return self

    def finish(self):
        """Return the record, checked."""
        what = f'REGISTER_USER_KERNEL("{self.name}")'
        need(callable(self.function), f"{what} has no .SetCreateFn(function)")
        need(
            isinstance(self.predicate, Hob),
            f"{what}.SetIsMatchedHob needs a predicate, got {quote_value(self.predicate)}",
        )
        kernel = Kernel(self.function.__name__, self.function, self.file)
        return RegisteredKernel(self.name, self.predicate, kernel)


def find(registry, context):
    """Return the Kernel of an op, found by its KernelRegContext, or raise OpError."""
    if context.op_type in built_in_ops.KERNELS:
        return built_in_ops.KERNELS[context.op_type]
    registered = registry.kernels(context.op_type)
    if not registered:
        return named(registry, context.op_type)
    try:
        return choose(registered, context).kernel
    except OpError as error:
        list_of_kernels = "; ".join(f"{entry} if {entry.matches}" for entry in registered)
        raise OpError(f"{error} (registered: {list_of_kernels})") from error


def named(registry, type_name):
    """Return the Kernel that the kernel file has under the ending of an op type's name."""
    name, _, function_name = type_name.rpartition("_")
    files = registry.kernel_files
    what = f'op type "{type_name}"'
    need(
        function_name in ("forward", "backward"),
        f"{what} cannot find its kernel: its name must end in _forward or _backward",
    )
    need(
        name in files,
        f'{what} has no Python kernel: no kernel file "{name}" was loaded with .py_kernel() '
        f"(loaded: {listed(files)})",
    )
    module, _, file = files[name]
    function = getattr(module, function_name, None)
    need(
        callable(function),
        f"{place(file)} defines no function {function_name}(args), which {what} needs",
    )
    return Kernel(function_name, function, file)

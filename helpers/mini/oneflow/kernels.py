"""Finds the kernel of an op, which is the numpy function that computes it. A kernel may be
registered with a *predicate*, a condition on the op's device and dtypes, such as HobDataType("in",
0) == "float32". An op type without registered kernels has its kernel in a Python file, by name:
X_forward is computed by forward() of X's kernel file, X_backward by its backward(). Mirrors
oneflow/extension/python/py_compute.cpp (0.3). OneFlow calls a predicate a hob, a high order bool,
as in oneflow/core/framework/user_op_hob.h; the choice is that of GetOpKernelRegistryResult in
user_op_registry_manager.cpp.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ...safety.arguments import quote_value
from . import built_in_ops
from .errors import OpError, get_by_name, quote_names, require, short_path
from .registry import Chain, Kernel, begin_chain, dtype_name

DEVICES = ("cpu", "gpu")
# OneFlow's messages for no kernel and for several kernels.
NO_KERNEL = "Cannot find the kernel matching Current OperatorConf."
TOO_MANY = "There are more than one kernels matching Current OperatorConf."


class KernelRegContext(NamedTuple):
    """The op for which a kernel is looked for, as predicates see it."""

    #: The op type's name.
    op_type: str
    #: One of DEVICES.
    device: str
    #: (argument, index) -> dtype, for the inputs and then the outputs.
    dtypes: dict[tuple[str, int], str]

    def __str__(self):
        parts = [f"op_type_name: {self.op_type}", f"device: {self.device}"]
        for (name, index), dtype in self.dtypes.items():
            parts.append(f"{name}_{index}: {dtype}")
        return ", ".join(parts)


@dataclass(eq=False)
class Hob:
    """A predicate: `hob(context)` is True or False. `&`, `|` and `~` combine predicates."""

    #: The predicate as text, for messages.
    text: str
    #: The function that decides.
    function: Callable[[KernelRegContext], bool]

    def __call__(self, context):
        """Return whether the predicate is true for an op."""
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
        """Return the predicate with the text `self sign other`; OpError if `other` is no Hob."""
        require(
            isinstance(other, Hob),
            f"{self.text} {sign} {quote_value(other)}: a predicate joins only another one; "
            "put each in brackets",
        )
        return Hob(f"({self.text}) {sign} ({other.text})", function)


@dataclass(eq=False)
class HobContextGetter:
    """A property of an op, its device or the dtype of an argument; `==` makes a predicate of it."""

    #: The property as text, for messages.
    text: str
    #: KernelRegContext -> the value of the property.
    get: Callable
    #: (value compared with, text) -> the value as `get` returns it; OpError if it cannot be one.
    normalize: Callable
    __hash__ = None

    def __eq__(self, value):
        value = self.normalize(value, self.text)
        return Hob(f'{self.text} == "{value}"', lambda context: self.get(context) == value)

    def __ne__(self, value):
        return ~(self == value)


def HobDataType(name, index):
    """Return the dtype of an input or output, to be compared with `==` in a predicate."""
    text = f'HobDataType("{name}", {index})'

    def get(context):
        owner = f'{text}: op type "{context.op_type}" '
        return get_by_name(context.dtypes, "argument", (name, index), owner)

    return HobContextGetter(text, get, dtype_name)


def HobDeviceTag():
    """Return the device of the op, to be compared with `==` in a predicate."""
    return HobContextGetter("HobDeviceTag()", lambda context: context.device, lambda tag, _: tag)


class RegisteredKernel(NamedTuple):
    """A kernel that was registered with a predicate."""

    #: The op type's name.
    op_type: str
    #: The predicate that is true for the ops that the kernel can compute.
    matches: Hob
    #: The function.
    kernel: Kernel

    def __str__(self):
        return str(self.kernel)


def choose_kernel(kernels: list[RegisteredKernel], context: KernelRegContext) -> RegisteredKernel:
    """Return the only kernel whose predicate is true for an op; OpError for none or several."""
    matching = [kernel for kernel in kernels if kernel.matches(context)]
    require(matching, f"{NO_KERNEL} {context}")
    require(len(matching) == 1, f"{TOO_MANY} {context}")
    return matching[0]


def REGISTER_USER_KERNEL(op_type_name):
    """Begin the registration of a kernel."""
    return begin_chain("py_kernel.py", KernelChain, op_type_name)


class KernelChain(Chain):
    """A kernel's registration while its chain of calls runs."""

    # the function that computes: function(args) or function(args, attrs)
    SetCreateFn = Chain.set_function
    predicate = None

    def SetIsMatchedHob(self, predicate):
        """Set the predicate, such as HobDataType("in", 0) == "float32"."""
        self.predicate = predicate
        return self

    def finish(self):
        """Return the RegisteredKernel, checked; OpError if the registration is incomplete."""
        subject = f'REGISTER_USER_KERNEL("{self.name}")'
        require(callable(self.function), f"{subject} has no .SetCreateFn(function)")
        require(
            isinstance(self.predicate, Hob),
            f"{subject}.SetIsMatchedHob needs a predicate, got {quote_value(self.predicate)}",
        )
        kernel = Kernel(self.function.__name__, self.function, self.file)
        return RegisteredKernel(self.name, self.predicate, kernel)


def find_kernel(registry, context):
    """Return the Kernel for an op, or raise OpError.

    A built-in op has its own kernel. For other op types a registered kernel is chosen, or, if none
    is registered, the function in the kernel file that the op type's name says.
    """
    if context.op_type in built_in_ops.KERNELS:
        return built_in_ops.KERNELS[context.op_type]
    registered = registry.kernels(context.op_type)
    if not registered:
        return find_python_kernel(registry, context.op_type)
    try:
        return choose_kernel(registered, context).kernel
    except OpError as error:
        list_of_kernels = "; ".join(f"{entry} if {entry.matches}" for entry in registered)
        raise OpError(f"{error} (registered: {list_of_kernels})") from error


def find_python_kernel(registry, type_name):
    """Return the Kernel that the name of an op type means, or raise OpError.

    For "relu_forward" that is the function `forward` in the kernel file of the op "relu".
    """
    name, _, function_name = type_name.rpartition("_")
    files = registry.kernel_files
    subject = f'op type "{type_name}"'
    require(
        function_name in ("forward", "backward"),
        f"{subject} cannot find its kernel: its name must end in _forward or _backward",
    )
    require(
        name in files,
        f'{subject} has no Python kernel: no kernel file "{name}" was loaded with .py_kernel() '
        f"(loaded: {quote_names(files)})",
    )
    module, _, file = files[name]
    function = getattr(module, function_name, None)
    require(
        callable(function),
        f"{short_path(file)} defines no function {function_name}(args), which {subject} needs",
    )
    return Kernel(function_name, function, file)

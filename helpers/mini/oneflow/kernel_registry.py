"""REGISTER_USER_KERNEL in a kernel file -> records; and the choice of the one that fits an op.

Mirrors oneflow/core/framework/user_op_kernel_registry.h, user_op_hob.h (a hob is a high order bool,
such as `HobDataType("in", 0) == "float32"`) and, for the choice, GetOpKernelRegistryResult in
user_op_registry_manager.cpp. There, kernels are C++ classes.
"""

from contextlib import contextmanager
from dataclasses import dataclass

from helpers.mini.oneflow.dtypes import dtype_name
from helpers.mini.oneflow.errors import OpError, listed, need, shown, stage
from helpers.mini.oneflow.registry import Kernel

DEVICES = ("cpu", "gpu")


@dataclass(frozen=True)
class KernelRegContext:
    """What a predicate is asked about: one op that looks for its kernel.

    Attributes:
        op_type: its op_type_name.
        device: "cpu" or "gpu".
        dtypes: (argument, index) -> dtype, of its inputs and then of its outputs.
    """

    op_type: str
    device: str
    dtypes: dict[tuple[str, int], str]

    def __str__(self):
        dtypes = [f"{name}_{index}: {dtype}" for (name, index), dtype in self.dtypes.items()]
        return ", ".join([f"op_type_name: {self.op_type}", f"device: {self.device}", *dtypes])


class Hob:
    """A predicate: `hob(context)` is True or False. `&`, `|` and `~` make another of it."""

    def __init__(self, text, function):
        self.text, self.function = text, function

    def __call__(self, context: KernelRegContext) -> bool:
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
        joined = f"{self.text} {sign} {shown(other)}"
        fine = isinstance(other, Hob)
        need(fine, f"{joined}: a predicate is joined with another one; put each in brackets")
        return Hob(f"({self.text}) {sign} ({other.text})", function)


class HobContextGetter:
    """What can be asked for: a device, or the dtype of an argument. `==` makes a predicate."""

    def __init__(self, text, get, known):
        self.text, self.get, self.known = text, get, known

    def __eq__(self, value):
        value = self.known(value, self.text)
        return Hob(f'{self.text} == "{value}"', lambda context: self.get(context) == value)

    def __ne__(self, value):
        value = self.known(value, self.text)
        return Hob(f'{self.text} != "{value}"', lambda context: self.get(context) != value)

    __hash__ = None


def HobDataType(name, index):
    """Stand for the dtype of an argument of the op, an input or an output."""
    text = f'HobDataType("{name}", {index})'

    def get(context):
        if (name, index) not in context.dtypes:
            has = listed(known for known, _ in context.dtypes)
            raise OpError(f'{text}: op type "{context.op_type}" has no such argument; it has {has}')
        return context.dtypes[name, index]

    return HobContextGetter(text, get, dtype_name)


def HobDeviceTag():
    """Stand for the device that the op is placed on."""

    def known(value, what):
        fine = type(value) is str and value in DEVICES
        need(fine, f"{what}: there are {listed(DEVICES)}, not {shown(value)}")
        return value

    return HobContextGetter("HobDeviceTag()", lambda context: context.device, known)


# The original's words for none and for several.
NO_KERNEL = "Cannot find the kernel matching Current OperatorConf."
TOO_MANY = "There are more than one kernels matching Current OperatorConf."

_collecting = []  # one (file, chains) for each kernel file that is being loaded


@dataclass(frozen=True)
class RegisteredKernel:
    """A kernel and the ops that it is for: those of this type of which `matches` is true."""

    op_type: str
    matches: Hob
    kernel: Kernel

    def __str__(self):
        return str(self.kernel)


def choose(kernels: list[RegisteredKernel], context: KernelRegContext) -> RegisteredKernel:
    """Return the one kernel whose predicate is true of an op; OpError for none and for several."""
    matching = [kernel for kernel in kernels if kernel.matches(context)]
    need(matching, f"{NO_KERNEL} {context}")
    need(len(matching) == 1, f"{TOO_MANY} {context}")
    return matching[0]


def chosen(kernels: list[RegisteredKernel], context: KernelRegContext) -> Kernel:
    """Return the kernel that `choose` takes; its error names the predicates as well."""
    try:
        return choose(kernels, context).kernel
    except OpError as error:
        told = "; ".join(f"{kernel} if {kernel.matches}" for kernel in kernels)
        raise OpError(f"{error} (registered: {told})") from error


@contextmanager
def collect_kernels(file):
    """Gather what a kernel file registers; the list holds the records after the block."""
    registered = []
    _collecting.append((str(file), chains := []))
    try:
        yield registered
    finally:
        _collecting.pop()
    with stage("load"):
        registered += [chain.finish() for chain in chains]


def REGISTER_USER_KERNEL(op_type_name):
    """Begin the registration of a kernel."""
    need(_collecting, "REGISTER_USER_KERNEL stands in <name>_py_kernel.py")
    file, chains = _collecting[-1]
    chains.append(KernelChain(op_type_name, file))
    return chains[-1]


class KernelChain:
    """A registration under construction."""

    def __init__(self, op_type_name, file):
        self.name, self.file = op_type_name, file
        self.function = self.predicate = None

    def SetCreateFn(self, function):
        """Set the function that computes: function(args) or function(args, attrs)."""
        need(callable(function), f"{self}.SetCreateFn takes a function, got {shown(function)}")
        self.function = function
        return self

    def SetIsMatchedHob(self, predicate):
        """Say for which ops it is: a predicate such as HobDataType("in", 0) == "float32"."""
        told = f"{self}.SetIsMatchedHob takes a predicate, got {shown(predicate)}"
        need(isinstance(predicate, Hob), told)
        self.predicate = predicate
        return self

    def finish(self):
        """Return the record, checked."""
        need(self.function is not None, f"{self} has no .SetCreateFn(function)")
        need(self.predicate is not None, f"{self} has no .SetIsMatchedHob(predicate)")
        name = getattr(self.function, "__name__", "kernel")
        kernel = Kernel.of(name, self.function, self.file)
        return RegisteredKernel(self.name, self.predicate, kernel)

    def __str__(self):
        return f'REGISTER_USER_KERNEL("{self.name}")'

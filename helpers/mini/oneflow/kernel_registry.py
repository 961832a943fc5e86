"""REGISTER_USER_KERNEL in a kernel file -> records; and the choice of the one that fits an op.

Mirrors oneflow/core/framework/user_op_kernel_registry.h and, for the choice,
GetOpKernelRegistryResult in user_op_registry_manager.cpp. There, kernels are C++ classes.
"""

from contextlib import contextmanager
from dataclasses import dataclass

from helpers.mini.oneflow.errors import OpError, need, shown, stage
from helpers.mini.oneflow.registry import Kernel
from helpers.mini.oneflow.user_op_hob import Hob, KernelRegContext
from helpers.safety.arguments import is_a

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
        fine = type(op_type_name) is str and op_type_name
        need(fine, f"REGISTER_USER_KERNEL takes an op_type_name, got {shown(op_type_name)}")
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
        need(is_a(predicate, Hob), told)
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

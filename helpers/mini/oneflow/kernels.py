"""From an op to the numpy function that computes it; and a job's run through all of them.

The rule of the original: X_forward is computed by forward() of X's kernel file, X_backward by its
backward(). Mirrors oneflow/extension/python/py_compute.cpp (0.3). An op type that kernels are
registered for takes the one whose predicate is true of the op. A predicate is a hob, a high order
bool, as in oneflow/core/framework/user_op_hob.h; the choice is that of GetOpKernelRegistryResult in
user_op_registry_manager.cpp. A run is planned once, and again when the registry has changed.
"""

from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from inspect import signature
from sys import getrefcount
from types import MappingProxyType

import numpy as np

from ...safety.arguments import quote_value, real_type_name
from . import built_in_ops
from .autodiff import numbered
from .errors import OpError, listed, lookup, need, place, raised
from .registry import Chain, Kernel, Spec, begin, dtype_name

DEVICES = ("cpu", "gpu")
# The original's words for none and for several.
NO_KERNEL = "Cannot find the kernel matching Current OperatorConf."
TOO_MANY = "There are more than one kernels matching Current OperatorConf."
HOLDERS = 3  # the container, one name and getrefcount's argument


class KernelRegContext(namedtuple("KernelRegContext", "op_type device dtypes")):
    """What a predicate is asked about: one op that looks for its kernel.

    `dtypes`: (argument, index) -> dtype, of its inputs and then of its outputs.
    """

    def __str__(self):
        dtypes = [f"{name}_{index}: {dtype}" for (name, index), dtype in self.dtypes.items()]
        return ", ".join([f"op_type_name: {self.op_type}", f"device: {self.device}", *dtypes])


@dataclass(eq=False)
class Hob:
    """A predicate: `hob(context)` is True or False. `&`, `|` and `~` make another of it."""

    text: str
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
        told = f"{self.text} {sign} {quote_value(other)}: a predicate joins only another one"
        need(isinstance(other, Hob), f"{told}; put each in brackets")
        return Hob(f"({self.text}) {sign} ({other.text})", function)


@dataclass(eq=False)
class HobContextGetter:
    """What can be asked for: a device, or the dtype of an argument. `==` makes a predicate."""

    text: str
    get: Callable
    known: Callable
    __hash__ = None

    def __eq__(self, value):
        value = self.known(value, self.text)
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


class RegisteredKernel(namedtuple("RegisteredKernel", "op_type matches kernel")):
    """A kernel and the ops that it is for: those of this type of which `matches` is true."""

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
        what, of = f'REGISTER_USER_KERNEL("{self.name}")', quote_value(self.predicate)
        need(callable(self.function), f"{what} has no .SetCreateFn(function)")
        need(isinstance(self.predicate, Hob), f"{what}.SetIsMatchedHob needs a predicate, got {of}")
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
        told = "; ".join(f"{one} if {one.matches}" for one in registered)
        raise OpError(f"{error} (registered: {told})") from error


def named(registry, type_name):
    """Return the Kernel that the kernel file has under the ending of an op type's name."""
    name, _, function = type_name.rpartition("_")
    what, loaded = f'op type "{type_name}"', registry.kernel_files
    told = f"{what} cannot find its kernel: its name must end in _forward or _backward"
    need(function in ("forward", "backward"), told)
    told = f'{what} has no Python kernel: no kernel file "{name}" was loaded with .py_kernel()'
    need(name in loaded, f"{told} (loaded: {listed(loaded)})")
    module, _, file = loaded[name]
    found = getattr(module, function, None)
    need(callable(found), f"{place(file)} defines no function {function}(args), which {what} needs")
    return Kernel(function, found, file)


def step(op, kernel):
    """Return a function that runs an op: it reads and writes arrays by the names of blobs."""
    function, where = kernel.function, f'{kernel} of op "{op.name}" ({op.type})'
    attrs = {name: value for name, value in op.attrs if name != "device_sub_tag"}
    rest = (MappingProxyType(attrs),) * (len(signature(function).parameters) > 1)
    reads = [blob for _, blob in op.inputs]
    expected = [(n, output, np.dtype(output.dtype)) for n, output in enumerate(op.outputs)]

    def run(arrays):
        try:
            result = function(tuple([arrays[blob] for blob in reads]), *rest)
        except (Exception, SystemExit) as error:
            raise OpError(f"{where} raised {raised(error, kernel.file)}") from error
        results = (*result,) if type(result) in (tuple, list) else (result,)
        del result
        if len(results) != len(expected):
            has = f"{len(expected)} output(s): {', '.join(map(str, op.outputs))}"
            raise OpError(f"{where} returned {len(results)} value(s); the op has {has}")
        for index, output, dtype in expected:
            array = results[index]  # zip() would hold it too
            if isinstance(array, np.generic):
                array = np.array(array)
            if type(array) is not np.ndarray:
                kind = "None" if array is None else f"a {real_type_name(array)}"
                told = f"returned {kind} for {output}; a kernel returns a numpy array"
                raise OpError(f"{where} {told}")
            pairs = ("shape", array.shape, output.shape), ("dtype", array.dtype, dtype)
            for what, found, right in pairs:
                if found != right:
                    told = f"{where} returned {what} {found} for {output}"
                    raise OpError(f"{told}; the op's inference says {right}")
            if getrefcount(array) > HOLDERS or array.base is not None:
                array = array.copy()
            array.setflags(write=False)
            arrays[output.blob] = array

    return run


class Executor:
    """A Job made ready to run in its session."""

    def __init__(self, job, session, optimizer=None, watches=()):
        self.job, self.session, self.optimizer, self.watches = job, session, optimizer, watches
        self.inputs = [(op.name, op.outputs[0]) for op in job.ops if op.type == "input"]
        self.variables = [(op.name, op.outputs[0]) for op in job.ops if op.type == "variable"]
        updates = (op for op in job.ops if op.part == "update")
        named = ((op.name.removesuffix("_update"), op.inputs) for op in updates)
        self.updates = [(name, *dict(inputs).values()) for name, inputs in named]
        self.version, self.steps = None, []

    def __call__(self, given):
        """Run the job once; return the arrays of its returned blobs."""
        if self.version != self.session.registry.version:
            self.plan()
        arrays = {}
        for (name, output), array in zip(self.inputs, given, strict=True):
            if type(array) is np.ndarray:
                found = Spec(array.shape, array.dtype)
            else:
                found = f"a {real_type_name(array)}, not a numpy array: write np.asarray(...)"
            if found != output.spec:
                what = f'job "{self.job.name}": argument "{name}"'
                raise OpError(f"{what} is {found}; the placeholder is {output.spec}")
            arrays[output.blob] = array.view()
            arrays[output.blob].setflags(write=False)
        for name, output in self.variables:
            arrays[output.blob] = self.session.variables[name]
        for step in self.steps:
            step(arrays)
        momenta = self.session.momenta
        for name, model, gradient in self.updates:  # after all ops have run
            given = arrays[model], arrays[gradient], momenta.get(name)
            value, momenta[name] = self.optimizer.next(*given)
            self.session.set_variable(name, value)
        return [_released(arrays, blob) for blob in self.job.returns]

    def plan(self):
        """Look every op's kernel up; a watch comes right after the op that writes its blob."""
        registry, steps, blobs = self.session.registry, [], self.job.blobs
        for op in self.job.ops:
            if op.type not in ("input", "variable") and op.part != "update":
                dtypes = numbered([(name, blobs[blob].dtype) for name, blob in op.inputs])
                dtypes |= {(output.argument, 0): output.dtype for output in op.outputs}
                try:
                    kernel = find(registry, KernelRegContext(op.type, op.placement, dtypes))
                except OpError as error:
                    raise OpError(f'op "{op.name}" of job "{self.job.name}": {error}') from None
                steps.append(step(op, kernel))
            written = [output.blob for output in op.outputs]
            steps += [partial(_show, *watch) for watch in self.watches if watch[0] in written]
        self.steps, self.version = steps, registry.version


def _show(blob, handler, arrays):
    handler(arrays[blob].copy())


def _released(arrays, blob):
    """Return an array that is the caller's own: what a blob holds, or a copy of it."""
    array = arrays[blob]
    if array.base is not None or getrefcount(array) > HOLDERS:
        return array.copy()
    array.setflags(write=True)
    return array

"""From an op to the numpy function that computes it, and what that function may return.

The rule of the original: X_forward is computed by forward() of X's kernel file, X_backward by its
backward(). Mirrors oneflow/extension/python/py_compute.cpp (0.3). An op type that kernels are
registered for takes the one that matches.
"""

from sys import getrefcount
from types import MappingProxyType

import numpy as np

from helpers.mini.oneflow import built_in_ops
from helpers.mini.oneflow.errors import OpError, listed, need, place, raised
from helpers.mini.oneflow.kernel_registry import chosen
from helpers.mini.oneflow.registry import Kernel
from helpers.safety.arguments import is_exactly, kind_of

HOLDERS = 3  # the container, one name and getrefcount's argument


def find(registry, context):
    """Return the Kernel of an op, told by its KernelRegContext, or raise OpError."""
    if context.op_type in built_in_ops.KERNELS:
        return built_in_ops.KERNELS[context.op_type]
    registered = registry.kernels(context.op_type)
    return chosen(registered, context) if registered else named(registry, context.op_type)


def named(registry, type_name):
    """Return the Kernel that the kernel file has under the ending of an op type's name."""
    name, _, function = type_name.rpartition("_")
    need(
        function in ("forward", "backward"),
        f'op type "{type_name}" cannot find its kernel: a Python kernel is looked up by the '
        "ending of the op_type_name, which must be _forward or _backward",
    )
    loaded = registry.kernel_files
    need(
        name in loaded,
        f'op type "{type_name}" has no Python kernel: no kernel file "{name}" was loaded with '
        f".py_kernel() (loaded: {listed(loaded)})",
    )
    module, file = loaded[name]
    found = getattr(module, function, None)
    need(
        callable(found),
        f'{place(file)} defines no function {function}(args), which op type "{type_name}" needs',
    )
    return Kernel.of(function, found, file)


def step(op, kernel, reads, writes):
    """Return a function that runs an op: it reads and writes slots of a list of arrays.

    Arrays in slots are read-only, and held by nobody outside: what a kernel keeps is copied.
    """
    function, where = kernel.function, f'{kernel} of op "{op.name}" ({op.type})'
    attrs = {name: value for name, value in op.attrs if name != "device_sub_tag"}
    rest = (MappingProxyType(attrs),) if kernel.wants_attrs else ()
    expected = [
        (index, slot, output, output.shape, np.dtype(output.dtype))
        for index, (slot, output) in enumerate(zip(writes, op.outputs, strict=True))
    ]

    def run(slots):
        try:
            result = function(tuple([slots[i] for i in reads]), *rest)
        except (Exception, SystemExit) as error:
            raise OpError(f"{where} raised {raised(error, kernel.file)}") from error
        results = (*result,) if is_exactly(result, tuple, list) else (result,)
        del result
        if len(results) != len(expected):
            raise _wrong_count(where, results, op)
        for index, slot, output, shape, dtype in expected:
            array = results[index]  # zip() would hold it too
            if type(array) is not np.ndarray:
                array = _array(array, where, output)
            if array.shape != shape or array.dtype != dtype:
                raise _wrong_spec(where, array, output)
            if getrefcount(array) > HOLDERS or array.base is not None:
                array = array.copy()
            array.setflags(write=False)
            slots[slot] = array

    return run


def _array(value, where, output):
    """Return a numpy scalar as an array; raise OpError for all else."""
    if isinstance(value, np.generic):
        return np.array(value)
    kind = "None" if value is None else f"a {kind_of(value)}"
    raise OpError(f"{where} returned {kind} for {output}; a kernel returns a numpy array")


def _wrong_count(where, results, op):
    outputs = ", ".join(map(str, op.outputs))
    return OpError(
        f"{where} returned {len(results)} value(s); the op has {len(op.outputs)} output(s): "
        f"{outputs}"
    )


def _wrong_spec(where, array, output):
    if array.shape != output.shape:
        found, right = f"shape {array.shape}", output.shape
    else:
        found, right = f"dtype {array.dtype}", output.dtype
    return OpError(f"{where} returned {found} for {output}; the op's inference says {right}")

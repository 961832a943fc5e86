"""Say why a name must not be rebound, because code that runs now depends on it. Names of three
owners are fixed: this package, a running Jupyter kernel, and Python's builtins.
"""

import builtins
import sys
import types

from ...safety import PACKAGE
from ...safety.arguments import real_isinstance
from ..cpython.objects import read_namespace

OURS = "the code that restores everything relies on it"
KERNELS = "the kernel's own machinery relies on it"
PYTHONS = "Python's own modules and the kernel rely on it"
_OWN_PACKAGES = (f"{PACKAGE}.capture.", f"{PACKAGE}.safety.")
_KERNEL_PACKAGES = (
    *("IPython", "asyncio", "comm", "ipykernel", "json", "jupyter_client", "selectors"),
    *("threading", "tornado", "traitlets", "zmq"),
)  # the kernel writes its messages with json


def find_fixed_reason(container: object) -> str:
    """Return why the references in a dict, a function or a class must stay; "" if they may change.

    `container` is a module's dict, or a function or class, which is judged by its module.
    """
    module_dict = _find_module_dict(container)
    # `dict.get`, because a class derived from dict may have a `get` of its own.
    name = dict.get(module_dict, "__name__") if module_dict is not None else None
    if type(name) is not str:
        return ""
    if name.startswith(_OWN_PACKAGES):
        return OURS
    if module_dict is vars(builtins):
        return PYTHONS
    # Outside a kernel, asyncio or json are libraries like any other, and may be rebound.
    if name.partition(".")[0] in _KERNEL_PACKAGES and _is_in_kernel():
        return KERNELS
    return ""


def _find_module_dict(container: object) -> dict | None:
    """Return the dict of the module to which a function or class belongs.

    A dict is returned as it is, because it may be a module's dict. None for any other object.
    """
    if real_isinstance(container, types.FunctionType):
        return container.__globals__
    if real_isinstance(container, type):
        module = sys.modules.get(container.__module__)
        return read_namespace(module) if real_isinstance(module, types.ModuleType) else None
    return container if real_isinstance(container, dict) else None


def _is_in_kernel() -> bool:
    """Return whether this process is a Jupyter kernel; ipykernel is not imported to find out.

    A kernel is running if the class IPKernelApp has its one instance.
    """
    application = getattr(sys.modules.get("ipykernel.kernelapp"), "IPKernelApp", None)
    return getattr(application, "_instance", None) is not None

"""What outlives a job, the registry and the variables; and how an op's folder comes into it.

Mirrors framework/session_util.py, and oneflow/python/ops/util/custom_op_module.py of 0.3, which
copied the folder into the working directory and compiled there; here the folder is read where it
is. While an op's own files run, `import oneflow as flow` means this package.
"""

import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partialmethod
from pathlib import Path
from types import ModuleType

import numpy as np

from . import cpp_def as cpp
from .built_in_ops import built_in_registry
from .errors import OpError, listed, need, place, raised, stage
from .registry import Registry, Spec, collect

PACKAGE = __name__.rpartition(".")[0]


@dataclass
class Session:
    """A registry, and variables by name: read-only arrays, replaced by each update."""

    registry: Registry = field(default_factory=built_in_registry)
    variables: dict[str, np.ndarray] = field(default_factory=dict)
    momenta: dict[str, np.ndarray] = field(default_factory=dict)

    def set_variable(self, name, array):
        """Keep a private, read-only copy."""
        self.variables[name] = kept = np.array(array)
        kept.flags.writeable = False


_sessions = [Session()]


def session() -> Session:
    """Return the session in use."""
    return _sessions[-1]


@contextmanager
def fresh_session():
    """Use a new, empty session inside the block; jobs made in it keep it."""
    _sessions.append(Session())
    try:
        yield _sessions[-1]
    finally:
        _sessions.pop()


def clear_default_session():
    """Forget op types, kernels and variables (the original keeps its op types)."""
    _sessions[-1] = Session()


def get_all_variables() -> dict[str, np.ndarray]:
    """Return copies of all variables by name."""
    return {name: array.copy() for name, array in session().variables.items()}


def load_variables(values):
    """Set variables that a job has made already. Mirrors flow.load_variables."""
    known = session().variables
    for name, value in values.items():
        need(name in known, f'there is no variable "{name}"; there are {listed(known)}')
        old, new = (Spec(a.shape, a.dtype.name) for a in (known[name], np.asarray(value)))
        need(new == old, f'variable "{name}" is {old}, the value is {new}')
    for name, value in values.items():
        session().set_variable(name, value)


@contextmanager
def as_oneflow():
    """Let `import oneflow` and `import oneflow.typing` find this package inside the block."""
    flow, names = sys.modules[PACKAGE], ("oneflow", "oneflow.typing")
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    sys.modules.update(zip(names, (flow, flow.typing), strict=True))
    try:
        yield
    finally:
        for name in names:
            del sys.modules[name]
        sys.modules.update(before)


def load_file(path, ending):
    """Return what a file of an op gives: a new module, if it is Python, and what it registers."""
    if ending == "cpp_def.cpp":
        return None, cpp.load(path)
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    with collect(ending, path) as records:
        try:
            code = compile(path.read_bytes(), str(path), "exec")
            with as_oneflow():
                exec(code, vars(module))
        except OpError:
            raise
        except (Exception, SystemExit) as error:
            raise OpError(f"{place(path)} cannot be loaded: {raised(error, path)}") from error
    return module, records


class CustomOpModule:
    """The files of one op: <folder>/<name>_py_api.py and so on. Nothing is loaded yet."""

    @stage("load")
    def __init__(self, op_type_name, module_path="."):
        self.name, self.folder = op_type_name, Path(module_path).resolve() / op_type_name
        told = f"there is no folder '{op_type_name}' under the path; a custom op lives in a folder"
        told = f"{told} with the op's name, and custom_op_module(name, path) needs the path"
        need(self.folder.is_dir(), f"{told} of the folder that contains it")
        self._files, self._api = {}, None

    @property
    def api(self):
        """The wrapper functions: the module of <name>_py_api.py."""
        need(self._api is not None, f'op "{self.name}" has no .api: call .py_api().build_load()')
        return self._api

    @stage("load")
    def build_load(self):
        """Load everything that was asked for, and register it: all or nothing."""
        loaded = {ending: load_file(path, ending) for ending, path in self._files.items()}
        registry = session().registry
        for ending in loaded.keys() & {"op_def.py", "cpp_def.cpp"}:
            with stage("define"):
                registry.register(loaded[ending][1], f"{self.folder}{os.sep}")
        if "py_kernel.py" in loaded:
            file = str(self._files["py_kernel.py"])
            registry.kernel_files[self.name] = (*loaded["py_kernel.py"], file)
            registry.version += 1
        self._api = loaded.get("py_api.py", (self._api,))[0]
        return self

    @stage("load")
    def _plan(self, ending):
        path = self.folder / f"{self.name}_{ending}"
        if not path.is_file():
            has = listed(sorted(os.listdir(self.folder)))
            raise OpError(f"{place(path)} is missing; the folder contains {has}")
        self._files[ending] = path
        both = {"op_def.py", "cpp_def.cpp"} <= set(self._files)
        need(not both, f'op "{self.name}" is defined once: use .py_def() or .cpp_def()')
        return self

    # Ask for the wrappers, the definition in Python or in C++, and the numpy kernels.
    py_api = partialmethod(_plan, "py_api.py")
    py_def = partialmethod(_plan, "op_def.py")
    cpp_def = partialmethod(_plan, "cpp_def.cpp")
    py_kernel = partialmethod(_plan, "py_kernel.py")

"""What outlives a job, the registry and the variables; and how an op's folder comes into it.

Mirrors framework/session_util.py, and oneflow/python/ops/util/custom_op_module.py of 0.3, which
copied the folder into the working directory and compiled there; here the folder is read where it
is. While an op's own files run, `import oneflow as flow` means this package.
"""

import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import numpy as np

from . import cpp_def
from .built_in_ops import built_in_registry
from .errors import OpError, listed, need, place, raised, stage
from .registry import Registry, Spec, collect

DEFINITIONS = {"op_def.py", "cpp_def.cpp"}  # the endings of the two front ends
PACKAGE = __name__.rpartition(".")[0]


@dataclass
class Session:
    """A registry, and variables by name: read-only arrays, replaced by each update."""

    #: The op types, gradient rules and kernels.
    registry: Registry = field(default_factory=built_in_registry)
    #: Variables by name.
    variables: dict[str, np.ndarray] = field(default_factory=dict)
    #: The velocity that SGD keeps for each variable.
    momenta: dict[str, np.ndarray] = field(default_factory=dict)

    def set_variable(self, name, array):
        """Keep a private, read-only copy."""
        copy = np.array(array)
        copy.flags.writeable = False
        self.variables[name] = copy


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
    variables = session().variables
    for name, value in values.items():
        need(name in variables, f'there is no variable "{name}"; there are {listed(variables)}')
        old = _spec_of(variables[name])
        new = _spec_of(np.asarray(value))
        need(new == old, f'variable "{name}" is {old}, the value is {new}')
    for name, value in values.items():
        session().set_variable(name, value)


def _spec_of(array) -> Spec:
    return Spec(array.shape, array.dtype.name)


@contextmanager
def as_oneflow():
    """Let `import oneflow` and `import oneflow.typing` find this package inside the block."""
    flow = sys.modules[PACKAGE]
    modules = {"oneflow": flow, "oneflow.typing": flow.typing}
    before = {name: sys.modules.pop(name) for name in modules if name in sys.modules}
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name in modules:
            del sys.modules[name]
        sys.modules.update(before)  # a real OneFlow, if one was imported


def load_file(path, ending):
    """Return what a file of an op gives: a new module, if it is Python, and what it registers."""
    if ending == "cpp_def.cpp":
        return None, cpp_def.load(path)
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
        """Find the op's folder under a path; OpError if there is none."""
        self.name = op_type_name
        self.folder = Path(module_path).resolve() / op_type_name
        need(
            self.folder.is_dir(),
            f"there is no folder '{op_type_name}' under the path; a custom op lives in a folder "
            "with the op's name, and custom_op_module(name, path) needs the path of the folder "
            "that contains it",
        )
        self._files = {}  # ending -> path
        self._api = None

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
        for ending in loaded.keys() & DEFINITIONS:
            _, definitions = loaded[ending]
            with stage("define"):
                registry.register(definitions, f"{self.folder}{os.sep}")
        if "py_kernel.py" in loaded:
            module, kernels = loaded["py_kernel.py"]
            file = str(self._files["py_kernel.py"])
            registry.kernel_files[self.name] = (module, kernels, file)
            registry.version += 1
        if "py_api.py" in loaded:
            self._api, _ = loaded["py_api.py"]
        return self

    @stage("load")
    def _plan(self, ending):
        """Note that `build_load` is to load the file with this ending; return this object."""
        path = self.folder / f"{self.name}_{ending}"
        if not path.is_file():
            names = listed(sorted(os.listdir(self.folder)))
            raise OpError(f"{place(path)} is missing; the folder contains {names}")
        self._files[ending] = path
        is_defined_twice = set(self._files) >= DEFINITIONS
        need(not is_defined_twice, f'op "{self.name}" is defined once: use .py_def() or .cpp_def()')
        return self

    def py_api(self):
        """Ask for the wrapper functions."""
        return self._plan("py_api.py")

    def py_def(self):
        """Ask for the definition in Python."""
        return self._plan("op_def.py")

    def cpp_def(self):
        """Ask for the definition in C++."""
        return self._plan("cpp_def.cpp")

    def py_kernel(self):
        """Ask for the numpy kernels."""
        return self._plan("py_kernel.py")

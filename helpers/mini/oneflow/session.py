"""The session, which has the registry and the variables of all jobs, and loading of an op's folder.
An op's folder has files such as relu_op_def.py (its definition), relu_py_kernel.py (its kernels)
and relu_py_api.py (its wrapper). Each file is known by its *ending*, such as "op_def.py".


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
from .errors import OpError, describe_exception, quote_names, require, short_path, stage
from .registry import Registry, Spec, collect

DEFINITIONS = {"op_def.py", "cpp_def.cpp"}  # the endings of the two front ends
PACKAGE = __name__.rpartition(".")[0]


@dataclass
class Session:
    """The registry and the variables that jobs share."""

    #: The op types, gradient rules and kernels.
    registry: Registry = field(default_factory=built_in_registry)
    #: Variable's name -> its value, a read-only array. Each update replaces it.
    variables: dict[str, np.ndarray] = field(default_factory=dict)
    #: Variable's name -> the velocity that SGD has for it.
    momenta: dict[str, np.ndarray] = field(default_factory=dict)

    def set_variable(self, name, array):
        """Set a variable to a read-only copy of an array."""
        copy = np.array(array)
        copy.flags.writeable = False
        self.variables[name] = copy


_sessions = [Session()]


def session() -> Session:
    """Return the session in use."""
    return _sessions[-1]


@contextmanager
def fresh_session():
    """Use a new session inside a `with` block. A job made in the block keeps that session."""
    _sessions.append(Session())
    try:
        yield _sessions[-1]
    finally:
        _sessions.pop()


def clear_default_session():
    """Forget op types, kernels and variables. OneFlow keeps the op types."""
    _sessions[-1] = Session()


def get_all_variables() -> dict[str, np.ndarray]:
    """Return variable's name -> a copy of its value."""
    return {name: array.copy() for name, array in session().variables.items()}


def load_variables(values):
    """Set variables that a job has made already: `values` maps name -> array.

    OpError, with no variable changed, for an unknown name or another shape or dtype. Mirrors
    flow.load_variables.
    """
    variables = session().variables
    for name, value in values.items():
        require(
            name in variables, f'there is no variable "{name}"; there are {quote_names(variables)}'
        )
        old = _spec_of(variables[name])
        new = _spec_of(np.asarray(value))
        require(new == old, f'variable "{name}" is {old}, the value is {new}')
    for name, value in values.items():
        session().set_variable(name, value)


def _spec_of(array) -> Spec:
    return Spec(array.shape, array.dtype.name)


@contextmanager
def as_oneflow():
    """Let `import oneflow` and `import oneflow.typing` find this package inside the block."""
    flow = sys.modules[PACKAGE]
    modules = {"oneflow": flow, "oneflow.typing": flow.typing}
    previous_modules = {name: sys.modules.pop(name) for name in modules if name in sys.modules}
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name in modules:
            del sys.modules[name]
        sys.modules.update(previous_modules)  # a real OneFlow, if one was imported


def load_file(path, ending):
    """Load one file of an op; return (its module, the records that it registers).

    A file in C++ has no module: the first item is None. A Python file is executed as a new module,
    which is not put into sys.modules. OpError if it raises anything.
    """
    if ending == "cpp_def.cpp":
        return None, cpp_def.load(path)
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    with collect(ending, path) as records:
        try:
            code = compile(path.read_bytes(), str(path), "exec")
            with as_oneflow():  # `import oneflow` in the file means this package
                exec(code, vars(module))
        except OpError:
            raise
        except (Exception, SystemExit) as error:
            raise OpError(
                f"{short_path(path)} cannot be loaded: {describe_exception(error, path)}"
            ) from error
    return module, records


class CustomOpModule:
    """The folder of one op. `py_api()` and so on choose files, and `build_load()` loads them.

    The files are <folder>/<name>_py_api.py and so on.
    """

    @stage("load")
    def __init__(self, op_type_name, module_path="."):
        """Find the op's folder under a path; OpError if there is none."""
        self.name = op_type_name
        self.folder = Path(module_path).resolve() / op_type_name
        require(
            self.folder.is_dir(),
            f"there is no folder '{op_type_name}' under the path; a custom op lives in a folder "
            "with the op's name, and custom_op_module(name, path) needs the path of the folder "
            "that contains it",
        )
        self._files = {}  # ending -> path, of the chosen files
        self._api = None  # the module of <name>_py_api.py, after `build_load`

    @property
    def api(self):
        """The module of <name>_py_api.py, with the wrapper functions."""
        require(self._api is not None, f'op "{self.name}" has no .api: call .py_api().build_load()')
        return self._api

    @stage("load")
    def build_load(self):
        """Load the chosen files, and register what they define.

        If one of them raises OpError, nothing is registered.
        """
        # ending -> (module, records)
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
    def _choose_file(self, ending):
        """Choose the file with this ending for `build_load`; return this object, for a chain.

        OpError if there is no such file, or if the op would be defined in Python and in C++.
        """
        path = self.folder / f"{self.name}_{ending}"
        if not path.is_file():
            names = quote_names(sorted(os.listdir(self.folder)))
            raise OpError(f"{short_path(path)} is missing; the folder contains {names}")
        self._files[ending] = path
        is_defined_twice = set(self._files) >= DEFINITIONS
        require(
            not is_defined_twice, f'op "{self.name}" is defined once: use .py_def() or .cpp_def()'
        )
        return self

    def py_api(self):
        """Choose the file with the wrapper functions."""
        return self._choose_file("py_api.py")

    def py_def(self):
        """Choose the definition in Python."""
        return self._choose_file("op_def.py")

    def cpp_def(self):
        """Choose the definition in C++."""
        return self._choose_file("cpp_def.cpp")

    def py_kernel(self):
        """Choose the file with the numpy kernels."""
        return self._choose_file("py_kernel.py")

"""flow.experimental.custom_op_module: an op's folder -> registered definitions, kernels, api.

Mirrors oneflow/python/ops/util/custom_op_module.py of 0.3, which copied the folder into the working
directory and compiled there; here the folder is read where it is.
"""

import os
from pathlib import Path, PurePath

from helpers.mini.oneflow import cpp_def as cpp
from helpers.mini.oneflow.definitions import collect
from helpers.mini.oneflow.errors import OpError, listed, need, place, shown, stage
from helpers.mini.oneflow.kernel_registry import collect_kernels
from helpers.mini.oneflow.run_file import run_file
from helpers.mini.oneflow.session import session
from helpers.safety.arguments import is_a


class CustomOpModule:
    """The files of one op: <folder>/<name>_py_api.py and so on. Nothing is loaded yet."""

    def __init__(self, op_type_name, module_path="."):
        with stage("load"):
            need(
                type(op_type_name) is str and _is_path(module_path),
                "custom_op_module takes the name of an op's folder and the path of the folder "
                f"that holds it, got {shown(op_type_name)} "
                f"and {shown(module_path)}",
            )
            self.name, self.folder = op_type_name, _folder(op_type_name, module_path)
            need(
                self.folder is not None,
                f"there is no folder {shown(op_type_name)} under the path; a custom op lives in a "
                "folder that is named like the op, and custom_op_module(name, path) takes the path "
                "of the folder that holds it",
            )
        self._files, self._steps, self._api = {}, [], None

    @property
    def api(self):
        """The wrapper functions: the module of <name>_py_api.py."""
        need(
            self._api is not None,
            f'op "{self.name}" has no .api yet: call .py_api() and then .build_load()',
        )
        return self._api

    def py_api(self):
        """Load the wrappers."""
        return self._plan("py_api.py")

    def py_def(self):
        """Load the definition in Python."""
        return self._plan("op_def.py")

    def cpp_def(self):
        """Compile and load the definition in C++."""
        return self._plan("cpp_def.cpp")

    def py_kernel(self):
        """Load the numpy kernels."""
        return self._plan("py_kernel.py")

    def build_load(self):
        """Load everything that was asked for, and register it: all or nothing."""
        with stage("load"):
            loaded = {ending: LOADERS[ending](path) for ending, path in self._files.items()}
            registry = session().registry
            for ending in ("op_def.py", "cpp_def.cpp"):
                if ending in loaded:
                    with stage("define"):
                        registry.register(loaded[ending], f"{self.folder}{os.sep}")
            if "py_kernel.py" in loaded:
                module, registered = loaded["py_kernel.py"]
                path = self._files["py_kernel.py"]
                registry.add_kernels(self.name, module, path, registered)
            self._api = loaded.get("py_api.py", self._api)
        return self

    def _plan(self, ending):
        path = self.folder / f"{self.name}_{ending}"
        with stage("load"):
            if not path.is_file():
                has = listed(sorted(os.listdir(self.folder)))
                raise OpError(f"{place(path)} is missing; the folder holds {has}")
            self._files[ending] = path
            need(
                not {"op_def.py", "cpp_def.cpp"} <= set(self._files),
                f'op "{self.name}" is defined once: take .py_def() or .cpp_def()',
            )
        return self


def load_python_definition(path):
    """Return the definitions in an <name>_op_def.py."""
    with collect(path) as definitions:
        run_file(path)
    return definitions


def load_kernels(path):
    """Return the module of an <name>_py_kernel.py, and the kernels that it registers."""
    with collect_kernels(path) as registered:
        module = run_file(path)
    return module, registered


def _folder(name, path):
    """Return the op's folder under a path; None where there is none."""
    try:
        folder = Path(path).resolve() / name
        return folder if folder.is_dir() else None
    except (OSError, ValueError):  # too long, a NUL, half a character
        return None


def _is_path(value):
    """Say whether it is text or a path of Python's own, or of `op_folder`."""
    return type(value) is str or is_a(value, os.PathLike, PurePath)


LOADERS = {
    "op_def.py": load_python_definition,
    "cpp_def.cpp": cpp.load,
    "py_kernel.py": load_kernels,
    "py_api.py": run_file,
}

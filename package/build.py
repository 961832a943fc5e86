"""What the build adds: types to the wheel, JupyterLab's defaults to an install of the course."""

import ast
from pathlib import Path
from tempfile import mkdtemp

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

STUB = "helpers/__init__.pyi"


class Parts(BuildHookInterface):
    """hatchling makes one for each wheel; `version` tells an install by `pip install -e`."""

    def initialize(self, version, build_data):
        """Name the files that stand elsewhere."""
        if self.target_name == "wheel" and version == "editable":
            # JupyterLab reads defaults from etc/jupyter/labconfig of its environment; a learner's
            # own settings still win.
            build_data["shared_data"]["share/etc"] = "etc"
        elif self.target_name == "wheel":
            stub = Path(mkdtemp(), "__init__.pyi")
            whole = Path(self.root, STUB).read_text("utf-8")
            stub.write_text(without_study(whole), "utf-8")
            build_data["force_include"][str(stub)] = "whoruns/__init__.pyi"
            build_data["force_include"]["package/py.typed"] = "whoruns/py.typed"


def without_study(stub: str) -> str:
    """Return the source of a stub without its imports from the room `study`."""
    lines = stub.splitlines(keepends=True)
    for statement in reversed(ast.parse(stub).body):
        module = getattr(statement, "module", None) or ""
        if module.split(".")[0] == "study":
            del lines[statement.lineno - 1 : statement.end_lineno]
    return "".join(lines)

"""An op's own files: imported fresh, and `import oneflow as flow` means this package meanwhile."""

import sys
from contextlib import contextmanager
from types import ModuleType

from helpers.mini.oneflow.errors import OpError, raised

HERE = "helpers.mini.oneflow"


@contextmanager
def as_oneflow():
    """Let `import oneflow` and `import oneflow.typing` find this package inside the block."""
    before = {name: module for name, module in sys.modules.items() if _is_oneflow(name)}
    for name in before:
        del sys.modules[name]
    sys.modules["oneflow"] = sys.modules[HERE]
    sys.modules["oneflow.typing"] = sys.modules[f"{HERE}.typing"]
    try:
        yield
    finally:
        for name in [name for name in sys.modules if _is_oneflow(name)]:
            del sys.modules[name]
        sys.modules.update(before)


def _is_oneflow(name):
    return name == "oneflow" or name.startswith("oneflow.")


def run_file(path):
    """Run a file as a new module and return it; nothing is cached. Raises OpError."""
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    try:
        code = compile(path.read_bytes(), str(path), "exec")
        with as_oneflow():
            exec(code, vars(module))
    except OpError:
        raise
    except (Exception, SystemExit) as error:
        raise OpError(
            f"{path.parent.name}/{path.name} cannot be loaded: {raised(error, path)}"
        ) from error
    return module

"""The texts of a project's modules -> the modules as after a first import, here or in a child."""

import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from helpers.capture.processes.child import call_in_child
from helpers.exhibit import Exhibit
from helpers.model.phrase import counted
from helpers.model.tables import File, Files
from helpers.view.source_views import files


def read(folder: str) -> dict[str, str]:
    """Return the texts of a project of this chapter, by the names of its modules."""
    found = sorted((Path(__file__).parent / folder).glob("*.txt"))
    return {one.stem: one.read_text("utf-8") for one in found}


def show_project(sources: dict[str, str]) -> Exhibit:
    """List the modules of a project, with the numbers of their lines."""
    listed = tuple(File(f"{name}.py", text.strip("\n")) for name, text in sources.items())
    return Exhibit(Files(f"A project of {counted(len(listed), 'module')}", listed), files)


def start(sources: dict[str, str], name: str):
    """Write the modules into a child's folder, import one there, and return its `answer`."""
    return call_in_child(program, dict(sources), name)


def program(sources, name):
    """Return the answer of a module, in the folder of a child."""
    import pathlib
    import sys

    for file, text in sources.items():
        pathlib.Path(f"{file}.py").write_text(text, "utf-8")
    sys.path.insert(0, ".")
    return __import__(name).answer


def imported(sources: dict[str, str]) -> list[ModuleType]:
    """Run each text as the module of that name, in this order; they stay in `sys.modules`."""
    return [_run(name, source) for name, source in sources.items()]


@contextmanager
def fresh(sources: dict[str, str]) -> Iterator[list[ModuleType]]:
    """Import a project for the length of a block; `sys.modules` is as before then."""
    before = {name: sys.modules[name] for name in sources if name in sys.modules}
    try:
        yield imported(sources)
    finally:
        for name in sources:
            sys.modules.pop(name, None)
        sys.modules.update(before)


def _run(name: str, source: str) -> ModuleType:
    module = sys.modules[name] = ModuleType(name)
    file = f"{name}.py"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)  # AutoGraph reads it
    exec(compile(source, file, "exec"), vars(module))
    return module

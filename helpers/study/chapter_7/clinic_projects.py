"""The projects of chapter 7: small programs of several modules, in which a learner finds a defect.

A project is a dict: the name of a module -> its source. It is shown with line numbers, or written
into the folder of a child process and imported there.
"""

from pathlib import Path

from helpers.capture.processes.child import call_in_child
from helpers.exhibit import Exhibit
from helpers.model.file_records import File, Files
from helpers.model.phrase import format_count
from helpers.view.source_views import files


def read(folder: str) -> dict[str, str]:
    """Return a project of this chapter: the name of each module -> its source.

    `folder` is the name of a folder beside this file. The files in it end in .txt, so that no tool
    takes them for modules of this package.
    """
    paths = sorted((Path(__file__).parent / folder).glob("*.txt"))
    return {path.stem: path.read_text("utf-8") for path in paths}


def show_project(sources: dict[str, str]) -> Exhibit:
    """List the modules of a project with line numbers."""
    modules = [File(f"{name}.py", text.strip("\n")) for name, text in sources.items()]
    title = f"A project of {format_count(len(modules), 'module')}"
    return Exhibit(Files(title, tuple(modules)), files)


def start(sources: dict[str, str], name: str):
    """Run a project in a child process, and return the variable `answer` of the module `name`.

    `sources` maps the name of a module to its source.
    """
    return call_in_child(program, dict(sources), name)


def program(sources, name):
    """Write the modules into the working folder, import the one `name`, and return its `answer`.

    This runs in a child, which gets the text of this function alone. So it imports what it uses.
    """
    import pathlib
    import sys

    for file, text in sources.items():
        pathlib.Path(f"{file}.py").write_text(text, "utf-8")
    sys.path.insert(0, ".")
    return __import__(name).answer

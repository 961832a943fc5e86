"""Source for an IPython in a child -> what each cell shows where parts of the course are missing.

`cells_without(["torch"], sources)` runs the sources as cells of one fresh shell in which nobody
finds those packages; `path` puts a folder before all others on the search path.
"""

import json
import os
import sys
from typing import NamedTuple

from tests.pythons import ROOT, finished

SHELL = """
import json, sys
from importlib.machinery import PathFinder
hidden, sources, folders = json.load(sys.stdin)

class Hiding(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        found = name.partition(".")[0] not in hidden
        return PathFinder.find_spec(name, path, target) if found else None

sys.meta_path[:] = [Hiding if one is PathFinder else one for one in sys.meta_path]
sys.path[:0] = folders
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
shell = InteractiveShell.instance(colors="nocolor")
told = []
for source in sources:
    with capture_output() as shown:
        result = shell.run_cell(source)
    error = result.error_before_exec or result.error_in_exec
    told.append((source, type(error).__name__ if error else "", shown.stdout + shown.stderr))
print(json.dumps(told))
"""


class Told(NamedTuple):
    """A cell, the name of the type of its error ("" without one), and all that it showed."""

    source: str
    error: str
    shown: str


def cells_without(hidden: list[str], sources: list[str], path: str = "", **env) -> list[Told]:
    """Run the sources as cells; AssertionError if the shell itself dies."""
    folders = [path, str(ROOT)] if path else [str(ROOT)]
    command, asked = [sys.executable, "-X", "faulthandler", "-c", SHELL], [hidden, sources, folders]
    done = finished(command, input=json.dumps(asked), env={**os.environ, **env})
    assert done.returncode == 0, done.stderr
    return [Told(*one) for one in json.loads(done.stdout.splitlines()[-1])]

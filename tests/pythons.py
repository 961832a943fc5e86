"""Which other Pythons this machine has, and how to run a file of the house in one of them.

A bare Python finds no package: `-S` leaves out the folder of packages, so that a package which a
module needs and a bare Python lacks is missed on every machine.
"""

import os
import shutil
import subprocess
import sys
from functools import cache, partial
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = ("3.11", "3.12", "3.13")
OTHERS = tuple(v for v in VERSIONS if v != ".".join(map(str, sys.version_info[:2])))

# The captures of this chapter need the standard library alone; the house's front door does not.
BARE = (
    "import sys, types; house = types.ModuleType('helpers'); "
    f"house.__path__ = [{str(ROOT / 'helpers')!r}]; sys.modules['helpers'] = house; "
    f"sys.path.insert(0, {str(ROOT)!r})\n"
)


# A command that has ended, with its code and what it printed as text; nothing is raised.
finished = partial(subprocess.run, capture_output=True, text=True, check=False)


@cache
def found(version: str) -> str | None:
    """Return the path of a Python of this version, None where there is none."""
    if version not in OTHERS:
        return sys.executable
    named = shutil.which(f"python{version}")
    places = [Path.home() / ".pyenv", Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))]
    if named and Path(named).parent.name == "shims":  # what pyenv puts there asks which is meant
        places, named = [*places, Path(named).parents[1]], None
    roots = [*(place / "versions" for place in places), Path.home() / ".local/share/uv/python"]
    near = sorted(p for root in roots for p in root.glob(f"*{version}.*/bin/python{version}"))
    for path in filter(None, [named, *map(str, near)]):
        if subprocess.run([path, "-c", "import sys"], capture_output=True).returncode == 0:
            return path
    return None


def run(version: str, code: str, stdin: str = "") -> str:
    """Run code in a bare child of this version, with `helpers` importable; return what it printed.

    No package is found there, also of those that this Python has. The test is skipped where there
    is no such Python, and fails where the child dies.
    """
    path = found(version)
    if path is None:
        pytest.skip(f"no Python {version} on this machine")
    keep = ("PATH", "HOME", "XDG_CACHE_HOME", "SYSTEMROOT", "LD_LIBRARY_PATH", "TMPDIR", "TEMP")
    env = {name: os.environ[name] for name in keep if name in os.environ}
    env |= {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [path, "-S", "-X", "faulthandler", "-c", BARE + code]
    child = finished(command, input=stdin, env=env, timeout=600)  # a busy machine
    assert child.returncode == 0, f"exit {child.returncode}\n{child.stdout}\n{child.stderr}"
    return child.stdout

"""The supported Pythons on this machine, other than the one that runs the tests."""

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
VERSIONS = ("3.11", "3.12", "3.13")
OTHERS = tuple(v for v in VERSIONS if v != f"{sys.version_info[0]}.{sys.version_info[1]}")


@cache
def python(version: str) -> str | None:
    """Return an interpreter of this version from PATH or from pyenv, or None."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    known = [shutil.which(f"python{version}"), *sorted(pyenv.glob(f"{version}.*/bin/python"))]
    return next((str(path) for path in known if path and _works(path, version)), None)


def _works(path, version) -> bool:
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        told = subprocess.run([path, "-c", ask], capture_output=True, text=True, timeout=30)
    except OSError:
        return False
    return told.stdout.strip() == version


def compared(interpreter: str, *options: str, sources=None) -> dict:
    """Run tests/mini/comparing.py on another interpreter and return what it reports."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    child = subprocess.run(
        [interpreter, "-W", "ignore", "-B", str(ROOT / "tests/mini/comparing.py"), *options],
        input=json.dumps(sources),
        env={**kept, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert child.returncode == 0, child.stderr[-2000:]
    return json.loads(child.stdout)

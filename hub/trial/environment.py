"""A checkout of the course -> hub/.venv and hub/node_modules, which the trial needs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HUB = ROOT / "hub"
VENV = HUB / ".venv"
PROXY = HUB / "node_modules/.bin/configurable-http-proxy"


class Missing(Exception):
    """One sentence that says what the trial needs and does not find."""


def course_python() -> Path:
    """Return the Python that learners' servers run on; COURSE_PYTHON names another than .venv's."""
    named = os.environ.get("COURSE_PYTHON")
    return Path(named) if named else ROOT / ".venv/bin/python"


def missing() -> str:
    """Return in one sentence what is missing here for a trial, "" if nothing is."""
    if os.name != "posix":
        return "JupyterHub starts its servers only on Linux and macOS"
    if not course_python().exists():
        return f"{course_python()}: not found; `python3 course.py setup` makes it"
    for program in (VENV / "bin/jupyterhub", PROXY):
        if not program.exists():
            return f"{program.relative_to(ROOT)}: not found; `python hub/try.py setup` makes it"
    absent = [name for name in ("git", "node") if not shutil.which(name)]
    return f"not on this machine: {', '.join(absent)}" if absent else ""


def setup() -> None:
    """Make both as pinned, or repair them. Missing, CalledProcessError."""
    absent = [name for name in ("git", "node", "npm") if not shutil.which(name)]
    if absent:
        raise Missing(f"the proxy comes from npm, git brings the course; not here: {absent}")
    if not course_python().exists():
        raise Missing(f"{course_python()}: not found; `python3 course.py setup` makes it")
    if not (VENV / "bin/pip").exists():
        run(course_python(), "-m", "venv", VENV)
    pins = ["-c", ROOT / "constraints.txt", "-c", HUB / "constraints.txt"]
    quiet = ["--quiet", "--no-input", "--disable-pip-version-check"]
    run(VENV / "bin/pip", "install", *quiet, "-r", HUB / "requirements.txt", *pins)
    run("npm", "ci", "--silent", "--no-audit", "--no-fund", cwd=HUB)


def run(*words, cwd=ROOT) -> None:
    """Run an installer; what it prints is for the caller."""
    subprocess.run([str(word) for word in words], cwd=cwd, check=True, stdout=sys.stderr)

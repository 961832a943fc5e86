"""Where the course is: its folders, its Python, and what a program that it starts is given.

Standard library only: a bare Python uses it before there is an environment.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from helpers.course.terminal import CommandRefused

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "work"
VENV = ROOT / ".venv"
NEW = ROOT / ".vnew"  # as long a name, because paths in its programs are replaced in place
TRASH = ROOT / ".course-trash"
PYTHON_INSIDE = Path("Scripts/python.exe") if os.name == "nt" else Path("bin/python")
PYTHON = VENV / PYTHON_INSIDE

SUPPORTED = ((3, 11), (3, 12), (3, 13))
GIGABYTE = 10**9
REPAIR = "run `course.py setup`"

# A learner's settings that would take Python, Jupyter or an installer out of .venv, or let each
# start compile its packages again.
LEADS_ASTRAY = """
    PYTHONHOME PYTHONPATH PYTHONSTARTUP PYTHONOPTIMIZE PYTHONINSPECT PYTHONWARNINGS
    PYTHONPLATLIBDIR PYTHONSAFEPATH PYTHONDONTWRITEBYTECODE
    JUPYTER_PATH JUPYTER_CONFIG_PATH JUPYTERLAB_DIR
    __PYVENV_LAUNCHER__ PIP_TARGET PIP_PREFIX PIP_ROOT PIP_PYTHON PIP_REQUIRE_VIRTUALENV
    PIP_REQUIREMENT UV_SYSTEM_PYTHON UV_PYTHON UV_TARGET UV_PREFIX UV_PROJECT UV_WORKING_DIRECTORY
"""


def dotted(version: tuple[int, int]) -> str:
    """Return (3, 11) as "3.11"."""
    return ".".join(map(str, version))


def start_environment() -> dict[str, str]:
    """Return the variables for whatever is started: the learner's, less what leads astray."""
    astray = LEADS_ASTRAY.split()
    variables = {name: value for name, value in os.environ.items() if name not in astray}
    # TensorFlow's log noise off; it reads these only before its import.
    variables.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    variables.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    variables["PYTHONHASHSEED"] = "0"  # sets of strings look the same in every kernel
    variables["JUPYTER_PREFER_ENV_PATH"] = "1"  # a kernel of the same name in the home folder loses
    variables.setdefault("JUPYTERLAB_WORKSPACES_DIR", str(WORK / ".workspaces"))
    variables["VIRTUAL_ENV"] = str(VENV)
    variables["PATH"] = str(PYTHON.parent) + os.pathsep + variables.get("PATH", os.defpath)
    return variables


def ask(command: list, timeout: float = 60) -> str | None:
    """Return what a command prints, stripped, or None where it is missing, fails or hangs."""
    try:
        process = subprocess.run(
            [str(word) for word in command],
            env=start_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return process.stdout.decode("utf-8", "replace").strip()


def version_of(command: list) -> tuple[int, int] | None:
    """Return (major, minor) of the CPython that a command starts, or None if it starts none."""
    code = "import sys; print(sys.implementation.name, '%d.%d' % sys.version_info[:2])"
    found = re.match(r"cpython (\d+)\.(\d+)$", ask([*command, "-c", code]) or "")
    if not found:
        return None
    return int(found[1]), int(found[2])


def hand_over(command: list[str], variables: dict[str, str], folder: Path | None = None) -> int:
    """Run the last command of a start, in place of this process where the system can do that.

    It runs in `folder`, the root of the course if None.
    """
    os.chdir(folder or ROOT)
    if os.name == "posix":
        sys.stdout.flush()
        os.execve(command[0], command, variables)
    with subprocess.Popen(command, env=variables) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                pass  # it is the started program's to answer: JupyterLab asks before it stops


def refuse_foreign(folder: Path) -> None:
    """Refuse to write into a folder of the course, or to remove it, if it is not really its own."""
    # The root of the disk and the home folder have folders of others.
    if ROOT in (Path(ROOT.anchor), home_folder()):
        raise CommandRefused(
            f"The course is directly in {ROOT}, where it must not write: "
            "put it into a folder of its own and run this again."
        )
    name = folder.relative_to(ROOT)
    is_junction = getattr(os.path, "isjunction", os.path.islink)
    if folder.is_symlink() or is_junction(folder):
        raise CommandRefused(
            f"{name} is a link to another folder, and the course writes only into its own: "
            "remove the link and run this again."
        )
    real = Path(os.path.realpath(folder))
    if real != folder:
        raise CommandRefused(
            f"{name} leads to {real}, which is not the course's: move it away first."
        )


def home_folder() -> Path | None:
    """Return the learner's home folder, or None where the system names none."""
    try:
        return Path(os.path.realpath(Path.home()))
    except (KeyError, OSError, RuntimeError):
        return None

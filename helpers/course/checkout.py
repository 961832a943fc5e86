"""The folders of the course, the Python of its environment, and the variables for its programs.

This module imports only the standard library, because it runs before there is an environment.
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
# The next environment while it is made. Its name is as long as ".venv", because paths in its
# programs are later replaced in place.
NEW = ROOT / ".vnew"
TRASH = ROOT / ".course-trash"
PYTHON_INSIDE = Path("Scripts/python.exe") if os.name == "nt" else Path("bin/python")
PYTHON = VENV / PYTHON_INSIDE

SUPPORTED = ((3, 11), (3, 12), (3, 13))
GIGABYTE = 10**9
REPAIR = "run `course.py setup`"

# Variables of a learner that would make Python, Jupyter or an installer use something outside of
# .venv, or make each start compile the packages again.
LEADS_ASTRAY = """
    PYTHONHOME PYTHONPATH PYTHONSTARTUP PYTHONOPTIMIZE PYTHONINSPECT PYTHONWARNINGS
    PYTHONPLATLIBDIR PYTHONSAFEPATH PYTHONDONTWRITEBYTECODE
    JUPYTER_PATH JUPYTER_CONFIG_PATH JUPYTERLAB_DIR
    __PYVENV_LAUNCHER__ PIP_TARGET PIP_PREFIX PIP_ROOT PIP_PYTHON PIP_REQUIRE_VIRTUALENV
    PIP_REQUIREMENT UV_SYSTEM_PYTHON UV_PYTHON UV_TARGET UV_PREFIX UV_PROJECT UV_WORKING_DIRECTORY
"""


def dotted(version: tuple[int, int]) -> str:
    """Return a version as text: (3, 11) -> "3.11"."""
    return ".".join(map(str, version))


def start_environment() -> dict[str, str]:
    """Return the environment variables for each program that the course starts.

    They are the learner's, without `LEADS_ASTRAY`, and with the settings that the course needs.
    """
    astray = LEADS_ASTRAY.split()
    variables = {name: value for name, value in os.environ.items() if name not in astray}
    # These two make TensorFlow log less. It reads them when it is imported.
    variables.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    variables.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    variables["PYTHONHASHSEED"] = "0"  # sets of strings look the same in every kernel
    # The kernel of .venv is used, and not one of the same name in the home folder.
    variables["JUPYTER_PREFER_ENV_PATH"] = "1"
    variables.setdefault("JUPYTERLAB_WORKSPACES_DIR", str(WORK / ".workspaces"))
    variables["VIRTUAL_ENV"] = str(VENV)
    variables["PATH"] = str(PYTHON.parent) + os.pathsep + variables.get("PATH", os.defpath)
    return variables


def ask(command: list, timeout: float = 60) -> str | None:
    """Run a command, and return what it prints, without spaces around it.

    Return None if the command cannot be started, fails, or takes longer than `timeout` seconds.
    """
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
    """Return (major, minor) of the CPython that a command starts; None if it starts no CPython.

    `command` is a list, such as ["python3"].
    """
    code = "import sys; print(sys.implementation.name, '%d.%d' % sys.version_info[:2])"
    match = re.match(r"cpython (\d+)\.(\d+)$", ask([*command, "-c", code]) or "")
    if not match:
        return None
    return int(match[1]), int(match[2])


def hand_over(command: list[str], variables: dict[str, str], folder: Path | None = None) -> int:
    """Run a command as the last step of this program.

    On POSIX the command replaces this process, so this function does not return. On Windows the
    command runs in a child process; return its exit code. The command runs in `folder`, or in the
    root of the course if that is None.
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
                pass  # the started program gets Ctrl-C, too; JupyterLab asks before it stops


def refuse_foreign(folder: Path) -> None:
    """Raise CommandRefused if it is not safe to write into a folder of the course, or to remove it.

    It is not safe if the folder is a link, or is in a place where the learner has other files.
    """
    # A folder such as work/ in the home folder or in the root of the disk may be somebody else's.
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
    """Return the learner's home folder, without links; None if the system does not name one."""
    try:
        return Path(os.path.realpath(Path.home()))
    except (KeyError, OSError, RuntimeError):
        return None

"""Make an empty virtual environment with pip, and later change the paths in it to its final place.
The environment is built in the folder .vnew, and renamed to .venv when it is finished.
"""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

from helpers.course import checkout, stamp
from helpers.course.terminal import CommandRefused

LARGEST_SCRIPT = 1 << 20  # bytes; a program that has the path of its environment is smaller


def base_python() -> str:
    """Return the path of the Python with which to make an environment.

    That is the Python from which .venv was made, if it still works, else the one that runs this.
    """
    # In a virtual environment, `sys._base_executable` is the Python from which it was made.
    code = "import sys; print(getattr(sys, '_base_executable', None) or sys.executable)"
    base_of_venv = checkout.ask([checkout.PYTHON, "-c", code])
    if base_of_venv and checkout.version_of([base_of_venv]) in checkout.SUPPORTED:
        return base_of_venv
    return getattr(sys, "_base_executable", None) or sys.executable


def can_go_on(folder: Path, python: str) -> bool:
    """Return whether an interrupted install can go on in a folder, by the Python at a path.

    It can if the folder's stamp says that nothing has changed since then, and if pip works there.
    """
    version = checkout.version_of([python])
    if stamp.read_stamp(folder) != f"{stamp.UNFINISHED} {stamp.fingerprint(version)}":
        return False
    own_python = [folder / checkout.PYTHON_INSIDE]
    return checkout.version_of(own_python) == version and has_pip(own_python)


def has_pip(python: list) -> bool:
    """Return whether a Python has pip. `python` is the command that starts it, as a list."""
    return checkout.ask([*python, "-m", "pip", "--version"]) is not None


def make_venv(folder: Path, python: str) -> None:
    """Make an environment with pip in a new folder; its stamp says that it is unfinished.

    Raise CommandRefused if this Python cannot make one.
    """
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        version = checkout.dotted(sys.version_info[:2])
        raise CommandRefused(
            "This Python has no venv module, which Debian and Ubuntu put in a separate package: "
            f"`sudo apt install python{version}-venv`, then run this again."
        )
    checkout.refuse_foreign(folder)
    folder.mkdir()
    # From now on the folder is known as one of the course, which may be removed.
    stamp.write_stamp(folder, stamp.UNFINISHED)
    run_venv(folder, python)
    # If the install is interrupted, it can go on only while the fingerprint is still the same.
    version = checkout.version_of([python])
    stamp.write_stamp(folder, f"{stamp.UNFINISHED} {stamp.fingerprint(version)}")


def run_venv(folder: Path, python: str) -> None:
    """Make an environment with pip in a folder by Python's module `venv`.

    A shell that activates the environment shows `(.venv)`, its final name. Raise CommandRefused if
    `venv` fails.
    """
    command = [python, "-m", "venv", "--prompt", checkout.VENV.name, folder]
    if checkout.ask(command, timeout=600) is None:
        raise CommandRefused(f"`{python} -m venv {folder.name}` failed: run it to see why.")


def name_final_place(folder: Path) -> None:
    """Replace the path of an environment by that of .venv in its programs, before it is renamed.

    Both paths have the same length, so that binary programs still work. A file is not changed in
    place, because it may be hard-linked to the cache of an installer.
    """
    old = os.fsencode(folder)
    new = os.fsencode(checkout.VENV)
    programs = folder / checkout.PYTHON_INSIDE.parent
    for path in [folder / "pyvenv.cfg", *sorted(programs.iterdir())]:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST_SCRIPT:
            continue
        data = path.read_bytes()
        if old in data:
            fresh = path.with_name(path.name + ".new")
            fresh.write_bytes(data.replace(old, new))
            shutil.copymode(path, fresh)
            os.replace(fresh, path)

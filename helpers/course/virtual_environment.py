"""A Python -> a folder with an environment of it, without packages yet, and its final place."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

from helpers.course import checkout, stamp
from helpers.course.terminal import CommandRefused

LARGEST_SCRIPT = 1 << 20  # bytes; programs that name their environment are smaller


def base_python() -> str:
    """Return the Python to make an environment with: that of .venv, else the one that runs this."""
    code = "import sys; print(getattr(sys, '_base_executable', None) or sys.executable)"
    found = checkout.ask([checkout.PYTHON, "-c", code])
    if found and checkout.version_of([found]) in checkout.SUPPORTED:
        return found
    return getattr(sys, "_base_executable", None) or sys.executable


def can_go_on(folder: Path, python: str) -> bool:
    """Return whether an install that was interrupted can go on in this folder."""
    version = checkout.version_of([python])
    if stamp.read_stamp(folder) != f"{stamp.UNFINISHED} {stamp.fingerprint(version)}":
        return False
    inside = [folder / checkout.PYTHON_INSIDE]
    return checkout.version_of(inside) == version and has_pip(inside)


def has_pip(python: list) -> bool:
    """Return whether a Python has pip."""
    return checkout.ask([*python, "-m", "pip", "--version"]) is not None


def make_venv(folder: Path, python: str) -> None:
    """Make an environment with pip in it; the stamp says that it is unfinished."""
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        version = checkout.dotted(sys.version_info[:2])
        raise CommandRefused(
            "This Python has no venv module, which Debian and Ubuntu put in a separate package: "
            f"`sudo apt install python{version}-venv`, then run this again."
        )
    checkout.refuse_foreign(folder)
    folder.mkdir()
    stamp.write_stamp(folder, stamp.UNFINISHED)  # from now on it is known as the course's
    run_venv(folder, python)
    # The fingerprint says with what an interrupted install may go on.
    version = checkout.version_of([python])
    stamp.write_stamp(folder, f"{stamp.UNFINISHED} {stamp.fingerprint(version)}")


def run_venv(folder: Path, python: str) -> None:
    """Make an environment with pip in it; shells that activate it will show `(.venv)`."""
    command = [python, "-m", "venv", "--prompt", checkout.VENV.name, folder]
    if checkout.ask(command, timeout=600) is None:
        raise CommandRefused(f"`{python} -m venv {folder.name}` failed: run it to see why.")


def name_final_place(folder: Path) -> None:
    """Let the programs of an environment name .venv, where the environment will be.

    Both paths have the same length, so programs that are no text stay whole. A file is written
    anew, because an installer may share it with its cache.
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

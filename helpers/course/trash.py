"""Remove an environment that is not needed any more, and save the learner's own files in it.
The environment is first moved to the folder .course-trash by a rename, and then removed file by
file. A folder that the course did not make is never removed.
"""

import contextlib
import os
import re
import shutil
from pathlib import Path

from helpers.course import checkout, stamp
from helpers.course.installed_packages import site_packages
from helpers.course.terminal import CommandRefused, say
from helpers.safety.folders import MARKER, open_rebuildable_folder

SHOWN = 3  # how many names of saved files are printed
# Files that venv, uv and the course put into an environment, and that no RECORD lists.
MADE_BY_TOOLS = re.compile(
    r"(\.gitignore|\.lock|CACHEDIR\.TAG|lib64|pyvenv\.cfg|course-[\w.-]+)$"
    r"|(bin|Scripts)[/\\](python|pip|activate|Activate|deactivate|easy_install)[\w.-]*$"
    r"|.*\.(pyc|pth|virtualenv)$"
)
MADE_FOLDERS = re.compile(r"^__pycache__\Z|\.(dist|egg)-info\Z")


def discard(folder: Path) -> None:
    """Remove an environment that the course made; do nothing if there is none."""
    if os.path.lexists(folder):
        move_to_trash(folder)
        empty_trash()


def move_to_trash(folder: Path) -> None:
    """Move an environment into the trash; raise CommandRefused if the course did not make it."""
    stamp.refuse_unmade(folder)
    trash = open_trash()
    number = 1
    while os.path.lexists(trash / str(number)):
        number += 1
    try:
        os.rename(folder, trash / str(number))
    except PermissionError:
        raise CommandRefused(
            f"{folder.name} is in use: close JupyterLab and other programs that run in it, "
            "and run the same command again."
        ) from None


def empty_trash() -> None:
    """Remove everything in the trash, and then the trash itself.

    A file that cannot be removed now is left for the next time. The marker file, which says that
    the course made the folder, is removed last.
    """
    if not os.path.lexists(checkout.TRASH):
        return
    trash = open_trash()
    for name in sorted(set(os.listdir(trash)) - {MARKER}):
        rescue_learners_files(trash / name)
        shutil.rmtree(trash / name, ignore_errors=True)
    if os.listdir(trash) == [MARKER]:
        (trash / MARKER).unlink()
        trash.rmdir()


def open_trash() -> Path:
    """Return the folder of the trash, and create it if needed.

    Raise CommandRefused if there is such a folder that the course did not make.
    """
    checkout.refuse_foreign(checkout.TRASH)
    try:
        return open_rebuildable_folder(checkout.TRASH).path
    except ValueError as refusal:
        raise CommandRefused(f"{checkout.TRASH.name} stays as it is, because {refusal}.") from None


def rescue_learners_files(folder: Path) -> None:
    """Move files of an environment that no installer has made to the same place in .venv.

    The learner has put them there. Nothing is moved from an environment without a finished stamp,
    because its install was never finished, or because its files have been rescued already.
    """
    if not stamp.is_finished(folder) or not checkout.VENV.is_dir():
        return
    rescued = []
    for relative_path in unlisted_files(folder):
        new_path = checkout.VENV / relative_path
        if not os.path.lexists(new_path):
            new_path.parent.mkdir(parents=True, exist_ok=True)
            os.rename(folder / relative_path, new_path)
            rescued.append(relative_path.as_posix())
    if rescued:
        names = ", ".join(rescued[:SHOWN])
        more = f" and {len(rescued) - SHOWN} more" if len(rescued) > SHOWN else ""
        say(f"      Kept what no package had put into .venv: {names}{more}")
    # While the environment is removed, its packages' RECORDs go, and then every file would count as
    # the learner's. Without a stamp, the next call rescues nothing.
    (folder / stamp.STAMP).unlink()


def unlisted_files(folder: Path) -> list[Path]:
    """Return the paths, relative to an environment, of the files that no installer has made."""
    listed = _read_listed_files(folder)
    unlisted = []
    for parent, folders, names in os.walk(folder):
        # `os.walk` enters only the folders that remain in this list.
        folders[:] = sorted(name for name in folders if not MADE_FOLDERS.search(name))
        for name in sorted(names):
            path = os.path.join(parent, name)
            relative_path = os.path.relpath(path, folder)
            if path not in listed and not MADE_BY_TOOLS.match(relative_path):
                unlisted.append(Path(relative_path))
    return unlisted


def _read_listed_files(folder: Path) -> set[str]:
    """Return the absolute paths of the files that the RECORDs of an environment's packages list."""
    listed = set()
    for site in site_packages(folder):
        for record in site.glob("*.dist-info/RECORD"):
            with contextlib.suppress(OSError):
                for line in record.read_text("utf-8", "replace").splitlines():
                    # A line is `path,hash,size`. A path with a comma is quoted.
                    path = line.rpartition(",")[0].rpartition(",")[0].strip('"')
                    listed.add(os.path.normpath(site / path))
    return listed

"""An environment that is not needed any more -> moved away by a rename, then removed.

The learner's own files in it are saved. A folder that the course did not make is refused.
"""

import contextlib
import os
import re
import shutil
from pathlib import Path

from helpers.course import checkout, stamp
from helpers.course.installed_packages import site_packages
from helpers.course.terminal import CommandRefused, say
from helpers.safety.folders import MARKER, made_again

SHOWN = 3  # names of saved files
# What venv, uv and the course put into an environment and list nowhere.
MADE_BY_TOOLS = re.compile(
    r"(\.gitignore|\.lock|CACHEDIR\.TAG|lib64|pyvenv\.cfg|course-[\w.-]+)$"
    r"|(bin|Scripts)[/\\](python|pip|activate|Activate|deactivate|easy_install)[\w.-]*$"
    r"|.*\.(pyc|pth|virtualenv)$"
)
MADE_FOLDERS = re.compile(r"^__pycache__\Z|\.(dist|egg)-info\Z")


def discard(folder: Path) -> None:
    """Remove an environment that the course made: first by a rename, then file by file."""
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
    """Remove what was moved to the trash; what cannot be removed now is left for the next time.

    The mark that says whose folder it is goes last.
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
    """Return the trash, made if it is missing; raise CommandRefused if it is somebody else's."""
    checkout.refuse_foreign(checkout.TRASH)
    try:
        return made_again(checkout.TRASH).path
    except ValueError as refusal:
        raise CommandRefused(f"{checkout.TRASH.name} stays as it is, because {refusal}.") from None


def rescue_learners_files(folder: Path) -> None:
    """Move the files in an environment that no package lists to the same place in .venv.

    Somebody has put them there. Without its stamp an environment was never finished, or is half
    removed; then nothing is moved.
    """
    if not stamp.is_finished(folder) or not checkout.VENV.is_dir():
        return
    rescued = []
    for inside in unlisted_files(folder):
        place = checkout.VENV / inside
        if not os.path.lexists(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            os.rename(folder / inside, place)
            rescued.append(inside.as_posix())
    if rescued:
        names = ", ".join(rescued[:SHOWN])
        more = f" and {len(rescued) - SHOWN} more" if len(rescued) > SHOWN else ""
        say(f"      Kept what no package had put into .venv: {names}{more}")
    (folder / stamp.STAMP).unlink()  # from here on it counts as half removed


def unlisted_files(folder: Path) -> list[Path]:
    """Return the files of an environment, by their place in it, that no installer has made."""
    listed = _listed_files(folder)
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not MADE_FOLDERS.search(name))
        for name in sorted(names):
            path = os.path.join(place, name)
            inside = os.path.relpath(path, folder)
            if path not in listed and not MADE_BY_TOOLS.match(inside):
                found.append(Path(inside))
    return found


def _listed_files(folder: Path) -> set[str]:
    """Return the files of an environment that the RECORD of a package lists."""
    listed = set()
    for site in site_packages(folder):
        for record in site.glob("*.dist-info/RECORD"):
            with contextlib.suppress(OSError):
                for line in record.read_text("utf-8", "replace").splitlines():
                    # A line is: path,hash,size. A path with a comma in it is quoted.
                    place = line.rpartition(",")[0].rpartition(",")[0].strip('"')
                    listed.add(os.path.normpath(site / place))
    return listed

"""Write and read the stamp of an environment: a file that says whether its install is finished.
The stamp begins with "unfinished" until every package was imported. Then it is a fingerprint, a
hash of everything that decides what is installed. If the fingerprint of today is another one, the
environment is out of date.
"""

import hashlib
import json
import os
import re
import tomllib
from pathlib import Path

from helpers.course import checkout
from helpers.course.terminal import CommandRefused

STAMP = "course-stamp.txt"
FRESH_STAMP = "course-stamp.new"  # the stamp while it is written
UNFINISHED = "unfinished"
FINGERPRINT = "[0-9a-f]{64}"
# Files that an install copies, and the program that decides what is copied.
COPIED = ("package/build.py", "share")
# Keys of pyproject.toml that decide what is installed. A linter's settings, for example, do not.
DECIDING = (
    ("build-system",),
    ("project", "name"),
    ("project", "requires-python"),
    ("project", "dependencies"),
    ("project", "scripts"),
    ("project", "entry-points"),
    ("tool", "hatch"),
)


def read_stamp(folder: Path) -> str:
    """Return the stamp of the environment in a folder; "" if it has none."""
    try:
        return (folder / STAMP).read_text("ascii").strip()
    except (OSError, ValueError):
        return ""


def write_stamp(folder: Path, text: str) -> None:
    """Write the stamp to another file, and rename that, so that no one reads half a stamp."""
    fresh = folder / FRESH_STAMP
    fresh.unlink(missing_ok=True)  # a start that was killed may have left one
    with open(fresh, "x", encoding="ascii") as file:
        file.write(text + "\n")
    os.replace(fresh, folder / STAMP)


def is_finished(folder: Path) -> bool:
    """Return whether the install of an environment was finished: its stamp is a fingerprint."""
    return re.fullmatch(FINGERPRINT, read_stamp(folder)) is not None


def is_current(folder: Path) -> bool:
    """Return whether an environment is finished, and nothing that decides about it has changed."""
    if not is_finished(folder):
        return False
    version = checkout.version_of([folder / checkout.PYTHON_INSIDE])
    return version is not None and read_stamp(folder) == fingerprint(version)


def still_works(folder: Path) -> bool:
    """Return whether the environment in a folder is complete and runs the course of this folder.

    An environment that was copied or moved may start with a Python that the course does not
    support, or import `helpers` from another folder.
    """
    if not is_finished(folder):
        return False
    python = folder / checkout.PYTHON_INSIDE
    code = "import helpers, os; print(os.path.dirname(helpers.__file__))"
    # `python -c` imports from the working folder first. In the root of the disk, `helpers` can only
    # come from the environment.
    imported_from = checkout.ask([python, "-c", f"import os; os.chdir(os.sep); {code}"])
    version = checkout.version_of([python])
    return version in checkout.SUPPORTED and imported_from == str(checkout.ROOT / "helpers")


def refuse_unmade(folder: Path) -> None:
    """Raise CommandRefused if the course did not make a folder, so that it must not be removed."""
    checkout.refuse_foreign(folder)
    if not os.path.lexists(folder):
        return
    has_stamp = re.match(f"{UNFINISHED}|{FINGERPRINT}$", read_stamp(folder)) is not None
    if not folder.is_dir() or not (has_stamp or _has_only_fresh_stamp(folder)):
        raise CommandRefused(
            f"The {folder.name} here was not made by the course, so it stays as it is: "
            "move it away and run the same command again."
        )


def _has_only_fresh_stamp(folder: Path) -> bool:
    """Return whether a folder has at most an unfinished stamp file, as when a start was killed."""
    return set(os.listdir(folder)) <= {FRESH_STAMP}


def fingerprint(version: tuple[int, int]) -> str:
    """Return a hash of everything that decides what an install makes.

    That is the `version` of Python, the folder of the course, and the contents of the files that
    list the packages.
    """
    root = checkout.ROOT
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    deciding = {"python": checkout.dotted(version), "place": str(root)}
    deciding["requirements"] = requirement_lines(root / "requirements.txt")
    deciding["pins"] = requirement_lines(root / "constraints.txt")
    for keys in DECIDING:
        deciding[".".join(keys)] = value_at(project, keys)
    for name in COPIED:
        for path in files_under(root / name):
            path_in_course = path.relative_to(root).as_posix()
            deciding[path_in_course] = hashlib.sha256(path.read_bytes()).hexdigest()
    return hashlib.sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()


def requirement_lines(path: Path) -> list[str]:
    """Return the lines of a requirements file of pip, without comments and empty lines."""
    text = re.sub(r"(^|\s)#.*", "", path.read_text("utf-8"), flags=re.MULTILINE)
    return [line.strip() for line in text.splitlines() if line.strip()]


def value_at(table: dict, keys: tuple[str, ...]):
    """Return the value in nested dicts: ("a", "b") -> table["a"]["b"]. None if there is none."""
    for key in keys:
        table = table.get(key) if isinstance(table, dict) else None
    return table


def files_under(path: Path) -> list[Path]:
    """Return all files in a folder and its subfolders, in order; for a file, only that file."""
    if path.is_file():
        return [path]
    return sorted(file for file in path.rglob("*") if file.is_file())

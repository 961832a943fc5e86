"""What an environment says it is: a stamp in its folder.

The stamp is "unfinished" until every package was imported; then it is the fingerprint of all that
decides what is installed.
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
FRESH_STAMP = "course-stamp.new"  # a stamp that is being written
UNFINISHED = "unfinished"
FINGERPRINT = "[0-9a-f]{64}"
COPIED = ("package/build.py", "share")  # what an install copies, or decides what it copies
# Parts of pyproject.toml that decide what an install does; a lint setting is none.
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
    """Return what an environment says it is; "" where there is no stamp."""
    try:
        return (folder / STAMP).read_text("ascii").strip()
    except (OSError, ValueError):
        return ""


def write_stamp(folder: Path, text: str) -> None:
    """Write the stamp in one step: it is there whole or not at all."""
    fresh = folder / FRESH_STAMP
    fresh.unlink(missing_ok=True)  # left by a start that was killed
    with open(fresh, "x", encoding="ascii") as file:
        file.write(text + "\n")
    os.replace(fresh, folder / STAMP)


def is_finished(folder: Path) -> bool:
    """Return whether an environment was finished once: its stamp is a fingerprint."""
    return re.fullmatch(FINGERPRINT, read_stamp(folder)) is not None


def is_current(folder: Path) -> bool:
    """Return whether an environment is finished and has what is required today."""
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
    # `-c` imports from the working folder first, and at the root of the disk there is no `helpers`.
    found = checkout.ask([python, "-c", f"import os; os.chdir(os.sep); {code}"])
    version = checkout.version_of([python])
    return version in checkout.SUPPORTED and found == str(checkout.ROOT / "helpers")


def refuse_unmade(folder: Path) -> None:
    """Refuse to replace or to remove a folder that the course did not make."""
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
    """Return whether nothing but a stamp was written when a start was killed."""
    return set(os.listdir(folder)) <= {FRESH_STAMP}


def fingerprint(version: tuple[int, int]) -> str:
    """Return a hash of what decides about an environment: its Python, its place, dependencies."""
    root = checkout.ROOT
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    decided = {"python": checkout.dotted(version), "place": str(root)}
    decided["requirements"] = requirement_lines(root / "requirements.txt")
    decided["pins"] = requirement_lines(root / "constraints.txt")
    for keys in DECIDING:
        decided[".".join(keys)] = value_at(project, keys)
    for name in COPIED:
        for path in files_under(root / name):
            inside = path.relative_to(root).as_posix()
            decided[inside] = hashlib.sha256(path.read_bytes()).hexdigest()
    return hashlib.sha256(json.dumps(decided, sort_keys=True).encode()).hexdigest()


def requirement_lines(path: Path) -> list[str]:
    """Return the requirements of a pip file, without comments."""
    text = re.sub(r"(^|\s)#.*", "", path.read_text("utf-8"), flags=re.MULTILINE)
    return [line.strip() for line in text.splitlines() if line.strip()]


def value_at(table: dict, keys: tuple[str, ...]):
    """Return what stands under these keys, one inside the other, or None."""
    for key in keys:
        table = table.get(key) if isinstance(table, dict) else None
    return table


def files_under(place: Path) -> list[Path]:
    """Return a file itself, or all files of a folder, in order."""
    if place.is_file():
        return [place]
    return sorted(path for path in place.rglob("*") if path.is_file())

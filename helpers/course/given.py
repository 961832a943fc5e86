"""Files made by the course, a folder that somebody named -> they stand there, and nothing is lost.

What stands at the place of one, and differs, is somebody's: it is kept beside it. A sealed page
that nobody has changed is the course's own, and is replaced by the command that made it.
"""

import hashlib
from datetime import datetime
from filecmp import cmp
from pathlib import Path

import course
from helpers.safety import folders

SOURCES = ("notebooks", "helpers", "tests", "share", "docs", ".git", ".venv")
_SEAL = b"\n<!-- made by course.py %s, which replaces it while this fits: %s -->\n"


def given(files: dict[Path, Path], folder: Path, by: str, now: datetime) -> None:
    """Copy files that a command made, by their place inside the folder, into it. Refusal, OSError.

    Refusal where the folder is the course's own, or where a link leads out of it.
    """
    refuse(folder)
    for inside, source in files.items():
        place = folder / inside
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.parent.resolve() != folder.resolve() / inside.parent:
            raise course.Refusal(f"{place.parent} is a link; name another folder with --to.")
        if place.is_file() and not place.is_symlink() and cmp(source, place, shallow=False):
            continue
        if _is_sealed(place, by):
            folders.replace_copy(source, place)
        elif kept := folders.renew_copy(source, place, now.strftime("%Y-%m-%d_%H%M%S")):
            course.say(f"What stood at {place} is kept as {kept.name}")


def sealed(page: bytes, by: str) -> bytes:
    """Return a page of HTML with a last line that fits to this command and these bytes alone."""
    return page + _SEAL % (by.encode(), hashlib.sha256(page).hexdigest().encode())


def _is_sealed(path: Path, by: str) -> bool:
    """Return whether a file, and no link, is as this command made it."""
    if path.is_symlink() or not path.is_file():
        return False
    page = path.read_bytes()
    return page == sealed(page[: -len(sealed(b"", by))], by)


def refuse(folder: Path) -> None:
    """Refusal if a folder is one that the course itself is made of."""
    ours = [course.ROOT / name for name in SOURCES]
    inside = folder.resolve()
    if inside == course.ROOT or any(inside.is_relative_to(one) for one in ours):
        raise course.Refusal(f"{folder} is a folder of the course itself; name another with --to.")

"""What the course has put into work/ -> a note in work/.delivered.json, and back.

    {"02_tf_function.ipynb": {"course": "…", "whole": "…", "written": "…", "offered": ""}}

With it a later version of the course knows which copies nobody has edited. The file may be gone or
broken: then the history of git is asked, and what that does not know is the learner's.
"""

import json
from pathlib import Path
from typing import NamedTuple

from helpers.course.terminal import say
from helpers.safety import folders

NAME = ".delivered.json"
LARGEST = 1_000_000  # bytes; ours has 100 for each file


class Delivery(NamedTuple):
    """What is noted of one file."""

    #: A hash of the course's file and of how it is copied.
    course: str = ""
    #: A hash of the copy.
    whole: str = ""
    #: A hash of what its author wrote, "" where that is not known.
    written: str = ""
    #: The `course` of which the learner was told that it is newer.
    offered: str = ""


def read(work: Path) -> dict[str, Delivery]:
    """Return what is noted of each file; what cannot be read is not noted."""
    path = work / NAME
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return {}
        noted = json.loads(path.read_bytes())
        items = list(noted.items())
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}

    deliveries = {}
    for name, entry in items:
        delivery = _delivery(entry)
        if delivery is not None:
            deliveries[name] = delivery
    return deliveries


def write(work: Path, deliveries: dict[str, Delivery]) -> None:
    """Note what was delivered; where that cannot be, say so and go on."""
    entries = {name: delivery._asdict() for name, delivery in sorted(deliveries.items())}
    text = json.dumps(entries, indent=1) + "\n"
    try:
        folders.replace_copy(text.encode(), work / NAME)
    except folders.NotRenewed as error:
        reason = error.__cause__.strerror
        say(
            f"work/{NAME} cannot be written ({reason}), so it is not noted which files of the "
            "course you have not edited."
        )


def _delivery(entry) -> Delivery | None:
    """Return what one entry of the file says; None if it is not an entry."""
    if type(entry) is not dict:
        return None
    values = [entry.get(field, "") for field in Delivery._fields]
    if not all(type(value) is str for value in values):
        return None
    return Delivery(*values)

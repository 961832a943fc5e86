"""Remember in work/.delivered.json which version of each file the course has copied to work/.

    {"02_tf_function.ipynb": {"course": "…", "whole": "…", "written": "…", "offered": ""}}

By these hashes, a later version of the course knows which copies the learner has not edited. If the
file is missing or broken, history.py looks for the copy among the past versions in git.
"""

import json
from pathlib import Path
from typing import NamedTuple

from helpers.course.terminal import say
from helpers.safety import folders

NAME = ".delivered.json"
LARGEST = 1_000_000  # bytes; the file has about 100 for each copy


class Delivery(NamedTuple):
    """The hashes of one file that was copied to work/. Each is "" if it is not known."""

    #: A hash of the course's file and of how it is copied, as `work_copies.version_of` returns it.
    course: str = ""
    #: A hash of all bytes of the copy.
    whole: str = ""
    #: A hash of what an author wrote in the copy, as `authorship.written` returns it.
    written: str = ""
    #: The `course` hash of the newer version that the learner has been told about.
    offered: str = ""


def read(work: Path) -> dict[str, Delivery]:
    """Return file name -> Delivery, as the file in the folder `work` says.

    Entries that cannot be read are left out. If the whole file cannot be read, return {}.
    """
    path = work / NAME
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return {}
        items = list(json.loads(path.read_bytes()).items())
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}

    deliveries = {}
    for name, entry in items:
        delivery = _read_delivery(entry)
        if delivery is not None:
            deliveries[name] = delivery
    return deliveries


def write(work: Path, deliveries: dict[str, Delivery]) -> None:
    """Write the file in the folder `work`; print a line if it cannot be written.

    `deliveries` is file name -> Delivery.
    """
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


def _read_delivery(entry) -> Delivery | None:
    """Return the Delivery in one value of the JSON file; None if it is not a dict of texts."""
    if type(entry) is not dict:
        return None
    values = [entry.get(field, "") for field in Delivery._fields]
    if not all(type(value) is str for value in values):
        return None
    return Delivery(*values)

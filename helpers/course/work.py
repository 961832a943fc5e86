"""notebooks/ -> work/, the learner's own copies: they are added and renewed, never lost."""

import os
from pathlib import Path

import course
from helpers.course.trust import trust
from helpers.safety import folders

TEACHERS = "instructor"  # the folder of notes for teachers: they are no learner's


def notebooks() -> Path:
    """Return the folder of the course's own notebooks."""
    return course.ROOT / "notebooks"


def fill() -> None:
    """Copy into work/ whatever of notebooks/ is not there yet; what is there is the learner's."""
    course.refuse_foreign(course.WORK)
    missing = {}
    for source in sorted(notebooks().rglob("*")):
        inside = source.relative_to(notebooks())
        place = course.WORK / inside
        hidden = any(part.startswith((".", "__pycache__")) for part in inside.parts)
        theirs = not hidden and inside.parts[0] != TEACHERS
        if source.is_file() and theirs and not os.path.lexists(place):
            missing[source] = place
    trust(missing)
    added = [place for source, place in missing.items() if folders.add_copy(source, ready(place))]
    new = [place.name for place in added if place.parent == course.WORK]  # not each picture
    if new:
        course.say(f"New in work/, which is yours to edit: {', '.join(new)}")


def ready(place: Path) -> Path:
    """Make the folder of a place in work/; Refusal where a link leads out of work/."""
    course.refuse_foreign(course.WORK)
    place.parent.mkdir(parents=True, exist_ok=True)
    course.refuse_foreign(place.parent)
    return place

"""What a learner chooses to share of their record, and what a teacher sees of all that is shared.

A learner says so by calling `share_progress`; nothing is shared without, and no check does it.
"""

from pathlib import PosixPath, WindowsPath

from helpers.exhibit import Exhibit
from helpers.model.class_progress import LONGEST_NAME, class_listing
from helpers.model.learner_progress import UNTRIED, Chapter, progress
from helpers.model.listing import Column, Listing
from helpers.safety import learner_record
from helpers.safety.arguments import is_exactly, word
from helpers.safety.folders import Refusal
from helpers.safety.restoring import whole
from helpers.study.learner_progress import course
from helpers.study.remembering import remembered
from helpers.view.table_view import table

TITLE = "What you share"
ALL_OF_IT = (
    "This is all that your file holds, and whoever may read the folder can read it; the file "
    "system also shows whose file it is, and when it was written. Call it again to bring it up to "
    "date; `stop_sharing()` removes it."
)


@whole
def share_progress(folder, name="") -> Exhibit:
    """Write how far you are into a folder that your teacher reads, and show what is written.

    The file holds the state of each exercise that you touched: no answer, no time, and a name only
    where you give one. Called again, it overwrites the same file; `stop_sharing()` removes it.

    Args:
        folder: the shared folder, as text or a path.
        name: yours or any other, of at most 40 characters; without one you are counted only.

    Raises:
        Refusal: nothing is recorded where this runs, the folder cannot be written, or a notebook
            of the course cannot be read.
    """
    folder, name = _folder(folder), _name(name)
    place = learner_record.place()
    if place is None:
        raise Refusal("nothing is recorded here, so there is nothing to share: do it in work/")
    told = progress(_whole_course(), remembered().events)
    tasks = [task for one in told.chapters for task in one.tasks if task.state != UNTRIED]
    states = {task.name: task.state for task in tasks}
    learner_record.share(folder, states, name, place.parent)
    columns = Column("name", "exercise", code=True), Column("state", "state")
    whose = f"With the name {name}." if name else "Without a name."
    return Exhibit(Listing(TITLE, columns, tuple(tasks), f"{whose} {ALL_OF_IT}"), table)


@whole
def stop_sharing() -> None:
    """Remove the file that `share_progress` wrote, and say so.

    Raises:
        Refusal: the file cannot be removed; it is still shared then.
    """
    place = learner_record.place()
    if place is None:
        print("Nothing is recorded here, so it is not known what you share: do it in work/.")
    else:
        folder = learner_record.stop(place.parent)
        print(f"Your file is gone from {folder}." if folder else "You share nothing.")


@whole
def show_class(folder) -> Exhibit:
    """Show how many of those who share in a folder came how far with each exercise.

    For teachers. Nobody is seen who did not call `share_progress`, and names only where learners
    gave them; of fewer than five without a name there is no count. `.model.rows` has the counts,
    of the chapters that somebody has begun.

    Args:
        folder: the shared folder, as text or a path.

    Raises:
        Refusal: the folder cannot be looked into, or a notebook of the course cannot be read.
    """
    found = learner_record.read_shared(_folder(folder))
    learners = [(dict(one.states), one.name) for one in found.files]
    model = class_listing(_whole_course(), learners, found.unread, found.more)
    return Exhibit(model, table)


def _whole_course() -> tuple[Chapter, ...]:
    """Return all chapters: of the exercises of one that is not there, nothing would be told."""
    found, trouble = course()
    if trouble:
        raise Refusal(f"nothing is shared or counted without the whole course. {trouble}")
    return found


def _folder(folder) -> str:
    path = is_exactly(folder, PosixPath, WindowsPath)
    return word(str(folder) if path else folder, "the folder")


def _name(name) -> str:
    name = word(name, "the name").strip()
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise ValueError(f"the name must be printable, of at most {LONGEST_NAME} characters")
    return name

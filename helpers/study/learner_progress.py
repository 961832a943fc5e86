"""What a learner did -> the record in work/; how far that is; and what a class of learners shares.

A learner shares by calling `share_progress`; nothing is shared without.
"""

from dataclasses import replace

from helpers.exhibit import Exhibit
from helpers.model import study_records as records
from helpers.model.phrase import ended
from helpers.model.tables import Column, Listing
from helpers.safety import learner_record
from helpers.safety.arguments import require_str
from helpers.safety.folders import Refusal
from helpers.safety.learner_record import Record
from helpers.safety.restoring import preserves_interpreter_state
from helpers.view.progress_view import progress as view
from helpers.view.table_view import table

ALL_OF_IT = "This is all that your file holds; whoever may read the folder can read it, and see "
ALL_OF_IT += "whose file it is, and when it was written. `stop_sharing()` removes it."
_TOLD: set[str] = set()


def remember(event: dict) -> None:
    """Record an event, if this kernel has a record; where that fails, print why, once."""
    path = learner_record.place()
    why = learner_record.add(path, event) if path is not None else ""
    if why and why not in _TOLD:
        _TOLD.add(why)
        print(why)


def remembered() -> Record:
    """Return what is recorded where this kernel records; nothing where it does not."""
    path = learner_record.place()
    return Record() if path is None else learner_record.read(path)


@preserves_interpreter_state
def show_progress() -> Exhibit:
    """Show the exercises of every chapter, how far you came with each, and which one is next.

    The record is `progress.jsonl` in the folder work/; only what runs there is recorded, and it
    stays there unless you call `share_progress`. Each exercise is a link to its place;
    `.model.next` is the next one.
    """
    record, place = remembered(), learner_record.place()
    there, trouble = _read_course()
    model = records.progress(there, record.events, f"{record.trouble} {trouble}".strip())
    shared = place is not None and bool(learner_record.shared_file(place.parent))
    return Exhibit(replace(model, shared=shared, elsewhere=learner_record.is_elsewhere()), view)


@preserves_interpreter_state
def share_progress(folder, name="") -> Exhibit:
    """Write how far you are into a folder that your teacher reads, and show what is written.

    The file holds the state of each exercise that you touched: no answer, no time, and a name only
    where you give one, of at most 40 characters. Called again, it overwrites the same file;
    `stop_sharing()` removes it. Refusal where nothing is recorded, the folder cannot be written, or
    a notebook of the course cannot be read.
    """
    name = require_str(name, "the name").strip()
    if len(name) > (most := records.LONGEST_NAME) or not name.isprintable():
        raise ValueError(f"the name must be printable, of at most {most} characters")
    place = learner_record.place()
    if place is None:
        raise Refusal("nothing is recorded here, so there is nothing to share: do it in work/")
    found = records.progress(_read_course(whole=True)[0], remembered().events).chapters
    tasks = tuple(task for one in found for task in one.tasks if task.state != records.UNTRIED)
    learner_record.share(str(folder), {one.name: one.state for one in tasks}, name, place.parent)
    columns = Column("name", "exercise", code=True), Column("state", "state")
    whose = f"With the name {name}." if name else "Without a name."
    return Exhibit(Listing("What you share", columns, tasks, f"{whose} {ALL_OF_IT}"), table)


@preserves_interpreter_state
def stop_sharing() -> None:
    """Remove the file that `share_progress` wrote, and say so; Refusal if that cannot be."""
    place = learner_record.place()
    if place is None:
        print("Nothing is recorded here, so it is not known what you share: do it in work/.")
    else:
        folder = learner_record.stop(place.parent)
        print(f"Your file is gone from {folder}." if folder else "You share nothing.")


@preserves_interpreter_state
def show_class(folder) -> Exhibit:
    """Show how many of those who share in a folder came how far with each exercise.

    For teachers. Nobody is seen who did not call `share_progress`, and names only where learners
    gave them; of fewer than five without a name there is no count. `.model.rows` has the counts,
    of the chapters that somebody has begun. Refusal where the folder, or a notebook of the course,
    cannot be read.
    """
    found = learner_record.read_shared(str(folder))
    learners = [(dict(one.states), one.name) for one in found.files]
    chapters, _ = _read_course(whole=True)
    return Exhibit(records.class_listing(chapters, learners, found.unread), table)


def _read_course(whole: bool = False) -> tuple[list[records.Chapter], str]:
    found, unread = [], []
    for path in sorted((learner_record.ROOT / "notebooks").glob("*.ipynb")):
        try:
            found += records.chapters({path.name: path.read_text("utf-8")})
        except (OSError, ValueError):
            unread.append(path.name)
    words = ended(f"Left out, for they cannot be read: {', '.join(unread)}") if unread else ""
    if whole and words:
        raise Refusal(f"nothing is shared or counted without the whole course. {words}")
    return found, words

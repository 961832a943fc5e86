"""What a learner did -> the record in work/, how far they are, and what a class shares.

A learner shares by calling `share_progress`. Otherwise nothing is shared.
"""

import os
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

ALL_OF_IT = "Your file contains only this. Anyone who can read the folder can read it, and can see "
ALL_OF_IT += "whose file it is and when it was written. `stop_sharing()` removes it."
_TOLD: set[str] = set()


def remember(event: dict) -> None:
    """Record an event, if this kernel has a record. If that fails, print why, once."""
    path = learner_record.place()
    why = learner_record.add(path, event) if path is not None else ""
    if why and why not in _TOLD:
        _TOLD.add(why)
        print(why)


def remembered() -> Record:
    """Return what this kernel has recorded, or an empty record if it does not record."""
    path = learner_record.place()
    return Record() if path is None else learner_record.read(path)


@preserves_interpreter_state
def show_progress() -> Exhibit:
    """Show the exercises of every chapter, how far you came with each, and which one is next.

    The record is `progress.jsonl` in the folder work/. Only what runs there is recorded, and it
    stays there unless you call `share_progress`. Each exercise is a link to its cell, and
    `.model.next` is the next exercise.
    """
    record, place = remembered(), learner_record.place()
    there, trouble = _read_course()
    model = records.progress(there, record.events, f"{record.trouble} {trouble}".strip())
    shared = place is not None and bool(learner_record.shared_file(place.parent))
    elsewhere = place is None and os.environ.get("COURSE_RECORD") != "off"
    return Exhibit(replace(model, shared=shared, elsewhere=elsewhere), view)


@preserves_interpreter_state
def share_progress(folder, name="") -> Exhibit:
    """Write how far you are into a folder that your teacher reads, and show what is written.

    The file contains the state of each exercise you touched, but no answers and no times. It has a
    name, of at most 40 characters, only if you pass one. Another call overwrites the same file, and
    `stop_sharing()` removes it. Refusal if nothing is recorded, the folder cannot be written, or a
    notebook of the course cannot be read.
    """
    name = require_str(name, "the name").strip()
    if len(name) > (most := records.LONGEST_NAME) or not name.isprintable():
        raise ValueError(f"the name must be printable and at most {most} characters long")
    place = learner_record.place()
    if place is None:
        raise Refusal("nothing is recorded here, so there is nothing to share. Run this in work/")
    found = records.progress(_read_course(whole=True)[0], remembered().events).chapters
    tasks = tuple(task for one in found for task in one.tasks if task.state != records.UNTRIED)
    learner_record.share(str(folder), {one.name: one.state for one in tasks}, name, place.parent)
    columns = Column("name", "exercise", code=True), Column("state", "state")
    whose = f"With the name {name}." if name else "Without a name."
    return Exhibit(Listing("What you share", columns, tasks, f"{whose} {ALL_OF_IT}"), table)


@preserves_interpreter_state
def stop_sharing() -> None:
    """Remove the file that `share_progress` wrote, and say so. Refusal if that fails."""
    place = learner_record.place()
    if place is None:
        print("Nothing is recorded here, so it is not known what you share. Run this in work/.")
    else:
        folder = learner_record.stop(place.parent)
        print(f"Your file is gone from {folder}." if folder else "You share nothing.")


@preserves_interpreter_state
def show_class(folder) -> Exhibit:
    """Show how far the learners who share in a folder are with each exercise.

    For teachers. You see only learners who called `share_progress`, and names only if they gave
    them. Fewer than five without a name are not counted. `.model.rows` contains the counts, of the
    chapters that somebody has begun. Refusal if the folder, or a notebook of the course, cannot be
    read.
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
    words = ended(f"Left out, because they cannot be read: {', '.join(unread)}") if unread else ""
    if whole and words:
        raise Refusal(f"nothing is shared or counted without the whole course. {words}")
    return found, words

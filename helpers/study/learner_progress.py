"""Record what a learner did in work/, show how far the learner is, and share that with a class.

A learner shares by calling `share_progress`. Otherwise nothing is shared.
"""

import os
from dataclasses import replace

from helpers.exhibit import Exhibit
from helpers.model import study_records as records
from helpers.model.class_progress import LONGEST_NAME, build_class_listing
from helpers.model.phrase import end_sentence
from helpers.model.tables import Column, Listing
from helpers.safety import learner_record, shared_progress
from helpers.safety.arguments import require_str
from helpers.safety.folders import Refusal
from helpers.safety.learner_record import LearnerRecord
from helpers.safety.restoring import preserves_interpreter_state
from helpers.view.progress_view import progress as progress_view
from helpers.view.table_view import table

ALL_OF_IT = (
    "Your file contains only this. Anyone who can read the folder can read it, and can see "
    "whose file it is and when it was written. `stop_sharing()` removes it."
)
#: The reasons for not recording an event that have been printed. Each is printed only once.
_PRINTED_REASONS: set[str] = set()


def record_event_or_print(event: dict) -> None:
    """Append an event, such as {"check": "tangle", "is": "passed"}, to this kernel's record.

    Do nothing if this kernel has no record. If writing fails, print the reason.
    """
    path = learner_record.find_record_file()
    if path is None:
        return
    reason = learner_record.add_event(path, event)
    if reason and reason not in _PRINTED_REASONS:
        _PRINTED_REASONS.add(reason)
        print(reason)


def read_own_record() -> LearnerRecord:
    """Return the learner's record, also of earlier kernels; empty if this kernel has no record."""
    path = learner_record.find_record_file()
    return LearnerRecord() if path is None else learner_record.read_record(path)


@preserves_interpreter_state
def show_progress() -> Exhibit:
    """Show the exercises of every chapter, how far you came with each, and which one is next.

    The record is `progress.jsonl` in the folder work/. Only what runs there is recorded, and it
    stays there unless you call `share_progress`. Each exercise is a link to its cell, and
    `.model.next` is the next exercise.
    """
    record = read_own_record()
    chapters, trouble = _read_course()
    model = records.build_progress(chapters, record.events, f"{record.trouble} {trouble}".strip())

    record_file = learner_record.find_record_file()
    if record_file is None:
        is_elsewhere = os.environ.get("COURSE_RECORD") != "off"
        model = replace(model, elsewhere=is_elsewhere)
    else:
        is_shared = bool(shared_progress.find_shared_file(record_file.parent))
        model = replace(model, shared=is_shared)
    return Exhibit(model, progress_view)


@preserves_interpreter_state
def share_progress(folder, name="") -> Exhibit:
    """Write how far you are into a folder that your teacher reads, and show what is written.

    The file contains the state of each exercise you touched, but no answers and no times. It has a
    name, of at most 40 characters, only if you pass one. Another call overwrites the same file, and
    `stop_sharing()` removes it. Refusal if nothing is recorded, the folder cannot be written, or a
    notebook of the course cannot be read.
    """
    name = require_str(name, "the name").strip()
    longest = LONGEST_NAME
    if len(name) > longest or not name.isprintable():
        raise ValueError(f"the name must be printable and at most {longest} characters long")
    record_file = learner_record.find_record_file()
    if record_file is None:
        raise Refusal("nothing is recorded here, so there is nothing to share. Run this in work/")

    tasks = _list_touched_tasks()
    states = {task.name: task.state for task in tasks}
    shared_progress.write_shared_file(str(folder), states, name, record_file.parent)

    columns = (Column("name", "exercise", code=True), Column("state", "state"))
    opening = f"With the name {name}." if name else "Without a name."
    note = f"{opening} {ALL_OF_IT}"
    return Exhibit(Listing("What you share", columns, tuple(tasks), note), table)


def _list_touched_tasks() -> list[records.Task]:
    """Return the exercises with which the learner has begun.

    Raise Refusal if a notebook of the course cannot be read.
    """
    chapters, _ = _read_course(is_whole=True)
    tasks = []
    for chapter in records.build_progress(chapters, read_own_record().events).chapters:
        tasks += [task for task in chapter.tasks if task.state != records.UNTRIED]
    return tasks


@preserves_interpreter_state
def stop_sharing() -> None:
    """Remove the file that `share_progress` wrote, and say so. Refusal if that fails."""
    record_file = learner_record.find_record_file()
    if record_file is None:
        print("Nothing is recorded here, so it is not known what you share. Run this in work/.")
    else:
        folder = shared_progress.remove_shared_file(record_file.parent)
        print(f"Your file is gone from {folder}." if folder else "You share nothing.")


@preserves_interpreter_state
def show_class(folder) -> Exhibit:
    """Show how far the learners who share in a folder are with each exercise.

    For teachers. You see only learners who called `share_progress`, and names only if they gave
    them. Fewer than five without a name are not counted. `.model.rows` contains the counts, of the
    chapters that somebody has begun. Refusal if the folder, or a notebook of the course, cannot be
    read.
    """
    shared = shared_progress.read_shared_folder(str(folder))
    learners = [(dict(file.states), file.name) for file in shared.files]
    chapters, _ = _read_course(is_whole=True)
    return Exhibit(build_class_listing(chapters, learners, shared.unread), table)


def _read_course(is_whole: bool = False) -> tuple[list[records.ChapterProgress], str]:
    """Return (chapters, sentence on the notebooks that cannot be read).

    The sentence is "" if all notebooks can be read. With `is_whole`, raise Refusal if one cannot.
    """
    chapters = []
    unread = []
    for path in sorted((learner_record.ROOT / "notebooks").glob("*.ipynb")):
        try:
            chapters += records.read_chapters({path.name: path.read_text("utf-8")})
        except (OSError, ValueError):
            unread.append(path.name)
    if not unread:
        return chapters, ""

    sentence = end_sentence(f"Left out, because they cannot be read: {', '.join(unread)}")
    if is_whole:
        raise Refusal(f"nothing is shared or counted without the whole course. {sentence}")
    return chapters, sentence

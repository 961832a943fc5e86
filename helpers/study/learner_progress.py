"""The course's notebooks and the learner's record -> each chapter's exercises, and the next."""

from dataclasses import replace

from helpers.exhibit import Exhibit
from helpers.model.learner_progress import Chapter, chapters, progress
from helpers.model.phrase import ended
from helpers.safety import learner_record
from helpers.safety.restoring import whole
from helpers.study.remembering import remembered
from helpers.view.progress_view import progress as view

MOST_NAMED = 10


@whole
def show_progress() -> Exhibit:
    """Show the exercises of every chapter, how far you came with each, and which one is next.

    The record is `progress.jsonl` in the folder work/; only what runs there is recorded, and it
    stays there unless you call `share_progress`. Each exercise is a link to its place;
    `.model.next` is the next one.
    """
    record, place = remembered(), learner_record.place()
    there, trouble = course()
    model = progress(there, record.events, f"{record.trouble} {trouble}".strip())
    shared = place is not None and learner_record.is_shared(place.parent)
    elsewhere = learner_record.is_elsewhere()
    return Exhibit(replace(model, shared=shared, elsewhere=elsewhere), view)


def course() -> tuple[tuple[Chapter, ...], str]:
    """Return the chapters beside this, and a sentence on the notebooks that cannot be read."""
    found, unread = [], []
    for path in sorted((learner_record.ROOT / "notebooks").glob("*.ipynb")):
        try:
            found += chapters({path.name: path.read_text("utf-8")})
        except (OSError, ValueError):
            unread.append(path.name)
    named = ", ".join(unread[:MOST_NAMED]) + ", …" * (len(unread) > MOST_NAMED)
    return tuple(found), ended(f"Left out, for they cannot be read: {named}") if unread else ""

"""The course's notebooks and the learner's record -> each chapter's exercises, and the next."""

from dataclasses import replace

from helpers.exhibit import Exhibit
from helpers.model.learner_progress import chapters, progress
from helpers.safety import learner_record, shared_progress
from helpers.safety.interpreter_state import whole
from helpers.study.remembering import remembered
from helpers.view import learner_progress as view


@whole
def show_progress() -> Exhibit:
    """Show the exercises of every chapter, how far you came with each, and which one is next.

    The record is `progress.jsonl` in the folder work/; only what runs there is recorded, and it
    stays there unless you call `share_progress`. Each exercise is a link to its place;
    `.model.next` is the next one.
    """
    record, place = remembered(), learner_record.place()
    model = progress(chapters(texts()), record.events, record.trouble)
    shared = place is not None and shared_progress.is_shared(place.parent)
    elsewhere = learner_record.is_elsewhere()
    return Exhibit(replace(model, shared=shared, elsewhere=elsewhere), view)


def texts() -> dict[str, str]:
    """Return the course's notebooks as text, by file name; none where they are not beside this."""
    folder = learner_record.ROOT / "notebooks"
    return {path.name: path.read_text("utf-8") for path in folder.glob("*.ipynb")}

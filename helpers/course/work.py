"""`lab` and `reset`: JupyterLab on work/, and fresh copies of notebooks there.

`lab` brings work/ to the newest course and opens JupyterLab on it. `reset` puts a fresh copy of a
notebook there, with the learner's own beside it, and its first exercises solved if that is asked
for.
"""

import os

from helpers.course import authorship, checkout, deliveries, running
from helpers.course.chapter_notebooks import chapter_named, chapters, notebooks
from helpers.course.filling import fill
from helpers.course.fresh import fresh
from helpers.course.terminal import CommandRefused, say
from helpers.course.work_copies import NewestCopy, ready, time_in_name, trust, version_of
from helpers.model import study_records
from helpers.safety import folders, learner_record

FIRST = "00_start_here.ipynb"
RELOAD = (
    "If it is open in JupyterLab with unsaved changes, first choose File, Save Notebook As. "
    "Then choose File, Reload Notebook from Disk."
)


def lab(words: list[str]) -> int:
    """Open JupyterLab on work/; the words are JupyterLab's. Return its exit code, or 0.

    Raise CommandRefused or OSError if work/ cannot be written.
    A server that runs on work/ already is opened, and a second one is not started.
    """
    renewed = fill()
    place = left_off()
    if place:
        say(place)
    page = f"lab/tree/{FIRST}" if (checkout.WORK / FIRST).exists() else "lab"
    is_question = running.ASKS.intersection(words)
    server = None if is_question else running.server_on(checkout.WORK)
    if server:
        running.open_server(server, page, words)
        if renewed:
            say(RELOAD)
        return 0
    command = [str(checkout.PYTHON), "-m", "jupyterlab", f"--ServerApp.root_dir={checkout.WORK}"]
    command.append(f"--LabApp.default_url=/{page}")
    if getattr(os, "geteuid", lambda: 1)() == 0:
        say("You are root, so JupyterLab is started with --allow-root, which it requires.")
        command.append("--allow-root")
    say("Starting JupyterLab: Ctrl-C in this terminal stops it.")
    return checkout.hand_over([*command, *words], os.environ)


def left_off() -> str:
    """Return in one line where the learner left off; "" where nothing is known of it."""
    try:
        sources = {path.name: path.read_text("utf-8") for path in notebooks().glob("*.ipynb")}
        record = learner_record.read_record(checkout.WORK / learner_record.NAME)
        progress = study_records.build_progress(study_records.read_chapters(sources), record.events)
        return progress.left_off or record.trouble
    except (OSError, ValueError):  # not really a notebook
        return ""


def reset(words: list[str], solved_to: int | None = None) -> int:
    """Put fresh copies of the named notebooks into work/, the learner's own beside them.

    In a copy, the first `solved_to` exercises have their solutions; none if that is None.
    """
    if not words:
        every = ", ".join(chapters())
        raise CommandRefused(f"`reset` needs the number of a notebook; there are: {every}.")
    names = [chapter_named(word) for word in words]
    how = "fresh" if solved_to is None else f"fresh, its first {solved_to} exercises solved"
    copies = {name: fresh(notebooks() / name, solved_to) for name in names}
    for name, copy in copies.items():
        place = ready(checkout.WORK / name)
        try:
            old_copy = folders.renew_copy(copy, place, time_in_name())
        except folders.NotRenewed as error:
            raise CommandRefused(str(error)) from error
        beside = f"; yours is kept as work/{old_copy.name}" if old_copy else ""
        say(f"work/{name} is {how}{beside}")
        _note_reset(name, copy)
        trust([place])
    say(RELOAD)
    return 0


def _note_reset(name: str, copy: bytes) -> None:
    """Note that a learner has the newest now; with solutions in it, it counts as edited."""
    data = (notebooks() / name).read_bytes()
    newest = NewestCopy(name, data, version_of(name, data)).delivery
    is_unsolved = authorship.digest(copy) == newest.whole
    noted = deliveries.read(checkout.WORK)
    noted[name] = newest if is_unsolved else newest._replace(whole="")
    deliveries.write(checkout.WORK, noted)

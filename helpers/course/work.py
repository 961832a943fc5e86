"""Run the commands `course.py lab` and `course.py reset`, on the learner's folder work/.

`lab` copies new and changed notebooks of the course to work/, and opens JupyterLab on that folder.
`reset` puts a fresh copy of a notebook into work/, and keeps the learner's own under a second name.
"""

import os

from helpers.course import authorship, checkout, deliveries, running
from helpers.course.chapter_notebooks import find_notebook, list_notebooks, notebooks_folder
from helpers.course.filling import update_work_folder
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


def lab(arguments: list[str]) -> int:
    """Update work/, and open JupyterLab on it; return its exit code.

    `arguments` are arguments of JupyterLab. If a server already runs on work/, it is opened in the
    browser, and no second one is started; return 0. Raise CommandRefused or OSError if work/ cannot
    be written.
    """
    renewed = update_work_folder()
    place = left_off()
    if place:
        say(place)
    page = f"lab/tree/{FIRST}" if (checkout.WORK / FIRST).exists() else "lab"
    is_question = running.ASKS.intersection(arguments)  # such as --help, which starts no server
    server = None if is_question else running.server_on(checkout.WORK)
    if server:
        running.open_server(server, page, arguments)
        if renewed:  # an open notebook may be older than its file now
            say(RELOAD)
        return 0
    command = [str(checkout.PYTHON), "-m", "jupyterlab", f"--ServerApp.root_dir={checkout.WORK}"]
    command.append(f"--LabApp.default_url=/{page}")
    if getattr(os, "geteuid", lambda: 1)() == 0:
        say("You are root, so JupyterLab is started with --allow-root, which it requires.")
        command.append("--allow-root")
    say("Starting JupyterLab: Ctrl-C in this terminal stops it.")
    return checkout.hand_over([*command, *arguments], os.environ)


def left_off() -> str:
    """Return a line on which exercise the learner did last; "" if nothing is known.

    If the learner's record cannot be read, the line says so.
    """
    try:
        sources = {
            path.name: path.read_text("utf-8") for path in notebooks_folder().glob("*.ipynb")
        }
        record = learner_record.read_record(checkout.WORK / learner_record.NAME)
        progress = study_records.build_progress(study_records.read_chapters(sources), record.events)
        return progress.left_off or record.trouble
    except (OSError, ValueError):  # a file in notebooks/ is broken
        return ""


def reset(arguments: list[str], solved_to: int | None = None) -> int:
    """Put fresh copies of notebooks into work/; return the exit code 0.

    The learner's own copies are kept under a second name. `arguments` name notebooks, such as "3".
    In a fresh copy the first `solved_to` exercises are solved, or none if that is None.
    """
    if not arguments:
        every = ", ".join(list_notebooks())
        raise CommandRefused(f"`reset` needs the number of a notebook; there are: {every}.")
    names = [find_notebook(word) for word in arguments]
    state = "fresh" if solved_to is None else f"fresh, its first {solved_to} exercises solved"
    copies = {name: fresh(notebooks_folder() / name, solved_to) for name in names}
    for name, copy in copies.items():
        place = ready(checkout.WORK / name)
        try:
            old_copy = folders.renew_copy(copy, place, time_in_name())
        except folders.NotRenewed as error:
            raise CommandRefused(str(error)) from error
        beside = f"; yours is kept as work/{old_copy.name}" if old_copy else ""
        say(f"work/{name} is {state}{beside}")
        _note_reset(name, copy)
        trust([place])
    say(RELOAD)
    return 0


def _note_reset(name: str, copy: bytes) -> None:
    """Store in work/.delivered.json that the learner has the newest copy of a notebook.

    A copy with solutions has no hash there. So it counts as edited, and `lab` never replaces it.
    """
    data = (notebooks_folder() / name).read_bytes()
    newest = NewestCopy(name, data, version_of(name, data)).delivery
    is_unsolved = authorship.digest(copy) == newest.whole
    deliveries_by_name = deliveries.read(checkout.WORK)
    deliveries_by_name[name] = newest if is_unsolved else newest._replace(whole="")
    deliveries.write(checkout.WORK, deliveries_by_name)

"""JupyterLab on work/, which gets whatever of notebooks/ is not there yet."""

import os

import course
from helpers.course import work
from helpers.model.learner_progress import chapters, progress
from helpers.safety import learner_record

FIRST = "00_start_here.ipynb"


def lab(words: list[str]) -> int:
    """Open JupyterLab on work/; the words are JupyterLab's. Refusal, OSError."""
    work.fill()
    url = "/lab" + (f"/tree/{FIRST}" if (course.WORK / FIRST).exists() else "")
    command = [str(course.PYTHON), "-m", "jupyterlab", f"--ServerApp.root_dir={course.WORK}"]
    command.append(f"--LabApp.default_url={url}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        course.say("You are root: JupyterLab is started with --allow-root, which it asks for.")
        command.append("--allow-root")
    if where := left_off():
        course.say(where)
    course.say("Starting JupyterLab: Ctrl-C in this terminal stops it.")
    return course.hand_over([*command, *words], os.environ)


def left_off() -> str:
    """Return in one line where the learner left off; "" where nothing is known of it."""
    try:
        there = {path.name: path.read_text("utf-8") for path in work.notebooks().glob("*.ipynb")}
        record = learner_record.read(course.WORK / learner_record.NAME)
        return progress(chapters(there), record.events).left_off or record.trouble
    except (OSError, ValueError):  # a notebook that is none
        return ""

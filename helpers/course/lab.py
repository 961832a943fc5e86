"""JupyterLab on work/, which gets whatever of notebooks/ is not there yet."""

import os

import course
from helpers.course import work

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
    course.say("Starting JupyterLab: Ctrl-C in this terminal stops it.")
    return course.hand_over([*command, *words], os.environ)

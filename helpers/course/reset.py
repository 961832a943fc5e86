"""The number of a notebook -> a fresh copy of it in work/, the learner's own beside it."""

import datetime
import re
from contextlib import ExitStack
from pathlib import Path

import course
from helpers.course.solved import solved
from helpers.course.trust import trust
from helpers.course.work import notebooks, ready
from helpers.safety import folders
from helpers.safety.folders import temporary


def chapters() -> list[str]:
    """Return the names of the course's notebooks."""
    return sorted(path.name for path in notebooks().glob("*.ipynb"))


def chapter_named(word: str) -> str:
    """Return the notebook that a word names: 3, 03, 03_byte, 03_bytecode_and_frames.ipynb."""
    stem = re.sub(r"\.ipynb$", "", Path(word).name)
    if stem.isdecimal() and stem.isascii():
        named = [name for name in chapters() if re.match(rf"0*{int(stem)}(?!\d)", name)]
    else:
        named = [name for name in chapters() if stem and name.startswith(stem)]
    if len(named) != 1:
        there = ", ".join(chapters())
        raise course.Refusal(f"{word!r} names no one notebook; there are: {there}.")
    return named[0]


def reset(words: list[str], solved_to: int | None = None) -> int:
    """Put fresh copies of the named notebooks into work/, the learner's own beside them.

    In a copy that is `solved_to` a number, the first exercises hold their solutions.
    """
    if not words:
        there = ", ".join(chapters())
        raise course.Refusal(f"`reset` takes the number of a notebook; there are: {there}.")
    names = [chapter_named(word) for word in words]
    with ExitStack() as stack:
        if solved_to is None:
            folder, how = notebooks(), "fresh"
        else:
            files = {name: solved(notebooks() / name, solved_to) for name in names}
            folder = stack.enter_context(temporary("solved-")).fill("notebooks", files)
            how = f"fresh, its first {solved_to} exercises solved"
        for name in names:
            trust([folder / name])
            when = datetime.datetime.now().strftime("%Y-%m-%d_%H%M%S")
            kept = folders.renew_copy(folder / name, ready(course.WORK / name), when)
            beside = f"; yours is kept as work/{kept.name}" if kept else ""
            course.say(f"work/{name} is {how}{beside}")
    course.say(
        "Where it is open in JupyterLab with words not saved yet, choose File, Save Notebook As "
        "first; then File, Reload Notebook from Disk."
    )
    return 0

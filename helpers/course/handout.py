"""Numbers of notebooks -> the same notebooks in a folder, without solutions, to be given away.

Solutions are taken out by their tag (nbconvert's TagRemovePreprocessor). Hints stand in no cell:
`check.<exercise>.hint()` gives them in a handout, too. What stood in the folder is kept beside.
"""

import argparse
import datetime
from pathlib import Path

import course
from helpers.course.given import given
from helpers.course.reset import chapter_named, chapters
from helpers.course.solution_cells import TAG, parted
from helpers.course.trust import trust
from helpers.course.work import notebooks
from helpers.safety.folders import temporary


def handout(words: list[str]) -> int:
    """Write the notebooks that the words name, or all chapters, and the pictures they show."""
    names, folder = _asked(words)
    images = sorted(path for path in (notebooks() / "images").rglob("*") if path.is_file())
    files = {path.relative_to(notebooks()): path for path in images}
    with temporary("handout-") as home:
        made = home.fill("made", {name: without_solutions(notebooks() / name) for name in names})
        trust([made / name for name in names])
        given(files | {Path(name): made / name for name in names}, folder, datetime.datetime.now())
    course.say(f"Without solutions, in {folder}: {', '.join(names)}")
    return 0


def without_solutions(path: Path) -> bytes:
    """Return a notebook, as a file, less its folded solutions; every other cell is as it was."""
    import nbformat  # these two may be missing where `reset` still works
    from nbconvert.preprocessors import TagRemovePreprocessor

    notebook = nbformat.read(path, as_version=4)
    notebook.cells = parted(notebook.cells)
    notebook, _ = TagRemovePreprocessor(remove_cell_tags={TAG}).preprocess(notebook, {})
    return (nbformat.writes(notebook) + "\n").encode()


def _asked(words: list[str]) -> tuple[list[str], Path]:
    parser = argparse.ArgumentParser("course.py handout", allow_abbrev=False)
    parser.add_argument("chapters", nargs="*", help="numbers of chapters; without them all")
    parser.add_argument("--to", type=Path, default=course.ROOT / "handouts", metavar="FOLDER")
    asked = parser.parse_intermixed_args(words)
    every = [name for name in chapters() if name[:2].isdigit()]
    return [chapter_named(word) for word in asked.chapters] or every, asked.to.absolute()

"""Numbers of notebooks -> the same notebooks in a folder, without solutions, to be given away.

Solutions are taken out by their tag (nbconvert's TagRemovePreprocessor). Hints stand in no cell:
`check.<exercise>.hint()` gives them in a handout, too. What stood in the folder is kept beside.
"""

import argparse
import datetime
from pathlib import Path

import course
from helpers.course.given import given, sealed
from helpers.course.reset import chapter_named, chapters
from helpers.course.solution_cells import TAG, parted
from helpers.course.trust import trust
from helpers.course.work import notebooks
from helpers.safety.folders import temporary

TEMPLATE = Path(__file__).with_name("paper")


def handout(words: list[str]) -> int:
    """Write the notebooks that the words name, or all chapters, and the pictures they show.

    With --html a page for each, too, that can be printed.
    """
    names, folder, printed = _asked(words)
    images = sorted(path for path in (notebooks() / "images").rglob("*") if path.is_file())
    files = {path.relative_to(notebooks()): path for path in images}
    with temporary("handout-") as home:
        written = {name: without_solutions(notebooks() / name) for name in names}
        if printed:
            written |= {f"{name[:-6]}.html": paper(name[:-6], written[name]) for name in names}
        made = home.fill("made", written)
        trust([made / name for name in names])
        new = {Path(name): made / name for name in written}
        given(files | new, folder, "handout", datetime.datetime.now())
    course.say(f"Without solutions, in {folder}: {', '.join(written)}")
    return 0


def without_solutions(path: Path) -> bytes:
    """Return a notebook, as a file, less its folded solutions; every other cell is as it was."""
    import nbformat  # these two may be missing where `reset` still works
    from nbconvert.preprocessors import TagRemovePreprocessor

    notebook = nbformat.read(path, as_version=4)
    notebook.cells = parted(notebook.cells)
    notebook, _ = TagRemovePreprocessor(remove_cell_tags={TAG}).preprocess(notebook, {})
    return (nbformat.writes(notebook) + "\n").encode()


def paper(name: str, notebook: bytes) -> bytes:
    """Return a notebook as a page to be printed, which is complete in itself."""
    import nbformat
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(
        template_name=TEMPLATE.name,
        extra_template_basedirs=[str(TEMPLATE.parent)],
        embed_images=True,
        exclude_anchor_links=True,
    )
    about = {"metadata": {"name": name, "path": str(notebooks())}}
    page, _ = exporter.from_notebook_node(nbformat.reads(notebook.decode(), as_version=4), about)
    return sealed(page.encode(), "handout")


def _asked(words: list[str]) -> tuple[list[str], Path, bool]:
    parser = argparse.ArgumentParser("course.py handout", allow_abbrev=False)
    parser.add_argument("chapters", nargs="*", help="numbers of chapters; without them all")
    parser.add_argument("--to", type=Path, default=course.ROOT / "handouts", metavar="FOLDER")
    parser.add_argument("--html", action="store_true", help="pages to be printed, too")
    asked = parser.parse_intermixed_args(words)
    every = [name for name in chapters() if name[:2].isdigit()]
    names = [chapter_named(word) for word in asked.chapters] or every
    return names, asked.to.absolute(), asked.html

"""Numbers of notebooks -> a page of slides for each, from the notebook as it is stored.

nbconvert makes them, with the template in deck/, which holds reveal.js: a page needs no network.
Which cell begins a slide is written in the notebook (`slide_rule`).
"""

import argparse
import datetime
import re
from pathlib import Path

import course
from helpers.course.given import given, sealed
from helpers.course.reset import chapter_named, chapters
from helpers.course.slide_parts import fitted
from helpers.course.solution_cells import TAG, parted
from helpers.course.work import notebooks
from helpers.safety.folders import temporary

DECK = Path(__file__).with_name("deck")
_LINK = re.compile(r"""(\]\(|href=")(\d\d_\w+)\.ipynb(?:#[^)"]*)?""")


def slides(words: list[str]) -> int:
    """Write the slides of the notebooks that the words name, or of all chapters."""
    names, folder = _asked(words)
    with temporary("slides-") as home:
        pages = {f"{name[:-6]}.html": sealed(page(notebooks() / name).encode()) for name in names}
        made = home.fill("made", pages)
        given({Path(name): made / name for name in pages}, folder, datetime.datetime.now())
    course.say(f"Slides in {folder}: {', '.join(pages)}")
    course.say(
        "Open one in a browser. Space goes on, S opens the notes, F fills the screen, D darkens it."
    )
    return 0


def page(path: Path) -> str:
    """Return the slides of a notebook as one page, which is complete in itself."""
    import nbformat  # these two may be missing where `reset` still works
    from nbconvert import SlidesExporter
    from nbconvert.preprocessors import TagRemovePreprocessor

    notebook = nbformat.read(path, as_version=4)
    notebook.cells = parted(notebook.cells)
    notebook, _ = TagRemovePreprocessor(remove_cell_tags={TAG}).preprocess(notebook, {})
    notebook.cells = fitted(notebook.cells)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = _LINK.sub(r"\1\2.html", cell.source)
    exporter = SlidesExporter(
        template_name=DECK.name,
        extra_template_basedirs=[str(DECK.parent)],
        embed_images=True,
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        exclude_anchor_links=True,
    )
    about = {"metadata": {"name": path.stem, "path": str(path.parent)}}
    return exporter.from_notebook_node(notebook, about)[0]


def _asked(words: list[str]) -> tuple[list[str], Path]:
    parser = argparse.ArgumentParser("course.py slides", allow_abbrev=False)
    parser.add_argument("chapters", nargs="*", help="numbers of chapters; without them all")
    parser.add_argument("--to", type=Path, default=course.ROOT / "slides", metavar="FOLDER")
    asked = parser.parse_intermixed_args(words)
    every = [name for name in chapters() if name[:2].isdigit()]
    return [chapter_named(word) for word in asked.chapters] or every, asked.to.absolute()

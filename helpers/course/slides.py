"""Numbers of notebooks -> a page of slides for each, run for it, so that its exhibits live.

nbconvert makes them, with the template in deck/, which holds reveal.js: a page needs no network.
Which cell begins a slide is written in the notebook (`slide_rule`). Runs are those of the book, and
its host lets the exhibits live; a slide with the stored outputs has exhibits that stand still.
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
HOST = Path(__file__).with_name("book") / "templates" / "host.js"
_LINK = re.compile(r"""(\]\(|href=")(\d\d_\w+)\.ipynb(?:#[^)"]*)?""")


def slides(words: list[str]) -> int:
    """Write the slides of the notebooks that the words name, or of all chapters."""
    from helpers.course.book.runs import run

    names, folder, still = _asked(words)
    paths = [notebooks() / name for name in names]
    with temporary("slides-") as home:
        made = {path.stem: page(path, None if still else run(path)) for path in paths}
        pages = {f"{stem}.html": sealed(text.encode(), "slides") for stem, text in made.items()}
        filled = home.fill("made", pages)
        now = datetime.datetime.now()
        given({Path(name): filled / name for name in pages}, folder, "slides", now)
    course.say(f"Slides in {folder}: {', '.join(pages)}")
    course.say(
        "Open one in a browser. Space goes on, S opens the notes, F fills the screen, D darkens. "
        "Keys in an exhibit are its own, until Esc."
    )
    return 0


def page(path: Path, ran=None) -> str:
    """Return the slides of a notebook as one page, which is complete in itself.

    `ran` is the notebook as it was run, with the state of its widgets, which live then; without it
    the slides show what is stored.
    """
    import nbformat  # these may be missing where `reset` still works
    from nbconvert import SlidesExporter
    from nbconvert.preprocessors import TagRemovePreprocessor

    from helpers.course.book.live import Widgets, as_script
    from helpers.course.book.page import styles
    from helpers.course.book.runs import KEY

    notebook = ran or nbformat.read(path, as_version=4)
    widgets = Widgets(notebook, notebook.metadata.get(KEY, {"recorded": []})["recorded"])
    notebook.cells = parted(notebook.cells)
    notebook, _ = TagRemovePreprocessor(remove_cell_tags={TAG}).preprocess(notebook, {})
    notebook.cells = fitted(notebook.cells)
    widgets.enliven(notebook.cells)
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
    about["living"] = {
        "styles": styles(widgets),
        "scripts": as_script(widgets.scripts) if widgets.scripts else "",
        "host": HOST.read_text("utf-8"),
    }
    return exporter.from_notebook_node(notebook, about)[0]


def _asked(words: list[str]) -> tuple[list[str], Path, bool]:
    parser = argparse.ArgumentParser("course.py slides", allow_abbrev=False)
    parser.add_argument("chapters", nargs="*", help="numbers of chapters; without them all")
    parser.add_argument("--to", type=Path, default=course.ROOT / "slides", metavar="FOLDER")
    parser.add_argument("--still", action="store_true", help="as stored: nothing is run or lives")
    asked = parser.parse_intermixed_args(words)
    every = [name for name in chapters() if name[:2].isdigit()]
    names = [chapter_named(word) for word in asked.chapters] or every
    return names, asked.to.absolute(), asked.still

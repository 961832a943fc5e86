"""Numbers of notebooks -> a page of slides for each, run for it, so that its exhibits live.

nbconvert makes them, with the template in deck/, which holds reveal.js: a page needs no network.
Which cells are slides is written in the notebook. Above a run the beginning of its prose is shown;
the rest is in the speaker's notes. A section with exercises lists them.
"""

import re
from collections.abc import Iterator
from copy import deepcopy
from itertools import takewhile
from pathlib import Path

from helpers.course.chapter_notebooks import notebooks
from helpers.course.handout import give, read_words, unsolved
from helpers.course.terminal import say
from helpers.safety.folders import temporary

DECK = Path(__file__).with_name("deck")
# The kinds of slide that a cell's metadata can name.
SLIDE = "slide"
BELOW = "subslide"
SKIP = "skip"
NOTES = "notes"
SHORT = 30  # words above a run
MOST = 110  # words of a slide of prose
_LINK = re.compile(r"""(\]\(|href=")(\d\d_\w+)\.ipynb(?:#[^)"]*)?""")
_HEADING = re.compile(r"#{1,6} ")
_BLOCK = re.compile(
    r"^(?:```.*?^```[^\n]*|#{1,6} [^\n]*|(?:(?!```|#{1,6} )[^\n]*\S[^\n]*(?:\n|\Z))+)", re.M | re.S
)
_STRUCTURE = re.compile(r"^ *([-*] |[|<>]|\d+\. |```)", re.MULTILINE)
_EXERCISE = re.compile(r"^### (.+)\n\n\*Difficulty .*?(\d+ minutes)", re.MULTILINE)
_ASKED = re.compile(r"^predict\(.*|^\w+\Z", re.MULTILINE | re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.?!*)`]) (?=[A-Z`*])")


def slides(words: list[str]) -> int:
    """Write the slides of the notebooks that the words name, or of all chapters."""
    from helpers.course.book.runs import run

    requested = read_words("slides", words)
    pages = {}
    with temporary("slides-") as home:
        for name in requested.notebooks:
            path = notebooks() / name
            pages[f"{path.stem}.html"] = page(path, run(path)).encode()
        filled = home.fill("made", pages)
        give({Path(name): filled / name for name in pages}, requested.to)
    say(f"Slides in {requested.to}: {', '.join(pages)}")
    say(
        "Open one in a browser. Press Space to go on, S for notes, F for full screen, D for dark. "
        "Inside an exhibit, keys control the exhibit until you press Esc."
    )
    return 0


def page(path: Path, ran=None) -> str:
    """Return a notebook's slides as one page: as it `ran`, with widgets that live, or as stored."""
    import nbformat  # these may be missing where `reset` still works
    from nbconvert import SlidesExporter

    from helpers.course.book.page import Widgets, as_script, host_script, styles
    from helpers.course.book.runs import KEY

    notebook = ran or nbformat.read(path, as_version=4)
    recorded = notebook.metadata[KEY]["recorded"] if KEY in notebook.metadata else []
    widgets = Widgets(notebook, recorded)
    notebook.cells = fitted(unsolved(notebook.cells))
    widgets.enliven_cells(notebook.cells)
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
    resources = {
        "metadata": {"name": path.stem, "path": str(path.parent)},
        "living": {
            "styles": styles(widgets),
            "host": host_script(),
            "scripts": as_script(widgets.scripts) if widgets.scripts else "",
        },
    }
    html, _ = exporter.from_notebook_node(notebook, resources)
    return html


def fitted(cells: list[dict]) -> list[dict]:
    """Return the cells that are shown or spoken, each with the metadata of its kind of slide."""
    slide_cells = []
    for index, cell in enumerate(cells):
        kind = kind_of(cell)  # "" for what belongs to the slide before it, such as a run
        if kind in (SLIDE, BELOW) and cell["cell_type"] == "markdown":
            slide_cells += _prose(cell, cells[index + 1 :])
        elif kind != SKIP:
            _add_cell(slide_cells, cell, kind)
    return slide_cells


def _add_cell(slide_cells: list[dict], cell: dict, kind: str) -> None:
    """Append a copy of a cell; one that names no kind of slide is joined to silent code before it.

    Silent code is code that shows nothing.
    """
    source = "".join(cell["source"])
    if cell["cell_type"] == "code":  # a slide is short of room; a question is asked by its form
        source = _ASKED.sub("", source)
    if slide_cells and is_silent(slide_cells[-1]) and kind == "":
        silent = slide_cells.pop()
        kind = kind_of(silent)
        source = f"{silent['source']}\n\n{source}"

    source = re.sub(r"\n{3,}", "\n\n", source).strip("\n")
    copy = _copy(cell, 0, kind, [source])
    if not source:
        copy["metadata"]["transient"] = {"remove_source": True}
    slide_cells.append(copy)


def kind_of(cell: dict) -> str:
    """Return the kind of slide that a cell's metadata names, or ""."""
    return cell["metadata"].get("slideshow", {}).get("slide_type", "")


def _prose(cell: dict, after: list[dict]) -> list[dict]:
    """Return what is shown of prose; if that is not all of it, all of it as notes as well."""
    heading, blocks = _split_prose("".join(cell["source"]))
    shown = _choose_blocks(heading, blocks, after)
    parts = [heading, *shown]
    if kind_of(cell) == SLIDE:
        parts.append("\n".join(_tasks([cell, *after])))

    copies = [_copy(cell, 0, kind_of(cell), [part for part in parts if part])]
    if shown != blocks:
        copies.append(_copy(cell, 1, NOTES, blocks))
    return copies


def _split_prose(source: str) -> tuple[str, list[str]]:
    """Return the heading that prose begins with, or "", and its other blocks."""
    first, *blocks = _BLOCK.findall(source)
    if _HEADING.match(first):
        return first, blocks
    return "", [first, *blocks]


def _choose_blocks(heading: str, blocks: list[str], after: list[dict]) -> list[str]:
    """Return the blocks of prose that a slide has room for; `after` are the cells that follow.

    Above a run that is the beginning of the first block; else whole blocks up to the next heading.
    """
    is_above_run = after and after[0]["cell_type"] == "code" and not kind_of(after[0])
    if is_above_run:
        return [_beginning(block) for block in blocks[:1] if not _STRUCTURE.search(block)]
    if heading.startswith("# "):  # a title is shown with all that it promises
        return blocks

    short_enough = []
    for index, block in enumerate(blocks):
        if words(blocks[: index + 1]) <= MOST:
            short_enough.append(block)
    chosen = short_enough or blocks[:1]
    return list(takewhile(lambda block: not _HEADING.match(block), chosen))


def is_silent(cell: dict) -> bool:
    """Return whether a cell is code that shows nothing."""
    return cell["cell_type"] == "code" and not cell["outputs"]


def _tasks(section: list[dict]) -> Iterator[str]:
    """Yield a line for each exercise of a section."""
    for index, cell in enumerate(section):
        if cell["cell_type"] != "markdown":
            continue
        source = "".join(cell["source"])
        if index and source.startswith("## "):
            return
        for found in _EXERCISE.finditer(source):
            title, minutes = found.groups()
            yield f"- {title}, {minutes}"


def _beginning(paragraph: str) -> str:
    """Return the first sentences of a paragraph, as many as are short together."""
    first, *rest = _SENTENCE.split(" ".join(paragraph.split()))
    while rest and words([first, rest[0]]) <= SHORT:
        first = f"{first} {rest.pop(0)}"
    return re.sub(r":$", ".", first)  # what a colon announces is not shown


def _copy(cell: dict, number: int, kind: str, blocks: list[str]) -> dict:
    """Return a copy of a cell that shows these blocks, as a slide of this kind.

    `number` tells copies of one cell apart: 0 for the first, which keeps the cell's id.
    """
    part = deepcopy(cell)
    part["source"] = "\n\n".join(blocks)
    part["metadata"] = {"slideshow": {"slide_type": kind}}
    part["id"] = f"{cell['id']}-{number}" if number else cell["id"]
    return part


def words(blocks: list[str]) -> int:
    """Return how many words are read in these blocks of Markdown."""
    text = " ".join(blocks)
    without_marks = re.sub(r"<[^<>]*>|\]\([^)]*\)", " ", text)
    return len(without_marks.split())

"""Make an HTML page of slides from each notebook, which is run first so that its widgets work.
nbconvert makes the page, with the template in deck/. That contains reveal.js, so a page needs no
network. The metadata of a cell says what kind of slide it is, as in Jupyter's slideshow toolbar.

A slide has less room than a cell. Above a cell of code, only the first sentences of the prose are
shown, and the whole prose is in the speaker's notes. A slide that begins a section lists the
section's exercises.
"""

import re
from collections.abc import Iterator
from copy import deepcopy
from itertools import takewhile
from pathlib import Path

from helpers.course.chapter_notebooks import notebooks_folder
from helpers.course.handout import copy_to_user_folder, read_arguments, remove_solutions
from helpers.course.terminal import say
from helpers.safety.folders import make_temporary_folder

DECK = Path(__file__).with_name("deck")
# The kinds of slide that a cell's metadata can name.
SLIDE = "slide"
BELOW = "subslide"
SKIP = "skip"
NOTES = "notes"
SHORT = 30  # words of prose that are shown above a cell of code
MOST = 110  # words on a slide of prose
_LINK = re.compile(r"""(\]\(|href=")(\d\d_\w+)\.ipynb(?:#[^)"]*)?""")
_HEADING = re.compile(r"#{1,6} ")
_BLOCK = re.compile(
    r"^(?:```.*?^```[^\n]*|#{1,6} [^\n]*|(?:(?!```|#{1,6} )[^\n]*\S[^\n]*(?:\n|\Z))+)", re.M | re.S
)
_STRUCTURE = re.compile(r"^ *([-*] |[|<>]|\d+\. |```)", re.MULTILINE)
_EXERCISE = re.compile(r"^### (.+)\n\n\*Difficulty .*?(\d+ minutes)", re.MULTILINE)
_NOT_SHOWN = re.compile(r"^predict\(.*|^\w+\Z", re.MULTILINE | re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.?!*)`]) (?=[A-Z`*])")


def slides(arguments: list[str]) -> int:
    """Run `course.py slides` with these arguments; return the exit code 0.

    It runs the named notebooks, or all chapters, and writes their slides.
    """
    from helpers.course.book.runs import run

    requested = read_arguments("slides", arguments)
    pages = {}
    with make_temporary_folder("slides-") as home:
        for name in requested.notebooks:
            path = notebooks_folder() / name
            pages[f"{path.stem}.html"] = build_slides_page(path, run(path)).encode()
        filled = home.fill("made", pages)
        copy_to_user_folder({Path(name): filled / name for name in pages}, requested.to)
    say(f"Slides in {requested.to}: {', '.join(pages)}")
    say(
        "Open one in a browser. Press Space to go on, S for notes, F for full screen, D for dark. "
        "Inside an exhibit, keys control the exhibit until you press Esc."
    )
    return 0


def build_slides_page(path: Path, ran=None) -> str:
    """Return the slides of the notebook at `path` as one HTML page.

    `ran` is the notebook as `book.runs.run` returned it, whose widgets work on the page. If it is
    None, the page shows the outputs that are stored in the file.
    """
    import nbformat  # here, because other commands work if these packages are missing
    from nbconvert import SlidesExporter

    from helpers.course.book.page import Widgets, format_script_json, host_script, list_styles
    from helpers.course.book.runs import KEY

    notebook = ran or nbformat.read(path, as_version=4)
    # What the widgets answered when the notebook was run, for a page that runs no Python.
    recorded = notebook.metadata[KEY]["recorded"] if KEY in notebook.metadata else []
    widgets = Widgets(notebook, recorded)
    notebook.cells = fit_cells_to_slides(remove_solutions(notebook.cells))
    widgets.replace_widgets(notebook.cells)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":  # a link to another notebook leads to its slides
            cell.source = _LINK.sub(r"\1\2.html", cell.source)
    exporter = SlidesExporter(
        template_name=DECK.name,
        extra_template_basedirs=[str(DECK.parent)],
        embed_images=True,
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        exclude_anchor_links=True,
    )
    # The template reads these values.
    resources = {
        "metadata": {"name": path.stem, "path": str(path.parent)},
        "living": {
            "styles": list_styles(widgets),
            "host": host_script(),
            "scripts": format_script_json(widgets.scripts) if widgets.scripts else "",
        },
    }
    html, _ = exporter.from_notebook_node(notebook, resources)
    return html


def fit_cells_to_slides(cells: list[dict]) -> list[dict]:
    """Return new cells for nbconvert, fitted to slides, each with its kind of slide as metadata.

    `cells` are those of the notebook. Cells of the kind `SKIP` are left out.
    """
    slide_cells = []
    for index, cell in enumerate(cells):
        kind = kind_of(cell)  # "" for a cell that continues the slide before it
        if kind in (SLIDE, BELOW) and cell["cell_type"] == "markdown":
            slide_cells += _fit_prose(cell, cells[index + 1 :])
        elif kind != SKIP:
            _add_cell(slide_cells, cell, kind)
    return slide_cells


def _add_cell(slide_cells: list[dict], cell: dict, kind: str) -> None:
    """Append a copy of a cell to `slide_cells`.

    A cell without a kind of slide is joined to the cell before it, if that is code without outputs.
    """
    source = "".join(cell["source"])
    if cell["cell_type"] == "code":
        # A call of `predict` and a last line with only a name are left out to save room. What they
        # show is in the outputs.
        source = _NOT_SHOWN.sub("", source)
    if slide_cells and is_silent(slide_cells[-1]) and kind == "":
        silent = slide_cells.pop()
        kind = kind_of(silent)
        source = f"{silent['source']}\n\n{source}"

    source = re.sub(r"\n{3,}", "\n\n", source).strip("\n")
    copy = _copy(cell, 0, kind, [source])
    if not source:  # nbconvert then shows no empty field for the code
        copy["metadata"]["transient"] = {"remove_source": True}
    slide_cells.append(copy)


def kind_of(cell: dict) -> str:
    """Return the kind of slide in a cell's metadata, such as "subslide"; "" if it has none."""
    return cell["metadata"].get("slideshow", {}).get("slide_type", "")


def _fit_prose(cell: dict, after: list[dict]) -> list[dict]:
    """Return the cells of a slide for a cell of prose, whose text may be cut.

    If the text is cut, a second cell has the whole text as speaker's notes. `after` are the cells
    that follow in the notebook.
    """
    heading, blocks = _split_prose("".join(cell["source"]))
    shown = _choose_blocks(heading, blocks, after)
    parts = [heading, *shown]
    if kind_of(cell) == SLIDE:
        parts.append("\n".join(_list_exercises([cell, *after])))

    copies = [_copy(cell, 0, kind_of(cell), [part for part in parts if part])]
    if shown != blocks:
        copies.append(_copy(cell, 1, NOTES, blocks))
    return copies


def _split_prose(source: str) -> tuple[str, list[str]]:
    """Return (heading, blocks) of Markdown. The heading is "" if the text does not begin with one.

    A block is a paragraph, a heading, or a block of code.
    """
    first, *blocks = _BLOCK.findall(source)
    if _HEADING.match(first):
        return first, blocks
    return "", [first, *blocks]


def _choose_blocks(heading: str, blocks: list[str], after: list[dict]) -> list[str]:
    """Return the blocks of prose that a slide has room for.

    `blocks` are those below the heading, and `after` are the cells that follow in the notebook.
    """
    # On a slide with code, only the first sentences are shown, and no list or table.
    is_above_code = after and after[0]["cell_type"] == "code" and not kind_of(after[0])
    if is_above_code:
        plain_blocks = [block for block in blocks[:1] if not _STRUCTURE.search(block)]
        return [_take_first_sentences(block) for block in plain_blocks]
    if heading.startswith("# "):  # the title slide shows all of its text
        return blocks

    # Whole blocks are shown, at least one, and none from the next heading on.
    short_enough = []
    for index, block in enumerate(blocks):
        if count_words(blocks[: index + 1]) <= MOST:
            short_enough.append(block)
    chosen = short_enough or blocks[:1]
    return list(takewhile(lambda block: not _HEADING.match(block), chosen))


def is_silent(cell: dict) -> bool:
    """Return whether a cell is code without outputs."""
    return cell["cell_type"] == "code" and not cell["outputs"]


def _list_exercises(cells: list[dict]) -> Iterator[str]:
    """Yield a line of Markdown for each exercise of a section: "- title, 10 minutes".

    `cells` begin with the section's first cell. They may go on with later sections, which are left
    out.
    """
    for index, cell in enumerate(cells):
        if cell["cell_type"] != "markdown":
            continue
        source = "".join(cell["source"])
        if index and source.startswith("## "):  # the next section
            return
        for match in _EXERCISE.finditer(source):
            title, minutes = match.groups()
            yield f"- {title}, {minutes}"


def _take_first_sentences(paragraph: str) -> str:
    """Return the first sentence of a paragraph, and more, while they have at most `SHORT` words."""
    text, *sentences = _SENTENCE.split(" ".join(paragraph.split()))
    while sentences and count_words([text, sentences[0]]) <= SHORT:
        text = f"{text} {sentences.pop(0)}"
    # A colon at the end would announce something that the slide does not show.
    return re.sub(r":$", ".", text)


def _copy(cell: dict, number: int, kind: str, blocks: list[str]) -> dict:
    """Return a copy of a cell whose text is these blocks, and whose kind of slide is `kind`.

    No two cells may have the same id. So the first copy, number 0, has the id of the cell, and
    another copy has its number at the end of the id.
    """
    copy = deepcopy(cell)
    copy["source"] = "\n\n".join(blocks)
    copy["metadata"] = {"slideshow": {"slide_type": kind}}
    copy["id"] = f"{cell['id']}-{number}" if number else cell["id"]
    return copy


def count_words(blocks: list[str]) -> int:
    """Return how many words these blocks of Markdown have, without HTML tags and link targets."""
    text = " ".join(blocks)
    without_marks = re.sub(r"<[^<>]*>|\]\([^)]*\)", " ", text)
    return len(without_marks.split())

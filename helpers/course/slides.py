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

from helpers.course.handout import give, read_words, unsolved
from helpers.course.terminal import say
from helpers.course.work import notebooks
from helpers.safety.folders import temporary

DECK = Path(__file__).with_name("deck")
SLIDE, BELOW, SKIP, NOTES = "slide", "subslide", "skip", "notes"
SHORT, MOST = 30, 110  # words: above a run, of a slide of prose
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

    asked = read_words("slides", words)
    names, folder = asked.notebooks, asked.to
    with temporary("slides-") as home:
        paths = {f"{name[:-6]}.html": notebooks() / name for name in names}
        pages = {name: page(path, run(path)).encode() for name, path in paths.items()}
        filled = home.fill("made", pages)
        give({Path(name): filled / name for name in pages}, folder)
    say(f"Slides in {folder}: {', '.join(pages)}")
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
    widgets = Widgets(notebook, notebook.metadata.get(KEY, {"recorded": []})["recorded"])
    notebook.cells = fitted(unsolved(notebook.cells))
    widgets.enliven_cells(notebook.cells)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = _LINK.sub(r"\1\2.html", cell.source)
    yes = ("embed_images", "exclude_input_prompt", "exclude_output_prompt", "exclude_anchor_links")
    where = {"template_name": DECK.name, "extra_template_basedirs": [str(DECK.parent)]}
    exporter = SlidesExporter(**where, **dict.fromkeys(yes, True))
    scripts = as_script(widgets.scripts) if widgets.scripts else ""
    living = {"styles": styles(widgets), "host": host_script(), "scripts": scripts}
    about = {"metadata": {"name": path.stem, "path": str(path.parent)}, "living": living}
    return exporter.from_notebook_node(notebook, about)[0]


def fitted(cells: list[dict]) -> list[dict]:
    """Return the cells that are shown or spoken, each with the metadata of its kind of slide."""
    found = []
    for at, cell in enumerate(cells):
        kind, source = kind_of(cell), "".join(cell["source"])
        if kind in (SLIDE, BELOW) and cell["cell_type"] == "markdown":
            found += _prose(cell, cells[at + 1 :])
        elif kind != SKIP:  # a slide is short of room; a question is asked by its form
            bare = _ASKED.sub("", source) if cell["cell_type"] == "code" else source
            if found and is_silent(found[-1]) and kind == "":
                kind, bare = kind_of(found[-1]), f"{found.pop()['source']}\n\n{bare}"
            found.append(_copy(cell, 0, kind, [re.sub(r"\n{3,}", "\n\n", bare).strip("\n")]))
            if not found[-1]["source"]:
                found[-1]["metadata"]["transient"] = {"remove_source": True}
    return found


def kind_of(cell: dict) -> str:
    """Return the kind of slide that a cell's metadata names, or ""."""
    return cell["metadata"].get("slideshow", {}).get("slide_type", "")


def _prose(cell: dict, after: list[dict]) -> list[dict]:
    """Return what is shown of prose; if that is not all of it, all of it as notes as well."""
    head, *blocks = _BLOCK.findall("".join(cell["source"]))
    if not _HEADING.match(head):
        head, blocks = "", [head, *blocks]
    shown = blocks
    if after and after[0]["cell_type"] == "code" and not kind_of(after[0]):
        shown = [_beginning(block) for block in blocks[:1] if not _STRUCTURE.search(block)]
    elif not head.startswith("# "):  # a title is shown with all that it promises
        shown = [block for at, block in enumerate(blocks) if words(blocks[: at + 1]) <= MOST]
        shown = list(takewhile(lambda block: not _HEADING.match(block), shown or blocks[:1]))
    tasks = "\n".join(_tasks([cell, *after])) if kind_of(cell) == SLIDE else ""
    found = [_copy(cell, 0, kind_of(cell), [part for part in (head, *shown, tasks) if part])]
    return found + [_copy(cell, 1, NOTES, blocks)] * (shown != blocks)


def is_silent(cell: dict) -> bool:
    """Return whether a cell is code that shows nothing."""
    return cell["cell_type"] == "code" and not cell["outputs"]


def _tasks(section: list[dict]) -> Iterator[str]:
    for at, cell in enumerate(section):
        source = "".join(cell["source"]) * (cell["cell_type"] == "markdown")
        if at and source.startswith("## "):
            return
        yield from (f"- {one[1]}, {one[2]}" for one in _EXERCISE.finditer(source))


def _beginning(paragraph: str) -> str:
    """Return the first sentences of a paragraph, as many as are short together."""
    first, *rest = _SENTENCE.split(" ".join(paragraph.split()))
    while rest and words([first, rest[0]]) <= SHORT:
        first = f"{first} {rest.pop(0)}"
    return re.sub(r":$", ".", first)


def _copy(cell: dict, number: int, kind: str, blocks: list[str]) -> dict:
    part = deepcopy(cell)
    part["source"], part["metadata"] = "\n\n".join(blocks), {"slideshow": {"slide_type": kind}}
    part["id"] = f"{cell['id']}-{number}" if number else cell["id"]
    return part


def words(blocks: list[str]) -> int:
    """Return how many words are read in these blocks of Markdown."""
    return len(re.sub(r"<[^<>]*>|\]\([^)]*\)", " ", " ".join(blocks)).split())

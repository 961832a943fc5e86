"""Numbers of notebooks -> a page of slides for each, run for it, so that its exhibits live.

nbconvert makes them, with the template in deck/, which holds reveal.js: a page needs no network.
Which cell begins a slide is written in the notebook. Of long prose the first paragraph is shown,
and all of it stands in the speaker's notes; lists, tables and exercises are shown whole.
"""

import re
from copy import deepcopy
from pathlib import Path

import course
from helpers.course.handout import chosen, give, unsolved
from helpers.course.work import notebooks
from helpers.safety.folders import temporary

DECK = Path(__file__).with_name("deck")
HOST = Path(__file__).with_name("book") / "templates" / "host.js"
SLIDE, BELOW, SKIP = "slide", "subslide", "skip"
WHOLE, MOST = 45, 110  # words: of prose shown whole, of a slide
SMALL = 10  # lines of an output: one that is as short, and no picture, stays below its code,
ANSWER = 5  # lines that a living exhibit's buttons, and its answer, take besides
FULL = 24  # if both together are no longer than this
_LINK = re.compile(r"""(\]\(|href=")(\d\d_\w+)\.ipynb(?:#[^)"]*)?""")
_HEADING = re.compile(r"#{1,6} ")
_BLOCK = re.compile(
    r"^(?:```.*?^```[^\n]*|#{1,6} [^\n]*|(?:(?!```|#{1,6} )[^\n]*\S[^\n]*(?:\n|\Z))+)", re.M | re.S
)
_STRUCTURE = re.compile(r"^ *([-*|<>]|\d+\. |```|\*Difficulty )", re.MULTILINE)
_PICTURE = re.compile("<svg|<img")


def slides(words: list[str]) -> int:
    """Write the slides of the notebooks that the words name, or of all chapters."""
    from helpers.course.book.runs import run

    names, folder = chosen("slides", "slides", words)
    with temporary("slides-") as home:
        paths = {f"{name[:-6]}.html": notebooks() / name for name in names}
        pages = {name: page(path, run(path)).encode() for name, path in paths.items()}
        filled = home.fill("made", pages)
        give({Path(name): filled / name for name in pages}, folder)
    course.say(f"Slides in {folder}: {', '.join(pages)}")
    course.say(
        "Open one in a browser. Space goes on, S opens the notes, F fills the screen, D darkens. "
        "Keys in an exhibit are its own, until Esc."
    )
    return 0


def page(path: Path, ran=None) -> str:
    """Return a notebook's slides as one page: as it `ran`, with widgets that live, or as stored."""
    import nbformat  # these may be missing where `reset` still works
    from nbconvert import SlidesExporter

    from helpers.course.book.page import Widgets, as_script, styles
    from helpers.course.book.runs import KEY

    notebook = ran or nbformat.read(path, as_version=4)
    widgets = Widgets(notebook, notebook.metadata.get(KEY, {"recorded": []})["recorded"])
    notebook.cells = fitted(unsolved(notebook.cells))
    widgets.enliven(notebook.cells)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = _LINK.sub(r"\1\2.html", cell.source)
    yes = ("embed_images", "exclude_input_prompt", "exclude_output_prompt", "exclude_anchor_links")
    where = {"template_name": DECK.name, "extra_template_basedirs": [str(DECK.parent)]}
    exporter = SlidesExporter(**where, **dict.fromkeys(yes, True))
    scripts = as_script(widgets.scripts) if widgets.scripts else ""
    living = {"styles": styles(widgets), "host": HOST.read_text("utf-8"), "scripts": scripts}
    about = {"metadata": {"name": path.stem, "path": str(path.parent)}, "living": living}
    return exporter.from_notebook_node(notebook, about)[0]


def fitted(cells: list[dict]) -> list[dict]:
    """Return the cells that are shown, parted, each with the metadata of its kind of slide."""
    parted = {"markdown": _prose, "code": _run}
    shown = (parted[cell["cell_type"]](cell) for cell in cells if kind_of(cell) != SKIP)
    return [part for parts in shown for part in parts]


def kind_of(cell: dict) -> str:
    """Return the kind of slide that a cell's metadata names, or ""."""
    return cell["metadata"].get("slideshow", {}).get("slide_type", "")


def _prose(cell: dict) -> list[dict]:
    found = []
    for group in _groups("".join(cell["source"])):
        top = _HEADING.match(group[0])
        kind = kind_of(cell) if not found else SLIDE if top and len(top[0]) < 4 else BELOW
        plain = [block for block in group if not _HEADING.match(block)]
        if any(map(_STRUCTURE.search, plain)) or words(plain) <= WHOLE:
            for number, sheet in enumerate(_sheets(group)):
                found.append(_copy(cell, len(found), BELOW if number else kind, sheet))
        else:
            head = [block for block in group if block not in plain]
            found.append(_copy(cell, len(found), kind, [*head, re.sub(r":$", ".", plain[0])]))
            found.append(_copy(cell, len(found), "notes", plain))
    return found


def _run(cell: dict) -> list[dict]:
    """Return a cell of code with its small outputs, and one for each large output."""
    dense = re.sub(r"\n{3,}", "\n\n", "".join(cell["source"]))  # a slide is short of room
    room = min(SMALL, FULL - dense.count("\n"))
    large = [output for output in cell["outputs"] if _is_large(output, room)]
    found = [_copy(cell, 0, kind_of(cell), [dense])]
    found[0]["outputs"] = [output for output in cell["outputs"] if output not in large]
    for output in large:
        found.append(_copy(cell, len(found), BELOW, []))
        found[-1]["outputs"] = [output]
        found[-1]["metadata"]["transient"] = {"remove_source": True}
    return found


def _is_large(output: dict, room: int) -> bool:
    data = output.get("data", {})
    lines = "".join(data.get("text/plain", output.get("text", ""))).count("\n")
    lines += ANSWER if "application/vnd.jupyter.widget-view+json" in data else 0
    return lines > room or _PICTURE.search("".join(data.get("text/html", ""))) is not None


def _copy(cell: dict, number: int, kind: str, blocks: list[str]) -> dict:
    part = deepcopy(cell)
    part["source"], part["metadata"] = "\n\n".join(blocks), {"slideshow": {"slide_type": kind}}
    part["id"] = f"{cell['id']}-{number}" if number else cell["id"]
    return part


def words(blocks: list[str]) -> int:
    """Return how many words are read in these blocks of Markdown."""
    return len(re.sub(r"<[^<>]*>|\]\([^)]*\)", " ", " ".join(blocks)).split())


def _groups(source: str) -> list[list[str]]:
    """Return paragraphs, lists, tables and fenced code, each below the heading that it follows."""
    found = []
    for block in _BLOCK.findall(source):
        if not found or _HEADING.match(block):
            found.append([])
        found[-1].append(block.rstrip())
    return found


def _sheets(blocks: list[str]) -> list[list[str]]:
    found = [[]]
    for block in blocks:
        begun = any(not _HEADING.match(one) for one in found[-1])
        # a title stands with all that it promises
        if begun and not blocks[0].startswith("# ") and words([*found[-1], block]) > MOST:
            found.append([])
        found[-1].append(block)
    return found

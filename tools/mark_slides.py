"""A rule -> the slideshow metadata of the chapters' cells, as Jupyter has it.

python -m tools.mark_slides       after cells were added, moved or renamed

A title begins a slide, with the code below it. Then each section gives as many runs as all others,
until the budget of slides is spent: its questions with their answers first, then what is drawn,
then what is printed. Other prose becomes the speaker's notes. Exercises, setups, folded cells and
what stands under *Deeper* are skipped.
"""

import json
import re
from base64 import b64decode
from dataclasses import dataclass
from pathlib import Path

from helpers.course.handout import remove_folded_solution
from helpers.course.minutes import DEEPER
from helpers.course.slides import BELOW, NOTES, SKIP, SLIDE, is_silent
from tools.budgets import SLIDES

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("0*.ipynb"))
SAME = ""
MOST = SLIDES.most
LINES, UNDER_A_TITLE = 44, 24  # of code and the text of its outputs: more fits no slide
PIXELS = 600  # of a picture
_PICTURE = re.compile(r"svg\+xml;base64,([^\"]+)")
_HEIGHT = re.compile(r'viewBox="\S+ \S+ \S+ ([\d.]+)"')
_SKIPPED = re.compile(r"^(check\.\w+|show_predictions)\(|(=|return|^ *) \.\.\.( |$)", re.MULTILINE)
_EXERCISE = re.compile(r"^\*Difficulty ", re.MULTILINE)


@dataclass(frozen=True)
class Run:
    """Cells that make one slide, by their places, and how much a section is worth without them."""

    section: int
    worth: int
    cells: tuple[int, ...]


def slide_types(cells: list[dict]) -> list[str]:
    """Return the kind of slide for each cell; SAME goes on with the slide before."""
    kinds, runs = _parted(cells)
    chosen, taken = [], {}
    for run in sorted(runs, key=lambda run: (run.worth, run.cells)):
        taken[run.section] = taken.get(run.section, 0) + 1
        chosen.append((taken[run.section], run))
    room = MOST - kinds.count(SLIDE)
    for _, run in sorted(chosen, key=lambda pair: (pair[0], pair[1].cells))[: max(room, 0)]:
        for at, kind in zip(run.cells, (BELOW, SAME, SAME), strict=False):
            kinds[at] = kind
    return kinds


def _parted(cells: list[dict]) -> tuple[list[str], list[Run]]:
    """Return kinds with titles alone on slides, and the runs that may become slides too."""
    kinds, runs, section, is_open, setup = [], [], 0, False, None
    for at, cell in enumerate(cells):
        source, code = remove_folded_solution(cell).strip(), cell["cell_type"] == "code"
        titled = not code and source.startswith(("# ", "## "))
        if titled:
            section, is_open = at, not source.startswith(f"## {DEEPER}")
        elif not code and source.startswith("### "):
            is_open = not _EXERCISE.search(source)
        kinds.append(SKIP if code or not is_open or not source else SLIDE if titled else NOTES)
        if code and is_open and setup is not None:
            first = at - (at - 1 != setup and is_silent(cells[at - 1]))
            own, above = tuple(range(first, at + 1)), kinds[first - 1]
            if above == SLIDE and _fits(cells[first : at + 1], UNDER_A_TITLE):
                kinds[first:] = [SAME] * len(own)
            elif _fits(cells[first : at + 1], LINES):
                worth = -1 if above == SLIDE else _worth(cell, source)
                runs.append(Run(section, worth, (first - 1,) * (above == NOTES) + own))
        setup = at if code and setup is None else setup
    return kinds, runs


def _fits(cells: list[dict], most: int) -> bool:
    outputs = [output.get("data", output) for cell in cells for output in cell["outputs"]]
    texts = ["".join(one.get("text/plain", one.get("text", ""))) for one in outputs]
    sources = ["".join(cell["source"]) for cell in cells]
    pages = ("".join(one.get("text/html", "")) for one in outputs)
    pictures = [b64decode(data).decode() for page in pages for data in _PICTURE.findall(page)]
    high = max((float(_HEIGHT.search(picture)[1]) for picture in pictures), default=0)
    few = sum(text.count("\n") for text in [*sources, *texts]) < most
    return few and bool(texts) and high < PIXELS and not any(map(_SKIPPED.search, sources))


def _worth(cell: dict, source: str) -> int:
    if "predict(" in source or "after-deciding" in cell["metadata"].get("tags", ()):
        return 0
    return 1 if any("text/html" in output.get("data", {}) for output in cell["outputs"]) else 2


def mark(cells: list[dict]) -> None:
    """Write the kinds of slides into the cells; a cell that goes on with a slide bears none."""
    for cell, kind in zip(cells, slide_types(cells), strict=True):
        if kind:
            cell["metadata"]["slideshow"] = {"slide_type": kind}
        else:
            cell["metadata"].pop("slideshow", None)


def marked(text: str) -> str:
    """Return a notebook, as the text of its file, with the metadata that the rule gives it."""
    notebook = json.loads(text)
    mark(notebook["cells"])
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for path in NOTEBOOKS:
        path.write_text(marked(path.read_text("utf-8")), "utf-8")

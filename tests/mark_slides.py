"""A rule -> the slideshow metadata of the chapters' cells, as Jupyter has it.

python -m tests.mark_slides       after cells were added, moved or renamed

A title begins a slide, other prose a slide below it, and code stands under its prose, unless it is
long. The setup, checks, folded solutions and what stands under *Deeper* are skipped.
"""

import json
import re
from pathlib import Path

from helpers.course.handout import folded_away
from helpers.course.minutes import DEEPER
from helpers.course.slides import BELOW, SKIP, SLIDE

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("0*.ipynb"))
SAME = ""
LONG = 20  # lines of code that do not stand under prose
_SKIPPED = re.compile(r"^(check\.\w+\(|show_predictions\()", re.MULTILINE)


def slide_types(cells: list[dict]) -> list[str]:
    """Return the kind of slide for each cell; SAME goes on with the slide before."""
    kinds, deeper, setup, before = [], False, True, None
    for cell in cells:
        source = folded_away(cell).strip()
        if source.startswith("## "):
            deeper = source.startswith(f"## {DEEPER}")
        code = cell["cell_type"] == "code"
        if deeper or not source or (code and (setup or _SKIPPED.search(source))):
            kinds.append(SKIP)
        elif code:
            under = kinds[-1] in (SLIDE, BELOW) and before == "markdown"
            kinds.append(SAME if under and source.count("\n") < LONG else BELOW)
        else:
            kinds.append(SLIDE if source.startswith(("# ", "## ")) else BELOW)
        setup, before = setup and not code, cell["cell_type"]
    return kinds


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

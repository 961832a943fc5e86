"""A notebook's cells -> the kind of slide that each begins, as Jupyter's metadata has it.

A title begins a slide, other prose a slide below it, and code stands under its prose, unless it is
long. The setup, checks, folded solutions and what stands under *Deeper* are skipped.
"""

import re

from helpers.course.minutes import DEEPER
from helpers.course.solution_cells import TAG, parted

SLIDE, BELOW, SKIP, SAME = "slide", "subslide", "skip", ""
LONG = 20  # lines of code that do not stand under prose
_SKIPPED = re.compile(r"^(check\.\w+\(|show_predictions\()", re.MULTILINE)


def slide_types(cells: list[dict]) -> list[str]:
    """Return the kind of slide for each cell; SAME goes on with the slide before."""
    kinds, deeper, setup, before = [], False, True, None
    for cell in cells:
        source = _seen(cell)
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


def _seen(cell: dict) -> str:
    """Return the source of a cell without a folded solution."""
    kept = [part for part in parted([cell]) if TAG not in part["metadata"].get("tags", [])]
    return "\n\n".join("".join(part["source"]) for part in kept).strip()

"""A notebook of the course -> all rules that it breaks, in words: `broken_rules(path)`.

`tests/notebook_rules.py` has the rules for cells, `tools/budgets.py` the limits. Here is what ties
a chapter to the rest: the spine, the README, its links, its terms, its slides, its teachers' notes.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import nbformat

from helpers import check
from helpers.course.fresh import HELD
from helpers.course.minutes import count_page_minutes
from helpers.model.spine import CLINIC, SPINE, START
from helpers.model.study_records import find_exercise_cells
from tests.notebook_rules import problems, reference_problems
from tests.test_words import too_early
from tools import draw_spine
from tools.budgets import spending
from tools.mark_slides import marked

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "notebooks"
CHAPTERS = sorted(NOTEBOOKS.glob("0*.ipynb"))
REFERENCE = NOTEBOOKS / "instruments.ipynb"
STATIONS = {station.file: station for station in SPINE}
LINK = re.compile(r"""\]\(([^)\s]+)\)|(?:href|src|srcset)="([^"]+)\"""")
CELL_LINK = re.compile(r"\]\([^)#]+#cell-id=([^)]+)\)")
HEADING = re.compile(r"^#{2,3} .+$", re.MULTILINE)
WITHOUT_NOTES = re.compile(r"#+ (Deeper|Recap|One whole call)")
HINT = re.compile(r"[Hh]int (\d)")


def broken_rules(path: Path) -> list[str]:
    """Return every rule that a notebook of the course breaks."""
    nb = nbformat.read(path, as_version=4)
    over = [str(spent) for spent in spending(path) if spent.is_over]
    links = [f"the link {link} leads nowhere" for link in leads_nowhere(NOTEBOOKS, prose_of(nb))]
    if path == REFERENCE:
        return [*reference_problems(nb), *over, *links]

    found = [*problems(nb, path.stem in STATIONS), *over, *links]
    found += [
        *_minutes(path, nb),
        *_spine(path, nb),
        *_held_back(path, nb),
    ]
    found += note_problems(nb, nbformat.read(notes_of(path), as_version=4))
    if path.stem != START:  # a map of all terms
        found += [f"the term {term!r} of cell {at} {why}" for term, at, why in too_early(path)]
    text = path.read_text("utf-8")
    if marked(text) != text:
        found.append("its slides are not marked: run `course.py remake`")
    return found


def prose_of(nb) -> str:
    """Return the text cells of a notebook as one text."""
    return "\n".join(cell.source for cell in nb.cells if cell.cell_type == "markdown")


def leads_nowhere(folder: Path, text: str) -> list[str]:
    """Return the links of a text to files that are not there."""
    links = ["".join(found) for found in LINK.findall(text)]
    local = [link for link in links if not re.match(r"[a-z]+:|#", link)]
    return [link for link in local if not (folder / link.partition("#")[0]).exists()]


def _minutes(path: Path, nb) -> Iterator[str]:
    """Yield where the opening or the README does not state the computed minutes."""
    reading, exercises, deeper = count_page_minutes(path)
    stated = f"**{reading} minutes**"
    stated += f" + {exercises} of exercises" if exercises else ""
    stated += f" + {deeper} deeper" if deeper else ""
    opening = nb.cells[0].source
    if f"{stated} ·" not in opening and not opening.endswith(stated):
        yield f"the opening does not state the computed minutes: {stated}"
    rows = (ROOT / "README.md").read_text("utf-8").splitlines()
    row = next((line for line in rows if line.startswith(f"| [{path.stem}]")), "")
    cell = f"| {reading} + {exercises} |" if exercises else f"| {reading} |"
    if cell not in row:
        yield f"its row in README.md does not state the computed minutes: {cell}"


def _spine(path: Path, nb) -> Iterator[str]:
    """Yield where head, map or close differ from the spine, and a page that leads nowhere."""
    station = STATIONS.get(path.stem)
    if station:
        yield from lost_from_head(station, nb.cells[0].source)
        row = draw_spine.opened(station)
        if f"\n{row}\n" not in prose_of(nb):
            yield f"no table closes it with the row of its seam: {row}"
    if path.stem == START and draw_spine.chapter_map() not in prose_of(nb):
        yield "the map is not the one that tools/draw_spine.py makes"
    if path.stem == CLINIC.file:
        yield from lost_from_head(CLINIC, nb.cells[0].source)
    texts = [cell.source for cell in nb.cells if cell.cell_type == "markdown"]
    others = [f"]({other.name})" for other in CHAPTERS if other != path]
    if not any(link in "".join(texts[-2:]) for link in others):
        yield "its last two text cells lead to no other chapter"


def lost_from_head(chapter, head: str) -> Iterator[str]:
    """Yield what the head of a chapter lacks: its title above its line, and its seam."""
    title = f"# {chapter.title}\n\n{draw_spine.chapter_line(chapter)}\n"
    if title not in head:
        yield f"the head does not begin with the title and line of the spine: {title!r}"
    if chapter in SPINE and f"**The seam:** {chapter.seam}" not in head:
        yield f"the head does not name the seam: {chapter.seam}"


def _held_back(path: Path, nb) -> Iterator[str]:
    """Yield what is held back without a prediction, and text that introduces code and is held."""
    if path.stem == START:
        return
    asked = False
    for cell in nb.cells:
        goes_on = is_held(cell) or not cell.source.startswith("#")
        asked = "predict(" in cell.source or asked and goes_on
        if is_held(cell) and not asked:
            yield f"no prediction stands before the held cell {cell.id}"
    for cell, following in pairwise(nb.cells):
        if is_held(cell) and following.cell_type == "code" and not is_held(following):
            yield f"the text that introduces the code cell {following.id} is held back"


def is_held(cell) -> bool:
    """Return whether a cell is folded until the learner has decided."""
    return HELD in cell.metadata.get("tags", ())


def notes_of(chapter: Path) -> Path:
    """Return the notebook with the teachers' notes on a chapter."""
    return chapter.parent / "instructor" / f"{chapter.stem[:2]}_instructor.ipynb"


def note_problems(nb, notes) -> Iterator[str]:
    """Yield what is wrong with the teachers' notes on a chapter."""
    noted = headings(notes.cells)
    taught = [head for head in headings(nb.cells) if not WITHOUT_NOTES.match(head)]
    if noted != taught:
        differing = sorted({*taught} ^ {*noted}) or "another order"
        yield f"the headings of its notes in notebooks/instructor are others: {differing}"
    ids = {cell.id for cell in nb.cells}
    for place in CELL_LINK.findall(prose_of(notes)):
        if place not in ids:
            yield f"its teachers' notes link to a cell that is gone: {place}"
    exercises = {
        headings(nb.cells[: one.stub])[-1]: one.name for one in find_exercise_cells(nb.cells)
    }
    for cell in notes.cells:
        above = headings([cell])
        name = exercises.get(above[0]) if above else None
        hints = len(getattr(check, name).hints) if name else 0
        for number in HINT.findall(cell.source):
            if int(number) > hints:
                yield f"its teachers' notes name hint {number} of {above}, which has {hints}"


def headings(cells) -> list[str]:
    """Return the headings of text cells below the title, in order."""
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    without_code = [re.sub(r"```.*?```", "", text, flags=re.DOTALL) for text in texts]
    return [heading for text in without_code for heading in HEADING.findall(text)]

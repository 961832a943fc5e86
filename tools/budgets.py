"""What a page may cost its reader: every limit in one place, and what a notebook spends of it.

`tests/notebook_rules.py` refuses a notebook that spends more; `course.py remake` prints what is
left. A budget is an alarm: raise it here, with its reason, if the page is better for it.
"""

import re
import statistics
from dataclasses import dataclass
from pathlib import Path

import nbformat

from helpers.course.minutes import DEEPER, sections
from helpers.course.slides import BELOW, SLIDE, kind_of
from helpers.model.spine import CLINIC, SPINE
from tests.measured import TAG


@dataclass(frozen=True)
class Budget:
    """A limit: what it limits, at most how much of which unit, and why."""

    what: str
    most: float
    unit: str
    why: str


READING = Budget("reading and running", 60, "minutes", "a chapter fits one hour of a course")
SITTING = Budget("the longest section", 15, "minutes", "a section is done in one sitting")
CELLS = Budget("cells before the exercises", 80, "cells", "a longer page is a lecture")
WORDS = Budget("words before the exercises", 2600, "words", "the code tells, the text points")
SECTIONS = Budget("numbered sections", 7, "sections", "a reader keeps the outline in mind")
SLIDES = Budget("slides", 25, "slides", "a talk on one chapter takes an hour")
SETUP = Budget("the first code cell", 5, "lines", "set-up is no subject")
MEDIAN_CELL = Budget("the median code cell", 5, "lines", "one idea a cell")
MEDIAN_PROGRAM = Budget("the median code cell", 10, "lines", "the clinic shows whole programs")
LONG_CELL = Budget("nine of ten code cells", 15, "lines", "one idea a cell")
LONGEST_CELL = Budget("the longest code cell", 25, "lines", "a cell fits the screen")
PROSE = Budget("the longest text cell", 130, "words", "text that long is not read")
UNCOMPARED = Budget("cells with masked numbers", 5, "% of the code cells", "tests compare outputs")
NOTEBOOK_BYTES = Budget("the file", 600_000, "bytes", "code hosts show no larger notebook")
# The instruments page shows an example of every verb.
REFERENCE_BYTES = Budget("the file", 650_000, "bytes", "code hosts show no larger notebook")
LOOK_BYTES = Budget("docs/look.html", 1_500_000, "bytes", "it is sent by mail")


@dataclass(frozen=True)
class Spent:
    """How much of a budget a page spends; `where` is the section or the beginning of the cell."""

    budget: Budget
    amount: float
    where: str = ""

    @property
    def is_over(self) -> bool:
        """Whether the page spends more than the budget allows."""
        return self.amount > self.budget.most

    def __str__(self) -> str:
        budget = self.budget
        place = f" ({self.where})" if self.where else ""
        amount, left = round(self.amount, 1), round(budget.most - self.amount, 1)
        ending = f"{-left:,g} too many, because {budget.why}" if self.is_over else f"{left:,g} left"
        return f"{budget.what}{place}: {amount:,g} of {budget.most:,} {budget.unit}, {ending}"


_ASIDE = re.compile(r"```.*?```|^\|.*$|<[^<>]*>", re.DOTALL | re.MULTILINE)
_NUMBERED = re.compile(r"^## \d", re.MULTILINE)
_AFTER = re.compile("Your turn|Recap")  # the exercises and what follows them


def count_lines(cell) -> int:
    """Return how many lines of a cell are not blank."""
    return sum(bool(line.strip()) for line in cell.source.splitlines())


def count_words(cell) -> int:
    """Return how many words of a text cell are read: without code blocks, tables and tags."""
    return len(_ASIDE.sub("", cell.source).split())


def count_sections(nb) -> int:
    """Return how many numbered sections a notebook has."""
    texts = [cell.source for cell in nb.cells if cell.cell_type == "markdown"]
    return sum(len(_NUMBERED.findall(text)) for text in texts)


def spending_of_cells(nb, median: Budget = MEDIAN_CELL) -> list[Spent]:
    """Return what the cells of a notebook spend, of the budgets that every page has."""
    code = [cell for cell in nb.cells if cell.cell_type == "code"]
    sizes = sorted(map(count_lines, code))
    masked = sum(TAG in cell.metadata.get("tags", ()) for cell in code)
    return [
        Spent(median, statistics.median(sizes)),
        Spent(LONG_CELL, sizes[int(0.9 * len(sizes))]),
        Spent(LONGEST_CELL, sizes[-1]),
        Spent(UNCOMPARED, 100 * masked / len(code)),
    ]


def spending_of_prose(nb) -> list[Spent]:
    """Return what the set-up and the text of a chapter spend; docstrings have no budget."""
    setup = next(cell for cell in nb.cells if cell.cell_type == "code")
    longest = max((c for c in nb.cells if c.cell_type == "markdown"), key=count_words)
    return [
        Spent(SETUP, count_lines(setup)),
        Spent(PROSE, count_words(longest), longest.source[:40].replace("\n", " ")),
    ]


def spending_of_chapter(path: Path) -> list[Spent]:
    """Return what a chapter spends as a whole, without the parts that go deeper."""
    needed = [part for part in sections(path) if not part.title.startswith(DEEPER)]
    before = [part for part in needed if not _AFTER.search(part.title)]
    longest = max(needed, key=lambda part: part.reading)
    cells = nbformat.read(path, as_version=4).cells
    return [
        Spent(READING, sum(part.reading for part in needed)),
        Spent(SITTING, round(longest.reading), longest.title),
        Spent(CELLS, sum(part.cells for part in before)),
        Spent(WORDS, sum(part.words for part in before)),
        Spent(SLIDES, sum(kind_of(cell) in (SLIDE, BELOW) for cell in cells)),
    ]


def spending(path: Path) -> list[Spent]:
    """Return what a notebook of the course spends, budget by budget."""
    nb = nbformat.read(path, as_version=4)
    if path.stem == "instruments":
        return [*spending_of_cells(nb), Spent(REFERENCE_BYTES, path.stat().st_size)]
    median = MEDIAN_PROGRAM if path.stem == CLINIC.file else MEDIAN_CELL
    found = [*spending_of_chapter(path), *spending_of_cells(nb, median), *spending_of_prose(nb)]
    if path.stem in {station.file for station in SPINE}:
        found.append(Spent(SECTIONS, count_sections(nb)))
    return [*found, Spent(NOTEBOOK_BYTES, path.stat().st_size)]

"""Each section starts with the notebook's first cell alone; COURSE_SAMPLES=whole: all of them.

For each `## ` section and each exercise, in a kernel of its own, the first code cell of the
notebook runs and then the cells of that section; nothing is stored. A cell that raises is a fault,
and so is one that shows another text than the stored one: it builds on what an earlier section did.
`unbound` runs nothing: it asks ruff for the names alone, in a second.
"""

import configparser
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import v4

import conftest  # noqa: F401 - the environment in which the stored outputs were made
from tests.measured import TAG, mask
from tests.needs import missing_need

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("0*.ipynb"))
SANITIZE = Path(__file__).with_name("nbval_sanitize.cfg")
HEADING = re.compile(r"^##(?:#(?= Exercise))? (.+)", re.MULTILINE)
LONGEST = 300  # seconds for one cell


class Missed(NamedTuple):
    """A cell that does not do what it did: its section, its number, and how.

    The number counts code cells from 0, as nbval does.
    """

    section: str
    cell: int
    words: str


def sections(book) -> dict[str, list[int]]:
    """Return the numbers of the code cells under each heading; before the first, "top"."""
    found, title = {"top": []}, "top"
    for at, cell in enumerate(book.cells):
        if cell.cell_type == "code":
            found[title].append(at)
        elif headings := HEADING.findall(cell.source):
            title = headings[-1]
            found[title] = []
    return found


def alone(book) -> Iterator[tuple[str, list[int]]]:
    """Yield each section that has code, and the numbers of the cells that start it alone."""
    found = sections(book)
    first = found.pop("top")[:1]
    yield from ((title, [*first, *cells]) for title, cells in found.items() if cells)


def unbound(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each section with a name in it that neither it nor the first cell binds."""
    book = nbformat.read(path, 4)
    options = ("--isolated", "--no-cache", "--select=F821", "--output-format=json", "-")
    for title, cells in alone(book):
        source = "\n".join(book.cells[at].source for at in cells)
        command = [sys.executable, "-m", "ruff", "check", *options]
        run = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
        for found in sorted({one["message"] for one in json.loads(run.stdout)}):
            yield title, found


def missed(path: Path) -> Iterator[Missed]:
    """Start each section alone; yield the cells that raise or show another text."""
    book = nbformat.read(path, 4)
    code_cells = [at for at, cell in enumerate(book.cells) if cell.cell_type == "code"]
    for title, cells in alone(book):
        for at, words in _run_alone(path, cells):
            yield Missed(title, code_cells.index(at), words)


def _run_alone(path: Path, cells: list[int]) -> Iterator[tuple[int, str]]:
    book = nbformat.read(path, 4)
    client = NotebookClient(book, timeout=LONGEST, kernel_name="python3")
    with client.setup_kernel(cwd=str(path.parent), env=_environment()):
        for at in cells:
            cell = book.cells[at]
            stored = _shown(cell)
            try:
                client.execute_cell(cell, at)
            except CellExecutionError as error:
                yield at, f"{error.ename}: {error.evalue}"
                continue
            told = "show_predictions" in cell.source  # of all that was asked in this kernel
            tags = cell.metadata.get("tags", [])
            now = _shown(cell)
            if TAG in tags:
                stored, now = [mask("\n".join(stored))], [mask("\n".join(now))]
            if not told and not missing_need(tags):
                yield from ((at, words) for words in _differing(stored, now))


def _environment() -> dict[str, str]:
    # A kernel that finds this name does not show what C code and child processes print.
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}


def _shown(cell) -> list[str]:
    """Return the lines of text that a cell shows, sanitised as nbval does."""
    streams = [o.text for o in cell.outputs if o.output_type == "stream"]
    texts = [o.data.get("text/plain", "") for o in cell.outputs if "data" in o]
    text = "\n".join(["".join(streams), *texts])
    rules = configparser.RawConfigParser()
    rules.read(SANITIZE)
    for rule in rules.sections():
        text = re.sub(rules[rule]["regex"], rules[rule]["replace"], text)
    return text.splitlines()


def _differing(stored: list[str], now: list[str]) -> list[str]:
    """Return, in words, the first line that differs, if there is one."""
    pairs = zip_longest(stored, now, fillvalue="nothing")
    return [f"stored: {before} · now: {here}" for before, here in pairs if before != here][:1]


WHOLE = os.environ.get("COURSE_SAMPLES") == "whole"


def code(source, *printed):
    outputs = [v4.new_output("stream", text=text) for text in printed]
    return v4.new_code_cell(source, outputs=outputs)


prose = v4.new_markdown_cell


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS if WHOLE else NOTEBOOKS[:1], ids=lambda path: path.stem)
def test_each_section_starts_alone(path):
    assert list(missed(path)) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_each_section_binds_its_names(path):
    assert list(unbound(path)) == []


@pytest.mark.long
def test_what_a_section_misses_is_told(tmp_path):
    two, three = "2 · Counts what came before", "3 · Needs names of others"
    exercise = "Exercise 2 · Needs the other"
    cells = [
        *(code("n = 1"), code("other = n")),
        *(prose("## 1 · Stands alone"), code("print(n)", "1\n"), code("n = 2")),
        *(prose(f"## {two}"), code("print(n)", "2\n"), prose("### A part of it")),
        code("print(n, object())\ncount = n", "1 <object object at 0x7f0123456789>\n"),
        code("print(count, end='')", "1\none more\n"),
        *(prose(f"## {three}"), code("print(count + other)", "2\n")),
        *(prose("## 4 · Your turn\n\n### Exercise 1 · Needs nothing"), code("tried = ...")),
        *(prose(f"### {exercise}"), code("tried")),
    ]
    path = tmp_path / "book.ipynb"
    nbformat.write(v4.new_notebook(cells=cells), path)
    told = [(title, words.removeprefix("Undefined name ")) for title, words in unbound(path)]
    assert told == [(three, "`count`"), (three, "`other`"), (exercise, "`tried`")]
    assert list(missed(path)) == [
        (two, 4, "stored: 2 · now: 1"),
        (two, 6, "stored: one more · now: nothing"),
        (three, 7, "NameError: name 'count' is not defined"),
        (exercise, 9, "NameError: name 'tried' is not defined"),
    ]

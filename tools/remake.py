"""Run notebooks and store what they show; print what changed, what is broken, and what is left.

`course.py remake 03` runs chapter 3 and the teachers' notes on it, and marks its slides.
`course.py remake all` runs every notebook and then draws what is made from them.

A cell that shows the same as before keeps its stored outputs; numbers that vary are not compared.
"""

import configparser
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellControlSignal, CellExecutionError, DeadKernelError

from helpers.course.tests import REFERENCE
from helpers.course.work import find_notebook, list_notebooks
from helpers.model.spine import START
from tests.chapter_rules import NOTEBOOKS, broken_rules, notes_of
from tests.chapter_rules import REFERENCE as INSTRUMENTS
from tests.measured import mask
from tests.needs import missing_need
from tests.pythons import ROOT
from tools.budgets import spending
from tools.draw_instruments import page
from tools.mark_slides import marked
from tools.store_measured import LONGEST, SET, is_measured, least_noisy, stored_form

ALL = "all"
DRAWN_ALWAYS = ("draw_rooms", "draw_spine")
DRAWN_FROM_START = ("look",)  # docs/look.html is chapter 0
DRAWN_WITH_ALL = ("look", "readme_pictures")
SANITIZE = ROOT / "tests" / "nbval_sanitize.cfg"
ENDED = (CellExecutionError, CellControlSignal, DeadKernelError)


@dataclass(frozen=True)
class Change:
    """A code cell whose stored outputs are others now: its number as nbval counts, and its id."""

    number: int
    id: str
    first_line: str

    def __str__(self) -> str:
        return f"Cell {self.number} ({self.id}): {self.first_line}"


class Stopped(Exception):
    """A cell that did not run to its end; the notebook's file is left as it was."""


def remake(path: Path) -> list[Change]:
    """Run a notebook, store what it shows, mark its slides; return the cells that changed."""
    book = stored_book(path)
    changes = list(store_outputs(book, path))
    text = json.dumps(book, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    is_chapter = path.parent == NOTEBOOKS and path != INSTRUMENTS
    path.write_text(marked(text) if is_chapter else text, encoding="utf-8", newline="\n")
    return changes


def stored_book(path: Path) -> dict:
    """Return a notebook as its file has it; the instruments with the docstrings of today."""
    book = json.loads(path.read_text("utf-8"))
    if path == INSTRUMENTS:
        outputs = {cell["id"]: cell.get("outputs", []) for cell in book["cells"]}
        book = json.loads(nbformat.writes(page()))
        for cell in book["cells"]:
            if cell["cell_type"] == "code":
                cell["outputs"] = outputs.get(cell["id"], [])
    return book


def store_outputs(book: dict, path: Path) -> Iterator[Change]:
    """Run the code cells of a notebook, store their outputs in it; yield the cells that changed."""
    running = nbformat.reads(json.dumps(book), as_version=4)
    place = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(running, timeout=LONGEST, kernel_name="python3", resources=place)
    code = [at for at, cell in enumerate(book["cells"]) if cell["cell_type"] == "code"]
    with client.setup_kernel(env={**os.environ, **SET, "PYTHONPATH": str(ROOT)}):
        for number, at in enumerate(code):
            cell = book["cells"][at]
            outputs = run_cell(client, running.cells[at], at, number)
            changed = store_cell(cell, outputs, number)
            if changed:
                yield Change(number, cell["id"], "".join(cell["source"]).partition("\n")[0])


def run_cell(client: NotebookClient, cell, at: int, number: int) -> list:
    """Return the outputs of a cell; measured numbers are measured again while they are noisy."""
    try:
        client.execute_cell(cell, at)
        return least_noisy(client, cell, at) if is_measured(cell) else cell.outputs
    except ENDED as error:
        last_line = str(error).strip().splitlines()[-1]
        raise Stopped(f"Cell {number} ({cell.id}) did not run to its end: {last_line}") from error


def store_cell(cell: dict, outputs: list, number: int) -> bool:
    """Store outputs in a cell unless they show the same as before; return whether they do not."""
    new = [stored_form(output, number + 1) for output in outputs]
    cell["execution_count"] = number + 1
    cell["metadata"].pop("execution", None)
    is_comparable = not missing_need(cell["metadata"].get("tags", ()))
    changed = is_comparable and compared(new, cell) != compared(cell["outputs"], cell)
    if changed:
        cell["outputs"] = new
    for output in cell["outputs"]:
        if "execution_count" in output:
            output["execution_count"] = number + 1
    return changed


def compared(outputs: list[dict], cell: dict) -> list[str]:
    """Return what nbval compares of a cell's outputs: sanitized, and masked if they are measured.

    A stream that came in pieces is one stream.
    """
    shown = []
    streams = {}
    for output in outputs:
        if output["output_type"] == "stream":
            streams[output["name"]] = streams.get(output["name"], "") + "".join(output["text"])
        else:
            shown += [f"{kind}: {''.join(form)}" for kind, form in output.get("data", {}).items()]
    shown += [f"{name}: {text}" for name, text in streams.items()]
    shown = sorted(map(sanitized, shown))
    return [mask(form) for form in shown] if is_measured(cell) else shown


def sanitized(shown: str) -> str:
    """Return an output without what nbval overlooks."""
    rules = configparser.RawConfigParser()
    rules.read(SANITIZE, encoding="utf-8")
    for rule in rules.sections():
        shown = re.sub(rules[rule]["regex"], rules[rule]["replace"], shown)
    return shown


def print_report(path: Path, changes: list[Change]) -> bool:
    """Print what changed, what is broken and what is left; return whether no rule is broken."""
    print(f"\n{path.relative_to(ROOT)}")
    for change in changes:
        print(f"  changed: {change}")
    if not changes:
        print("  every cell shows what was stored")
    if path.parent != NOTEBOOKS:
        return True

    broken = broken_rules(path)
    for rule in broken:
        print(f"  BROKEN: {rule}")
    for spent in spending(path):
        print(f"  {spent}")
    return not broken


def draw(names: tuple[str, ...]) -> bool:
    """Run drawing tools of this package, each in a process of its own; return if all ended well."""
    fine = True
    for name in names:
        print(f"\ntools/{name}.py", flush=True)
        done = subprocess.run([sys.executable, "-m", f"tools.{name}"], cwd=ROOT, check=False)
        fine = fine and done.returncode == 0
    return fine


def made_from(words: list[str], paths: list[Path]) -> tuple[str, ...]:
    """Return the drawing tools whose pictures and pages are made from these notebooks."""
    if words == [ALL]:
        return DRAWN_ALWAYS + DRAWN_WITH_ALL
    if any(path.stem == START for path in paths):
        return DRAWN_ALWAYS + DRAWN_FROM_START
    return DRAWN_ALWAYS


def notebooks_named(words: list[str]) -> list[Path]:
    """Return the notebooks that words such as 03 and `all` name, with the teachers' notes."""
    names = list_notebooks() if words == [ALL] else [find_notebook(word) for word in words]
    found = []
    for path in (NOTEBOOKS / name for name in names):
        found.append(path)
        if notes_of(path).exists():
            found.append(notes_of(path))
    return found


def main(words: list[str]) -> int:
    """Remake the notebooks that the words name; return 1 if a cell stopped or a rule is broken."""
    if sys.version_info[:2] != REFERENCE:
        wanted = ".".join(map(str, REFERENCE))
        print(f"remake: the stored outputs are those of Python {wanted}: use that.")
        return 2
    paths = notebooks_named(words)
    fine = True
    for path in paths:
        try:
            changes = remake(path)
        except Stopped as error:
            print(f"\n{path.relative_to(ROOT)}\n  {error}\n  Its file is as it was.", flush=True)
            fine = False
            continue
        fine = print_report(path, changes) and fine
    fine = draw(made_from(words, paths)) and fine
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

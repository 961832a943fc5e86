"""Counts of mutants -> the page docs/measured_judges.md, in which other exercises keep theirs."""
# ruff: noqa: E501 - the page is written as it is

import platform
import re
from pathlib import Path
from typing import NamedTuple

from tests.study.folded import EXERCISES

PAGE = Path(__file__).parents[2] / "docs" / "measured_judges.md"
HEAD = """\
# What the checks refuse

Made by `python -m tests.mutants --write`, nothing typed in. Each solution is changed in one place by each operator of
`tests/mutants/operators.py`, and each change is put to the exercise's check, in an interpreter of its own.
Last written with Python {version}; with names of exercises, only their rows are.

| chapter | exercise | mutants | the same | killed | left |
|---|---|---|---|---|---|
"""
FOOT = """
*the same*: it does what the solution does on every input that the exercise allows; `tests/mutants/equivalent` holds the
reason for each. *killed*: the check refuses it, or its cell raises. *left*: it passes and should not, or the check does not
come back from it; `python -m tests.mutants NAME` prints which.
"""
ROW = re.compile(r"^\| \d+ \| (\w+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", re.MULTILINE)


class Count(NamedTuple):
    """How many mutants of a solution there are, and what became of them."""

    mutants: int
    same: int
    killed: int
    left: int


def read() -> dict[str, Count]:
    """Return what the page says by now, by exercise."""
    text = PAGE.read_text("utf-8") if PAGE.exists() else ""
    return {name: Count(*map(int, counts)) for name, *counts in ROW.findall(text)}


def write(measured: dict[str, Count]) -> None:
    """Write the page anew, with these rows and those of before, in the order of the course."""
    known = read() | measured
    counts = {name: known[name] for name in EXERCISES if name in known}
    rows = [_row(EXERCISES[name].chapter, name, count) for name, count in counts.items()]
    total = Count(*map(sum, zip(*counts.values(), strict=True)))
    rows.append(_row("all", f"{len(counts)} of {len(EXERCISES)}", total))
    head = HEAD.format(version=platform.python_version())
    PAGE.write_text(head + "".join(rows) + FOOT, encoding="utf-8")


def _row(chapter: str, name: str, count: Count) -> str:
    return f"| {' | '.join(map(str, (chapter, name, *count)))} |\n"

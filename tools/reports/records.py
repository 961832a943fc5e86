"""A run of pytest, written down by `--junitxml` -> where it ran, and what came of each test."""

import html
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

NOT_COMPARED = "not compared"  # a property of a test; its value is a tag of tests/needs.py
PASSED, FAILED, ERROR, SKIPPED = "passed", "failed", "error", "skipped"
_COLOUR = re.compile(r"(?:\x1b|#x1B|\\x1b)\[[0-9;]*m")


class Record(NamedTuple):
    """A test or a cell of a notebook: its file, its name, what came of it, and what pytest said."""

    file: str
    name: str
    outcome: str
    words: str = ""


class Run(NamedTuple):
    """One run: the system and Python (`system`, `python`, ...), and its records.

    `uncompared` has the file and the tag of each cell that was only run, for what its outputs need.
    """

    where: dict[str, str]
    records: list[Record]
    uncompared: list[tuple[str, str]] = []


def read(path: str | Path) -> Run:
    """Return what a file of `--junitxml` holds; OSError or ParseError where it holds no report."""
    root = ElementTree.parse(path).getroot()
    told = [_pair(one) for one in root.iterfind("testsuite/properties/property")]
    where = {name: value for name, value in told if not name.startswith("hypothesis-statistics")}
    cases = list(root.iter("testcase"))
    properties = [(case, *_pair(one)) for case in cases for one in case.iter("property")]
    uncompared = [
        (_file(case.get("classname", "")), tag)
        for case, name, tag in properties
        if name == NOT_COMPARED
    ]
    return Run(where, [record for case in cases for record in _records(case)], uncompared)


def plain(words: str) -> str:
    """Return words without the colours of a terminal."""
    return _COLOUR.sub("", html.unescape(words))


def _pair(one) -> tuple[str, str]:
    """Return the name and the value of a property."""
    return one.get("name", ""), one.get("value", "")


def _records(case) -> Iterator[Record]:
    """Yield what a case was; one that fails and whose clearing up fails too, is two."""
    file, name = _file(case.get("classname", "")), case.get("name", "")
    if not case.get("classname"):  # a file that could not be collected
        file, name = _file(name), ""
    found = [(part.tag, part) for part in case if part.tag in ("failure", "error", "skipped")]
    for tag, part in found:
        outcome = {"failure": FAILED, "error": ERROR, "skipped": SKIPPED}[tag]
        words = part.get("message", "") if outcome == SKIPPED else part.text or ""
        yield Record(file, name, outcome, plain(words))
    if not found:
        yield Record(file, name, PASSED)


def _file(classname: str) -> str:
    """Return the file that a class name of junit was made of: dots for slashes, and no ending."""
    parts = classname.split(".")
    if parts[-1] == "ipynb":
        return "/".join(parts[:-1]) + ".ipynb"
    while parts and parts[-1][:1].isupper():  # a class of tests
        parts.pop()
    return "/".join(parts) + ".py"

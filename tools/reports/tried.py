"""Reports of pytest -> the table of what was tried where. It is printed and not kept.

`python3 course.py test --junitxml=report.xml` makes a report; `python -m tools.reports.tried
report.xml [more.xml]` prints the page of these runs. A stored page would be older than what it
speaks of. Where no report is from, nothing was tried. The standard library is enough.
"""

import argparse
import re
import sys
from collections import Counter

from tests.needs import not_compared
from tools.reports.records import ERROR, FAILED, PASSED, SKIPPED, Run, read

SYSTEMS = {"Linux": "Linux", "Darwin": "macOS", "Windows": "Windows"}
PYTHONS = ("3.11", "3.12", "3.13")
GROUPS = ("notebooks", "tests", "in a browser")
NOT_TRIED = "not tried"
WHERE = ("system", "python", "notebooks", "machine")  # the rest of a run's properties are versions
TOP = """\
# What was tried where

Made from reports of pytest by `python -m tools.reports.tried`; nothing is typed in. A code cell
counts as one test. *Compared* notebooks must show what is stored, which are the outputs of Linux
and Python 3.11; where they are *run*, a cell must only end without an error.
"""


def page(runs: list[Run]) -> str:
    """Return the page: the table, then for each run its versions and why tests were skipped."""
    rows = [("system", "Python", *GROUPS), ("---",) * 5]
    for system, name in SYSTEMS.items():
        for python in PYTHONS:
            here = [run for run in runs if at(run) == (system, python)]
            cells = [told(here, group) for group in GROUPS]
            if not here:
                cells[1] = beside([run for run in runs if at(run)[0] == system], python)
            rows.append((name, python, *cells))
    table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join([TOP, table, *(line for run in runs for line in notes(run))]) + "\n"


def at(run: Run) -> tuple[str, str]:
    """Return the system and the Python of a run."""
    return run.where.get("system", ""), run.where.get("python", "")


def told(runs: list[Run], group: str) -> str:
    """Return in words what came of a group; all runs of one machine count together."""
    folders = {"notebooks/": "notebooks", "tests/browser/": "in a browser"}
    records = [record for run in runs for record in run.records]
    of = [next((g for f, g in folders.items() if r.file.startswith(f)), "tests") for r in records]
    here = [record for record, own in zip(records, of, strict=True) if own == group]
    found = Counter(record.outcome.replace(ERROR, FAILED) for record in here)
    said = [f"{found[name]} {name}" for name in (FAILED, PASSED, SKIPPED) if found[name]]
    how = {run.where.get("notebooks", "") for run in runs} - {""}
    if not said:
        return NOT_TRIED
    return ", ".join(said) + f" ({', '.join(sorted(how))})" * (group == "notebooks" and bool(how))


def beside(runs: list[Run], python: str) -> str:
    """Return what came of the tests that another Python's run made in a bare one of this."""
    named = re.compile(rf"\[(?:.*-)?{re.escape(python)}(?:-.*)?\]$")
    bare = [Run({}, [r for r in run.records if named.search(r.name)]) for run in runs]
    found = told(bare, "tests")
    return found if found == NOT_TRIED else f"{found}: in a bare Python, without packages"


def notes(run: Run) -> list[str]:
    """Return the lines on one run: its versions, and the reasons of what was skipped."""
    system, python = at(run)
    versions = [f"{name} {value}" for name, value in run.where.items() if name not in WHERE]
    machine = run.where.get("machine", "")
    lines = ["", f"**{SYSTEMS.get(system, system)}, Python {python}** ({machine}): "]
    lines[-1] += ", ".join(versions) or "versions unknown"
    lines += [f"\n{sentence}." for sentence in not_compared(run.uncompared)]
    skipped = Counter(record.words for record in run.records if record.outcome == SKIPPED)
    if skipped:
        lines += ["", "| skipped | why |", "| --- | --- |"]
        for reason, count in sorted(skipped.items()):
            words = " ".join(reason.replace("|", "\\|").split())
            lines.append(f"| {count} | {words} |")
    return lines


def main(words: list[str]) -> int:
    """Print the page; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("reports", nargs="+")
    asked = parser.parse_args(words)
    text = page([read(path) for path in asked.reports])
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

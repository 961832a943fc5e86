"""A chapter's kernel: its memory before any framework, and the time to its first exhibit.

`python -m tools.benchmarks.kernels --write` measures all chapters and writes the page
docs/measured_kernels.md; numbers such as 03 choose some. `course.py bench kernels` holds the goals:
chapters 3 and 5 in 150 MB before any framework, every first exhibit two seconds after its imports,
the tour's in half of what importing both frameworks at once takes. Times are seconds of a
processor, which neighbours hardly change.
"""
# ruff: noqa: E501 - the page is written as it is

import argparse
import os
import platform
import statistics
import sys
from functools import partial
from importlib.metadata import version

import psutil
from tabulate import tabulate

from tests.opened import (
    END,
    FRAMEWORK,
    FRAMEWORKS,
    NOTEBOOKS,
    ROOT,
    Cost,
    Run,
    first_picture,
    floor,
    imported_at_once,
    opened,
)
from tools.benchmarks.harness import Goal, size

TABLE = ROOT / "docs" / "measured_kernels.md"
LIMITS = {"03": 150, "05": 150}  # MB at rest, before any framework
TOUR = "00"
MEMORY = "chapter,kernel,first cell,before any framework,at the end,at most,with children"
TIME = "chapter,imports until then,first exhibit,processor,the import alone,its processor,between"
PAGE = """\
# What a chapter's kernel takes

Made by `python -m tools.benchmarks.kernels --write`, nothing typed in: each chapter opened and run
as often as `--rounds` says, here {rounds}; the median, in brackets the least and the most.
{versions}; {machine}.

## Memory, in MB

{memory}

*kernel*: it has started, and run nothing. *first cell*: after the chapter's first cell. *before any framework*: the most
at rest, between two cells, before torch or TensorFlow is in it; where no framework comes, that is the whole chapter. *at
the end*: at rest after Run All. *at most*: at any moment until then. These are resident pages (RSS), also those that a kernel shares
with others. *with children*: the most of the kernel and the programs that its cells start, shared pages counted in parts (PSS).

## Seconds from opening to the first exhibit

{times}

*first exhibit*: from the start of the kernel to the first output that is more than text. *the import alone*: a fresh Python
that imports the same and nothing else. *processor*: the seconds in which a processor worked for it; on a quiet machine the two
are nearly the same, on a busy one waiting comes on top. *between*: the one less the other of the processor's seconds, run by
run; the goal is 2, and `course.py bench kernels` says whether it is met.
"""
POINTS = ("started", "first_cell", "bare", "rest", "peak")


class Scale:
    """A clock of megabytes, or of seconds that others counted: what is put on it, in all."""

    def __init__(self):
        self.total = 0.0

    def __call__(self) -> float:
        return self.total

    def put(self, amount, *args):
        """Put on the scale what `amount` returns."""
        self.total += amount(*args)


def measure_kernels():
    """A chapter's kernel: its memory before any framework, and the time to its first exhibit."""
    for number, limit in size(LIMITS, {TOUR: 150}).items():
        scale, name = Scale(), f"chapter {number}, opened, no framework"
        one = partial(scale.put, lambda number: opened(number, FRAMEWORK).bare, number)
        other = partial(scale.put, float, limit)
        yield Goal(name, one, f"{limit} MB", other, at_most=1, rounds=3, clock=scale)
    for number in size([path.name[:2] for path in NOTEBOOKS], [TOUR]):
        imported, scale = opened(number).imported, Scale()
        other_name = f"importing {' and '.join(imported) or 'nothing'} + 2 s"
        one = partial(scale.put, lambda number: opened(number).cpu, number)
        other = partial(scale.put, lambda imported: floor(imported)[1] + 2, imported)
        name = f"chapter {number} to its first exhibit"
        yield Goal(name, one, other_name, other, at_most=1, rounds=5, clock=scale)


def measure_kernels_of_the_tour():
    """The tour's first picture: at most half of what importing both frameworks at once takes."""
    names = size(FRAMEWORKS, ("json",))
    for part, unit in zip(Cost._fields, ("processor", "memory"), strict=True):
        scale = Scale()
        one = partial(scale.put, lambda part: getattr(first_picture(TOUR), part), part)
        other = partial(scale.put, lambda part: getattr(imported_at_once(names), part), part)
        other_name = f"importing {' and '.join(names)} at once"
        name = f"the tour's first picture, {unit}"
        yield Goal(name, one, other_name, other, at_most=0.5, rounds=3, clock=scale)


def spread(numbers: list[float], form: str = ".0f") -> str:
    """Return the median, and the least and the most where they differ from it."""
    middle, least, most = (f(numbers) for f in (statistics.median, min, max))
    told = f"{middle:{form}}"
    if f"{least:{form}}" == f"{most:{form}}":
        return told
    return f"{told} ({least:{form}} to {most:{form}})"


def memory_row(number: str, runs: list[Run]) -> list[str]:
    """Return the row of a chapter in the table of memory, in MB."""
    columns = [[getattr(run, name) for run in runs] for name in POINTS]
    return [number, *map(spread, columns), spread([max(run.tree) for run in runs])]


def time_row(number: str, runs: list[Run], floors: list[tuple[float, float]]) -> list[str]:
    """Return the row of a chapter in the table of times, in seconds."""
    alone, worked = zip(*floors, strict=True)
    between = [run.cpu - cpu for run, cpu in zip(runs, worked, strict=True)]
    names = ", ".join(f"`{name}`" for name in runs[0].imported) or "nothing"
    shown, busy = [run.first_exhibit for run in runs], [run.cpu for run in runs]
    return [number, names, *(spread(c, ".1f") for c in (shown, busy, alone, worked, between))]


def table(numbers: list[str], rounds: int) -> str:
    """Measure these chapters, one after the other in each round; return the page."""
    whole, short, floors = ({number: [] for number in numbers} for _ in range(3))
    for turn in range(rounds):
        for number in numbers:
            print(f"[{turn + 1}/{rounds}] {number}", file=sys.stderr, flush=True)
            short[number].append(opened(number))
            floors[number].append(floor(short[number][-1].imported))
            whole[number].append(opened(number, END))
    memory = tabulate([memory_row(n, whole[n]) for n in numbers], MEMORY.split(","), "github")
    times = tabulate([time_row(n, short[n], floors[n]) for n in numbers], TIME.split(","), "github")
    size = psutil.virtual_memory().total / 1024**3
    machine = f"{platform.system()}, {os.cpu_count()} cores, {size:.0f} GiB of memory"
    packages = {"torch": "torch", "tensorflow": "tensorflow_cpu"}
    found = [f"{name} {version(package)}" for name, package in packages.items()]
    told = {"versions": ", ".join([f"Python {platform.python_version()}", *found])}
    return PAGE.format(memory=memory, times=times, rounds=rounds, machine=machine, **told)


def main(words: list[str]) -> int:
    """Measure, and print or write the page; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("chapters", nargs="*", help="numbers such as 03; without any, all")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name}")
    asked = parser.parse_args(words)
    page = table(asked.chapters or [path.name[:2] for path in NOTEBOOKS], asked.rounds)
    if asked.write:
        TABLE.write_text(page, encoding="utf-8")
    else:
        print(page)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The words after `course.py bench` -> which benchmarks they choose, and how these are run.

Standard library alone: course.py asks this before anything is installed. Benchmarks are found in
the source of the files beside this one, and none is imported.
"""

import argparse
import ast
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
MEASURE = "measure_"  # begins the name of a benchmark's function
ABOUT = "Run benchmarks, each in a child process of its own, and compare ratios with their goals."


class Benchmark(NamedTuple):
    """One function `measure_…`: its module beside this one, and what its docstring says first."""

    module: str
    about: str


class Chosen(NamedTuple):
    """What the words ask for. `listed`: only name them; `short`: run each once, judge nothing."""

    benchmarks: dict[str, Benchmark]
    listed: bool
    short: bool


def benchmarks(folder: Path = HERE) -> dict[str, Benchmark]:
    """Return name -> benchmark for each function `measure_…` in the files of a folder."""
    found = {}
    for file in sorted(folder.glob("*.py")):
        for part in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(part, ast.FunctionDef) and part.name.startswith(MEASURE):
                about = (ast.get_docstring(part) or "").partition("\n")[0]
                found[part.name.removeprefix(MEASURE)] = Benchmark(file.stem, about)
    return found


def chosen(words: list[str], folder: Path = HERE) -> Chosen:
    """Return what the words after `bench` ask for; ValueError, in one sentence, if that is nothing.

    A word chooses all benchmarks whose names contain it; without any, all are chosen. `-h` prints
    the help and leaves with SystemExit.
    """
    parser = argparse.ArgumentParser("course.py bench", description=ABOUT, allow_abbrev=False)
    parser.add_argument("words", nargs="*", help="parts of names; without any, all are run")
    parser.add_argument("-l", "--list", action="store_true", help="only name the benchmarks")
    parser.add_argument(
        "--short", action="store_true", help="run each once, as small as can be, and judge nothing"
    )
    asked, unknown = parser.parse_known_args(words)
    there = benchmarks(folder)
    if unknown:
        raise ValueError(f"bench has no option {unknown[0]}: it has --list, --short and -h.")
    for word in asked.words:
        if not any(word in name for name in there):
            raise ValueError(f"no benchmark is named {word!r}: there are {', '.join(there)}.")
    found = {
        name: benchmark
        for name, benchmark in there.items()
        if not asked.words or any(word in name for word in asked.words)
    }
    return Chosen(found, asked.list, asked.short)

"""Run benchmarks, each in a child process of its own -> a table, and whether a goal is missed.

    python -m tests.benchmarks              all of them
    python -m tests.benchmarks hook stack   those with one of the words in their names
    python -m tests.benchmarks --list       only their names

The exit code is 1 where a goal is missed or a benchmark ends early; too noisy to say is 0.
"""

import argparse
import ast
import contextlib
import dataclasses
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tabulate import tabulate

from tests.benchmarks.harness import ENDED, MISSED, Result, measured

HERE = Path(__file__).parent
PACKAGE = "tests.benchmarks"
MEASURE = "measure_"  # begins the name of a benchmark's function
LONGEST = 900  # seconds for one benchmark: a hang is told
HEADINGS = ("benchmark", "compared", "median", "quartiles", "goal", "verdict")


def benchmarks(folder: Path = HERE) -> dict[str, tuple[str, str]]:
    """Return name -> module and first line of the docstring of each benchmark."""
    return {
        part.name.removeprefix(MEASURE): (file.stem, ast.get_docstring(part).partition("\n")[0])
        for file in sorted(folder.glob("*.py"))
        for part in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(part, ast.FunctionDef) and part.name.startswith(MEASURE)
    }


def chosen(words: list[str], names) -> list[str]:
    """Return the names with one of the words in them; ValueError where a word is in none."""
    for word in words:
        if not any(word in name for name in names):
            raise ValueError(f"no benchmark is named {word!r}, there are: {', '.join(names)}.")
    return [name for name in names if not words or any(word in name for word in words)]


def in_child(name: str, module: str, limit: float = LONGEST) -> Iterator[Result]:
    """Yield the results of one benchmark; if it ends early, the last says how."""
    command = [sys.executable, "-X", "faulthandler", "-m", PACKAGE, "--child", f"{module}:{name}"]
    try:
        done = subprocess.run(command, cwd=HERE.parents[1], stdout=subprocess.PIPE, timeout=limit)
        printed, ending = done.stdout, f"exit code {done.returncode}" * bool(done.returncode)
    except subprocess.TimeoutExpired as late:
        printed, ending = late.stdout or b"", f"no end in {limit:g} s"
    for line in printed.decode(errors="replace").splitlines():
        with contextlib.suppress(ValueError, TypeError):  # what C code prints is no result
            yield Result(**json.loads(line))
    if ending:
        yield Result(ending, ENDED)


def be_child(place: str) -> None:
    """Print a line for each result; whatever else is printed goes to stderr."""
    out, (module, name) = sys.stdout, place.split(":")
    with contextlib.redirect_stdout(sys.stderr), contextlib.suppress(KeyboardInterrupt):
        goals = getattr(importlib.import_module(module), f"{MEASURE}{name}")
        for result in measured(goals()):
            print(json.dumps(dataclasses.asdict(result)), file=out, flush=True)


def row(name: str, result: Result) -> list[str]:
    """Return a result as a row of the table."""
    if result.median is None:
        return [name, result.compared, "", "", "", result.verdict]
    low, high = result.quartiles
    numbers = f"{result.median:.3g}", f"{low:.3g} to {high:.3g}"
    return [name, result.compared, *numbers, result.goal, result.verdict]


def report(names: dict[str, str], run=in_child) -> int:
    """Run benchmarks (name -> module) and print the table, also after Ctrl-C; return exit code."""
    rows, verdicts, stopped = [], set(), False
    try:
        for number, (name, module) in enumerate(names.items(), 1):
            print(f"[{number}/{len(names)}] {name}", file=sys.stderr, flush=True)
            for result in run(name, module):
                print(f"  {result.compared}: {result.verdict}", file=sys.stderr, flush=True)
                rows.append(row(name, result))
                verdicts.add(result.verdict)
    except KeyboardInterrupt:
        stopped = True
    print(tabulate(rows, HEADINGS, disable_numparse=True))
    if stopped:
        print("Stopped: the rest was not measured.")
        return 130
    return int(bool(verdicts & {MISSED, ENDED}))


def main(words: list[str]) -> int:
    """Do what the words ask for; return the exit code."""
    parser = argparse.ArgumentParser("course.py bench", description=__doc__.partition("\n")[0])
    parser.add_argument("words", nargs="*", help="parts of names; without any, all are run")
    parser.add_argument("-l", "--list", action="store_true", help="only name the benchmarks")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    asked = parser.parse_args(words)
    if asked.child:
        be_child(asked.child)
        return 0
    there = benchmarks()
    try:
        names = chosen(asked.words, there)
    except ValueError as unknown:
        print(f"course.py bench: {unknown}", file=sys.stderr)
        return 2
    if asked.list:
        print(tabulate([(name, there[name][1]) for name in names], tablefmt="plain"))
        return 0
    return report({name: f"{PACKAGE}.{there[name][0]}" for name in names})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

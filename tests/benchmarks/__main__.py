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
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

from tabulate import tabulate

from tests.benchmarks.harness import ENDED, MISSED, Result, measured

HERE = Path(__file__).parent
PACKAGE = "tests.benchmarks"
LONGEST = 900  # seconds for one benchmark: a hang is told
HEADINGS = ("benchmark", "compared", "median", "quartiles", "goal", "verdict")


def benchmarks(folder: Path = HERE) -> dict[str, str]:
    """Return the name of each file that has goals, with the first line of its docstring."""
    found = {}
    for file in sorted(folder.glob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        if any(isinstance(part, ast.FunctionDef) and part.name == "goals" for part in tree.body):
            found[file.stem] = (ast.get_docstring(tree) or "").partition("\n")[0]
    return found


def chosen(words: list[str], names: Iterable[str]) -> list[str]:
    """Return the names with one of the words in them; ValueError where a word is in none."""
    for word in words:
        if not any(word in name for name in names):
            raise ValueError(f"no benchmark is named {word!r}, there are: {', '.join(names)}.")
    return [name for name in names if not words or any(word in name for word in words)]


def in_child(name: str, package: str = PACKAGE, limit: float = LONGEST) -> Iterator[Result]:
    """Yield the results of one benchmark; if it ends early, the last says how."""
    command = [sys.executable, "-X", "faulthandler", "-m", PACKAGE, "--child", f"{package}.{name}"]
    options = {"stdout": subprocess.PIPE, "text": True, "errors": "replace"}
    with subprocess.Popen(command, cwd=HERE.parents[1], **options) as child:
        late = threading.Event()
        alarm = threading.Timer(limit, lambda: (late.set(), child.kill()))
        alarm.start()
        try:
            for line in child.stdout:
                with contextlib.suppress(ValueError, TypeError):  # what C code prints is no result
                    yield Result(**json.loads(line))
            ending = child.wait()
        finally:
            alarm.cancel()
            child.kill()
    if ending:
        yield Result(f"no end in {limit:g} s" if late.is_set() else f"exit code {ending}", ENDED)


def be_child(module: str) -> None:
    """Print a line for each result; whatever else is printed goes to stderr."""
    out = sys.stdout
    with contextlib.redirect_stdout(sys.stderr), contextlib.suppress(KeyboardInterrupt):
        for result in measured(importlib.import_module(module).goals()):
            print(json.dumps(dataclasses.asdict(result)), file=out, flush=True)


def row(name: str, result: Result) -> list[str]:
    """Return a result as a row of the table."""
    if result.median is None:
        return [name, result.compared, "", "", "", result.verdict]
    low, high = result.quartiles
    numbers = f"{result.median:.3g}", f"{low:.3g} to {high:.3g}"
    return [name, result.compared, *numbers, result.goal, result.verdict]


def report(names: list[str], run=in_child) -> int:
    """Run the benchmarks and print the table, also after Ctrl-C; return the exit code."""
    rows, verdicts, stopped = [], set(), False
    try:
        for number, name in enumerate(names, 1):
            print(f"[{number}/{len(names)}] {name}", file=sys.stderr, flush=True)
            for result in run(name):
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
        print(tabulate([(name, there[name]) for name in names], tablefmt="plain"))
        return 0
    return report(names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

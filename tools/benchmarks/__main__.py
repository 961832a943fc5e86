"""Run benchmarks, each in a child process of its own -> a table, and whether a goal is missed.

    python -m tools.benchmarks              all of them
    python -m tools.benchmarks hook stack   those with one of the words in their names
    python -m tools.benchmarks --list       only their names
    python -m tools.benchmarks --short      each once, as small as can be: does it still run?

The exit code is 1 where a goal is missed or a benchmark ends early; too noisy to say is 0. A short
run judges no goal.
"""

import contextlib
import dataclasses
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tabulate import tabulate

from tools.benchmarks import harness
from tools.benchmarks.harness import ENDED, MISSED, Result, measured
from tools.benchmarks.names import MEASURE, chosen

HERE = Path(__file__).parent
PACKAGE = "tools.benchmarks"
CHILD = "--child"  # the first word of a child's, before its place and perhaps SHORT
SHORT = "--short"
LONGEST = 900  # seconds for one benchmark: a hang is told
HEADINGS = ("benchmark", "compared", "median", "quartiles", "goal", "verdict")


def in_child(
    name: str, module: str, limit: float = LONGEST, short: bool = False
) -> Iterator[Result]:
    """Yield the results of one benchmark; if it ends early, the last says how."""
    command = [sys.executable, "-X", "faulthandler", "-m", PACKAGE, CHILD, f"{module}:{name}"]
    command += [SHORT] * short
    try:
        done = subprocess.run(command, cwd=HERE.parents[1], stdout=subprocess.PIPE, timeout=limit)
        printed, ending = done.stdout, f"exit code {done.returncode}" * bool(done.returncode)
    except subprocess.TimeoutExpired as late:
        printed, ending = late.stdout or b"", f"no end in {limit:g} s"
    results = 0
    for line in printed.decode(errors="replace").splitlines():
        with contextlib.suppress(ValueError, TypeError):  # what C code prints is no result
            yield Result(**json.loads(line))
            results += 1
    ending = ending or "no result" * (not results)
    if ending:
        yield Result(ending, ENDED)


def be_child(place: str, short: bool = False) -> None:
    """Print a line for each result; whatever else is printed goes to stderr."""
    if short:
        harness.shorten()
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
    if words[:1] == [CHILD]:
        be_child(words[1], SHORT in words)
        return 0
    try:
        asked = chosen(words)
    except ValueError as refusal:
        print(f"course.py bench: {refusal}", file=sys.stderr)
        return 2
    if asked.listed:
        rows = [(name, benchmark.about) for name, benchmark in asked.benchmarks.items()]
        print(tabulate(rows, tablefmt="plain"))
        return 0
    modules = {name: f"{PACKAGE}.{each.module}" for name, each in asked.benchmarks.items()}
    return report(modules, partial(in_child, short=asked.short))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

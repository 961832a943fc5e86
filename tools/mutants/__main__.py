"""Print, for each exercise, how many mutants of its solution the check refuses, and which pass.

`--write` puts the numbers into docs/measured_judges.md, in which other exercises keep theirs. Each
exercise has an interpreter of its own; a mutant that does not come back is one that passes.
"""

import argparse
import contextlib
import multiprocessing
import platform
import re
from pathlib import Path

from tests.study.folded import EXERCISES
from tools.mutants import SAME, tell_verdicts, wrong_answers

LONGEST = 120  # seconds for one mutant; a check ends long before
PAGE = Path(__file__).parents[2] / "docs" / "measured_judges.md"
HEAD = """\
# What the checks refuse

Made by `python -m tools.mutants --write`, nothing typed in. Each solution is changed in one place
by each operator of `tools/mutants/operators.py`, and each change is put to the exercise's check, in
an interpreter of its own. Last written with Python {version}; with names of exercises, only their
rows are.

| chapter | exercise | mutants | the same | killed | left |
|---|---|---|---|---|---|
"""
FOOT = """
*the same*: it does what the solution does on every input that the exercise allows;
`tools/mutants/same.json` lists them. *killed*: the check refuses it, or its cell raises. *left*: it
passes and should not, or the check does not come back from it; at most 2 of 100 may be.
`python -m tools.mutants NAME` prints which.
"""
ROW = re.compile(r"^\| \d+ \| (\w+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", re.MULTILINE)


def main(words: list[str] | None = None) -> int:
    """Return 1 if more than 2 of 100 mutants of an exercise passed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("exercises", nargs="*", metavar="exercise", help="without any, all")
    parser.add_argument("--write", action="store_true", help="write docs/measured_judges.md")
    asked, failed = parser.parse_args(words), False
    for name in asked.exercises or EXERCISES:
        made = wrong_answers(name)
        left = [made[at] for at in find_survivors(name, len(made))]
        same = len(SAME.get(name, ()))
        count = (len(made) + same, same, len(made) - len(left), len(left))
        print(f"{name:<18}", *(f"{number:>6}" for number in count), flush=True)
        for mutant in left:
            print(f"  {mutant.operator}: {mutant.change}")
        if asked.write:
            write_page({name: count})
        failed |= len(left) > 0.02 * len(made)
    return int(failed)


def find_survivors(name: str, many: int) -> list[int]:
    """Return the numbers of the mutants that pass, or from which the check does not come back."""
    context, survivors, at = multiprocessing.get_context("spawn"), [], 0
    while at < many:
        here, there = context.Pipe()
        child = context.Process(target=tell_verdicts, args=(name, at, there))
        child.start()
        there.close()
        with contextlib.suppress(EOFError):
            while at < many and here.poll(LONGEST):
                survivors += [] if here.recv() else [at]
                at += 1
        if at < many:  # it hung, or ended its process
            survivors.append(at)
            at += 1
        child.kill()
        child.join()
    return survivors


def read_page() -> dict[str, tuple[int, ...]]:
    """Return what the page says by now: exercise -> mutants, the same, killed, left."""
    text = PAGE.read_text("utf-8") if PAGE.exists() else ""
    return {name: tuple(map(int, counts)) for name, *counts in ROW.findall(text)}


def write_page(measured: dict[str, tuple[int, ...]]) -> None:
    """Write the page anew, with these rows and those of before, in the order of the course."""
    known = read_page() | measured
    counts = {name: known[name] for name in EXERCISES if name in known}
    rows = [(EXERCISES[name].chapter, name, *count) for name, count in counts.items()]
    total = map(sum, zip(*counts.values(), strict=True))
    rows.append(("all", f"{len(counts)} of {len(EXERCISES)}", *total))
    lines = "".join(f"| {' | '.join(map(str, row))} |\n" for row in rows)
    PAGE.write_text(HEAD.format(version=platform.python_version()) + lines + FOOT, "utf-8")


if __name__ == "__main__":
    raise SystemExit(main())

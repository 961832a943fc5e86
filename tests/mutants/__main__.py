"""Print, for each exercise, how many mutants of its solution the check refuses, and which pass.

`python -m tests.mutants [exercise ...]`; `--as-told` prints what was said of each mutant, and
`--write` puts the numbers into docs/measured_judges.md, after each exercise.
"""

import argparse

from tests.mutants.equivalents import EQUIVALENTS
from tests.mutants.page import Count, write
from tests.mutants.run import Verdict, judged
from tests.study.folded import EXERCISES

KILLED = ("failed", "untried")


def main(words: list[str] | None = None) -> int:
    """Return 1 if a mutant passed that is not listed as doing the same."""
    asked = _asked(words)
    left = 0
    print(f"{'exercise':<18} {'mutants':>7} {'same':>5} {'killed':>7} {'left':>5}")
    for name in asked.exercises or EXERCISES:
        verdicts = judged(name)
        if asked.as_told:
            for verdict in verdicts:
                print(f"  {verdict.state}: {verdict.mutant.change}\n    {verdict.because}")
        count, lost = counted(name, verdicts)
        print(
            f"{name:<18} {count.mutants:>7} {count.same:>5} {count.killed:>7} {count.left:>5}",
            flush=True,
        )
        for verdict in lost:
            print(f"  {verdict.state} ({verdict.mutant.operator}): {verdict.mutant.change}")
        if asked.write:
            write({name: count})
        left += len(lost)
    return 1 if left else 0


def _asked(words: list[str] | None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("exercises", nargs="*", metavar="exercise", help="without any, all")
    parser.add_argument("--as-told", action="store_true", help="print what was said of each")
    parser.add_argument("--write", action="store_true", help="write docs/measured_judges.md")
    asked = parser.parse_args(words)
    if unknown := [name for name in asked.exercises if name not in EXERCISES]:
        parser.error(f"there is no exercise {unknown[0]}")
    return asked


def counted(name: str, verdicts: list[Verdict]) -> tuple[Count, list[Verdict]]:
    """Return the numbers of an exercise, and what passed that should not."""
    same = [v for v in verdicts if not is_killed(v) and is_same(name, v)]
    killed = [v for v in verdicts if is_killed(v)]
    lost = [v for v in verdicts if v not in same and v not in killed]
    return Count(len(verdicts), len(same), len(killed), len(lost)), lost


def is_killed(verdict: Verdict) -> bool:
    """Tell whether the check refused the mutant."""
    return verdict.state in KILLED


def is_same(name: str, verdict: Verdict) -> bool:
    """Tell whether a mutant is listed as one that does the same as the solution."""
    known = EQUIVALENTS.get(name, {})
    return verdict.state == "passed" and verdict.mutant.change in known


if __name__ == "__main__":
    raise SystemExit(main())

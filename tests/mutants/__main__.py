"""Print, for each exercise, how many mutants of its solution the check refuses, and which pass.

`python -m tests.mutants [exercise ...]`; `--as-told` prints what was said of each mutant.
"""

import sys

from tests.mutants.equivalents import EQUIVALENTS
from tests.mutants.run import Verdict, judged
from tests.study.folded import EXERCISES

KILLED = ("failed", "untried")


def main(*arguments: str) -> int:
    """Return 1 if a mutant passed that is not listed as doing the same."""
    names = [name for name in arguments if not name.startswith("--")] or list(EXERCISES)
    left = 0
    print(f"{'exercise':<18} {'mutants':>7} {'same':>5} {'killed':>7} {'left':>5}")
    for name in names:
        verdicts = judged(name)
        if "--as-told" in arguments:
            for verdict in verdicts:
                print(f"  {verdict.state}: {verdict.mutant.change}\n    {verdict.because}")
        same = [v for v in verdicts if not is_killed(v) and is_same(name, v)]
        killed = [v for v in verdicts if is_killed(v)]
        lost = [v for v in verdicts if v not in same and v not in killed]
        print(
            f"{name:<18} {len(verdicts):>7} {len(same):>5} {len(killed):>7} {len(lost):>5}",
            flush=True,
        )
        for verdict in lost:
            print(f"  {verdict.state} ({verdict.mutant.operator}): {verdict.mutant.change}")
        left += len(lost)
    return 1 if left else 0


def is_killed(verdict: Verdict) -> bool:
    """Tell whether the check refused the mutant."""
    return verdict.state in KILLED


def is_same(name: str, verdict: Verdict) -> bool:
    """Tell whether a mutant is listed as one that does the same as the solution."""
    known = EQUIVALENTS.get(name, {})
    return verdict.state == "passed" and verdict.mutant.change in known


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))

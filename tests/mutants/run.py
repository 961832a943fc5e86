"""An exercise -> what its check says of each mutant of its solution, in an interpreter of its own.

What does not come back is killed, told as hung or dead, and the next mutant begins in a new one.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tests.mutants.operators import Mutant, mutants
from tests.study.folded import EXERCISES, verdict

LONGEST = 120  # seconds for one mutant; a check ends long before
PAUSE = 0.05


class Verdict(NamedTuple):
    """`state`: what the check said, or "hung" or "died"; `because`: its words."""

    mutant: Mutant
    state: str
    because: str


def judged(name: str, picked: list[int] | None = None) -> list[Verdict]:
    """Return the verdict on each mutant of an exercise, or on those with these numbers."""
    made = mutants(EXERCISES[name].solution)
    waiting = list(range(len(made))) if picked is None else list(picked)
    told = {}
    while waiting:
        told |= _some(name, made, waiting)
        waiting = [number for number in waiting if number not in told]
    return [Verdict(made[number], *told[number]) for number in sorted(told)]


def _some(name: str, made: list[Mutant], waiting: list[int]) -> dict[int, tuple[str, str]]:
    """Run a child until it has judged all or does not come back."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as home:
        report, asked = Path(home, "report"), Path(home, "asked")
        report.touch()
        asked.write_text(json.dumps([(number, made[number].source) for number in waiting]))
        command = [sys.executable, "-m", __name__, name, str(report), str(asked)]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        told, since = {}, time.monotonic()
        while child.poll() is None and time.monotonic() - since < LONGEST:
            time.sleep(PAUSE)
            now = _read(report)
            if len(now) > len(told):
                told, since = now, time.monotonic()
        hung = child.poll() is None
        child.kill()
        child.wait()
        told = _read(report)
    if len(told) < len(waiting):
        lost = next(number for number in waiting if number not in told)
        told[lost] = ("hung", "") if hung else ("died", f"exit code {child.returncode}")
    return told


def _read(report: Path) -> dict[int, tuple[str, str]]:
    lines = report.read_text("utf-8").split("\n")[:-1]
    return {number: (state, because) for number, state, because in map(json.loads, lines)}


def main(name: str, report: str, asked: str) -> None:
    """Run in the child: judge the mutants one by one, and tell after each."""
    for number, source in json.loads(Path(asked).read_text("utf-8")):
        state, because = _verdict(name, source)
        with Path(report).open("a", encoding="utf-8") as file:
            file.write(json.dumps([number, state, because]) + "\n")


def _verdict(name: str, source: str) -> tuple[str, str]:
    try:
        outcome = verdict(name, source)
    except Exception as error:  # of the cell itself: the learner sees it before the check
        return "failed", f"the cell raises {type(error).__name__}"
    return outcome.state, outcome.because


if __name__ == "__main__":
    main(*sys.argv[1:])

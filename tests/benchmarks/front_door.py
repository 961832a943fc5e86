"""A chapter's first cell, set against importing all that the front door offers (CPU time)."""

import os
import subprocess
import sys
from pathlib import Path

from tests.benchmarks.harness import Goal
from tests.test_front_door import first_cell

ROOT = Path(__file__).parents[2]
ALL = "import helpers\n[getattr(helpers, name) for name in helpers.__all__]\nlist(helpers.check)"


def goals():
    for chapter in ("01", "03", "06"):
        one, other = importing(first_cell(chapter)), importing(ALL)
        yield Goal(
            f"chapter {chapter}", one, "all", other, at_most=0.5, rounds=5, clock=of_children
        )


def of_children() -> float:
    """Return the CPU seconds of all children that have ended."""
    return sum(os.times()[2:4])


def importing(source: str):
    """Return a function that runs this source in a fresh interpreter."""
    command = [sys.executable, "-c", source]
    return lambda: subprocess.run(command, cwd=ROOT, check=True)

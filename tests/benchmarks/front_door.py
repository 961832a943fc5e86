"""A chapter's first cell, set against importing all that the front door offers (CPU time)."""

import subprocess
import sys
from pathlib import Path

from tests.benchmarks.harness import Goal
from tests.test_front_door import first_cell

ROOT = Path(__file__).parents[2]
ALL = "import helpers\n[getattr(helpers, name) for name in helpers.__all__]\nlist(helpers.check)"


def goals():
    for chapter in ("01", "03", "06"):
        yield Goal(
            f"chapter {chapter}", importing(first_cell(chapter)), "all", importing(ALL), at_most=0.5
        )


def importing(source: str):
    """Return a function that runs this source in a fresh interpreter."""
    command = [sys.executable, "-c", source]
    return lambda: subprocess.run(command, cwd=ROOT, check=True)

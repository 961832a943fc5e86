"""pytest, the benchmarks and the remaking of notebooks: which words they are started with."""

import os

from helpers.course import checkout
from helpers.course.terminal import say

REFERENCE = (3, 11)  # the Python whose outputs are stored in the notebooks
LAX = "--lax"  # our own word, for learners; pytest's is --nbval-lax
ALL = "--all"  # with the long tests: conftest.py reads COURSE_SAMPLES
# These words decide by themselves, or need the one process.
ALONE = ("-n", "--numprocesses", "--dist", "--pdb", "--trace", "-s", "--capture", "--co", "-p")


def test(words: list[str]) -> int:
    """Run pytest on the notebooks and the tests; what the words name instead, or only `notebooks`.

    With `--lax`, and on another Python than that of the stored outputs, notebooks are only run.
    With `--all`, the long tests run too.
    """
    version = checkout.version_of([checkout.PYTHON])
    environment = dict(os.environ)
    if ALL in words:
        environment["COURSE_SAMPLES"] = "all"

    if LAX in words:
        say("Notebooks are run but not compared, as you asked (--lax).")
    elif version != REFERENCE:
        say(
            f"Notebooks are run but not compared (--nbval-lax): their stored outputs are those of "
            f"Python {checkout.dotted(REFERENCE)}, and this is {checkout.dotted(version)}."
        )
    command = [str(checkout.PYTHON), "-m", "pytest"]
    if LAX in words or version != REFERENCE:
        command.append("--nbval-lax")
    command += workers(words)
    command += [word for word in words if word not in (ALL, LAX)]
    return checkout.hand_over(command, environment)


def workers(words: list[str]) -> list[str]:
    """Return the words for two workers where there is room for two; who says -n or so decides."""
    if any(word.startswith(ALONE) for word in words) or not hasattr(os, "sysconf"):
        return []
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    has_room = (os.cpu_count() or 1) >= 2 and memory >= 4 * checkout.GIGABYTE
    return ["-n", "2"] if has_room else []


def bench(words: list[str]) -> int:
    """Measure ratios of times against their goals, apart from the tests."""
    return checkout.hand_over([str(checkout.PYTHON), "-m", "tools.benchmarks", *words], os.environ)


def remake(words: list[str]) -> int:
    """Run notebooks again, store what they show, and print what is broken and what is left."""
    return checkout.hand_over([str(checkout.PYTHON), "-m", "tools.remake", *words], os.environ)

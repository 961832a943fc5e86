"""Start pytest, the benchmarks or the remaking of notebooks, with the right arguments."""

import os

from helpers.course import checkout
from helpers.course.terminal import say

REFERENCE = (3, 11)  # the Python whose outputs are stored in the notebooks
LAX = "--lax"  # the option of `course.py test` for pytest's --nbval-lax
ALL = "--all"  # the option for the long tests; conftest.py reads the variable COURSE_SAMPLES
# Options of pytest that say how many processes there are, or that need a single process.
ALONE = ("-n", "--numprocesses", "--dist", "--pdb", "--trace", "-s", "--capture", "--co", "-p")


def test(arguments: list[str]) -> int:
    """Run pytest on notebooks and tests, or on what the arguments name; return its exit code.

    With `--lax`, notebooks are run, but their outputs are not compared with the stored ones. The
    same holds for another Python than that of the stored outputs. With `--all`, the long tests run,
    too. Other arguments are those of pytest.
    """
    version = checkout.version_of([checkout.PYTHON])
    environment = dict(os.environ)
    if ALL in arguments:
        environment["COURSE_SAMPLES"] = "all"

    if LAX in arguments:
        say("Notebooks are run but not compared, as you asked (--lax).")
    elif version != REFERENCE:
        say(
            f"Notebooks are run but not compared (--nbval-lax): their stored outputs are those of "
            f"Python {checkout.dotted(REFERENCE)}, and this is {checkout.dotted(version)}."
        )
    command = [str(checkout.PYTHON), "-m", "pytest"]
    if LAX in arguments or version != REFERENCE:
        command.append("--nbval-lax")
    command += workers(arguments)
    command += [word for word in arguments if word not in (ALL, LAX)]
    return checkout.hand_over(command, environment)


def workers(arguments: list[str]) -> list[str]:
    """Return pytest's arguments for two worker processes, if the machine has room for two.

    Return [] if `arguments`, the user's arguments, decide about the number of processes.
    """
    if any(word.startswith(ALONE) for word in arguments) or not hasattr(os, "sysconf"):
        return []
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    has_room = (os.cpu_count() or 1) >= 2 and memory >= 4 * checkout.GIGABYTE
    return ["-n", "2"] if has_room else []


def bench(arguments: list[str]) -> int:
    """Run the benchmarks, which compare ratios of times with their goals; return the exit code."""
    command = [str(checkout.PYTHON), "-m", "tools.benchmarks", *arguments]
    return checkout.hand_over(command, os.environ)


def remake(arguments: list[str]) -> int:
    """Run notebooks again and store their outputs; return the exit code."""
    return checkout.hand_over([str(checkout.PYTHON), "-m", "tools.remake", *arguments], os.environ)

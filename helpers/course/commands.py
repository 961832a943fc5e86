"""Read the command line of `course.py`, make the environment .venv if needed, and start a command.

Wrong arguments are refused before anything is installed. There are two steps:

    start     in whatever Python runs course.py: it checks the arguments and makes .venv
    go_on     in the Python of .venv: helpers/course/__main__.py runs the command

This module imports only the standard library.
"""

import argparse
import difflib
import json
import platform
import re
import shutil
import sys
from pathlib import Path

from helpers.course import checkout, lifecycle, stamp
from helpers.course.checkout import REPAIR, SUPPORTED, dotted, version_of
from helpers.course.terminal import CommandRefused, Parser, report, run_guarded, say

COMMANDS = ("lab", "test", "setup", "reset", "check", "workshop", "handout", "slides", "book")
OF_MAINTAINERS = ("bench", "remake")  # commands whose code is in tools/
COMMANDS += OF_MAINTAINERS
# Commands that pass all arguments, also -h, on to another program.
PASS_WORDS_ON = ("lab", "test", "bench")
NEED_NO_PACKAGES = ("reset", "workshop")


def main(arguments: list[str], explanation: str) -> int:
    """Run one command; return its exit code.

    `arguments` are the arguments after `course.py`. `explanation` is the text that --help prints.
    """
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # the terminal may lack a letter of a file's name
    wants_help = {"-h", "--help"}.intersection(arguments[1:])
    is_help = arguments[:1] in (["-h"], ["--help"], ["help"])
    # Other commands have a parser of their own, which prints its help.
    if is_help or (wants_help and arguments[0] in ("setup", "check")):
        say(explanation.strip())
        return 0
    return run_guarded(start, arguments)


def start(arguments: list[str]) -> int:
    """Check the arguments and make the environment here, then run the command in .venv.

    `arguments` are the arguments after `course.py`. Return the exit code.
    """
    command = command_named(arguments)
    fault = python_fault()
    if command == "check":
        return check(fault)
    if fault:
        raise CommandRefused(fault)
    refuse_wrong_arguments(command, arguments[1:])
    if command in ("lab", "reset"):
        checkout.refuse_foreign(checkout.WORK)
    if command in NEED_NO_PACKAGES:  # these also run if .venv is missing or does not work
        is_venv_usable = version_of([checkout.PYTHON]) in SUPPORTED
        return go_on(checkout.PYTHON if is_venv_usable else sys.executable, arguments)
    lifecycle.set_up(repair=command == "setup")
    return 0 if command == "setup" else go_on(checkout.PYTHON, arguments)


def command_named(arguments: list[str]) -> str:
    """Return the command that the first argument names.

    Raise CommandRefused if it names none, or if a command without arguments gets some.
    """
    every = ", ".join(COMMANDS)
    if not arguments:
        raise CommandRefused(f"Choose a command: {every} (`course.py --help` explains them).")
    if arguments[0] not in COMMANDS:
        near = difflib.get_close_matches(arguments[0], COMMANDS, n=1)
        hint = f"; did you mean {near[0]}?" if near else "."
        raise CommandRefused(f"There is no command {arguments[0]!r}. There are: {every}{hint}")
    if arguments[0] in ("setup", "check") and arguments[1:]:
        further = " ".join(arguments[1:])
        raise CommandRefused(f"`{arguments[0]}` accepts no further words, but got: {further}.")
    return arguments[0]


def refuse_wrong_arguments(command: str, arguments: list[str]) -> None:
    """Raise CommandRefused if the arguments of a command are wrong, before anything is installed.

    Each command is imported only for itself, to keep this start quick.
    """
    if command in OF_MAINTAINERS and not (checkout.ROOT / "tools" / "__init__.py").is_file():
        raise CommandRefused(
            f"`{command}` needs the folder tools/, which a clone of the repository has."
        )
    if command in ("handout", "slides"):
        from helpers.course import handout

        handout.read_arguments(command, arguments)
    elif command == "workshop":
        from helpers.course import workshop

        workshop.read_arguments(arguments)
    elif command in ("reset", "book", "remake"):
        read_notebooks(command, arguments)
    elif command == "bench":
        from tools.benchmarks import names

        try:
            names.chosen(arguments)  # ValueError for an argument that names no benchmark
        except ValueError as refusal:
            raise CommandRefused(f"bench: {refusal}") from None


def read_notebooks(command: str, arguments: list[str]) -> argparse.Namespace:
    """Parse the arguments of `reset`, `book` or `remake`; raise CommandRefused if they are wrong.

    The result has `notebooks`, a list of file names, which is ["all"] for `remake all`. For `reset`
    it also has `solved_to`, the number of exercises to solve, or None.
    """
    from helpers.course import chapter_notebooks

    parser = Parser(command)
    parser.add_argument("notebooks", nargs="*", help="numbers such as 03, or names of notebooks")
    if command == "reset":
        parser.add_argument("--solved-to", type=int, metavar="3", help="so many exercises solved")
    requested = parser.read(arguments)
    if command in ("reset", "remake") and not requested.notebooks:
        there = ", ".join(chapter_notebooks.list_notebooks())
        raise CommandRefused(f"`{command}` needs the number of a notebook; there are: {there}.")
    if command == "remake" and requested.notebooks == ["all"]:
        return requested
    requested.notebooks = [chapter_notebooks.find_notebook(word) for word in requested.notebooks]
    return requested


def go_on(python: Path | str, arguments: list[str]) -> int:
    """Run the command in helpers/course/__main__.py by the Python at a path; return the exit code.

    `arguments` are the arguments after `course.py`.
    """
    # The file is run by its path. `python -m helpers.course` would import `helpers` first, and fail
    # without the message of `check` if a package is missing.
    program = checkout.ROOT / "helpers" / "course" / "__main__.py"
    command = [str(python), str(program), *arguments]
    # These two have an argument --to, a path that is relative to the learner's working folder.
    folder = Path.cwd() if arguments[0] in ("handout", "slides") else None
    return checkout.hand_over(command, checkout.start_environment(), folder)


# -- which Python ----------------------------------------------------------------------------------


def python_fault() -> str | None:
    """Return a sentence if the course does not work with the Python that runs this, else None."""
    name = platform.python_implementation()
    version = tuple(sys.version_info[:2])
    if version in SUPPORTED and name == "CPython":
        return None
    fault = "is too new" if name == "CPython" else "is not CPython"
    alternatives = " or ".join(f"`{command} course.py`" for command in pythons_found())
    if alternatives:
        cure = f"start it with {alternatives}."
    else:
        cure = "none is on this machine, so install one."
    supported = ", ".join(map(dotted, SUPPORTED))
    return f"{name} {dotted(version)} {fault}: the course works with CPython {supported}; {cure}"


def pythons_found() -> list[str]:
    """Return the commands on this machine that start a Python which the course works with.

    Each command, such as "python3.12" or "py -3.12", has been tried.
    """
    candidates = [[f"python{dotted(version)}"] for version in SUPPORTED]
    candidates += [["python3"], ["python"]]
    launcher = shutil.which("py")  # Windows has a launcher, which lists the installed Pythons
    if launcher:
        listed = re.findall(r"-V?:?(3\.\d+)", checkout.ask([launcher, "-0p"]) or "")
        candidates = [["py", f"-{version}"] for version in sorted(set(listed))] + candidates
    working = []
    for command in candidates:
        path = shutil.which(command[0])
        if path and version_of([path, *command[1:]]) in SUPPORTED:
            working.append(" ".join(command))
    return working


# -- check -----------------------------------------------------------------------------------------


def why_foreign() -> str:
    """Return a sentence if the course did not make the folder .venv, else ""."""
    try:
        stamp.refuse_unmade(checkout.VENV)
    except CommandRefused as refusal:
        return str(refusal)
    return ""


def check(fault: str | None) -> int:
    """Check the Python and the environment; a Python that works checks and prints the rest.

    `fault` is what `python_fault` returned. Return the exit code.
    """
    rows = [("MISSING" if fault else "ok", "Python", fault or platform.python_version())]
    python = checkout.PYTHON if checkout.VENV.exists() else Path(sys.executable)
    version = version_of([python])
    where = ".venv" if checkout.VENV.exists() else "this Python, because there is no .venv"
    foreign = why_foreign()
    if foreign:
        rows.append(("MISSING", "environment", foreign))
        python = Path(sys.executable)
    elif version not in SUPPORTED:
        rows.append(("MISSING", "environment", f"{where}, which does not work: {REPAIR}"))
        python = Path(sys.executable)
    elif checkout.VENV.exists() and not stamp.is_current(checkout.VENV):
        rows.append(("note", "environment", f"{where}, not up to date: {REPAIR}"))
    else:
        rows.append(("ok", "environment", f"{where}, Python {dotted(version)}"))
    if fault and version not in SUPPORTED:  # no Python here can run the rest of the check
        return report(rows)
    return go_on(python, ["check", json.dumps(rows)])

"""The words after `course.py` -> a command, refused if they are wrong before anything is installed.

    start     by whatever Python runs course.py: it reads the words and makes .venv
    go_on     by the Python of .venv: helpers/course/__main__.py does what the words ask for

Standard library only.
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
OF_MAINTAINERS = ("bench", "remake")  # tools/ does their work
COMMANDS += OF_MAINTAINERS
PASS_WORDS_ON = ("lab", "test", "bench")  # their words, -h too, are another program's
NEED_NO_PACKAGES = ("reset", "workshop")


def main(words: list[str], explanation: str) -> int:
    """Run one command; return its exit code."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal may lack a letter of a file's name
    asked = {"-h", "--help"}.intersection(words[1:])
    if words[:1] in (["-h"], ["--help"], ["help"]) or asked and words[0] in ("setup", "check"):
        say(explanation.strip())
        return 0
    return run_guarded(start, words)


def start(words: list[str]) -> int:
    """Do what the words ask for: the environment here, the rest by the Python of .venv."""
    command = command_named(words)
    fault = python_fault()
    if command == "check":
        return check(fault)
    if fault:
        raise CommandRefused(fault)
    refuse_wrong_words(command, words[1:])
    if command in ("lab", "reset"):
        checkout.refuse_foreign(checkout.WORK)
    if command in NEED_NO_PACKAGES:  # beside a .venv that does not work, too
        works = version_of([checkout.PYTHON]) in SUPPORTED
        return go_on(checkout.PYTHON if works else sys.executable, words)
    lifecycle.set_up(repair=command == "setup")
    return 0 if command == "setup" else go_on(checkout.PYTHON, words)


def command_named(words: list[str]) -> str:
    """Return the command that the first word names; refuse a word that names none."""
    known = ", ".join(COMMANDS)
    if not words:
        raise CommandRefused(f"Choose a command: {known} (`course.py --help` explains them).")
    if words[0] not in COMMANDS:
        near = difflib.get_close_matches(words[0], COMMANDS, n=1)
        hint = f"; did you mean {near[0]}?" if near else "."
        raise CommandRefused(f"There is no command {words[0]!r}. There are: {known}{hint}")
    if words[0] in ("setup", "check") and words[1:]:
        raise CommandRefused(
            f"`{words[0]}` accepts no further words, but got: {' '.join(words[1:])}."
        )
    return words[0]


def refuse_wrong_words(command: str, words: list[str]) -> None:
    """Read the words of a command, to refuse them before anything is installed."""
    if command in OF_MAINTAINERS and not (checkout.ROOT / "tools" / "__init__.py").is_file():
        raise CommandRefused(
            f"`{command}` needs the folder tools/, which a clone of the repository has."
        )
    if command in ("handout", "slides"):
        from helpers.course import handout

        handout.read_words(command, words)
    elif command == "workshop":
        from helpers.course import workshop

        workshop.read_words(words)
    elif command in ("reset", "book", "remake"):
        read_notebooks(command, words)
    elif command == "bench":
        from tools.benchmarks import names

        try:
            names.chosen(words)
        except ValueError as refusal:
            raise CommandRefused(f"bench: {refusal}") from None


def read_notebooks(command: str, words: list[str]) -> argparse.Namespace:
    """Return what the words of `reset`, `book` and `remake` name.

    `notebooks`, of which `all` names each to `remake`; after `reset` also `solved_to`, or None.
    """
    from helpers.course import chapter_notebooks

    parser = Parser(command)
    parser.add_argument("notebooks", nargs="*", help="numbers such as 03, or names of notebooks")
    if command == "reset":
        parser.add_argument("--solved-to", type=int, metavar="3", help="so many exercises solved")
    asked = parser.read(words)
    if command in ("reset", "remake") and not asked.notebooks:
        there = ", ".join(chapter_notebooks.chapters())
        raise CommandRefused(f"`{command}` needs the number of a notebook; there are: {there}.")
    if command == "remake" and asked.notebooks == ["all"]:
        return asked
    asked.notebooks = [chapter_notebooks.chapter_named(word) for word in asked.notebooks]
    return asked


def go_on(python: Path | str, words: list[str]) -> int:
    """Go on in helpers/course, run by a Python that works.

    By its path, not by -m: what the front door opens may be missing, and `check` is to say so.
    """
    room = checkout.ROOT / "helpers" / "course" / "__main__.py"
    command = [str(python), str(room), *words]
    # The word --to of these two names a folder from where the learner is.
    folder = Path.cwd() if words[0] in ("handout", "slides") else None
    return checkout.hand_over(command, checkout.start_environment(), folder)


# -- which Python ----------------------------------------------------------------------------------


def python_fault() -> str | None:
    """Return the sentence for a Python that the course does not work with, or None."""
    name = platform.python_implementation()
    version = tuple(sys.version_info[:2])
    if version in SUPPORTED and name == "CPython":
        return None
    fault = "is too new" if name == "CPython" else "is not CPython"
    found = " or ".join(f"`{command} course.py`" for command in pythons_found())
    cure = f"start it with {found}." if found else "none is on this machine, so install one."
    works = ", ".join(map(dotted, SUPPORTED))
    return f"{name} {dotted(version)} {fault}: the course works with CPython {works}; {cure}"


def pythons_found() -> list[str]:
    """Return the commands on this machine that start a Python that works; each one was tried."""
    commands = [[f"python{dotted(version)}"] for version in SUPPORTED] + [["python3"], ["python"]]
    launcher = shutil.which("py")  # on Windows
    if launcher:
        listed = re.findall(r"-V?:?(3\.\d+)", checkout.ask([launcher, "-0p"]) or "")
        commands = [["py", f"-{version}"] for version in sorted(set(listed))] + commands
    found = []
    for words in commands:
        path = shutil.which(words[0])
        if path and version_of([path, *words[1:]]) in SUPPORTED:
            found.append(" ".join(words))
    return found


# -- check -----------------------------------------------------------------------------------------


def why_foreign() -> str:
    """Return the sentence about a .venv that the course did not make; "" if it did."""
    try:
        stamp.refuse_unmade(checkout.VENV)
    except CommandRefused as refusal:
        return str(refusal)
    return ""


def check(fault: str | None) -> int:
    """Print which Pythons are here; one of them prints the rest, if it can."""
    rows = [("MISSING" if fault else "ok", "Python", fault or platform.python_version())]
    python = checkout.PYTHON if checkout.VENV.exists() else Path(sys.executable)
    version = version_of([python])
    where = ".venv" if checkout.VENV.exists() else "this Python, because there is no .venv"
    refused = why_foreign()
    if refused:
        rows.append(("MISSING", "environment", refused))
        python = Path(sys.executable)
    elif version not in SUPPORTED:
        rows.append(("MISSING", "environment", f"{where}, which does not work: {REPAIR}"))
        python = Path(sys.executable)
    elif checkout.VENV.exists() and not stamp.is_current(checkout.VENV):
        rows.append(("note", "environment", f"{where}, not up to date: {REPAIR}"))
    else:
        rows.append(("ok", "environment", f"{where}, Python {dotted(version)}"))
    if fault and version not in SUPPORTED:
        return report(rows)
    return go_on(python, ["check", json.dumps(rows)])

"""The words after `course.py` -> what they ask for, in the module of that name."""

import argparse
import sys
from pathlib import Path

if not __package__:  # course.py starts it by its path, from whatever folder
    sys.path[0] = str(Path(__file__).resolve().parents[2])

import course
from helpers.course import check, handout, lab, reset, slides, tests, workshop


def parser() -> argparse.ArgumentParser:
    """Return the parser of our own words; what it leaves is for JupyterLab, pytest, benchmarks."""
    parser = argparse.ArgumentParser("course.py", allow_abbrev=False)
    commands = parser.add_subparsers(metavar="command", required=True)
    passing = [("lab", lab.lab), ("test", tests.test), ("bench", tests.bench)]
    parsing = [("workshop", workshop.workshop), ("handout", handout.handout)]
    parsing.append(("slides", slides.slides))
    for name, run in [*passing, *parsing]:
        # -h too is for the program that is started, or for the parser of its own
        commands.add_parser(name, add_help=False, allow_abbrev=False).set_defaults(run=run)
    reset_ = commands.add_parser("reset", allow_abbrev=False)
    reset_.set_defaults(run=reset.reset)
    reset_.add_argument("words", nargs="*", metavar="notebook")
    reset_.add_argument("--solved-to", type=int, metavar="3")
    book_ = commands.add_parser("book", allow_abbrev=False)
    book_.set_defaults(run=book)
    book_.add_argument("words", nargs="*", metavar="notebook")
    check_ = commands.add_parser("check", allow_abbrev=False)
    check_.set_defaults(run=check.check)
    check_.add_argument("--row", nargs=3, action="append", dest="words", default=[])
    return parser


def book(words: list[str]) -> int:
    """Write the book; what it needs is imported for it alone, and may be missing for the others."""
    from helpers.course.book import site

    return site.book(words)


def start(words: list[str]) -> int:
    """Do what the words ask for; return the exit code."""
    ours, theirs = parser().parse_known_args(words)
    if "words" in ours and theirs:
        parser().error(f"unrecognized arguments: {' '.join(theirs)}")
    named = {name: value for name, value in vars(ours).items() if name not in ("run", "words")}
    return ours.run(ours.words if "words" in ours else theirs, **named)


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # a terminal may lack a letter of a file's name
    sys.exit(course.guarded(start, sys.argv[1:]))

"""The words after `course.py` -> what they ask for, in the module of that name."""

import argparse
import sys
from pathlib import Path

if not __package__:  # course.py starts it by its path, from whatever folder
    sys.path[0] = str(Path(__file__).resolve().parents[2])

import course
from helpers.course import checkup, handout, slides, tests, work, workshop

# Their words all go to the started program, or to a parser of their own; -h too.
PASSING = {"lab": work.lab, "test": tests.test, "bench": tests.bench, "slides": slides.slides}
PASSING |= {"workshop": workshop.workshop, "handout": handout.handout}


def start(words: list[str]) -> int:
    """Do what the words ask for; return the exit code."""
    if words[0] in PASSING:
        return PASSING[words[0]](words[1:])
    parser = argparse.ArgumentParser("course.py", allow_abbrev=False)
    parser.add_argument("command", choices=("reset", "book", "check"))
    parser.add_argument("words", nargs="*", metavar="notebook")
    parser.add_argument("--solved-to", type=int, metavar="3")
    parser.add_argument("--row", nargs=3, action="append", default=[], help=argparse.SUPPRESS)
    asked = parser.parse_intermixed_args(words)
    if asked.command == "book":
        from helpers.course.book import site  # what it needs may be missing for the others

        return site.book(asked.words)
    reset = asked.command == "reset"
    return work.reset(asked.words, asked.solved_to) if reset else checkup.check(asked.row)


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # a terminal may lack a letter of a file's name
    sys.exit(course.guarded(start, sys.argv[1:]))

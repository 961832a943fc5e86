"""The words after `course.py` -> what they ask for, done by the Python of .venv."""

import json
import sys
from pathlib import Path

if not __package__:  # course.py starts it by its path, from whatever folder
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from helpers.course import checkup, commands, handout, slides, terminal, tests, work, workshop


def run(words: list[str]) -> int:
    """Do what the words ask for; return the exit code.

    What the book needs may be missing for the other commands, so it is imported for itself.
    """
    command, *words = words
    if command == "check":
        return checkup.check(json.loads(words[0]))
    if command == "reset":
        asked = commands.read_notebooks(command, words)
        return work.reset(asked.notebooks, asked.solved_to)
    if command == "book":
        from helpers.course.book import site

        return site.book(commands.read_notebooks(command, words).notebooks)
    passing = {"lab": work.lab, "test": tests.test, "bench": tests.bench, "remake": tests.remake}
    passing |= {"workshop": workshop.workshop, "handout": handout.handout, "slides": slides.slides}
    return passing[command](words)


if __name__ == "__main__":
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal may lack a letter of a file's name
    sys.exit(terminal.run_guarded(run, sys.argv[1:]))

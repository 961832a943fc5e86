"""Run a command of `course.py`, such as `course.py lab`, by the Python of the environment .venv."""

import json
import sys
from pathlib import Path

if not __package__:  # course.py starts it by its path, from whatever folder
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from helpers.course import checkup, commands, handout, slides, terminal, tests, work, workshop


def run(arguments: list[str]) -> int:
    """Run a command; return its exit code.

    `arguments` are those that `course.py` got: the name of the command, and its own arguments.
    """
    command, *arguments = arguments
    if command == "check":
        return checkup.check(json.loads(arguments[0]))
    if command == "reset":
        requested = commands.read_notebooks(command, arguments)
        return work.reset(requested.notebooks, requested.solved_to)
    if command == "book":
        # Imported here, because the packages that the book needs may be missing.
        from helpers.course.book import site

        return site.write_book(commands.read_notebooks(command, arguments).notebooks)
    functions = {"lab": work.lab, "test": tests.test, "bench": tests.bench, "remake": tests.remake}
    functions["workshop"] = workshop.workshop
    functions["handout"] = handout.handout
    functions["slides"] = slides.slides
    return functions[command](arguments)


if __name__ == "__main__":
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal may lack a letter of a file's name
    sys.exit(terminal.run_guarded(run, sys.argv[1:]))

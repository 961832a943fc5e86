"""List the course's own notebooks, and find one by what a user types, such as "3"."""

import re
from pathlib import Path

from helpers.course import checkout
from helpers.course.terminal import CommandRefused


def notebooks_folder() -> Path:
    """Return the folder of the course's own notebooks."""
    return checkout.ROOT / "notebooks"


def list_notebooks() -> list[str]:
    """Return the file names of the course's notebooks, in order."""
    return sorted(path.name for path in notebooks_folder().glob("*.ipynb"))


def find_notebook(word: str) -> str:
    """Return the file name of the notebook that a user means by a word.

    "3", "03", "03_byte" and "03_bytecode_and_frames.ipynb" name the same notebook. Raise
    CommandRefused if the word fits no notebook or several.
    """
    stem = re.sub(r"\.ipynb$", "", Path(word).name)
    is_number = re.fullmatch("[0-9]+", stem)
    # A number may have zeros before it, but no digit after it, because 1 is not 10.
    beginning = rf"0*{int(stem)}(?!\d)" if is_number else re.escape(stem)
    matches = [name for name in list_notebooks() if stem and re.match(beginning, name)]
    if len(matches) != 1:
        every = ", ".join(list_notebooks())
        raise CommandRefused(f"{word!r} does not name exactly one notebook; there are: {every}.")
    return matches[0]

"""The course's own notebooks: where they are, and which one a word names."""

import re
from pathlib import Path

from helpers.course import checkout
from helpers.course.terminal import CommandRefused


def notebooks() -> Path:
    """Return the folder of the course's own notebooks."""
    return checkout.ROOT / "notebooks"


def chapters() -> list[str]:
    """Return the names of the course's notebooks."""
    return sorted(path.name for path in notebooks().glob("*.ipynb"))


def chapter_named(word: str) -> str:
    """Return the name of the notebook that a word names: by its number, or how its name begins.

    Words are such as 3, 03, 03_byte and 03_bytecode_and_frames.ipynb. Raise CommandRefused if a
    word names none or several.
    """
    stem = re.sub(r"\.ipynb$", "", Path(word).name)
    is_number = re.fullmatch("[0-9]+", stem)
    # A number with any zeros before it, and no digit behind it: 1 is not 10.
    beginning = rf"0*{int(stem)}(?!\d)" if is_number else re.escape(stem)
    named = [name for name in chapters() if stem and re.match(beginning, name)]
    if len(named) != 1:
        every = ", ".join(chapters())
        raise CommandRefused(f"{word!r} does not name exactly one notebook; there are: {every}.")
    return named[0]

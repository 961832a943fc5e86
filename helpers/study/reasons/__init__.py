"""A question of the course -> the reason of its answer, kept apart from the cell that is run.

One file per chapter, `0.toml` to `7.toml`, with what was asked and why it came out as it did. A
learner who reads the cell before deciding finds the question there, and nothing more.
"""

import tomllib
from functools import cache
from importlib.resources import files


def reason(question: str) -> str:
    """Return why running the code gave what it gave; nothing for a question of the learner's."""
    return _reasons().get(question, (None, ""))[1]


def chapter_of(question: str) -> int | None:
    """Return the number of the chapter that asks this; None for a question of the learner's."""
    return _reasons().get(question, (None, ""))[0]


def of_chapter(number: int) -> dict[str, str]:
    """Return question -> reason of one chapter. FileNotFoundError for a chapter without."""
    found = tomllib.loads(files(__name__).joinpath(f"{number}.toml").read_text("utf-8"))
    return {each["asked"]: " ".join(each["why"].split()) for each in found["reason"]}


@cache
def _reasons() -> dict[str, tuple[int, str]]:
    numbers = (file.name.removesuffix(".toml") for file in files(__name__).iterdir())
    return {
        question: (number, why)
        for number in sorted(map(int, filter(str.isdigit, numbers)))
        for question, why in of_chapter(number).items()
    }

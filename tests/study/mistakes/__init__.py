"""The wrong answers that each judge speaks to, made from the one folded solution of its exercise.

`chapter_N.py` holds a table, exercise -> mistakes. A mistake is words of the verdict, and then
either the pieces of the solution to exchange (old, new, old, new, …) or another program, whole.
"""

from importlib import import_module
from pkgutil import iter_modules

CHAPTERS = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
MISTAKES = {name: known for chapter in CHAPTERS for name, known in chapter.MISTAKES.items()}


def made(solution: str, *pieces: str) -> str:
    """Return the wrong answer that these pieces of a mistake stand for."""
    if len(pieces) == 1:
        return pieces[0]
    for old, new in zip(pieces[::2], pieces[1::2], strict=True):
        solution = edited(solution, old, new)
    return solution


def edited(solution: str, old: str, new: str) -> str:
    """Return a solution with one piece exchanged; ValueError unless it stands there once."""
    if solution.count(old) != 1:
        raise ValueError(f"{old!r} stands {solution.count(old)} times in:\n{solution}")
    return solution.replace(old, new)

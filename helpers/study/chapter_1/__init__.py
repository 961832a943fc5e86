"""The exercises of chapter 1; the first is a guess: five routes to a function."""

from helpers.study.chapter_1.default_finder import default_finder
from helpers.study.chapter_1.rebinding import rebinding
from helpers.study.chapter_1.who_kept import who_kept
from helpers.study.engine import check_guess, exercise

WHY = {
    "alias": "alias = op copied the reference before op was rebound",
    "by_default": "a default is evaluated once, when its def runs, and kept in __defaults__",
    "by_name": "by_name looks op up each time it is called, so it finds what op holds now",
    "shared": "shared and table are two names of one dict, so both see the new item",
    "copied": "dict(table) copied the references that the table held at that moment",
}


@exercise(
    "For each route ask: when did it read the reference, before or after the rebinding?",
    "A default value and a copied dict read it early. Which of the five read it at the call?",
    "by_name and shared see the new function; the other three copied the old one.",
)
def tangle(guess, tangle):
    """You told apart who copied the reference and who looks the name up."""
    return check_guess(guess, dict(zip(WHY, tangle(), strict=True)), WHY, ("old", "new"))


EXERCISES = (tangle, default_finder, rebinding, who_kept)

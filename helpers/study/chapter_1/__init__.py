"""The exercises of chapter 1; the first is a guess: five routes to a function."""

from helpers.study.chapter_1.default_finder import DEFAULT_FINDER
from helpers.study.chapter_1.rebinding import ONE_MORE_HOLDER, REBINDING
from helpers.study.engine import Exercise, check_guess

WHY = {
    "alias": "alias = op copied the reference before op was rebound",
    "by_default": "a default is evaluated once, when its def runs, and kept in __defaults__",
    "by_name": "by_name looks op up each time it is called, so it finds what op holds now",
    "shared": "shared and table are two names of one dict, so both see the new item",
    "copied": "dict(table) copied the references that the table held at that moment",
}
TRUTH = dict.fromkeys(WHY, "old") | {"by_name": "new", "shared": "new"}


def _judge_tangle(guess, tangle):
    if dict(zip(WHY, tangle(), strict=False)) != TRUTH:
        return "tangle is another function by now: run the cell again that makes it"
    return check_guess(guess, TRUTH, WHY, ("old", "new"))


TANGLE = Exercise(
    "tangle",
    _judge_tangle,
    "You told apart who copied the reference and who looks the name up.",
    (
        "For each route ask: when did it read the reference, before or after the rebinding?",
        "A default value and a copied dict read it early. Which of the five read it at the call?",
        "by_name and shared see the new function; the other three copied the old one.",
    ),
)

EXERCISES = (TANGLE, DEFAULT_FINDER, REBINDING, ONE_MORE_HOLDER)

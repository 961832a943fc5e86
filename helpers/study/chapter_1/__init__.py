"""The exercises of chapter 1; the first is a guess about five routes to a function."""

from helpers.study.chapter_1.default_finder import default_finder
from helpers.study.chapter_1.rebinding import rebinding
from helpers.study.chapter_1.who_kept import who_kept
from helpers.study.check import exercise
from helpers.study.engine import judge_guess

# route -> why it leads to the old or the new function, for the verdict
WHY = {
    "alias": "alias = op copied the reference before op was rebound",
    "by_default": "a default is evaluated once, when its def runs, and kept in __defaults__",
    "by_name": "by_name looks up op at each call, so it finds what op refers to now",
    "shared": "shared and table are two names of one dict, so both see the new item",
    "copied": "dict(table) copied the references that were in the table at that moment",
}


@exercise(
    "For each route, ask whether it read the reference before or after the rebinding.",
    "A default value and a copied dict read it early. Which of the five read it at the call?",
    "by_name and shared lead to the new function. The other three copied the old one.",
)
def tangle(guess, tangle):
    """You know which routes copied the reference, and which look it up at the call."""
    # Return None if the guess is right, else a sentence on the first wrong route. The docstring is
    # what the learner reads after a pass. `guess` maps each route to "old" or "new". The notebook's
    # `tangle()` runs the five routes, and returns where each leads, in the order of WHY.
    return judge_guess(guess, dict(zip(WHY, tangle(), strict=True)), WHY, among=("old", "new"))


EXERCISES = (tangle, default_finder, rebinding, who_kept)

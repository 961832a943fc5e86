"""The one exercise of the first notebook: how many names does a call look up?"""

from helpers.capture.text.value import short_repr
from helpers.safety.arguments import real_type_name
from helpers.study.check import exercise

NAMES = compile("f(x)", "<warm-up>", "eval").co_names  # ("f", "x")


@exercise(
    "Read f(x) aloud, word by word. Which words are names?",
    "Not only the function is reached through a name.",
    "Count f, and count x.",
)
def warm_up(count):
    """The code object of f(x) lists two names: f and x. Each is looked up when the line runs."""
    # Return None if the answer is right, else a sentence on what is wrong. The docstring is what
    # the learner reads after a pass.

    # A whole number has `__index__`, also one of NumPy. A bool has it, too, but is no answer.
    if isinstance(count, bool) or not hasattr(type(count), "__index__"):
        answer = f"{short_repr(count)} ({real_type_name(count)})"
        cure = ". Write it without quotes" if isinstance(count, str) else ""
        return f"the answer must be a whole number such as 7, not {answer}{cure}"
    if 0 < count < len(NAMES):
        return f"{count} leaves out a name. The text inside the brackets counts, too"
    if count != len(NAMES):
        return f"{count} is not the number of names that CPython finds. Brackets are not names"
    return None


EXERCISES = (warm_up,)

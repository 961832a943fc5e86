"""A judging of an answer -> why it is not done in the kernel, after a try in a copy of that.

What cannot be stopped in the kernel is stopped in the copy: a call in C that lets nothing else run.
All else is judged in the kernel afterwards, or at once where no copy is made (off Linux).
"""

import sys
from collections.abc import Callable

from helpers.capture.text.source import file_lines
from helpers.safety.rehearsal import Rehearsed, rehearsed

LEFT = "your code ended the process that it ran in"


def why_not(act: Callable[[], str], seconds: float) -> str:
    """Return why an answer fails that must not run here; "" for all others.

    `act` judges, and says why it was stopped, if it was. KeyboardInterrupt at Ctrl-C.
    """
    found = rehearsed(act, seconds)
    if found.how == "idle" and "tensorflow" in sys.modules:
        found = rehearsed(lambda: _without_graphs(act), seconds)
    because = _because(found, seconds)
    if because:
        sys.stdout.write(found.printed)
    return because


def line_at(places: list[tuple[str, int]]) -> str:
    """Return the last line among these that stands in a cell of the learner's; "" if none does."""
    # Only the learner's own lines are read: code may claim to come from any file, or a device.
    own = [place for place in places if is_cell(place[0])]
    file, number = own[-1] if own else ("", 0)
    line = "".join(file_lines(file)[number - 1 : number]).strip() if number else ""
    return f", in line {number} of its cell: {line}" if line else ""


def is_cell(file: str) -> bool:
    """Tell whether a code object with this file was made in a notebook."""
    return "ipykernel_" in file or file == "<answer>"


def _because(found: Rehearsed, seconds: float) -> str:
    if found.how == "deaf":
        what = f"your code did not end within {seconds:g} seconds, in a call in C that lets nothing"
        return f"{what} else run{line_at(found.at[::-1])}"
    if found.how == "left":
        return LEFT
    if found.how == "died" and not {"tensorflow", "torch"} & sys.modules.keys():
        return LEFT  # with those, it may be for want of their threads
    return found.words


def _without_graphs(act: Callable[[], str]) -> str:
    """Judge once more without TensorFlow's threads; only whether it ends is asked then.

    What goes on in a thread of a graph, such as a sleep in a tf.py_function, nothing ends there.
    """
    from helpers.internals.tensorflow_private import run_in_this_thread

    run_in_this_thread()
    return act()

"""`exit()` and `quit()` of a notebook -> the SystemExit of plain Python, while a verb runs.

A shell puts functions of its own in the place of Python's: called, they end the kernel, with every
name in it, a moment after the verb has said how the call went.
"""

from helpers.safety import imported
from helpers.safety.original_builtins import BUILTINS
from helpers.safety.patches import patch

__builtins__ = BUILTINS  # those of the interpreter may be patched when this runs


def exit_raises() -> None:
    """Let both raise SystemExit until the verb that this stands in ends."""
    ipython = imported.module("IPython")
    shell = getattr(ipython, "get_ipython", lambda: None)()
    if shell is not None:
        patch(shell, "ask_exit", _leave)


def _leave() -> None:
    raise SystemExit

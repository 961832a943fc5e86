"""Verbs called in several threads -> one after another, in the order in which they came: `Turn`.

What a verb keeps and puts back is one for the whole process. The calls of one thread share its
turn, so a verb inside of a verb does not wait.
"""

import threading
from _thread import get_ident
from time import monotonic, sleep

from helpers.safety.current_frames import current_frames
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS  # those of the interpreter may be patched when this runs

LONGEST = 60  # seconds that a verb waits for one in another thread,
LONGEST_STILL = 5  # if that one waits for a thread all the while, which may be this one
STEP = 0.001  # seconds between two looks
TURNS: list["Turn"] = []  # those whose calls are under way, or wait


class Turn:
    """The turn of one call: it is taken before anything is read, and left at the very end."""

    __slots__ = ("thread",)

    def __init__(self):
        self.thread = get_ident()

    def take(self) -> None:
        """Wait until the calls of other threads that came before this thread's have ended.

        RuntimeError, in one sentence, if that takes too long.
        """
        TURNS.append(self)
        began = moved = monotonic()
        while others := _others_before(self.thread):
            now = monotonic()
            if not _is_waiting(others[0].thread):
                moved = now
            if now > began + LONGEST or now > moved + LONGEST_STILL:
                self.leave()
                raise RuntimeError(
                    "a verb is at work in another thread, and verbs take turns: call this one when "
                    f"that has ended (it has been waiting for {now - began:.0f} seconds)"
                )
            sleep(STEP * len(others))

    def leave(self) -> None:
        """Let others come; nothing happens where it was not taken."""
        if self in TURNS:
            TURNS.remove(self)


def _others_before(thread: int) -> list[Turn]:
    """Return the turns of other threads that came before the first one of this thread.

    A copy of a process has none of its other threads.
    """
    there, before = current_frames(), []
    for turn in TURNS:
        if turn.thread == thread:
            break
        if turn.thread in there:
            before.append(turn)
    return before


def _is_waiting(thread: int) -> bool:
    """Tell whether a thread waits for another, or for a lock or an event of one."""
    frame = current_frames().get(thread)
    return frame is not None and frame.f_code.co_filename == threading.__file__

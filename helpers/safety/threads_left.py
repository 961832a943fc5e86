"""The threads of before -> where one runs on that somebody else's code has started since.

Those of the house, of the standard library and of what is installed are left out: a framework
keeps threads of its own. Nothing ends a thread from outside.
"""

import threading
from time import monotonic, sleep
from types import FrameType

from helpers.safety.code_places import HOUSE, LIBRARIES, STANDARD
from helpers.safety.current_frames import current_frames
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS

PATIENT = 0.5  # seconds in which a thread may come to its end
STEP = 0.02
_KNOWN = (HOUSE, *STANDARD, "<frozen ", *LIBRARIES)

Places = list[tuple[str, int]]  # file and line of each frame, the outermost first


def running() -> frozenset[int]:
    """Return the threads that run Python code now."""
    return frozenset(current_frames())


def left_running(before: frozenset[int]) -> Places | None:
    """Return the places of a thread that was started since and goes on; None if there is none."""
    since = monotonic()
    while (found := _found(before)) is not None and monotonic() - since < PATIENT:
        sleep(STEP)
    return found


def _found(before: frozenset[int]) -> Places | None:
    threads = {thread.ident: thread for thread in threading.enumerate()}
    for ident, frame in current_frames().items():
        if ident not in before:
            places = _places(frame)
            if _is_theirs(places) or _is_in_c(threads.get(ident)):
                return places
    return None


def _places(frame: FrameType | None) -> Places:
    found = []
    while frame is not None:
        found.append((frame.f_code.co_filename, frame.f_lineno or 0))
        frame = frame.f_back
    return found[::-1]


def _is_theirs(places: Places) -> bool:
    return any(not file.startswith(_KNOWN) for file, _ in places)


def _is_in_c(thread: threading.Thread | None) -> bool:
    """Tell whether a thread was made to call a function in C, such as time.sleep, and does."""
    target = getattr(thread, "_target", None)  # a finished one has none
    return type(target) is type(sleep)

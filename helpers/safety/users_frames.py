"""An error that leaves a verb -> the same error, whose traceback has only the frames of users.

A bare `raise` adds no line for the frame in which it stands. So the traceback that a user sees ends
at the user's own call, in IPython and in plain Python. An error that no verb raised on purpose is a
fault of ours: it keeps all its frames.
"""

import os
import re
import sys
import sysconfig
from collections.abc import Iterator
from dis import opmap
from pathlib import Path
from types import FrameType, TracebackType

from . import PACKAGE
from .arguments import real_isinstance
from .error_parts import arguments_of, cause_of, context_of, traceback_of
from .missing_parts import OneSentence

HOUSE = str(Path(__file__).parents[1]) + os.sep
GENERATED = "<string>"  # the file of what dataclasses and namedtuple write
_SYSTEMS = HOUSE + "mini" + os.sep  # programs like any others, but for the hook, which only watches
_HOOK = _SYSTEMS + "frame_hook" + os.sep
_PLACES = sysconfig.get_paths()
_HOMES = tuple(_PLACES[n] + os.sep for n in ("stdlib", "platstdlib", "purelib", "platlib"))
_HOMES += HOUSE, "<frozen "
_ABOUT_ARGUMENTS = (TypeError, ValueError, LookupError, NameError)

_OTHER_VERB = re.compile(r"(?:show|watch)_[a-z]+(?= (?:needs|is for) )")


def is_library(file: str) -> bool:
    """Return whether a file is of the standard library, an installed package or these verbs."""
    installed = {"site-packages", "dist-packages"} & {*Path(file).parts}  # of any environment
    return file.startswith(_HOMES) or bool(installed)


def is_machinery(frame: FrameType) -> bool:
    """Return whether a frame is of the verbs: of this package, less the small systems."""
    file = frame.f_code.co_filename
    if file == GENERATED:
        return str(frame.f_globals.get("__name__")).startswith(f"{PACKAGE}.")
    return file.startswith(HOUSE) and (file.startswith(_HOOK) or not file.startswith(_SYSTEMS))


def users_frame() -> FrameType:
    """Return the frame that called the verbs: the innermost on this stack that is not of them."""
    frame = sys._getframe(1)
    while is_machinery(frame) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def is_users(frame: FrameType) -> bool:
    """Return whether a frame is of code that is neither a library's nor a verb's."""
    file = frame.f_code.co_filename
    if file == GENERATED:
        name = str(frame.f_globals.get("__name__"))
        return not name.startswith((f"{PACKAGE}.", "namedtuple_"))
    return not is_library(file)


def keep_users_frames(error: BaseException, verb: str = "", of_user: bool = False) -> None:
    """Take the frames of verbs out of an error's traceback, and of those that led to it.

    An error on an argument gets the name of the `verb` if its message lacks it. `of_user`: the
    user's code raised it, whatever its frames are.
    """
    links = list(_links(traceback_of(error)))
    users = [link for link in links if is_users(link.tb_frame)]
    on_purpose = bool(links) and _is_raised_on_purpose(links[-1])
    interrupted = not real_isinstance(error, Exception)
    if not (users or on_purpose or of_user or interrupted):
        return
    if links and is_machinery(links[-1].tb_frame):
        if not (on_purpose or of_user or interrupted):
            return
        if on_purpose and not users:
            _name_verb(error, verb)
    error.__traceback__ = _users_traceback(links)
    if not real_isinstance(error, OneSentence):
        _forget_inner_errors(error)


def _links(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _is_raised_on_purpose(link: TracebackType) -> bool:
    """Return whether a `raise` of these verbs made the error, and not a mistake in them."""
    code = link.tb_frame.f_code.co_code
    return is_machinery(link.tb_frame) and code[link.tb_lasti] == opmap["RAISE_VARARGS"]


def _users_traceback(links: list[TracebackType]) -> TracebackType | None:
    """Return the frames that are not of verbs; after an error of ours, up to the user's last."""
    kept = [link for link in links if not is_machinery(link.tb_frame)]
    if links and is_machinery(links[-1].tb_frame):
        while kept and not is_users(kept[-1].tb_frame):
            kept.pop()
    trace = None
    for link in reversed(kept):
        trace = TracebackType(trace, link.tb_frame, link.tb_lasti, link.tb_lineno)
    return trace


def _name_verb(error: BaseException, verb: str) -> None:
    given = arguments_of(error)
    words = given[0] if len(given) == 1 else None
    is_on_arguments = real_isinstance(error, *_ABOUT_ARGUMENTS) and type(words) is str
    if is_on_arguments and verb.isidentifier() and verb[0] != "_" and verb not in words:
        other = _OTHER_VERB.match(words)  # whose rules this one shares
        error.args = (f"{verb}{words[other.end() :]}" if other else f"{verb}: {words}",)


def _forget_inner_errors(error: BaseException) -> None:
    """Hide the errors behind this one that no code of a user raised."""
    behind = cause_of(error)
    behind = context_of(error) if behind is None else behind
    if behind is None:
        return
    links = list(_links(traceback_of(behind)))
    if not any(is_users(link.tb_frame) for link in links):
        error.__cause__, error.__suppress_context__ = None, True
    else:
        behind.__traceback__ = _users_traceback(links)

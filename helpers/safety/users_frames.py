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
_PATHS = sysconfig.get_paths()
_PATH_NAMES = ("stdlib", "platstdlib", "purelib", "platlib")
# How the files of libraries begin; those of frozen modules are called `<frozen importlib>`.
_LIBRARIES = (*(_PATHS[name] + os.sep for name in _PATH_NAMES), HOUSE, "<frozen ")
_ABOUT_ARGUMENTS = (TypeError, ValueError, LookupError, NameError)

# The name of a verb at the beginning of a message.
_OTHER_VERB = re.compile(r"(?:show|watch)_[a-z]+(?= (?:needs|is for) )")


def is_library(file: str) -> bool:
    """Return whether a file is of the standard library, an installed package or these verbs."""
    installed = {"site-packages", "dist-packages"} & {*Path(file).parts}  # of any environment
    return file.startswith(_LIBRARIES) or bool(installed)


def is_machinery(frame: FrameType) -> bool:
    """Return whether a frame is of the verbs: of this package, less the small systems."""
    file = frame.f_code.co_filename
    if file == GENERATED:
        return str(frame.f_globals.get("__name__")).startswith(f"{PACKAGE}.")
    if file.startswith(_SYSTEMS):
        return file.startswith(_HOOK)
    return file.startswith(HOUSE)


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
    """Take the frames of verbs out of the tracebacks of an error and of its cause or context.

    An error on an argument gets the name of the `verb` if its message lacks it. `of_user` says that
    the user's code raised the error, whatever its frames are. An error that is a fault of ours
    keeps its traceback.
    """
    links = list(_links(traceback_of(error)))  # the last is that of the frame that raised
    has_users_frame = any(is_users(link.tb_frame) for link in links)
    on_purpose = bool(links) and _is_raised_on_purpose(links[-1])
    is_interrupt = not real_isinstance(error, Exception)
    is_expected = on_purpose or of_user or is_interrupt
    if not (has_users_frame or is_expected):  # a fault of ours
        return
    if links and is_machinery(links[-1].tb_frame):  # a verb's own code raised it
        if not is_expected:
            return
        if on_purpose and not has_users_frame:
            _name_verb(error, verb)
    error.__traceback__ = _users_traceback(links)
    if not real_isinstance(error, OneSentence):  # of which no traceback is shown
        _forget_inner_errors(error)


def _links(trace: TracebackType | None) -> Iterator[TracebackType]:
    """Yield the links of a traceback, the outermost call first."""
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _is_raised_on_purpose(link: TracebackType) -> bool:
    """Return whether a `raise` of these verbs made the error, and not a mistake in them."""
    code = link.tb_frame.f_code.co_code
    return is_machinery(link.tb_frame) and code[link.tb_lasti] == opmap["RAISE_VARARGS"]


def _users_traceback(links: list[TracebackType]) -> TracebackType | None:
    """Return a traceback without the links whose frames are of verbs.

    If the last one is, the traceback ends at the last frame of a user: what lies between, such as a
    library that called a verb's code, says nothing to the user.
    """
    kept = [link for link in links if not is_machinery(link.tb_frame)]
    if links and is_machinery(links[-1].tb_frame):
        while kept and not is_users(kept[-1].tb_frame):
            kept.pop()
    trace = None
    for link in reversed(kept):
        trace = TracebackType(trace, link.tb_frame, link.tb_lasti, link.tb_lineno)
    return trace


def _name_verb(error: BaseException, verb: str) -> None:
    """Add the name of a verb to the message of an error on an argument, if the message lacks it.

    Where a verb shares the rules of another, the message names that one. Its name is replaced.
    """
    arguments = arguments_of(error)
    message = arguments[0] if len(arguments) == 1 else None
    if not real_isinstance(error, *_ABOUT_ARGUMENTS) or type(message) is not str:
        return
    is_public = verb.isidentifier() and not verb.startswith("_")
    if not is_public or verb in message:
        return
    other_verb = _OTHER_VERB.match(message)
    if other_verb:
        error.args = (f"{verb}{message[other_verb.end() :]}",)
    else:
        error.args = (f"{verb}: {message}",)


def _forget_inner_errors(error: BaseException) -> None:
    """Hide the cause or context of an error, unless a frame of a user is in its traceback.

    If one is, only the frames of verbs are taken out.
    """
    inner_error = cause_of(error)
    if inner_error is None:
        inner_error = context_of(error)
    if inner_error is None:
        return
    links = list(_links(traceback_of(inner_error)))
    if any(is_users(link.tb_frame) for link in links):
        inner_error.__traceback__ = _users_traceback(links)
    else:
        error.__cause__ = None
        error.__suppress_context__ = True

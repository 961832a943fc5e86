"""Tell frames of user code from frames of this package, and cut the latter out of tracebacks.
A *verb* is a public function of this package. An error that a verb raises on purpose, such as for a
wrong argument, leaves the verb with a traceback that ends at the user's own call. An error that a
mistake in this package causes keeps all its frames.

The verb raises the cut error again by a bare `raise`, which adds no line for the verb's own frame.
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
GENERATED = "<string>"  # the file name of functions that dataclasses and namedtuple generate
# The example programs in `mini` count as user code. Only the frame hook in it is part of the verbs.
_SYSTEMS = HOUSE + "mini" + os.sep
_HOOK = _SYSTEMS + "frame_hook" + os.sep
_PATHS = sysconfig.get_paths()
_PATH_NAMES = ("stdlib", "platstdlib", "purelib", "platlib")
# How the paths of library files begin. The file of a frozen module is called `<frozen importlib>`.
_LIBRARIES = (*(_PATHS[name] + os.sep for name in _PATH_NAMES), HOUSE, "<frozen ")
_ABOUT_ARGUMENTS = (TypeError, ValueError, LookupError, NameError)

# The name of a verb at the beginning of a message, as in "show_graph needs a dict".
_OTHER_VERB = re.compile(r"(?:show|watch)_[a-z]+(?= (?:needs|is for) )")


def is_library(file: str) -> bool:
    """Return whether a file is of the standard library, an installed package or this package."""
    # A package of another environment than this one counts, too.
    is_installed = not {"site-packages", "dist-packages"}.isdisjoint(Path(file).parts)
    return file.startswith(_LIBRARIES) or is_installed


def is_verbs_frame(frame: FrameType) -> bool:
    """Return whether a frame runs code of this package, but not of the example programs in `mini`.

    The frame hook in `mini` counts as code of this package.
    """
    file = frame.f_code.co_filename
    if file == GENERATED:
        return str(frame.f_globals.get("__name__")).startswith(f"{PACKAGE}.")
    if file.startswith(_SYSTEMS):
        return file.startswith(_HOOK)
    return file.startswith(HOUSE)


def users_frame() -> FrameType:
    """Return the innermost frame on the stack that is not of this package: the caller of a verb."""
    frame = sys._getframe(1)
    while is_verbs_frame(frame) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def is_users_frame(frame: FrameType) -> bool:
    """Return whether a frame runs the user's code, and neither a library's nor this package's."""
    file = frame.f_code.co_filename
    if file == GENERATED:
        # A method that dataclasses generate runs in the module of its class. One that namedtuple
        # generates runs in a module called "namedtuple_…".
        name = str(frame.f_globals.get("__name__"))
        return not name.startswith((f"{PACKAGE}.", "namedtuple_"))
    return not is_library(file)


def remove_verb_frames(error: BaseException, verb: str = "", of_user: bool = False) -> None:
    """Remove this package's frames from the traceback of an error, and of its cause or context.

    An error that a mistake in this package caused keeps its traceback.

    Parameters
    ----------
    error
        The error, which is changed.
    verb
        The name of the verb that the error leaves. It is added to the message of an error on an
        argument if the message lacks it.
    of_user
        Whether it is known that the user's code raised the error, whatever its frames are.
    """
    links = list(_list_links(traceback_of(error)))  # the last link is of the frame that raised
    has_users_frame = any(is_users_frame(link.tb_frame) for link in links)
    on_purpose = bool(links) and _is_raised_on_purpose(links[-1])
    is_interrupt = not real_isinstance(error, Exception)
    is_expected = on_purpose or of_user or is_interrupt
    is_raised_here = bool(links) and is_verbs_frame(links[-1].tb_frame)  # by code of this package
    # An unexpected error is a mistake of this package if its own code raised it, or if no code of
    # the user took part.
    if not is_expected and (is_raised_here or not has_users_frame):
        return
    if on_purpose and not has_users_frame:
        _name_verb(error, verb)
    error.__traceback__ = _cut_traceback(links)
    # A OneSentence is shown without its cause, which may stay.
    if not real_isinstance(error, OneSentence):
        _hide_inner_error(error)


def _list_links(trace: TracebackType | None) -> Iterator[TracebackType]:
    """Yield the entries of a traceback, one for each frame, the outermost call first."""
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _is_raised_on_purpose(link: TracebackType) -> bool:
    """Return whether a `raise` statement of this package raised the error.

    `link` is the last entry of the traceback. Any other instruction that raises, such as the lookup
    of a missing attribute, means a mistake in this package.
    """
    code = link.tb_frame.f_code.co_code
    return is_verbs_frame(link.tb_frame) and code[link.tb_lasti] == opmap["RAISE_VARARGS"]


def _cut_traceback(links: list[TracebackType]) -> TracebackType | None:
    """Return a new traceback without the entries whose frames are of this package.

    `links` are the entries of the old one. If code of this package raised the error, the traceback
    ends at the last frame of user code. Frames of a library that called this package are of no use
    to the user there.
    """
    remaining = [link for link in links if not is_verbs_frame(link.tb_frame)]
    if links and is_verbs_frame(links[-1].tb_frame):
        while remaining and not is_users_frame(remaining[-1].tb_frame):
            remaining.pop()
    trace = None
    for link in reversed(remaining):
        trace = TracebackType(trace, link.tb_frame, link.tb_lasti, link.tb_lineno)
    return trace


def _name_verb(error: BaseException, verb: str) -> None:
    """Add the name of a verb to the message of an error on an argument, if the message lacks it.

    A verb may call another one to check its arguments. Then the message begins with the name of the
    other verb, which is replaced.
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


def _hide_inner_error(error: BaseException) -> None:
    """Hide the cause or context of an error if only code of this package and libraries raised it.

    If user code is in the traceback of that inner error, the inner error is shown without this
    package's frames.
    """
    inner_error = cause_of(error)
    if inner_error is None:
        inner_error = context_of(error)
    if inner_error is None:
        return
    links = list(_list_links(traceback_of(inner_error)))
    if any(is_users_frame(link.tb_frame) for link in links):
        inner_error.__traceback__ = _cut_traceback(links)
    else:
        error.__cause__ = None
        error.__suppress_context__ = True

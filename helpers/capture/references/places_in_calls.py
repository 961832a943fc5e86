"""Find the local variables of calls that refer to an object, and say what keeps the frame of each
call alive: an exception has the frames of its traceback, and a paused generator or coroutine has
its own frame. A Place is one such reference.
"""

import inspect
import types
from gc import get_referrers

from ...internals.interpreter_frame import read_local_variables
from ...safety.arguments import item_of_type, real_isinstance, real_type_name
from ..text.source import format_place
from .places import HiddenList, Place

_FRAME_ATTRIBUTES = {
    types.GeneratorType: "gi_frame",
    types.CoroutineType: "cr_frame",
    types.AsyncGeneratorType: "ag_frame",
}


def find_variables(call: object, value: object) -> list[Place]:
    """Return a Place for each local variable of a call that refers to `value`.

    `call` is a frame, a generator or a coroutine. For any other object the list is empty. The
    reason in a Place says what keeps the variable, such as "a generator keeps it, at app.py:3".
    """
    is_frame = type(call) is types.FrameType
    frame = call if is_frame else _read_frame(call)
    # Only the frame of a function has its variables in the frame. The variables of a module or a
    # class body are in a dict, which the search finds as a dict.
    if frame is None or not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        return []
    names = [name for name, item in read_local_variables(frame).items() if item is value]
    if not names:
        return []

    # A generator keeps its frame itself, so no exception is looked for.
    errors = _find_errors(frame) if is_frame else HiddenList()
    if errors:
        keeper = f"the traceback of {real_type_name(errors[0])}"
    else:
        keeper = f"a {real_type_name(call)}"
    place = format_place(frame.f_code, frame.f_lineno)
    reason = f"{keeper} keeps it"
    if place:
        reason += f", at {place}"
    return [Place("local variable", call, name, reason=reason, errors=errors) for name in names]


def _read_frame(call: object) -> types.FrameType | None:
    """Return the frame of a generator or coroutine; None if it has ended, or for anything else."""
    attribute = item_of_type(call, _FRAME_ATTRIBUTES)
    return getattr(call, attribute) if attribute else None


def _find_errors(frame: types.FrameType) -> HiddenList:
    """Return the exceptions whose tracebacks contain a frame, sorted by the names of their types.

    An exception is left out if it is the cause or context of another one, which leads to it.
    """
    errors = HiddenList()
    # Climb from the frame to the tracebacks that refer to it, and on to the exceptions.
    level = HiddenList([frame])
    while level:
        referrers = [referrer for item in level for referrer in get_referrers(item)]
        errors.extend(item for item in referrers if real_isinstance(item, BaseException))
        # Each call has a traceback object, which refers to that of the next inner call. Only the
        # outermost one is an attribute of the exception.
        level = HiddenList(item for item in referrers if type(item) is types.TracebackType)

    inner_ids = set()
    for error in errors:
        inner_ids |= {id(error.__context__), id(error.__cause__)}
    outer = (error for error in errors if id(error) not in inner_ids)
    return HiddenList(sorted(outer, key=real_type_name))

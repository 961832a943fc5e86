"""A Python function -> its source beside the code that AutoGraph generates from it.

AutoGraph keeps a source map of what it generates (tensorflow/python/autograph/pyct/origin_info.py).
"""

from types import MethodType

from ...model.side_by_side import SideBySide, align_lines
from ...safety.arguments import quote_value, static_attribute
from ..cpython.frameworks_of_callables import refuse_other_framework
from ..cpython.objects import ASYNC_GENERATOR, COROUTINE, read_title_name
from ..cpython.unwrapping import find_called_function
from ..text.error import describe_error, suggest_function_of_module
from ..text.source import describe_outdated_source, find_source
from .trace_recorder import find_recorder

NOTE = (
    "AutoGraph's own source map matches the lines. AutoGraph added the lines without a number "
    "on the left."
)


def build_autograph_listing(fn) -> SideBySide:
    """Return a function's source beside the code that AutoGraph generates from it, line by line.

    TypeError says that `fn` is no Python function, ValueError why AutoGraph does not convert it.
    """
    refuse_other_framework(fn, (), "show_autograph", "TensorFlow")
    import tensorflow as tf

    recorder = find_recorder(fn)
    if recorder is not None:  # a ledger of a tf.function's calls: that function is meant
        fn = recorder.function
    function = find_called_function(fn)
    if function is None:
        needed = "show_autograph needs a Python function"
        raise TypeError(f"{needed}, not {quote_value(fn)}{suggest_function_of_module(fn)}")
    name = read_title_name(function)
    reason = _find_reason_against(fn, function)
    if reason:
        raise ValueError(f"AutoGraph leaves {name} as it is: {reason}")

    lines, first_number = _read_source(function, name)
    try:
        converted = tf.autograph.to_graph(function)
    except Exception as error:
        raise ValueError(f"AutoGraph cannot convert {name}: {describe_error(error)}") from None
    if not hasattr(converted, "ag_source_map"):  # it is the function itself
        raise ValueError(f"AutoGraph leaves {name} as it is")

    generated_lines, first_generated = _read_source(converted, name)
    # A line of the generated code -> the line of the source from which it comes, both from 1.
    origins = {
        generated.lineno - first_generated + 1: info.loc.lineno - first_number + 1
        for generated, info in converted.ag_source_map.items()
    }
    return SideBySide(
        f"{name}, before and after AutoGraph",
        "what you wrote",
        "what AutoGraph made of it",
        align_lines(lines, generated_lines, origins),
        NOTE,
    )


def _find_reason_against(fn, function) -> str:
    """Return why AutoGraph would not convert `function`, which is wrapped in `fn`; or ""."""
    if static_attribute(fn, "_autograph", True) is False:
        return "autograph=False says so"
    is_method = type(fn) is MethodType
    inner = fn.__func__ if is_method else static_attribute(fn, "_python_function")
    # `do_not_convert` and AutoGraph itself leave this mark; its value may be None.
    marks = [static_attribute(marked, "autograph_info__", ...) for marked in (fn, inner)]
    if any(mark is not ... for mark in marks):
        return "it is marked so"
    if function.__code__.co_flags & (COROUTINE | ASYNC_GENERATOR):
        return "it converts no async function"
    return ""


def _read_source(function, name: str) -> tuple[list[str], int]:
    """Return the source lines of a function, and the number of the first one in its file.

    ValueError says, with the `name` of the function, that the source is not there.
    """
    source = find_source(function.__code__)
    outdated = describe_outdated_source(function.__code__)
    if source.text and not outdated:
        return source.lines, source.first
    reason = f": {outdated}" if outdated else "; define the function in a cell or a file"
    raise ValueError(f"AutoGraph needs it, and the source of {name} is not available{reason}")

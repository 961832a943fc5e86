"""A Python function -> its source beside the code that AutoGraph generates from it.

AutoGraph is the part of tf.function that rewrites Python source: an `if` over a tensor becomes a
call of `ag__.if_stmt`. AutoGraph keeps a source map of what it generates
(tensorflow/python/autograph/pyct/origin_info.py).
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

    A blank stands beside each line that exists on one side only. Raise TypeError if there is no
    Python function in `fn`, and ValueError if AutoGraph does not convert it; the message says why.
    """
    refuse_other_framework(fn, (), "show_autograph", "TensorFlow")
    import tensorflow as tf

    recorder = find_recorder(fn)
    if recorder is not None:
        # `fn` is what `watch_traces` returned, which stands for the tf.function that it watches.
        fn = recorder.function
    # The function that the user wrote, without the tf.function and the method around it.
    function = find_called_function(fn)
    if function is None:
        needed = "show_autograph needs a Python function"
        raise TypeError(f"{needed}, not {quote_value(fn)}{suggest_function_of_module(fn)}")
    name = read_title_name(function)
    reason = _find_exclusion(fn, function)
    if reason:
        raise ValueError(f"AutoGraph leaves {name} as it is: {reason}")

    own_lines, first_own_number = _read_source(function, name)
    try:
        converted = tf.autograph.to_graph(function)
    except Exception as error:
        raise ValueError(f"AutoGraph cannot convert {name}: {describe_error(error)}") from None
    # AutoGraph returns the function itself, without a source map, if it converts nothing.
    if not hasattr(converted, "ag_source_map"):
        raise ValueError(f"AutoGraph leaves {name} as it is")

    generated_lines, first_generated_number = _read_source(converted, name)
    # The index of a generated line -> the index of the line that the user wrote. Both count from 1,
    # while the source map has the numbers of lines in their files.
    own_index_by_generated = {}
    for generated, origin in converted.ag_source_map.items():
        generated_index = generated.lineno - first_generated_number + 1
        own_index_by_generated[generated_index] = origin.loc.lineno - first_own_number + 1
    return SideBySide(
        f"{name}, before and after AutoGraph",
        "what you wrote",
        "what AutoGraph made of it",
        align_lines(own_lines, generated_lines, own_index_by_generated),
        NOTE,
    )


def _find_exclusion(fn, function) -> str:
    """Return why AutoGraph leaves `function` as it is, or "" if AutoGraph converts it.

    `fn` is what the user passed: `function` itself, a method of it, or a tf.function of it.
    """
    if static_attribute(fn, "_autograph", True) is False:
        return "autograph=False says so"  # an option of the tf.function
    wrapped = static_attribute(fn, "_python_function")  # None if `fn` is no tf.function
    if type(fn) is MethodType:
        wrapped = fn.__func__
    # `tf.autograph.experimental.do_not_convert` sets this attribute, and so does AutoGraph on the
    # functions that it generates. Any value counts, also None. So `...` stands for "not there".
    marks = [static_attribute(candidate, "autograph_info__", ...) for candidate in (fn, wrapped)]
    if any(mark is not ... for mark in marks):
        return "it is marked so"
    if function.__code__.co_flags & (COROUTINE | ASYNC_GENERATOR):
        return "it converts no async function"
    return ""


def _read_source(function, name: str) -> tuple[list[str], int]:
    """Return the source lines of a function, and the number of the first line in its file.

    Raise ValueError if there is no source, or if the file has changed since Python loaded it. The
    message calls the function by its `name`.
    """
    source = find_source(function.__code__)
    file_change = describe_outdated_source(function.__code__)  # "" if the file is as it was
    if source.text and not file_change:
        return source.lines, source.first_line
    reason = f": {file_change}" if file_change else "; define the function in a cell or a file"
    raise ValueError(f"AutoGraph needs it, and the source of {name} is not available{reason}")

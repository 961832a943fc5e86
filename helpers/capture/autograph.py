"""A Python function -> its source beside what AutoGraph makes of it, joined by AutoGraph's own map.

AutoGraph keeps a source map on the function that it generates (`ag_source_map`, see
tensorflow/python/autograph/pyct/origin_info.py): generated line -> line it came from. The order of
names in `nonlocal` lines follows the hash seed, so it is the same only under one PYTHONHASHSEED.
"""

import inspect
import textwrap

from helpers.capture.words import label
from helpers.model.side_by_side import SideBySide, align

NOTE = (
    "The lines are joined by AutoGraph's own source map; a line without a number on the left is "
    "made up by AutoGraph."
)


def autograph_side_by_side(fn) -> SideBySide:
    """Return the source of `fn` and the source that AutoGraph generates from it, line by line.

    `fn`: a Python function or a tf.function. TypeError for anything else, ValueError where its
    source is not available or AutoGraph cannot convert it.
    """
    function = inspect.unwrap(getattr(fn, "python_function", fn))
    if not inspect.isfunction(function):
        raise TypeError(f"show_autograph needs a Python function, not {label(fn)}")
    left, first = _source(function)
    converted = _converted(function)
    right, start = _source(converted)
    origin = {
        generated.lineno - start + 1: info.loc.lineno - first + 1
        for generated, info in converted.ag_source_map.items()
    }
    title = f"{function.__name__}, before and after AutoGraph"
    pairs = align(left, right, origin)
    return SideBySide(title, "what you wrote", "what AutoGraph made of it", pairs, NOTE)


def _converted(function):
    import tensorflow as tf

    try:
        converted = tf.autograph.to_graph(function)
    except Exception as failure:
        raise ValueError(f"AutoGraph cannot convert {function.__name__}: {failure}") from failure
    if not hasattr(converted, "ag_source_map"):
        raise ValueError(f"AutoGraph leaves {function.__name__} as it is")
    return converted


def _source(function) -> tuple[list[str], int]:
    """Return the dedented lines and the number of the first one in its file."""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError) as failure:
        raise ValueError(
            f"the source of {function.__name__} is not available; AutoGraph needs it, so define "
            "the function in a cell or a file"
        ) from failure
    return textwrap.dedent("".join(lines)).rstrip().split("\n"), max(first, 1)

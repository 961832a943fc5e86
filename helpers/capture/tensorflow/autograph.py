"""A Python function -> its source beside what AutoGraph makes of it, joined by AutoGraph's own map.

AutoGraph keeps a source map on the function that it generates (`ag_source_map`, see
tensorflow/python/autograph/pyct/origin_info.py): generated line -> line it came from. The order of
names in `nonlocal` lines follows the hash seed, so it is the same only under one PYTHONHASHSEED.
"""

from types import FunctionType, MethodType

from helpers.capture.cpython.objects import ASYNC_GENERATOR, COROUTINE, name_of
from helpers.capture.tensorflow.tracing.ledger import watched_of
from helpers.capture.text.error import instead, said
from helpers.capture.text.source import source_of, why_outdated
from helpers.model.side_by_side import SideBySide, align
from helpers.safety.arguments import alive, is_a, own, shown, unwritten

MOST_DECORATORS = 100

NOTE = (
    "The lines are joined by AutoGraph's own source map; a line without a number on the left is "
    "made up by AutoGraph."
)


def autograph_side_by_side(fn) -> SideBySide:
    """Return the source of `fn` and the source that AutoGraph generates from it, line by line.

    `fn`: a Python function or a tf.function. TypeError for anything else, ValueError where its
    source is not available or AutoGraph cannot convert it.
    """
    function = _python_function(fn)
    if type(function) is not FunctionType:
        raise TypeError(f"show_autograph needs a Python function, not {shown(fn)}{instead(fn)}")
    alive(function, name_of(function))
    if function.__code__.co_flags & (COROUTINE | ASYNC_GENERATOR):
        raise ValueError(f"AutoGraph converts no async function, such as {name_of(function)}")
    if why := unwritten(function):
        raise ValueError(f"AutoGraph cannot convert {name_of(function)}: it {why}")
    left, first = _source(function)
    converted = _converted(function)
    right, start = _source(converted)
    origin = {
        generated.lineno - start + 1: info.loc.lineno - first + 1
        for generated, info in converted.ag_source_map.items()
    }
    title = f"{name_of(function)}, before and after AutoGraph"
    pairs = align(left, right, origin)
    return SideBySide(title, "what you wrote", "what AutoGraph made of it", pairs, NOTE)


def _python_function(fn):
    """Return the function of a tf.function, of a method, and inside its decorators."""
    import tensorflow as tf

    known = watched_of(fn)
    fn = known.function if known else fn
    if is_a(fn, tf.types.experimental.PolymorphicFunction):
        if not getattr(fn, "_autograph", True):
            raise ValueError(f"AutoGraph leaves {name_of(fn)} as it is: autograph=False says so")
        fn = fn.python_function
    for _ in range(MOST_DECORATORS):
        if type(fn) is MethodType:
            fn = fn.__func__
        if type(fn) is FunctionType and own(fn, "autograph_info__", ...) is not ...:
            raise ValueError(f"AutoGraph leaves {name_of(fn)} as it is: it is marked so")
        inner = own(fn, "__wrapped__") if type(fn) is FunctionType else None
        if inner is None:
            return fn
        fn = inner
    raise TypeError(f"show_autograph found no end of the decorators around {name_of(fn)}")


def _converted(function):
    import tensorflow as tf

    name = name_of(function)
    try:
        converted = tf.autograph.to_graph(function)
    except KeyboardInterrupt:
        raise
    except BaseException as failure:
        raise ValueError(f"AutoGraph cannot convert {name}: {said(failure)}") from None
    if not hasattr(converted, "ag_source_map"):
        raise ValueError(f"AutoGraph leaves {name} as it is")
    return converted


def _source(function) -> tuple[list[str], int]:
    """Return the dedented lines and the number of the first one in its file."""
    if why := why_outdated(function.__code__):
        raise ValueError(f"AutoGraph needs the source of {name_of(function)}, and {why}")
    source = source_of(function.__code__)
    if not source.text:
        raise ValueError(
            f"the source of {name_of(function)} is not available; AutoGraph needs it, so define "
            "the function in a cell or a file"
        )
    return source.lines, source.first

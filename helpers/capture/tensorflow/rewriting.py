"""A function -> what AutoGraph makes of its source, and what Grappler makes of its graph.

AutoGraph keeps a source map on the function that it generates (`ag_source_map`, see
tensorflow/python/autograph/pyct/origin_info.py): generated line -> line it came from. The order of
names in `nonlocal` lines follows the hash seed, so it is the same only under one PYTHONHASHSEED.

The executor hands out the graphs before and after Grappler when a function is made ready for its
first run (RunMetadata.function_graphs, tensorflow/core/protobuf/config.proto). So a function of its
own is made from the same Python function, and the caller's traces and counts stay as they are.
"""

from dataclasses import replace
from types import FunctionType, MethodType

from helpers.capture.cpython.objects import ASYNC_GENERATOR, COROUTINE, name_of
from helpers.capture.tensorflow.tf_graph import plain_name, tf_graph, traced
from helpers.capture.tensorflow.tf_graph_diff import compare
from helpers.capture.tensorflow.trace_ledger import as_tf_function, watched_of
from helpers.capture.text.error import instead, said
from helpers.capture.text.source import source_of, why_outdated
from helpers.internals import tensorflow_private
from helpers.model.graph_diff import GraphDiff
from helpers.model.side_by_side import SideBySide, align
from helpers.safety.arguments import is_a, kind_of, own, printable, shown, unwritten
from helpers.safety.restoring import theirs

MOST_DECORATORS = 100
JOINED = (
    "The lines are joined by AutoGraph's own source map; a line without a number on the left is "
    "made up by AutoGraph."
)
INFERRED = (
    "Both graphs come from the run itself. What became of each node is inferred from these two "
    "alone; Grappler was not asked."
)


def autograph_side_by_side(fn) -> SideBySide:
    """Return the source of `fn` and the source that AutoGraph generates from it, line by line.

    `fn`: a Python function or a tf.function. TypeError for anything else, ValueError where its
    source is not available or AutoGraph cannot convert it.
    """
    function = _python_function(fn)
    if type(function) is not FunctionType:
        raise TypeError(f"show_autograph needs a Python function, not {shown(fn)}{instead(fn)}")
    name = name_of(function)
    if function.__code__.co_flags & (COROUTINE | ASYNC_GENERATOR):
        raise ValueError(f"AutoGraph converts no async function, such as {name}")
    if why := unwritten(function):
        raise ValueError(f"AutoGraph cannot convert {name}: it {why}")
    left, first = _source(function, name)
    converted = _converted(function, name)
    right, start = _source(converted, name)
    origin = {
        generated.lineno - start + 1: info.loc.lineno - first + 1
        for generated, info in converted.ag_source_map.items()
    }
    pairs, title = align(left, right, origin), f"{name}, before and after AutoGraph"
    return SideBySide(title, "what you wrote", "what AutoGraph made of it", pairs, JOINED)


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


def _converted(function, name: str):
    import tensorflow as tf

    try:
        converted = tf.autograph.to_graph(function)
    except Exception as failure:
        raise ValueError(f"AutoGraph cannot convert {name}: {said(failure)}") from None
    if not hasattr(converted, "ag_source_map"):
        raise ValueError(f"AutoGraph leaves {name} as it is")
    return converted


def _source(function, name: str) -> tuple[list[str], int]:
    """Return the dedented lines and the number of the first one in its file."""
    if why := why_outdated(function.__code__):
        raise ValueError(f"AutoGraph needs the source of {name}, and {why}")
    source = source_of(function.__code__)
    if not source.text:
        raise ValueError(
            f"the source of {name} is not available; AutoGraph needs it, so define "
            "the function in a cell or a file"
        )
    return source.lines, source.first


def watch_grappler(fn, *args, **kwargs) -> GraphDiff:
    """Run `fn(*args, **kwargs)` once in graph mode and return what became of each of its nodes.

    `fn`: a tf.function or a Python function that TensorFlow can trace. TypeError otherwise;
    ValueError says why it cannot be traced or run; what an op raises comes through; RuntimeError
    if the run gave no graphs, or nothing can run now.
    """
    import tensorflow as tf

    known = watched_of(fn)
    given = known.function if known else fn
    function = is_a(given, tf.types.experimental.PolymorphicFunction)
    python = given.python_function if function else given
    if is_a(given, tf.types.experimental.ConcreteFunction):
        raise TypeError("watch_optimisation needs the tf.function, not one of its traces")
    if not callable(python) or is_a(python, type):
        needed = f"watch_optimisation needs a function to run, not {kind_of(fn)}"
        raise TypeError(f"{needed}{instead(fn)}")
    if tf.inside_function():
        raise RuntimeError("nothing runs while TensorFlow traces: call watch_optimisation outside")
    own_function = as_tf_function(python)
    concrete = traced(own_function, args, kwargs)
    wanted = {operation.name for operation in concrete.graph.get_operations()}
    graphs = _graphs_of_a_run(own_function, args, kwargs, wanted)
    name = printable(plain_name(concrete.graph.name))
    before = tf_graph(graphs.pre_optimization_graph, title=f"{name}, as Grappler gets it")
    after = tf_graph(graphs.post_optimization_graph, title=f"{name}, as it runs")
    counts = f"{len(before.nodes)} nodes before Grappler, {len(after.nodes)} as it runs"
    return replace(compare(before, after, f"{name}: {counts}"), note=INFERRED)


def _graphs_of_a_run(function, args, kwargs, wanted):
    """Return the function graphs that share the most names with `wanted`.

    An eager op that runs beside it for the first time leaves graphs of its own.
    """
    import tensorflow as tf

    with tensorflow_private.run_metadata() as collected:
        try:
            with theirs():
                function(*args, **kwargs)
        except tf.errors.OpError:
            raise
        except Exception as error:  # the arguments' own, while they are made into tensors
            raise ValueError(f"it cannot run with these arguments: {said(error)}") from None
        graphs = list(collected().function_graphs)
    if not graphs:
        raise RuntimeError("this run handed out no graphs; does the function hold any op?")
    return max(graphs, key=lambda g: sum(n.name in wanted for n in g.pre_optimization_graph.node))

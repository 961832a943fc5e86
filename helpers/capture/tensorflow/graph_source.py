"""A tf.function, ConcreteFunction, tf.Graph, GraphDef or Python function -> its GraphDef.

A GraphDef is TensorFlow's serialised form of a graph, a protocol buffer. A ConcreteFunction is one
trace of a tf.function. If there is no trace yet, TensorFlow makes one.
"""

from dataclasses import dataclass

from ...internals import tensorflow_private, tensorflow_traces
from ...safety.arguments import printable, real_isinstance, real_type_name
from ...safety.restoring import running_user_code
from ..cpython.frameworks_of_callables import refuse_other_framework
from ..cpython.objects import read_callable_name
from ..text.error import describe_error, suggest_function_of_module
from .graph_nodes import format_plain_name
from .tf_functions import KERAS_TRAINER, PYTHON_FUNCTIONS, make_tf_function
from .trace_recorder import find_recorder
from .wrapped_callables import list_wrapped_callables

NEEDED = (
    "a graph can be drawn of a tf.function, one of its concrete functions, a tf.Graph or a "
    "GraphDef, or of a Python function and its arguments"
)
NO_NAME = "function"  # TensorFlow's name for the graph of something without a `__name__`


@dataclass(frozen=True, eq=False)
class NamedGraphDef:
    """A GraphDef, and what it is called."""

    #: the name of the function that was traced; "" if no function is known
    name: str
    #: a tensorflow.compat.v1.GraphDef
    graph_def: object


def read_graph_def(thing, args: tuple, kwargs: dict) -> NamedGraphDef:
    """Return the GraphDef of `thing`, which is a graph already, or a function to trace.

    `args` and `kwargs` are arguments of a call, which choose the trace of a function. The GraphDef
    contains the shapes of outputs, unless `thing` is a GraphDef itself.

    Raise TypeError if `thing` has no graph, and ValueError if it has several and no argument says
    which one is meant.
    """
    refuse_other_framework(thing, args, "show_graph", "TensorFlow")
    import tensorflow as tf

    graph_def_type = tf.compat.v1.GraphDef
    graph_types = graph_def_type, tf.Graph, tf.types.experimental.ConcreteFunction
    is_graph = real_isinstance(thing, *graph_types)
    if is_graph and (args or kwargs):
        raise TypeError(f"a {real_type_name(thing)} is a graph already and takes no arguments")
    source = thing if is_graph else _find_concrete_function(thing, args, kwargs)
    if real_isinstance(source, graph_def_type):
        return NamedGraphDef("", source)

    graph = source if real_isinstance(source, tf.Graph) else source.graph
    name = ""
    if real_isinstance(graph, tensorflow_private.FuncGraph):
        name = printable(format_plain_name(graph.name))
    if source is not thing and name == NO_NAME:  # `thing` is a callable with a better name
        name = read_callable_name(thing)
    return NamedGraphDef(name, graph.as_graph_def(add_shapes=True))


def _find_concrete_function(thing, args: tuple, kwargs: dict):
    """Return the ConcreteFunction of a callable for these arguments.

    Without arguments, return the only ConcreteFunction of a tf.function. A plain Python function
    needs arguments, because it has not been traced yet.
    """
    has_arguments = bool(args or kwargs)
    recorder = find_recorder(thing)
    function = recorder.function if recorder is not None else thing
    if _is_of_keras_trainer(function) and not has_arguments:
        # A model's `train_function` is a Python loop around the tf.function of one step.
        function = _find_inner_tf_function(function)

    if not real_isinstance(function, tensorflow_private.Function):
        is_class = real_isinstance(function, type)  # a class is callable, but has no graph
        if not callable(function) or is_class or not has_arguments:
            hint = " alone" if callable(function) else suggest_function_of_module(function)
            raise TypeError(f"{NEEDED}, not {real_type_name(function)}{hint}")
        function = make_tf_function(function)
    if has_arguments:
        return trace_function(function, args, kwargs)

    traces = tensorflow_traces.list_traces(function)
    if len(traces) == 1:
        return traces[0]
    raise ValueError(
        f"this tf.function has {len(traces) or 'no'} traces, so which graph is meant? "
        "Add the arguments of a call, or pass a concrete function"
    )


def _is_of_keras_trainer(function) -> bool:
    """Return whether Keras's trainer defines a function, such as a model's `train_function`."""
    is_python_function = real_isinstance(function, *PYTHON_FUNCTIONS)
    return is_python_function and function.__module__ == KERAS_TRAINER


def _find_inner_tf_function(function):
    """Return the tf.function that a Python function wraps or closes on.

    Of several, return the first that has a trace, or the first one if none has. Return `function`
    itself if there is no tf.function in it.
    """
    wrapped = list_wrapped_callables(function)
    tf_functions = [part for part in wrapped if not real_isinstance(part, *PYTHON_FUNCTIONS)]
    for tf_function in tf_functions:
        if tensorflow_traces.list_traces(tf_function):
            return tf_function
    return tf_functions[0] if tf_functions else function


def trace_function(function, args: tuple, kwargs: dict):
    """Return the ConcreteFunction of a tf.function for these arguments.

    TensorFlow traces the function if it has no trace for them, and that runs the user's code. Raise
    ValueError, with TensorFlow's own message, if it cannot trace.
    """
    try:
        with running_user_code():
            return function.get_concrete_function(*args, **kwargs)
    except Exception as error:
        reason = f"TensorFlow cannot trace it for these arguments: {describe_error(error)}"
        raise ValueError(reason) from None

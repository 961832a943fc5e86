"""What a program passes as a graph -> the GraphDef that it has, or that TensorFlow traces."""

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
    """Return the GraphDef of a graph, or of a function for these arguments.

    The GraphDef contains the shapes of outputs, unless `thing` is a GraphDef itself. TypeError says
    that `thing` has no graph, ValueError that it is not clear which one is meant.
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
    """Return the ConcreteFunction of a callable for these arguments, or its only one.

    A plain Python function needs arguments, because it has not been traced yet.
    """
    has_arguments = bool(args or kwargs)
    recorder = find_recorder(thing)
    function = recorder.function if recorder is not None else thing
    if _is_of_keras_trainer(function) and not has_arguments:
        function = _find_traced_part(function)

    if not real_isinstance(function, tensorflow_private.Function):
        is_class = real_isinstance(function, type)
        if not callable(function) or is_class or not has_arguments:
            hint = " alone" if callable(function) else suggest_function_of_module(function)
            raise TypeError(f"{NEEDED}, not {real_type_name(function)}{hint}")
        function = make_tf_function(function)
    if has_arguments:
        return trace_function(function, args, kwargs)

    traces = tensorflow_traces.all_traces(function)
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


def _find_traced_part(function):
    """Return the tf.function around which Keras wrapped a loop, the first with a trace if possible.

    Return `function` itself if it wraps no tf.function.
    """
    wrapped = list_wrapped_callables(function)
    inner = [part for part in wrapped if not real_isinstance(part, *PYTHON_FUNCTIONS)]
    for part in inner:
        if tensorflow_traces.all_traces(part):
            return part
    return inner[0] if inner else function


def trace_function(function, args: tuple, kwargs: dict):
    """Return the ConcreteFunction of a tf.function for arguments, which may trace.

    ValueError says why TensorFlow cannot trace.
    """
    try:
        with running_user_code():
            return function.get_concrete_function(*args, **kwargs)
    except Exception as error:
        reason = f"TensorFlow cannot trace it for these arguments: {describe_error(error)}"
        raise ValueError(reason) from None

"""Verbs on TensorFlow: graphs, traces, AutoGraph, Grappler, variables, and its C libraries.
A verb is a public function. It makes a model, a record of facts, with a function of `capture`, and
returns an exhibit: the model with a view that draws it. Most verbs have a decorator that restores
afterwards what the verb has changed in the interpreter, such as a tracer.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..exhibit import BlockExhibit, Exhibit, LiveExhibit, model_of
from ..safety.restoring import preserves_interpreter_state, returns_what_to_call

if TYPE_CHECKING:
    from ..model.trace_records import TraceEntry

TRACE = 2  # station of the spine: cache key
C_API = 6  # station of the spine: C call


@preserves_interpreter_state
def show_graph(thing: object, /, *args: Any, find: str = "", **kwargs: Any) -> Exhibit:
    """Draw the TensorFlow graph of a tf.function, a concrete function, a tf.Graph or a GraphDef.

    Of Keras's `train_function` you see what it traced.

    Parameters
    ----------
    thing : tf.function, concrete function, tf.Graph or GraphDef
        What has a graph.
    *args, **kwargs
        Arguments of a call, for which the function is traced.
    find : str
        Highlight the nodes with all of these words in name or op, in the whole graph, and keep them
        visible when it is folded.

    Returns
    -------
    Exhibit
        `.model` has `nodes` and `edges`.

    Raises
    ------
    TypeError
        If nothing has a graph.
    ValueError
        If it is not clear which graph.
    LookupError
        If no node has the words of `find`.

    Examples
    --------
    >>> show_graph(tf.function(step), x, find="Mul")
    """
    from ..capture.tensorflow.tf_graph import find_in_graph
    from ..view.diagram.graph_view import graph

    return Exhibit(find_in_graph(thing, args, kwargs, find), graph, TRACE)


@preserves_interpreter_state
def show_graph_steps(thing: object, /, *args: Any, **kwargs: Any) -> Exhibit:
    """Show a TensorFlow graph in steps. The nodes of one step could run in parallel.

    Parameters
    ----------
    thing : tf.function, concrete function, tf.Graph or GraphDef
        What has a graph.
    *args, **kwargs
        Arguments of a call, for which the function is traced.

    Returns
    -------
    Exhibit
        `.model` has `rows`, the longest `path`, and `widest`: the largest number of ops in a step.

    Raises
    ------
    TypeError, ValueError
        As `show_graph`.

    Examples
    --------
    >>> show_graph_steps(tf.function(step), x).model.widest
    """
    from ..capture.tensorflow.tf_graph import build_steps
    from ..view.table_view import lanes

    return Exhibit(build_steps(thing, *args, **kwargs), lanes, TRACE)


@preserves_interpreter_state
def show_graph_diff(before: object, after: object, *, title: str = "") -> Exhibit:
    """Compare two graphs, and say what became of each node of `before`.

    Parameters
    ----------
    before, after : graph or Exhibit
        What `show_graph` accepts without arguments, or an exhibit that it returned.
    title : str
        The title of the picture.

    Returns
    -------
    Exhibit
        `.model.findings` contains what became of each node.

    Raises
    ------
    TypeError, ValueError
        As `show_graph`.

    Examples
    --------
    >>> show_graph_diff(show_graph(step, x), show_graph(other, x))
    """
    from ..capture.tensorflow.graph_diff import build_graph_diff
    from ..view.diagram.graph_view import graph_diff

    return Exhibit(build_graph_diff(model_of(before), model_of(after), title), graph_diff, TRACE)


@preserves_interpreter_state
def show_autograph(f: Callable[..., Any]) -> Exhibit:
    """Show a function's source beside the code that AutoGraph generates from it, line by line.

    Parameters
    ----------
    f : callable
        A Python function, or a tf.function.

    Returns
    -------
    Exhibit
        `.model.pairs` contains the lines.

    Raises
    ------
    TypeError
        If `f` is not a Python function.

    Examples
    --------
    >>> show_autograph(step).model.pairs
    """
    from ..capture.tensorflow.autograph import build_autograph_listing
    from ..view.source_views import side_by_side

    return Exhibit(build_autograph_listing(f), side_by_side, TRACE)


@preserves_interpreter_state
def watch_optimisation(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Exhibit:
    """Run `f(*args, **kwargs)` as a graph, and show what Grappler made of each node.

    Parameters
    ----------
    f : callable
        A tf.function, or a function that becomes one.
    *args, **kwargs
        The arguments of the call.

    Returns
    -------
    Exhibit
        `.model.findings` contains what became of each node.

    Raises
    ------
    TypeError, ValueError
        If `f` cannot be a graph for these arguments.

    Examples
    --------
    >>> watch_optimisation(step, x).model.found("folded")
    """
    from ..capture.tensorflow.grappler import record_grappler
    from ..view.diagram.graph_view import graph_diff

    return Exhibit(record_grappler(f, *args, **kwargs), graph_diff, TRACE)


@preserves_interpreter_state
def watch_mutations(
    cases: Mapping[str, Any],
    *,
    ways: Mapping[str, Callable[[Callable[..., Any]], Callable[..., Any]]] | None = None,
) -> Exhibit:
    """Run functions that change things, and show which raise, what they change, and at which call.

    Of a tf.function, and of what torch.compile returned, the Python function is run. Each way is
    called twice, unless it raises: a tf.function traces at the first call, and then hits. Each call
    finds the same state: containers and plain objects among the arguments, globals and closures,
    and the random numbers of Python, NumPy, PyTorch, TensorFlow and Keras. A change of it is named
    by its path and restored, also if another thread made it. What a random op of TensorFlow with a
    seed has drawn cannot be put back, and the row says it. An attribute of a library's module or
    class, such as `sys.stdout`, that it sets is set again in the end. Names that a framework or
    Python itself adds are left alone. What Dynamo keeps is as before afterwards; as it is, a
    function runs what it calls of torch.compile's as plain Python.

    Objects that are not compared (an array, a variable, an object of a library) are listed. What is
    printed through `sys.stdout` is compared. What is printed through another stream, such as one
    that the program or a log handler kept, is not. What a function of a library changes elsewhere
    is not compared either, nor what is reached by a name that is made during the call.

    Parameters
    ----------
    cases : dict of str to callable or tuple
        Name -> function, or (function, *arguments).
    ways : dict of str to callable, optional
        Heading -> what makes a callable of a function. Without it, the ways are the function as it
        is, and behind the frameworks that your program uses: `tf.function`, or a `torch.compile` of
        a copy, with `backend="eager"`.

    Returns
    -------
    Exhibit
        `.model.entries` contains the rows.

    Raises
    ------
    TypeError
        If `cases` is not such a dict.

    Examples
    --------
    >>> watch_mutations({"append": (step, [])})
    """
    from ..capture.tensorflow.mutations import build_mutations_ledger
    from ..view.table_view import ledger

    return Exhibit(build_mutations_ledger(cases, ways), ledger, TRACE)


@preserves_interpreter_state
@returns_what_to_call
def watch_traces(f: Callable[..., Any], /, **options: Any) -> LiveExhibit:
    """Return `f`, to be called as before, with a ledger of its calls: hit or trace, and why.

    A plain function becomes `tf.function(f, **options)` first. Watching does not change the counts
    of a tf.function. An argument is asked for its type once more than by TensorFlow. As a decorator
    in a class it keeps a ledger for each object, because TensorFlow keeps a tf.function for each;
    that of the class has the rows of them all.

    Parameters
    ----------
    f : callable
        A tf.function, or a function that becomes one.
    **options
        The options of `tf.function`, for a plain function.

    Returns
    -------
    LiveExhibit
        What to call. `.model.traces` counts retraces too, `.retraces` only them, and each of
        `.model.entries` has `arguments`, `verdict`, `causes` and `note`.

    Raises
    ------
    TypeError
        If `f` cannot be called.

    Examples
    --------
    >>> step = watch_traces(step)
    >>> step(x)
    >>> print(step)
    """
    from ..capture.tensorflow.trace_ledger import watch_function
    from ..view.table_view import ledger

    return LiveExhibit(watch_function(f, **options), ledger, TRACE)


@preserves_interpreter_state
def would_trace(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "TraceEntry":
    """Return the row that a call `f(*args, **kwargs)` would add now, without making the call.

    Only an error in the body could still change that row.

    Parameters
    ----------
    f : callable
        A tf.function, or what `watch_traces` returned.
    *args, **kwargs
        The arguments of the call.

    Returns
    -------
    TraceEntry
        It has `arguments`, `verdict`, `causes` and `note`.

    Raises
    ------
    TypeError
        If `f` cannot be called.

    Examples
    --------
    >>> would_trace(step, x).verdict == "hit"
    """
    from ..capture.tensorflow import trace_ledger

    return trace_ledger.would_trace(f, *args, **kwargs)


@preserves_interpreter_state
def watching_traces() -> BlockExhibit:
    """List the traces that TensorFlow makes in a `with` block, in any function.

    A call that hits adds no row. Functions that were made before the block, as Keras does, and
    functions of other threads are included. A new tf.function is a retrace if its code was traced
    in the block, or by a tf.function that was in memory at its start, of the same owner: of a
    method the self, of a closure what it closes on, of a functools.partial its arguments. What its
    own trace traces of a function is no retrace. Functions that tf.data traces are only counted.
    Errors in the block are raised.

    Returns
    -------
    BlockExhibit
        `.model` is as of `watch_traces`.

    Examples
    --------
    >>> with watching_traces() as seen:
    ...     train()
    >>> assert not seen.model.retraces, str(seen)
    """
    from ..capture.tensorflow.traces_in_block import BlockRecorder
    from ..view.table_view import ledger

    return BlockExhibit(BlockRecorder(), ledger, TRACE)


@preserves_interpreter_state
def show_c_api() -> Exhibit:
    """List TensorFlow's shared libraries and the C functions that each file exports.

    Returns
    -------
    Exhibit
        `.model.rows` contains a file each.

    Examples
    --------
    >>> show_c_api()
    """
    from ..capture.tensorflow.c_libraries import list_libraries
    from ..view.table_view import table

    return Exhibit(list_libraries(), table, C_API)


@preserves_interpreter_state
def show_imports_then_and_now() -> Exhibit:
    """Compare what Python imported to reach C in 2019 with what is there now, looked up live.

    Returns
    -------
    Exhibit
        `.model.rows` contains an import each.

    Examples
    --------
    >>> show_imports_then_and_now()
    """
    from ..capture.tensorflow.c_api_changes import list_changes
    from ..view.table_view import table

    return Exhibit(list_changes(), table, C_API)


@preserves_interpreter_state
def watch_race(program: Callable[[Any, Any], Any], *, runs: int = 500) -> Exhibit:
    """Count what a program of `watch_variables` sees in many runs with each kind of variable.

    Parameters
    ----------
    program : callable
        A function that returns what to fetch. Its two arguments are tensors of a graph: a variable
        (0 at first) and the number 1.
    runs : int
        The number of runs with each kind of variable.

    Returns
    -------
    Exhibit
        `.model.saw("ResourceVariable")` contains the outcomes of that kind of variable.

    Raises
    ------
    TypeError, ValueError
        If `program` is not a function, or `runs` not a valid number.

    Examples
    --------
    >>> watch_race(program, runs=100).model.saw("RefVariable")
    """
    from ..capture.tensorflow.variable_outcomes import build_race_histogram
    from ..view.table_view import table

    return Exhibit(build_race_histogram(program, runs), table, C_API)


@preserves_interpreter_state
def watch_variables(
    programs: Mapping[str, Callable[[Any, Any], Any]], *, runs: int = 100
) -> Exhibit:
    """Run programs with a RefVariable and with a ResourceVariable, and compare what they saw.

    Parameters
    ----------
    programs : dict of str to callable
        Name -> a function that returns what to fetch. Its two arguments are tensors of a graph: a
        variable (0 at first) and the number 1.
    runs : int
        The number of runs of each program with each kind of variable.

    Returns
    -------
    Exhibit
        `.model.entries` contains a program each.

    Raises
    ------
    TypeError, ValueError
        If `programs` is not such a dict, or `runs` not a valid number.

    Examples
    --------
    >>> watch_variables({"read, then add": program})
    """
    from ..capture.tensorflow.variable_outcomes import build_variables_ledger
    from ..view.table_view import ledger

    return Exhibit(build_variables_ledger(programs, runs), ledger, C_API)


@preserves_interpreter_state
def startup_switches() -> Exhibit:
    """Try start-up switches, each in a fresh interpreter. You can edit and rerun them.

    Returns
    -------
    Exhibit
        `.model.runs` contains the runs. In Jupyter a widget runs them anew; `.run(label)` does too.

    Examples
    --------
    >>> startup_switches()
    """
    from ..capture.tensorflow import startup_switches as switches
    from .switches import Switches

    return Switches(switches.run_switches(), switches.run_switch)

"""Verbs on calls into TensorFlow and PyTorch: their way, their Python layers, their ops.
A verb is a public function. It makes a model, a record of facts, with a function of `capture`, and
returns an exhibit: the model with a view that draws it. Most verbs have a decorator that restores
afterwards what the verb has changed in the interpreter, such as a tracer.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..exhibit import BlockExhibit, Exhibit, model_of
from ..safety.restoring import (
    preserves_interpreter_state,
    raises_what_the_call_raises,
    speaks_to_users,
)

if TYPE_CHECKING:
    from ..model.call_records import CallTree
    from ..model.op_records import OpLog

STATION = 6  # the place "C call" on the map of a call, whose mark the exhibits show


@preserves_interpreter_state
def show_journey(
    f: Callable[..., Any], /, *args: Any, ways: bool = False, shares: bool = False, **kwargs: Any
) -> Exhibit:
    """Run `f(*args, **kwargs)` twice, and show which of the six seams each of the calls passed.

    What it changes, it changes twice. The journey begins inside the call: *name* means that your
    own lines looked up globals, and the name of `f` is not counted. *cache key* is that of a
    tf.function or of functools. Guards of Dynamo are asked at *evaluator*. *Yours* is the code in
    the module of `f`. Frames of other modules are counted but not followed.

    An Exception that it raises, and what it prints through `sys.stdout`, appear in the exhibit.
    What it prints through another stream, such as one that a log handler kept, does not.

    Parameters
    ----------
    f : callable
        The function, which is called.
    *args, **kwargs
        The arguments of each call.
    ways : bool
        Run the function in three ways, twice each: as it is, behind a fresh `tf.function`, and
        behind a fresh `torch.compile`. The random numbers of Python, NumPy, PyTorch, TensorFlow and
        Keras are then as after the first call.
    shares : bool
        Call it a few more times with only a profiler written in C, and show whose code took the
        time.

    Returns
    -------
    Exhibit
        `.model.first` and `.model.again` contain the counts, for the calling thread.
        `.model.by("tf.function")` returns one of the ways.

    Raises
    ------
    TypeError
        If `f` cannot be called, makes a coroutine, or is not a plain function though `ways=True`.

    Examples
    --------
    >>> show_journey(step, x).model.first.ops
    """
    from ..capture.frameworks.journey import build_journey
    from ..view.spine_view import journey as view

    return Exhibit(build_journey(f, *args, ways=ways, shares=shares, **kwargs), view)


@preserves_interpreter_state
def show_interceptions() -> Exhibit:
    """List the usual ways to intercept a call, from the name to the op, and what uses each now.

    No framework is imported, and nothing of yours is called.

    Returns
    -------
    Exhibit
        `.model.taken` maps each way in use to what uses it.

    Examples
    --------
    >>> show_interceptions().model.taken
    """
    from ..capture.frameworks.call_interceptions import list_interceptions
    from ..view.spine_view import interceptions as view

    return Exhibit(list_interceptions(), view)


@raises_what_the_call_raises
def watch_call(
    f: Callable[..., Any],
    /,
    *args: Any,
    depth: int | None = None,
    only: object = None,
    most: int = 20_000,
    **kwargs: Any,
) -> Exhibit:
    """Run `f(*args, **kwargs)` once, and show its calls into a framework as a tree.

    A first call also shows what a framework does only once, such as a trace. A copy that AutoGraph
    or Dynamo made of a function counts as that function. Calls in other threads are not seen. An
    Exception of `f` is raised after the exhibit is printed.

    Parameters
    ----------
    f : callable
        The function, which is called.
    *args, **kwargs
        The arguments of the call.
    depth : int, optional
        The largest number of levels of calls to show.
    only : function, class, module, str, or a list of these, optional
        Show only the calls of these. A str is the name of a function, a class, a module or a file,
        of any library.
    most : int
        The largest number of calls to show.

    Returns
    -------
    Exhibit
        `.model` has `calls` and `routes`.

    Raises
    ------
    TypeError
        If `f` cannot be called, or makes a coroutine.
    TypeError, ValueError
        For a wrong `depth`, `only` or `most`.

    Examples
    --------
    >>> watch_call(step, x, depth=3)
    """
    from ..capture.frameworks.call_tree import record_call_tree
    from ..view.call_view import call_tree as view

    tree = record_call_tree(f, *args, depth=depth, only=only, most=most, **kwargs)
    return Exhibit(tree, view, STATION)


@preserves_interpreter_state
def watch_calls(
    cases: Mapping[str, Any],
    *,
    depth: int | None = None,
    only: object = None,
    most: int = 20_000,
) -> Exhibit:
    """Run every case twice, and compare the landmarks that each second call passes.

    The first call is not shown: it does what a framework does only once, such as a trace.

    Parameters
    ----------
    cases : dict of str to callable or tuple
        Name -> function, or (function, *arguments).
    depth, only, most
        The limits, as in `watch_call`.

    Returns
    -------
    Exhibit
        `.model.entries` contains a case each.

    Raises
    ------
    TypeError, ValueError
        If `cases` is not such a dict, or for a wrong limit.

    Examples
    --------
    >>> watch_calls({"eager": (step, x), "graph": (tf.function(step), x)})
    """
    from ..capture.frameworks.call_ledger import build_calls_ledger
    from ..view.table_view import ledger

    return Exhibit(build_calls_ledger(cases, depth, only, most), ledger, STATION)


@preserves_interpreter_state
def show_call_diff(left: "Exhibit | CallTree", right: "Exhibit | CallTree") -> Exhibit:
    """Show two trees of `watch_call` side by side, line by line.

    Parameters
    ----------
    left, right : Exhibit or CallTree
        What `watch_call` returned, or its model.

    Returns
    -------
    Exhibit
        `.model.pairs` contains the lines.

    Raises
    ------
    TypeError
        If either is not such a tree.

    Examples
    --------
    >>> show_call_diff(watch_call(step, x), watch_call(tf.function(step), x))
    """
    from ..capture.frameworks.call_diff import build_call_diff
    from ..view.source_views import side_by_side

    return Exhibit(build_call_diff(model_of(left), model_of(right)), side_by_side, STATION)


@raises_what_the_call_raises
def watch_ops(f: Callable[..., Any], /, *args: Any, most: int = 500, **kwargs: Any) -> Exhibit:
    """Run `f(*args, **kwargs)` and list the ops that TensorFlow, or PyTorch, reports for it.

    A backward op has the layer of its forward op in PyTorch, and none in TensorFlow. The gradient
    of a weight that several layers use has none. Both frameworks report only the ops of the calling
    thread. A tf.function that already has its graph counts as one op. Work in a kernel that
    torch.compile generated is no op at all. While it is watched, torch adds a `detach` where a
    result is saved for the backward pass, and sums gradients by `add`. torch.profiler does not
    cause that. An Exception of `f` is raised after the exhibit is printed.

    Parameters
    ----------
    f : callable
        The function, which is called.
    *args, **kwargs
        The arguments of the call.
    most : int
        The largest number of ops to list.

    Returns
    -------
    Exhibit
        Each of `.model.rows` has `op`, `layer` (a path, such as `layer1.0.conv1`), `stage`
        (forward, backward, recompute, after, update), `reads` and `makes`.

    Raises
    ------
    TypeError
        If `f` cannot be called.
    ValueError
        If `most` is not a valid number.

    Examples
    --------
    >>> assert "aten.mul" in watch_ops(step, x).model.ops
    """
    from ..capture.frameworks.executed_ops import record_ops
    from ..view.table_view import table

    return Exhibit(record_ops(f, *args, most=most, **kwargs), table, STATION)


@preserves_interpreter_state
def watching_ops(*, most: int = 500) -> BlockExhibit:
    """List the ops that TensorFlow and PyTorch report in a `with` block.

    A tensor that your names lead to appears under its name. `layer` begins with your name for the
    outermost module, or the name of its class. You see the ops of this thread, from frameworks that
    were imported before the block. Errors in the block are raised.

    Parameters
    ----------
    most : int
        The largest number of ops to list.

    Returns
    -------
    BlockExhibit
        `.model` is as of `watch_ops`: `.ops` contains the names, and each of `.rows` has `op`,
        `layer`, `stage`, `reads` and `makes`.

    Raises
    ------
    TypeError, ValueError
        If `most` is not a valid number.

    Examples
    --------
    >>> with watching_ops() as seen:
    ...     model(x)
    >>> [row.op for row in seen.model.rows if row.layer == "model.fc"]
    """
    from ..capture.frameworks.executed_ops import OpsInBlock
    from ..view.table_view import table

    return BlockExhibit(OpsInBlock(most), table, STATION)


@preserves_interpreter_state
def show_op_graph(title: str, **logs: "Exhibit | OpLog") -> Exhibit:
    """Draw the ops of a `watch_ops` log as a graph. Several logs share a picture, by name.

    Parameters
    ----------
    title : str
        The title of the picture.
    **logs : Exhibit or OpLog
        Name -> what `watch_ops` or `watching_ops` returned, or its model; at least one.

    Returns
    -------
    Exhibit
        `.model` has `nodes` and `edges`.

    Raises
    ------
    TypeError
        If there is no log, or an argument is not a log.

    Examples
    --------
    >>> show_op_graph("One step", torch=watch_ops(step, x))
    """
    from ..capture.frameworks.executed_ops import join_op_logs
    from ..view.diagram.graph_view import figures

    models = {name: model_of(log) for name, log in logs.items()}
    return Exhibit(join_op_logs(title, **models), figures, STATION)


@speaks_to_users
def op_routes(op: Callable[..., Any], /, *args: Any) -> dict[str, Callable[[], Any]]:
    """Return a dict from each route to a function that calls `op(*args)` on that route.

    Names come first, at most 40. Each is looked up when its route runs.

    Parameters
    ----------
    op : callable
        A function, from TensorFlow or your own, that runs one op through its generated wrapper,
        such as `tf.nn.bias_add`.
    *args
        The arguments of the op.

    Returns
    -------
    dict of str to callable
        Route -> a callable without arguments.

    Raises
    ------
    TypeError
        If `op` is not a function.
    ValueError
        If the call fails or does not run exactly one op.

    Examples
    --------
    >>> list(op_routes(tf.nn.bias_add, value, bias))
    """
    from ..capture.frameworks.op_routes import build_op_routes

    return build_op_routes(op, *args)

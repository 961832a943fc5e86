"""Verbs on PyTorch: graphs, guards, graph breaks, recompiles, and the hook in the evaluator.
A verb is a public function. It makes a model, a record of facts, with a function of `capture`, and
returns an exhibit: the model with a view that draws it. Most verbs have a decorator that restores
afterwards what the verb has changed in the interpreter, such as a tracer.
"""

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from ..exhibit import BlockExhibit, Exhibit, LiveExhibit, model_of
from ..safety.arguments import require_bool
from ..safety.restoring import (
    preserves_interpreter_state,
    raises_what_the_call_raises,
    returns_what_to_call,
    speaks_to_users,
)

STATION = 4  # the place "evaluator" on the map of a call, whose mark the exhibits show


@preserves_interpreter_state
def show_fx(thing: object, *, title: str = "", find: str = "") -> Exhibit:
    """Draw an FX graph.

    Parameters
    ----------
    thing : torch.fx.GraphModule or torch.fx.Graph
        The graph.
    title : str
        The title of the picture.
    find : str
        Highlight the nodes with these words in their name or call, and keep them visible when a
        large graph is folded.

    Returns
    -------
    Exhibit
        `.model` has `nodes` and `edges`.

    Raises
    ------
    TypeError
        If `thing` is not a `torch.fx.GraphModule` or a `torch.fx.Graph`.
    LookupError
        If no node has the words of `find`.

    Examples
    --------
    >>> show_fx(torch.fx.symbolic_trace(layer), find="linear")
    """
    from ..capture.torch.fx_graph import build_fx_graph
    from ..view.diagram.graph_view import graph

    return Exhibit(build_fx_graph(thing, title, find), graph, STATION)


@preserves_interpreter_state
def show_grad_fn(tensor: object, *, find: str = "", names: object = None) -> Exhibit:
    """Draw the backward graph that torch keeps for a tensor.

    Parameters
    ----------
    tensor : torch.Tensor
        A tensor of any shape with a `grad_fn`, such as a loss.
    find : str
        Highlight the nodes with these words, and keep them visible when a long graph is folded.
    names : nn.Module or dict of str to tensor, optional
        Labels for the leaves: the parameters of the module, or name -> tensor.

    Returns
    -------
    Exhibit
        `.model` has `nodes` and `edges`.

    Raises
    ------
    TypeError
        If `tensor` is not a tensor.
    ValueError
        If it has no `grad_fn`.
    LookupError
        If no node has the words of `find`.

    Examples
    --------
    >>> show_grad_fn(loss, names=model)
    """
    from ..capture.torch.grad_fn_graph import build_grad_fn_graph
    from ..view.diagram.graph_view import graph

    return Exhibit(build_grad_fn_graph(tensor, find, names), graph, STATION)


@preserves_interpreter_state
def show_compiled(f: Callable[..., Any]) -> Exhibit:
    """Draw what `torch.compile` keeps for `f` now: slot, cache entries, guards, new code, backend.

    Parameters
    ----------
    f : callable
        A function, compiled or not, or an nn.Module.

    Returns
    -------
    Exhibit
        `.model` has `nodes` and `edges`.

    Raises
    ------
    TypeError
        If there is no Python function behind `f`.

    Examples
    --------
    >>> show_compiled(compiled_step)
    """
    from ..capture.torch.compiled_graph import build_compiled_graph
    from ..view.diagram.graph_view import graph

    return Exhibit(build_compiled_graph(f), graph, STATION)


@preserves_interpreter_state
def show_guards(
    f: Callable[..., Any],
    *,
    find: str = "",
    as_table: bool = False,
    call: tuple[Any, ...] | list[Any] | dict[str, Any] | None = None,
    entry: int = 1,
) -> Exhibit:
    """Draw the guard tree of each cache entry that Dynamo keeps for `f`, or its module's forward.

    With `call`, you see the guards of one `entry` as Python, evaluated for that call.

    Parameters
    ----------
    f : callable
        A compiled function or nn.Module, which was called before.
    find : str
        Highlight guards with these words.
    as_table : bool
        List the guards instead, and with `find` only the matching ones.
    call : tuple or dict, optional
        The arguments of a call, by position or by name.
    entry : int
        The number of the cache entry whose guards check `call`, from 1.

    Returns
    -------
    Exhibit
        `.model.guards` contains the guards of a tree, `.model.rows` those of a table. With `call`,
        `.model.source` is one function with all of them, which `guard_function` makes.

    Raises
    ------
    LookupError
        If nothing was compiled, or nothing is found: it names other frames that have such guards.
    TypeError
        If `entry` comes without `call`, or an argument has a wrong type.
    ValueError
        If there is no such `entry`.

    Examples
    --------
    >>> show_guards(compiled_step, find="layer1", as_table=True)
    """
    from ..capture.torch import guard_tree
    from ..capture.torch.guard_program import build_guard_program
    from ..view.diagram.graph_view import graph
    from ..view.table_view import table

    if call is not None:  # show how the guards check this call
        return Exhibit(build_guard_program(f, call, entry), table, STATION)
    if type(entry) is not int or entry != 1:
        raise TypeError("entry picks the guards that check a call: pass call= too, or neither")
    if require_bool(as_table, "as_table"):
        return Exhibit(guard_tree.list_guards(f, find), table, STATION)
    return Exhibit(guard_tree.find_guards(f, find), graph, STATION)


@speaks_to_users
def guard_function(f: Callable[..., Any], *, entry: int = 1) -> FunctionType:
    """Return the guards of one cache entry of `f` as a Python function of the same arguments.

    The function returns True or False, as torch's own guard tree would. It asks for no `self` of a
    module or a method, and for nothing that a partial supplies.

    Parameters
    ----------
    f : callable
        A compiled function or nn.Module, which was called before.
    entry : int
        The number of the cache entry, from 1.

    Returns
    -------
    function
        It takes the arguments of a call.

    Raises
    ------
    LookupError
        If nothing was compiled for `f`.
    ValueError
        If there is no such `entry`.

    Examples
    --------
    >>> guard_function(compiled_step)(torch.ones(3))
    """
    from ..capture.torch.guard_program import build_guard_function

    return build_guard_function(f, entry)


@raises_what_the_call_raises
def watch_breaks(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Exhibit:
    """Run `f(*args, **kwargs)` under torch.compile and list its graph breaks: where, and why.

    TORCH_LOGS prints as many breaks. `torch._dynamo.explain` counts graphs minus one, so it misses
    those that are `empty`. Compiled code and errors are as with `watch_compile`.

    Parameters
    ----------
    f : callable
        A Python function, or what contains one, as an nn.Module does.
    *args, **kwargs
        The arguments of the call.

    Returns
    -------
    Exhibit
        `.model.breaks` and `.graphs` are numbers. Each of `.model.rows` has `place`, `cause`,
        `hint`, `count` (equal breaks share a row) and `skipped`: why Python runs the rest of the
        function.

    Raises
    ------
    TypeError
        If `f` contains no Python function.
    RuntimeError
        If torch cannot be watched.

    Examples
    --------
    >>> assert watch_breaks(step, x).model.breaks == 0
    """
    from ..capture.torch.dynamo_run import list_graph_breaks
    from ..view.table_view import table

    return Exhibit(list_graph_breaks(f, *args, **kwargs), table, STATION)


@raises_what_the_call_raises
def watch_compile(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Exhibit:
    """Run `f(*args, **kwargs)` under torch.compile and step through Dynamo's translation of it.

    All is compiled anew for this run, and nothing of that stays: what you compiled before is as it
    was, and counts and limits are, too.

    Parameters
    ----------
    f : callable
        A Python function, or what contains one, as an nn.Module does.
    *args, **kwargs
        The arguments of the call.

    Returns
    -------
    Exhibit
        `.model` has `steps`, `graphs` and `breaks`.

    Raises
    ------
    TypeError
        If `f` contains no Python function.
    RuntimeError
        If torch cannot be watched.

    Examples
    --------
    >>> watch_compile(step, x).model.steps[0].opname
    """
    from ..capture.torch.dynamo_run import record_dynamo_run
    from ..view.instruction_tables import dynamo

    return Exhibit(record_dynamo_run(f, *args, **kwargs), dynamo, STATION)


@raises_what_the_call_raises
def watch_rewriting(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Exhibit:
    """Run `f(*args, **kwargs)` under torch.compile and list the bytecode that Dynamo made for it.

    The package depyf decompiles this code, and that of resume functions, to Python.

    Parameters
    ----------
    f : callable
        A Python function, or what contains one, as an nn.Module does.
    *args, **kwargs
        The arguments of the call.

    Returns
    -------
    Exhibit
        `.model.rows` contains the instructions before and after.

    Raises
    ------
    TypeError
        If `f` contains no Python function.
    ValueError
        If Dynamo made no bytecode.
    RuntimeError
        If torch cannot be watched.

    Examples
    --------
    >>> watch_rewriting(step, x)
    """
    from ..capture.torch.dynamo_bytecode import list_new_bytecode
    from ..view.instruction_tables import bytecode

    return Exhibit(list_new_bytecode(f, *args, **kwargs), bytecode, STATION)


@preserves_interpreter_state
def watch_fixes(
    cases: Mapping[str, tuple[Callable[..., Any], Callable[..., Any]]], /, *args: Any
) -> Exhibit:
    """Compile each case and its cure for the same arguments, and show graphs before and after.

    A different result or gradient is shown. Each function runs compiled once, plainly up to twice,
    and twice more for each difference. No backend of yours is called, but for what another thread
    compiles for the first time. Each run starts from the same random numbers and buffers of
    modules; what else a function changes stays.

    Parameters
    ----------
    cases : dict of str to tuple
        Name -> (function, cured function).
    *args
        The arguments of every call.

    Returns
    -------
    Exhibit
        `.model.word(name, "result")` is "same" or "differs", or "not compared" where a function by
        itself gives others from call to call.

    Raises
    ------
    TypeError
        If `cases` is not such a dict.

    Examples
    --------
    >>> watch_fixes({"print": (step, quiet_step)}, x)
    """
    from ..capture.torch.cures import compare_cures
    from ..view.table_view import ledger

    return Exhibit(compare_cures(cases, *args), ledger, STATION)


@preserves_interpreter_state
def watch_guard_sets(
    f: Callable[..., Any],
    /,
    *args: Any,
    guard_sets: Mapping[str, Callable[..., bool]] | None = None,
    **kwargs: Any,
) -> Exhibit:
    """Search calls close to `f(*args, **kwargs)` for one on which two guard sets differ.

    One set accepts such a call, and another rejects it. Dynamo's own guards always take part. The
    verb calls `f(*args, **kwargs)`: once to compile it with Dynamo, and once with the mini-Dynamo
    where that takes part. Afterwards random numbers and what Dynamo keeps are as before; what else
    `f` changes stays changed.

    Parameters
    ----------
    f : callable
        A Python function, or what contains one, as an nn.Module does.
    *args, **kwargs
        The arguments of the call to start from.
    guard_sets : dict of str to callable, optional
        Name -> a function that returns whether it accepts the arguments. Without it, the
        mini-Dynamo's guards are compared.

    Returns
    -------
    Exhibit
        `.model.entries` contains the calls on which the sets differ.

    Raises
    ------
    LookupError
        If nothing is compiled for this call.
    TypeError
        If `guard_sets` is not a dict from str to function.
    ValueError
        If the call raises.

    Examples
    --------
    >>> watch_guard_sets(step, x, guard_sets={"lax": lambda x: True}).model.entries
    """
    from ..capture.torch.guard_sets import compare_guard_sets
    from ..view.table_view import ledger

    return Exhibit(compare_guard_sets(f, args, kwargs, guard_sets), ledger, STATION)


@preserves_interpreter_state
def watch_inductor(
    f: Callable[..., Any], /, *args: Any, run: bool = False, **kwargs: Any
) -> Exhibit:
    """With `run=True`, show the C++ that Inductor writes for a call, beside the source.

    The call is `f(*args, **kwargs)`. A line is printed as each stage begins. Without `run=True` or
    a C++ compiler, the exhibit only says so.

    Parameters
    ----------
    f : callable
        A Python function, or what contains one, as an nn.Module does.
    *args, **kwargs
        The arguments of the call.
    run : bool
        Compile and run it, which can take a minute.

    Returns
    -------
    Exhibit
        `.model.pairs` contains the lines.

    Raises
    ------
    TypeError
        If `f` contains no Python function.

    Examples
    --------
    >>> watch_inductor(step, x, run=True)
    """
    from ..capture.torch.inductor_code import compare_with_inductor
    from ..view.source_views import side_by_side

    return Exhibit(compare_with_inductor(f, *args, run=run, **kwargs), side_by_side, STATION)


@preserves_interpreter_state
def show_evaluator(f: Callable[..., Any], *, before: object = None) -> Exhibit:
    """Draw the path from a call of `f` to the function that evaluates its frames right now.

    Parameters
    ----------
    f : callable
        A Python function, or what contains one.
    before : Exhibit, optional
        An earlier result of this verb. Both are drawn side by side, and what is new is marked.

    Returns
    -------
    Exhibit
        `.model` has `nodes` and `edges`.

    Raises
    ------
    TypeError
        If `f` is not a Python function, or `before` is not such a result.

    Examples
    --------
    >>> show_evaluator(step, before=earlier)
    """
    from ..capture.cpython import evaluators
    from ..view.diagram.graph_view import figures, graph

    if before is None:  # no earlier moment to compare with
        return Exhibit(evaluators.build_evaluator_graph(f), graph, STATION)
    return Exhibit(evaluators.compare_evaluators(f, model_of(before)), figures, STATION)


@raises_what_the_call_raises
def watch_hooked(
    f: Callable[..., Any], /, *args: Any, only: object = None, **kwargs: Any
) -> Exhibit:
    """Run `f(*args, **kwargs)` under the frame hook, and list the frames that reach the hook.

    Frames of your tracer (`sys.settrace`) or profiler, and of what that calls, are no rows without
    `only`. It sees this thread only, and no copy of a function that torch.compile or AutoGraph
    makes. What it did not see, the note says.

    Parameters
    ----------
    f : callable
        A Python function, or what contains one.
    *args, **kwargs
        The arguments of the call.
    only : function, class, module, str, or a list of these, optional
        Watch these instead of the functions of the module of `f`.

    Returns
    -------
    Exhibit
        `.model.rows` contains the frames, and `.model.count(name)` counts them.

    Raises
    ------
    TypeError
        If `f` is not a Python function.
    RuntimeError
        If there is no hook.

    Examples
    --------
    >>> watch_hooked(step, x).model.count("step")
    """
    from ..capture.cpython.hooked_frames import record_hooked_frames
    from ..view.table_view import table

    return Exhibit(record_hooked_frames(f, *args, only=only, **kwargs), table, STATION)


@preserves_interpreter_state
@returns_what_to_call
def watch_recompiles(f: Callable[..., Any], /, **options: Any) -> LiveExhibit:
    """Return `f`, to be called as before, with a ledger of its calls: hit or recompile, and why.

    A function, nn.Module or partial that is not compiled becomes `torch.compile(f,
    backend="eager", **options)` first. A call is not a hit if it compiles a resume function, or a
    function that `f` calls: all of them are one compile here, and a row each in
    `watching_recompiles`. Of a row's reasons, torch found the first. What cannot be told is
    *unknown*.

    Parameters
    ----------
    f : callable
        A function, nn.Module or partial, compiled or not.
    **options
        The options of `torch.compile`, for what is not compiled.

    Returns
    -------
    LiveExhibit
        What to call. `.model.compiles` counts recompiles too, `.recompiles` only them, and
        `.verdicts` has a word per call. `.eager` counts calls in which plain Python ran because
        Dynamo compiled nothing.

    Raises
    ------
    TypeError
        If `f` is something else.

    Examples
    --------
    >>> step = watch_recompiles(step)
    >>> step(x)
    >>> print(step)
    """
    from ..capture.torch.recompiles import watch_function
    from ..view.table_view import ledger

    return LiveExhibit(watch_function(f, **options), ledger, STATION)


@preserves_interpreter_state
def watching_breaks() -> BlockExhibit:
    """List the graph breaks, with reasons, of everything that Dynamo translates in a `with` block.

    A function that was compiled before the block is not translated again, so compile it inside.
    Your own backends are used. Dynamo's work in other threads is listed too. Errors in the block
    are raised.

    Returns
    -------
    BlockExhibit
        `.model` is as of `watch_breaks`, but one row has all that one line breaks.

    Raises
    ------
    RuntimeError
        If torch cannot be watched.

    Examples
    --------
    >>> with watching_breaks() as seen:
    ...     train()
    >>> assert seen.model.breaks == 0, str(seen)
    """
    from ..capture.torch.breaks_in_block import BreaksInBlock
    from ..view.table_view import table

    return BlockExhibit(BreaksInBlock(), table, STATION)


@preserves_interpreter_state
def watching_recompiles() -> BlockExhibit:
    """List what Dynamo compiles in a `with` block, in any function: what, and why.

    A compiled frame is a row, so a function with a graph break has another row for its resume
    function. A call that compiles nothing adds no row. Functions compiled before the block and
    functions of other threads are included. Errors in the block are raised.

    Returns
    -------
    BlockExhibit
        `.model.compiles` counts recompiles too, `.recompiles` only them. `.model.calls` counts the
        calls of compiled functions, `.model.compiled_calls` those in which compiled code ran, None
        if that is unknown, and `.model.eager` those in which plain Python ran all, or what Dynamo
        did not compile, None if a call may have run code that Dynamo gave up in an earlier call.
        Each of `.model.entries` has `subject`, `verdict` and `note`: the guards that fail, and your
        call that compiled.

    Raises
    ------
    RuntimeError
        If torch cannot be watched.

    Examples
    --------
    >>> with watching_recompiles() as seen:
    ...     train()
    >>> assert seen.model.compiled_calls, str(seen)
    >>> assert seen.model.recompiles == seen.model.eager == 0, str(seen)
    """
    from ..capture.torch.compiles_in_block import CompilesInBlock
    from ..view.table_view import ledger

    return BlockExhibit(CompilesInBlock(), ledger, STATION)

"""PyTorch: Dynamo, guards, FX graphs, Inductor, autograd."""

from helpers.capture.torch import (
    dynamo_run,
    fx_graph,
    graph_breaks,
    guard_tree,
    recompiles,
)
from helpers.capture.torch.guard_program import guard_program
from helpers.capture.torch.guard_sets import agreement as guard_sets_search
from helpers.exhibit import LiveExhibit, at
from helpers.safety.arguments import switch
from helpers.safety.restoring import whole
from helpers.view.diagram.graph_view import graph as diagram
from helpers.view.instruction_tables import bytecode as bytecode_view
from helpers.view.instruction_tables import dynamo as dynamo_view
from helpers.view.source_views import side_by_side
from helpers.view.table_view import ledger, table

Exhibit, LiveExhibit = at(4), at(4, LiveExhibit)


@whole
def show_fx(graph, title: str = "", find: str = "") -> Exhibit:
    """Draw an FX graph: of a `torch.fx.GraphModule` or a `torch.fx.Graph`. TypeError for others.

    `find` points out the nodes that have these words in their name or call, and keeps them out of
    the fold of a large graph; LookupError if there is none.
    """
    return Exhibit(fx_graph.fx_graph(graph, title, find), diagram)


@whole
def show_guards(fn, find: str = "", as_table: bool = False, call=None, entry: int = 1) -> Exhibit:
    """Draw the guard tree of each cache entry that Dynamo keeps for `fn`, or its module's forward.

    `find` points out what has these words; `as_table` lists the guards instead (those alone).
    With `call`, arguments as a tuple or a dict, the guards of one `entry` are Python, and asked
    about that call: `.model.source` is all of them as a function, `guard_function` makes it.
    LookupError if nothing was compiled, or nothing is found.
    """
    if call is not None:
        return Exhibit(guard_program(fn, call, entry), table)
    if type(entry) is not int or entry != 1:
        raise TypeError("entry says whose guards a call is asked of: give call= too, or neither")
    if switch(as_table, "as_table"):
        return Exhibit(guard_tree.guard_table(fn, find), table)
    return Exhibit(guard_tree.guard_graph(fn, find), diagram)


@whole
def show_compiled(fn) -> Exhibit:
    """Draw what `torch.compile` keeps for `fn` now: slot, cache entries, guards, new code, backend.

    TypeError if there is no Python function behind it.
    """
    return Exhibit(recompiles.compiled_graph(fn), diagram)


@whole
def watch_recompiles(fn, **options) -> LiveExhibit:
    """Return `fn`, to be called as before, with a ledger of its calls: hit or recompile, and why.

    What is not compiled, such as a function, an nn.Module or a partial, becomes
    `torch.compile(fn, backend="eager", **options)` first. A call that compiles a resume function,
    or a function that is called, is no hit.
    """
    return LiveExhibit(recompiles.watch(fn, **options), ledger)


@whole
def watch_guard_sets(fn, args, **guard_sets) -> Exhibit:
    """Search the calls next to `fn(*args)` for one that a guard set accepts and another refuses.

    `guard_sets`: name -> a function of the arguments that says whether it accepts them; without
    any, the mini-Dynamo's guards. Dynamo's own are always asked.
    """
    return Exhibit(guard_sets_search(fn, args, **guard_sets), ledger)


@whole
def watch_inductor(fn, *args, run: bool = False) -> Exhibit:
    """Set the C++ that Inductor writes for `fn(*args)` beside the source, if told to `run`.

    It prints a line as each stage begins. Without `run`, or a C++ compiler, it only says so.
    """
    return Exhibit(recompiles.inductor_side_by_side(fn, *args, run=run), side_by_side)


@whole
def watch_compile(fn, *args, **kwargs) -> Exhibit:
    """Run `fn(*args, **kwargs)` under torch.compile and step through Dynamo's translation of it.

    `fn`: a Python function, or what has one inside, such as an nn.Module; TypeError for others,
    RuntimeError where torch cannot be watched. What Dynamo had compiled before, of any function, is
    dropped, and compiled anew at its next call.
    """
    return Exhibit(dynamo_run.dynamo_run(fn, *args, **kwargs), dynamo_view)


@whole
def watch_breaks(fn, *args, **kwargs) -> Exhibit:
    """Run `fn(*args, **kwargs)` under torch.compile and list its graph breaks: where, and why.

    `.model.graphs` says how many graphs there were. As with `watch_compile`, what Dynamo had
    compiled before is dropped. Errors as there. `torch._dynamo.explain` lists only the breaks at
    which the backend gets a graph; the others are `empty` in `.model.rows`.
    """
    return Exhibit(dynamo_run.breaks_listing(fn, *args, **kwargs), table)


@whole
def watch_fixes(cases, *args) -> Exhibit:
    """Compile each case and its cure for the same arguments: graphs before, graphs after, why.

    `cases`: name -> (function, cured function). A result or a gradient that differs is told, too.
    """
    return Exhibit(graph_breaks.cures_ledger(cases, *args), ledger)


@whole
def watch_rewriting(fn, *args, **kwargs) -> Exhibit:
    """Run `fn(*args, **kwargs)` under torch.compile and list the bytecode Dynamo made for it.

    Errors as `watch_compile`; ValueError if Dynamo made none.
    """
    return Exhibit(dynamo_run.rewritten(fn, *args, **kwargs), bytecode_view)


@whole
def show_grad_fn(tensor, find: str = "") -> Exhibit:
    """Draw what a tensor of torch knows of its past. ValueError if it has no `grad_fn`.

    `find` points out the nodes with these words, and keeps them out of the fold of a long past.
    """
    return Exhibit(fx_graph.grad_fn_graph(tensor, find), diagram)

"""Verbs that do more than to show what one capture records."""

import sys

from helpers.exhibit import Exhibit, at, model_of
from helpers.safety.restoring import preserves_interpreter_state
from helpers.view.diagram.graph_view import figures
from helpers.view.diagram.graph_view import graph as diagram
from helpers.view.table_view import nested, table


@preserves_interpreter_state
def show_names(*asked: str) -> Exhibit:
    """Draw what the caller's names refer to: one box per name, one per object.

    NameError if the caller has no such name.
    """
    from helpers.capture.references.name_graph import names_graph

    caller = sys._getframe(2)  # past `preserves_interpreter_state`
    space = {**caller.f_globals, **caller.f_locals}
    cure = "run the cell that makes it"
    if caller.f_locals is not caller.f_globals:
        cure = "make it first; a function sees of the one around it only the names that it uses"
    title = "Names and what they refer to"
    return at(1)(names_graph(space, asked, title, cure=cure), diagram)


@preserves_interpreter_state
def show_graph(thing, *args, find: str = "", **kwargs) -> Exhibit:
    """Draw a TensorFlow graph: of a tf.function, a concrete function, a tf.Graph or a GraphDef.

    With arguments, a function is traced for them. `find` points out the nodes that have these
    words in their name or op, and keeps them out of the fold of a large graph.
    """
    from helpers.capture.tensorflow.tf_graph import tf_graph
    from helpers.safety.arguments import require_str

    graph = tf_graph(thing, *args, **kwargs)
    return at(2)(graph.find(find) if require_str(find, "find=") else graph, diagram)


@preserves_interpreter_state
def show_graph_diff(before, after, title: str = "") -> Exhibit:
    """Say what became of every node of the graph `before`, told from it and `after` alone.

    Each is what `show_graph` takes without arguments, or an exhibit that it gave.
    """
    from helpers.capture.tensorflow.rewriting import tf_diff
    from helpers.view.diagram.graph_view import graph_diff

    return at(2)(tf_diff(model_of(before), model_of(after), title), graph_diff)


@preserves_interpreter_state
def startup_switches():
    """Return start-up switches, each tried in a fresh interpreter, to be tried again there."""
    from helpers.capture.tensorflow import eager_context as startup
    from helpers.study.rerun import Switches

    return Switches(startup.startup_switches(), startup.startup)


@preserves_interpreter_state
def show_frames(most: int = 12) -> Exhibit:
    """List the caller's frame and those below it, and which have a frame object yet.

    `most`: how many. ValueError for what is no such number.
    """
    from helpers.capture.cpython.frame import frame_objects

    return at(3)(frame_objects(sys._getframe(2), most), table)


@preserves_interpreter_state
def show_evaluator(fn, before=None) -> Exhibit:
    """Draw the way from a call of `fn` to the function that evaluates its frames at this moment.

    `before`: what this verb gave earlier; it stands beside it, and what has come since is marked.
    TypeError if `fn` is no Python function, or `before` no such picture.
    """
    from helpers.capture.cpython import hooked_frames

    if before is None:
        return at(4)(hooked_frames.evaluator_graph(fn), diagram)
    return at(4)(hooked_frames.evaluators_compared(fn, model_of(before)), figures)


@preserves_interpreter_state
def watch_hooked(fn, *args, only=None, **kwargs) -> Exhibit:
    """Run `fn(*args, **kwargs)` under the frame hook and list the frames that it was told of.

    Watched are the functions of its module, or those of `only`; `.model.count(name)` counts.
    TypeError if `fn` is no Python function, RuntimeError where there is no hook.
    """
    from helpers.capture.cpython.hooked_frames import hooked_listing

    return at(4)(hooked_listing(fn, args, kwargs, only), table)


@preserves_interpreter_state
def show_guards(fn, find: str = "", as_table: bool = False, call=None, entry: int = 1) -> Exhibit:
    """Draw the guard tree of each cache entry that Dynamo keeps for `fn`, or its module's forward.

    `find` points out what has these words; `as_table` lists the guards instead (those alone).
    With `call`, arguments as a tuple or a dict, the guards of one `entry` are Python, and asked
    about that call: `.model.source` is all of them as a function, `guard_function` makes it.
    LookupError if nothing was compiled, or nothing is found.
    """
    from helpers.capture.torch import guard_sets, guard_tree
    from helpers.model.torch_records import guard_listing
    from helpers.safety.arguments import require_bool, require_str

    if call is not None:
        return at(4)(guard_sets.guard_program(fn, call, entry), table)
    if type(entry) is not int or entry != 1:
        raise TypeError("entry says whose guards a call is asked of: give call= too, or neither")
    if require_bool(as_table, "as_table"):
        return at(4)(guard_listing(guard_tree.guard_graph(fn), require_str(find, "find")), table)
    return at(4)(guard_tree.guard_graph(fn, find), diagram)


@preserves_interpreter_state
def watch_inductor(fn, *args, run: bool = False) -> Exhibit:
    """Set the C++ that Inductor writes for `fn(*args)` beside the source, if told to `run`.

    It prints a line as each stage begins. Without `run`, or a C++ compiler, it only says so.
    """
    from helpers.capture.torch.recompiles import inductor_side_by_side
    from helpers.view.source_views import side_by_side

    return at(4)(inductor_side_by_side(fn, *args, run=run), side_by_side)


@preserves_interpreter_state
def show_call_diff(left, right) -> Exhibit:
    """Set two trees of `watch_call` side by side, line against line."""
    from helpers.capture.frameworks.call_recorder import calls_diff
    from helpers.view.source_views import side_by_side

    return at(6)(calls_diff(model_of(left), model_of(right)), side_by_side)


@preserves_interpreter_state
def show_op_graph(title: str, **logs) -> Exhibit:
    """Draw the ops of a log of `watch_ops` as a graph; several logs stand in one picture by name.

    TypeError if there is none, or one is no log.
    """
    from helpers.capture.frameworks import executed_ops

    found = {name: model_of(log) for name, log in logs.items()}
    return at(6)(executed_ops.ops_graph(found, title), figures)


@preserves_interpreter_state
def show_journey(fn, *args, shares: bool = False, **kwargs) -> Exhibit:
    """Run `fn(*args, **kwargs)` twice, and show which of the six seams each of the calls passed.

    `.model.first` and `.model.again` have what was counted, for the thread that calls. *Yours* is
    what the module of `fn` holds; frames of others are counted, and not followed.
    `shares=True` calls it some more times, with nothing but a profiler written in C, and shows in
    whose code its time passed. An Exception and what it prints are told. TypeError if `fn` cannot
    be called, or makes a coroutine.
    """
    from helpers.capture.frameworks.journey_stops import journey
    from helpers.view.spine_view import journey as journey_view

    return Exhibit(journey(fn, args, kwargs, shares), journey_view)


@preserves_interpreter_state
def show_table(title: str, *rows: dict) -> Exhibit:
    """Show rows of the same keys as a table; the keys of the first are the headings.

    Text, numbers and small containers of them are shown as they are, the rest in a few safe words.
    TypeError for a row that is no dict, ValueError for rows of other keys, or none.
    """
    from helpers.capture.rows import records_listing

    return Exhibit(records_listing(title, rows), table)


@preserves_interpreter_state
def show_nested(title: str, *rows: dict) -> Exhibit:
    """Show rows of the same keys as boxes, each within the one before; the first value names it.

    TypeError for a row that is no dict, ValueError for rows of other keys, or none.
    """
    from helpers.capture.rows import records_listing

    return Exhibit(records_listing(title, rows), nested)


@preserves_interpreter_state
def plot_ratios(title: str, ratios: dict[str, float]):
    """Plot ratios by name as bars on a logarithmic scale.

    TypeError for what is no dict of str -> number, ValueError for a number that is not positive.
    """
    from helpers.view.charts import plot

    return plot(title, ratios)


@preserves_interpreter_state
def plot_curve(title: str, numbers, step: str = "step") -> Exhibit:
    """Draw numbers, such as the losses of a training, as a curve. `step`: what is counted.

    TypeError for what is no list or tuple of numbers, ValueError for a number below 0.
    """
    from helpers.view import charts

    return Exhibit(charts.make_curve(title, numbers, step), charts.curve)

"""Verbs that do more than to show what one capture records."""

import sys

from helpers.exhibit import Exhibit, model_of
from helpers.safety.restoring import preserves_interpreter_state
from helpers.view.diagram.graph_view import figures
from helpers.view.diagram.graph_view import graph as diagram
from helpers.view.table_view import table


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
    return Exhibit(names_graph(space, asked, title, cure=cure), diagram, 1)


@preserves_interpreter_state
def show_graph(thing, *args, find: str = "", **kwargs) -> Exhibit:
    """Draw a TensorFlow graph: of a tf.function, a concrete function, a tf.Graph or a GraphDef.

    With arguments, a function is traced for them. `find` points out the nodes that have these
    words in their name or op, and keeps them out of the fold of a large graph.
    """
    from helpers.capture.tensorflow.tf_graph import tf_graph
    from helpers.safety.arguments import require_str

    graph = tf_graph(thing, *args, **kwargs)
    return Exhibit(graph.find(find) if require_str(find, "find=") else graph, diagram, 2)


@preserves_interpreter_state
def startup_switches():
    """Return start-up switches, each tried in a fresh interpreter, to be tried again there."""
    from helpers.capture.tensorflow import eager_context as startup
    from helpers.study.foretelling import Switches

    return Switches(startup.startup_switches(), startup.startup)


@preserves_interpreter_state
def show_frames(most: int = 12) -> Exhibit:
    """List the caller's frame and those below it, and which have a frame object yet.

    `most`: how many. ValueError for what is no such number.
    """
    from helpers.capture.cpython.frame import frame_objects

    return Exhibit(frame_objects(sys._getframe(2), most), table, 3)


@preserves_interpreter_state
def show_evaluator(fn, before=None) -> Exhibit:
    """Draw the way from a call of `fn` to the function that evaluates its frames at this moment.

    `before`: what this verb gave earlier; it stands beside it, and what has come since is marked.
    TypeError if `fn` is no Python function, or `before` no such picture.
    """
    from helpers.capture.cpython import hooked_frames

    if before is None:
        return Exhibit(hooked_frames.evaluator_graph(fn), diagram, 4)
    return Exhibit(hooked_frames.evaluators_compared(fn, model_of(before)), figures, 4)


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
        return Exhibit(guard_sets.guard_program(fn, call, entry), table, 4)
    if type(entry) is not int or entry != 1:
        raise TypeError("entry says whose guards a call is asked of: give call= too, or neither")
    if require_bool(as_table, "as_table"):
        return Exhibit(
            guard_listing(guard_tree.guard_graph(fn), require_str(find, "find")), table, 4
        )
    return Exhibit(guard_tree.guard_graph(fn, find), diagram, 4)


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

"""Verbs that do more than to show what one capture records."""

import sys

from ..exhibit import Exhibit, model_of
from ..internals.interpreter_frame import local_variables
from ..safety.arguments import require_bool, require_str
from ..safety.restoring import preserves_interpreter_state
from ..view.diagram.graph_view import figures
from ..view.diagram.graph_view import graph as diagram
from ..view.table_view import table


@preserves_interpreter_state
def show_names(*asked: str) -> Exhibit:
    """Draw what the caller's names refer to, with one box per name and one per object.

    NameError if the caller has no such name. TypeError if you pass none. `.model` has `nodes` and
    `edges`. Example: `show_names("x", "alias")`
    """
    from ..capture.references.name_graph import names_graph

    if not asked:
        raise TypeError('show_names needs the names to draw, such as show_names("a", "b")')
    caller = sys._getframe(2)  # past `preserves_interpreter_state`
    variables = local_variables(caller)
    space = {**caller.f_globals, **variables}
    cure = "run the cell that makes it"
    if variables is not caller.f_globals:
        cure = "make it first; a function sees only the outer names that it uses"
    title = "Names and what they refer to"
    return Exhibit(names_graph(space, asked, title, cure=cure), diagram, 1)


@preserves_interpreter_state
def show_graph(thing, *args, find: str = "", **kwargs) -> Exhibit:
    """Draw the TensorFlow graph of a tf.function, a concrete function, a tf.Graph or a GraphDef.

    With arguments, the function is traced for them. Of Keras's `train_function` you see what it
    traced. In the whole graph, `find` highlights the nodes with all of these words in name or op,
    and keeps them visible when it is folded. TypeError if nothing has a graph, ValueError if it is
    not clear which, LookupError if nothing is found. `.model` has `nodes` and `edges`. Example:
    `show_graph(tf.function(step), x, find="Mul")`
    """
    from ..capture.tensorflow.tf_graph import tf_graph

    graph = tf_graph(thing, *args, **kwargs)
    return Exhibit(graph.find(find) if require_str(find, "find=") else graph, diagram, 2)


@preserves_interpreter_state
def startup_switches() -> Exhibit:
    """Try start-up switches, each in a fresh interpreter. You can edit and rerun them."""
    from ..capture.tensorflow import eager_context as startup
    from .switches import Switches

    return Switches(startup.startup_switches(), startup.startup)


@preserves_interpreter_state
def show_frames(most: int = 12) -> Exhibit:
    """List the caller's frame and those below it, and which of them have a frame object yet.

    `most` limits the number of frames. ValueError if it is not a valid number.
    """
    from ..capture.cpython.frame import frame_objects

    return Exhibit(frame_objects(sys._getframe(2), most), table, 3)


@preserves_interpreter_state
def show_evaluator(fn, before=None) -> Exhibit:
    """Draw the path from a call of `fn` to the function that evaluates its frames right now.

    `before` is an earlier result of this verb. Both are drawn side by side, and what is new is
    marked. TypeError if `fn` is not a Python function, or `before` is not such a result.
    """
    from ..capture.cpython import hooked_frames

    if before is None:
        return Exhibit(hooked_frames.evaluator_graph(fn), diagram, 4)
    return Exhibit(hooked_frames.evaluators_compared(fn, model_of(before)), figures, 4)


@preserves_interpreter_state
def show_guards(fn, find: str = "", as_table: bool = False, call=None, entry: int = 1) -> Exhibit:
    """Draw the guard tree of each cache entry that Dynamo keeps for `fn`, or its module's forward.

    `find` highlights guards with these words. `as_table` lists the guards instead, and with `find`
    only the matching ones. With `call`, a tuple or dict of arguments, you see the guards of one
    `entry` as Python, evaluated for that call. `.model.source` is one function with all of them,
    which `guard_function` makes. Otherwise `.model.guards` contains them. LookupError if nothing
    was compiled, or nothing is found: it names other frames that have such guards. Example:
    `show_guards(compiled_step, find="layer1", as_table=True)`
    """
    from ..capture.torch import guard_sets, guard_tree
    from ..model.torch_records import guard_listing

    if call is not None:
        return Exhibit(guard_sets.guard_program(fn, call, entry), table, 4)
    if type(entry) is not int or entry != 1:
        raise TypeError("entry picks the guards that check a call: pass call= too, or neither")
    try:
        if require_bool(as_table, "as_table"):
            listing = guard_listing(guard_tree.guard_graph(fn), require_str(find, "find"))
            return Exhibit(listing, table, 4)
        return Exhibit(guard_tree.guard_graph(fn, find), diagram, 4)
    except LookupError as error:
        raise LookupError(f"{error}{guard_tree.elsewhere(find)}") from None


@preserves_interpreter_state
def plot_ratios(title: str, ratios: dict[str, float]):
    """Plot ratios by name as bars on a logarithmic scale.

    A ratio of `watch_costs` also shows its rounds. If it is too noisy to compare, its bar has no
    length. A plain number has no rounds, so its bar is drawn as it is.

    TypeError if `ratios` is not a dict from str to number, ValueError if one is not positive.
    """
    from ..view.charts import plot

    return plot(title, ratios)


@preserves_interpreter_state
def plot_curve(title: str, numbers, step: str = "step", number: str = "number") -> Exhibit:
    """Draw numbers, such as training losses, as a curve of `number` by `step`, which name the axes.

    The axis is logarithmic if the largest is more than 20 times the smallest, which is above 0.
    TypeError if `numbers` is not a list or tuple of numbers, ValueError if one is below 0.
    """
    from ..view import charts

    return Exhibit(charts.make_curve(title, numbers, step, number), charts.curve)

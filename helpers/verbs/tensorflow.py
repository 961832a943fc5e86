"""TensorFlow: traces, graphs, AutoGraph, Grappler, variables, the C API."""

from helpers.capture.tensorflow import c_libraries, mutations, rewriting, tf_graph
from helpers.capture.tensorflow import eager_context as startup
from helpers.capture.tensorflow import trace_ledger as traces
from helpers.capture.tensorflow import variable_outcomes as variables
from helpers.exhibit import LiveExhibit, at, model_of
from helpers.safety.arguments import word
from helpers.safety.restoring import whole
from helpers.study.rerun import Switches
from helpers.view.diagram.graph_view import graph as diagram
from helpers.view.diagram.graph_view import graph_diff
from helpers.view.source_views import side_by_side
from helpers.view.table_view import lanes, ledger, table

Exhibit, LiveExhibit, CallExhibit = at(2), at(2, LiveExhibit), at(6)


@whole
def watch_traces(fn, **options) -> LiveExhibit:
    """Return `fn`, to be called as before, with a ledger of its calls: hit or trace, and why.

    A plain function becomes `tf.function(fn, **options)` first. The counts of a tf.function are
    the same with and without.
    """
    return LiveExhibit(traces.watch(fn, **options), ledger)


@whole
def watch_mutations(cases, ways=None) -> Exhibit:
    """Run functions that change their arguments: who raises, and what the caller's objects are.

    `cases`: name -> a function, or (function, *arguments); each run gets copies of containers and
    plain objects, and what is not copied (an array, a variable) is named as not compared. Names
    that a run rebinds (of its module, closure or classes) are told, and put back. Not looked at is
    what a method, or a function reached by an attribute, changes elsewhere.
    `ways`: heading -> what makes a callable of a function; by default as it is, and `tf.function`.
    """
    return Exhibit(mutations.mutations_ledger(cases, ways), ledger)


@whole
def show_graph(thing, *args, find: str = "", **kwargs) -> Exhibit:
    """Draw a TensorFlow graph: of a tf.function, a concrete function, a tf.Graph or a GraphDef.

    With arguments, a function is traced for them. `find` points out the nodes that have these
    words in their name or op, and keeps them out of the fold of a large graph.
    """
    asked = word(find, "find=")
    graph = tf_graph.tf_graph(thing, *args, **kwargs)
    return Exhibit(graph.find(asked) if asked else graph, diagram)


@whole
def show_graph_steps(thing, *args, **kwargs) -> Exhibit:
    """Show the nodes of a TensorFlow graph step by step: what could run side by side."""
    return Exhibit(tf_graph.tf_steps(thing, *args, **kwargs), lanes)


@whole
def show_graph_diff(before, after, title: str = "") -> Exhibit:
    """Say what became of every node of the graph `before`, told from it and `after` alone.

    Each is what `show_graph` takes without arguments, or an exhibit that it gave.
    """
    both = model_of(before), model_of(after)
    return Exhibit(rewriting.tf_diff(*both, title), graph_diff)


@whole
def watch_optimisation(fn, *args, **kwargs) -> Exhibit:
    """Run `fn(*args, **kwargs)` as a graph, and say what Grappler made of each node."""
    return Exhibit(rewriting.watch_grappler(fn, *args, **kwargs), graph_diff)


@whole
def show_autograph(fn) -> Exhibit:
    """Set a function's source beside what AutoGraph generates from it, line by line."""
    return Exhibit(rewriting.autograph_side_by_side(fn), side_by_side)


@whole
def watch_variables(programs, runs: int = 100) -> Exhibit:
    """Run programs with a RefVariable and with a ResourceVariable, and compare what they saw.

    `programs`: name -> a function of a variable (0 at first) and the number 1, both tensors of a
    graph, that returns what is to be fetched.
    """
    return CallExhibit(variables.variables_ledger(programs, runs), ledger)


@whole
def watch_race(program, runs: int = 500) -> Exhibit:
    """Run one such program often, and count what it saw with each kind of variable."""
    return CallExhibit(variables.race_histogram(program, runs), table)


@whole
def show_c_api() -> Exhibit:
    """List TensorFlow's shared libraries and the C functions that each file exports."""
    return CallExhibit(c_libraries.c_libraries(), table)


@whole
def show_imports_then_and_now() -> Exhibit:
    """Set what Python imported to reach C in 2019 beside what is there now, looked up live."""
    return CallExhibit(c_libraries.then_and_now(), table)


@whole
def startup_switches() -> Switches:
    """Return start-up switches, each tried in a fresh interpreter, to be tried again there."""
    return Switches(startup.startup_switches(), startup.startup)

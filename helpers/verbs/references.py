"""What refers to what: names, holders, and ways to call."""

import sys

from helpers.capture.references import holder_search, name_graph, name_timeline
from helpers.exhibit import at
from helpers.safety.restoring import whole
from helpers.view.diagram.graph_view import graph as diagram
from helpers.view.table_view import dots, table
from helpers.view.widgets.stage import timeline

Exhibit = at(1)


@whole
def show_names(*asked: str) -> Exhibit:
    """Draw what the caller's names refer to: one box per name, one per object.

    NameError if the caller has no such name.
    """
    caller = sys._getframe(2)  # past `whole`
    space = {**caller.f_globals, **caller.f_locals}
    title = "Names and what they refer to"
    return Exhibit(name_graph.names_graph(space, asked, title, cure=_cure(caller)), diagram)


def _cure(caller) -> str:
    """Say what to do about a name that the caller has not."""
    if caller.f_locals is caller.f_globals:
        return "run the cell that makes it"
    return "make it first; a function sees of the one around it only the names that it uses"


@whole
def watch_names(fn, *args, **kwargs) -> Exhibit:
    """Run `fn(*args, **kwargs)` and step through its lines: its names and objects after each.

    TypeError if `fn` is no Python function.
    """
    return Exhibit(name_timeline.names_timeline(fn, *args, **kwargs), timeline)


@whole
def show_bindings(obj) -> Exhibit:
    """List the places in this process that hold `obj`, and which of them a module scan finds.

    Not listed are variables that only a running call (`show_frame`) or a traceback
    (`show_traceback`) holds, and what the collector does not track, such as a NumPy array, or has
    set aside (`gc.freeze`).
    """
    return Exhibit(holder_search.bindings(obj), table)


@whole
def show_binding_map(obj) -> Exhibit:
    """Draw each place that `show_bindings` lists for `obj` as an arrow to it."""
    return Exhibit(holder_search.binding_graph(obj), diagram)


@whole
def watch_callers(routes, judge, interventions) -> Exhibit:
    """Run every route under every intervention and set the judge's words side by side.

    `routes`: name -> callable without arguments. `judge(route)`: a word, such as old or new.
    `interventions`: heading -> a callable that returns a context manager.
    """
    from helpers.capture.references import routes as capture

    return Exhibit(capture.watch_callers(routes, judge, interventions), dots)

"""The front door: what a notebook calls. `show_…` looks at a thing at rest, `watch_…` runs it."""

import os
import sys

# TensorFlow reads both when it is imported: no log lines, and the same kernels on every CPU.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

from helpers.capture import costs, environment, names, rebinding, records, references
from helpers.capture.rebinding import code_swapped, rebind_everywhere
from helpers.exhibit import Exhibit
from helpers.study import check, expect, predict
from helpers.view import diagram, ledger, stepper, table

__all__ = [
    "check",
    "code_swapped",
    "expect",
    "predict",
    "rebind_everywhere",
    "show_binding_map",
    "show_bindings",
    "show_environment",
    "show_names",
    "show_table",
    "watch_costs",
    "watch_names",
    "watch_routes",
]


def show_names(*asked: str) -> Exhibit:
    """Draw what the caller's names refer to: one box per name, one per object.

    NameError if the caller has no such name.
    """
    caller = sys._getframe(1)
    space = {**caller.f_globals, **caller.f_locals}
    return Exhibit(names.names_graph(space, asked, "Names and what they refer to"), diagram)


def watch_names(fn, *args, **kwargs) -> Exhibit:
    """Run `fn(*args, **kwargs)` and step through its lines: its names and objects after each.

    TypeError if `fn` is no Python function.
    """
    return Exhibit(names.names_timeline(fn, *args, **kwargs), stepper)


def show_bindings(obj) -> Exhibit:
    """List every place in this process that holds `obj`, and which of them a module scan finds."""
    return Exhibit(references.bindings(obj), table)


def show_binding_map(obj) -> Exhibit:
    """Draw every place that holds `obj` as an arrow to it."""
    return Exhibit(references.binding_graph(obj), diagram)


def watch_routes(routes, judge, interventions) -> Exhibit:
    """Run every route under every intervention and set the judge's words side by side.

    `routes`: name -> callable without arguments. `judge(route)`: a word, such as old or new.
    `interventions`: heading -> a callable that returns a context manager.
    """
    return Exhibit(rebinding.watch_routes(routes, judge, interventions), ledger)


def watch_costs(unit, actions, unit_name: str = "runs of the unit") -> Exhibit:
    """Time actions (name -> callable) against `unit` in one run; `.model.ratio(name)` tells."""
    return Exhibit(costs.costs_listing(unit, actions, unit_name), table)


def show_table(title: str, *rows: dict) -> Exhibit:
    """Show rows of the same keys as a table; the keys of the first are the headings."""
    return Exhibit(records.records_listing(title, rows), table)


def show_environment() -> Exhibit:
    """List what this course needs, what is installed, and what to do where something is missing."""
    return Exhibit(environment.environment_listing(), table)

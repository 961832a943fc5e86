"""One call of a framework: its way from Python to C."""

from helpers.capture.frameworks import call_recorder as calls
from helpers.exhibit import at, model_of
from helpers.safety.restoring import whole
from helpers.view.call_view import call_tree as call_tree_view
from helpers.view.source_views import side_by_side
from helpers.view.table_view import ledger

Exhibit = at(6)


@whole
def watch_call(fn, *args, **kwargs) -> Exhibit:
    """Run `fn(*args, **kwargs)` twice, and show the second run's calls into a framework as a tree.

    An Exception that it raises is told, not raised. TypeError if `fn` cannot be called,
    or makes a coroutine.
    """
    return Exhibit(calls.call_tree(fn, *args, **kwargs), call_tree_view)


@whole
def watch_calls(cases) -> Exhibit:
    """Run every case (name -> function, or (function, *arguments)) and compare their landmarks."""
    return Exhibit(calls.calls_ledger(cases), ledger)


@whole
def show_call_diff(left, right) -> Exhibit:
    """Set two trees of `watch_call` side by side, line against line."""
    both = model_of(left), model_of(right)
    return Exhibit(calls.calls_diff(*both), side_by_side)

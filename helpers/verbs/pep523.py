"""PEP 523: who evaluates a frame, and what a frame hook is told."""

from helpers.capture.cpython import hooked_frames
from helpers.exhibit import at, model_of
from helpers.safety.restoring import whole
from helpers.view.diagram.graph_view import figures
from helpers.view.diagram.graph_view import graph as diagram
from helpers.view.table_view import table

Exhibit = at(4)


@whole
def show_evaluator(fn, before=None) -> Exhibit:
    """Draw the way from a call of `fn` to the function that evaluates its frames at this moment.

    `before`: what this verb gave earlier; it stands beside it, and what has come since is marked.
    TypeError if `fn` is no Python function, or `before` no such picture.
    """
    if before is None:
        return Exhibit(hooked_frames.evaluator_graph(fn), diagram)
    return Exhibit(hooked_frames.evaluators_compared(fn, model_of(before)), figures)


@whole
def watch_hooked(fn, *args, only=None, **kwargs) -> Exhibit:
    """Run `fn(*args, **kwargs)` under the frame hook and list the frames that it was told of.

    Watched are the functions of its module, or those of `only`; `.model.count(name)` counts.
    TypeError if `fn` is no Python function, RuntimeError where there is no hook.
    """
    return Exhibit(hooked_frames.hooked_listing(fn, args, kwargs, only), table)

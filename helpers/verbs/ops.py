"""The ops that a framework runs for one call."""

from helpers.capture.frameworks import executed_ops as op_log
from helpers.exhibit import at
from helpers.safety.restoring import whole
from helpers.view.diagram.graph_view import figures
from helpers.view.table_view import table

Exhibit = at(6)


@whole
def watch_ops(fn, *args, **kwargs) -> Exhibit:
    """Run `fn(*args, **kwargs)` and list the ops that TensorFlow, or PyTorch, reports for it.

    Both frameworks report the ops of the calling thread alone: what `fn` has other threads run
    is not listed. A tf.function that has its graph is one op; of a function that torch compiled,
    what a kernel of its own does is none.
    An Exception that it raises is told, not raised. TypeError if `fn` cannot be called.
    """
    return Exhibit(op_log.op_log(fn, *args, **kwargs), table)


@whole
def show_op_graph(title: str, **logs) -> Exhibit:
    """Draw the ops of a log of `watch_ops` as a graph; several logs stand in one picture by name.

    TypeError if there is none, or one is no log.
    """
    found = {name: op_log.log_of(log) for name, log in logs.items()}
    return Exhibit(op_log.ops_graph(found, title), figures)

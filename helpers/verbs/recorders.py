"""One program, recorded by Python, tf.function, Dynamo and fx."""

from helpers.capture.frameworks import program_recorders as recorders
from helpers.exhibit import Exhibit
from helpers.safety.restoring import whole
from helpers.view.table_view import ledger, table


@whole
def watch_recorders() -> Exhibit:
    """Run programs twice through Python, tf.function, Dynamo and fx; judge the second call.

    TensorFlow runs in a child interpreter; RuntimeError if that dies.
    """
    return Exhibit(recorders.recordings(), ledger)


@whole
def show_recording(program: str) -> Exhibit:
    """List what each recorder of `watch_recorders` wrote down of one of its programs.

    KeyError lists the programs.
    """
    return Exhibit(recorders.recorded_listing(program), table)

"""Run a function, and list the ops that it executed in TensorFlow or PyTorch: for each op the
tensors that it read and made, with the names that the program has for them.

The ops are recorded by op_recorder.py. This module makes a table of the recorded ops (an OpLog),
and a graph of one or several such tables.
"""

from collections.abc import Iterable
from dataclasses import replace

from ...model.graphs import Graph, join_graphs
from ...model.op_records import Op, OpLog, OpTensor, build_op_graph
from ...model.phrase import describe_interruption, format_count, format_names
from ...model.tables import Column
from ...safety.arguments import printable, real_isinstance, require_str
from ...safety.users_frames import users_frame
from ..cpython.following import RecordingLimits
from ..cpython.frameworks_of_callables import UNSEEN, find_frameworks
from ..cpython.objects import GENERATOR, read_title_name
from ..cpython.settrace import INTERRUPTED, run_to_end
from .op_recorder import EAGER, OpRecorder
from .runnable import require_runnable
from .tensor_names import LONGEST_NAME, TensorNames, list_values_of_call, list_values_of_frame

MOST_OPS = 500
MOST_LISTED = 3  # names of graphs or ops in one sentence
LONGEST_TITLE = 300
GRAPH = "__inference_"  # how the name of an op begins that runs a graph of TensorFlow
HIGHER_ORDER = "higher_order."  # how the name of an op of torch begins that calls functions
HEADINGS = {
    "number": "#",
    "op": "op",
    "inputs": "reads",
    "outputs": "makes",
    "stage": "stage",
    "layer": "layer",
    "where": "where",
}

COMPILED_NOTE = (
    "torch.compile made some of this code. Ops in its kernels are not listed one by one. The "
    "others name no layer inside compiled code: at most the module that was compiled, or a "
    "GraphModule or <lambda> of torch's. Run it uncompiled for the layer of each."
)
GRAPHS_NOTE = (
    "The ops inside the graph of {} are not listed one by one: `show_graph(fn, …)` lists "
    "them, for a Keras model `show_graph(model.train_function)`."
)
HIGHER_ORDER_NOTE = "The ops of the functions that {} calls are not listed."
NO_OPS_NOTE = (
    "Neither TensorFlow nor PyTorch reported an op of this thread; those of other libraries are "
    "not seen."
)
LEFT_OUT_NOTE = "{:,} more ops were not recorded; most={} records all."
FAULT_NOTE = "From op {} on nothing is known: the recorder failed with {}."
GENERATOR_NOTE = "The call only made a generator. None of its body ran."
OUTSIDE_NOTE = "Values that came from outside without a name, such as shapes, are left out."


def record_ops(fn, /, *args, most: int = MOST_OPS, **kwargs) -> OpLog:
    """Run `fn(*args, **kwargs)`, and list the ops that TensorFlow and PyTorch report for it.

    At most `most` ops are listed. An error of `fn` is not raised, but is in the log. Ctrl-C is
    raised only if no op was reported before it.
    """
    most = RecordingLimits("watch_ops", most=most).most
    function = require_runnable(fn, "watch_ops", args)
    recorder = OpRecorder(TensorNames(list_values_of_call(fn, args, kwargs)), most)
    with recorder.watching():
        # "" if the call returned, INTERRUPTED after Ctrl-C, otherwise the error in words.
        outcome = run_to_end(lambda: fn(*args, **kwargs))

    notes = []
    if "jax" in find_frameworks(fn, (*args, *kwargs.values())):
        notes.append(UNSEEN)  # that the ops of JAX are not listed
    if function is not None and function.__code__.co_flags & GENERATOR:
        notes.append(GENERATOR_NOTE)
    if outcome == INTERRUPTED:
        if not recorder.total:  # there is nothing to show
            raise KeyboardInterrupt
        notes.insert(0, describe_interruption(recorder.total, "op"))
        return build_op_log(recorder, read_title_name(fn), notes)
    if outcome:
        notes.append(f"Then it raised {outcome}")
    return build_op_log(recorder, read_title_name(fn), notes, outcome)


class OpsInBlock:
    """Lists the ops that TensorFlow and PyTorch report in a `with` block."""

    unit = "op"  # what a row is

    def __init__(self, most: int = MOST_OPS):
        """Prepare to record up to `most` ops.

        The names of tensors are those in the frame of the program that calls this.
        """
        names = TensorNames(list_values_of_frame(users_frame()))
        self._recorder = OpRecorder(names, RecordingLimits("watching_ops", most=most).most)
        #: Returns the context manager that records.
        self.watching = self._recorder.watching

    @property
    def model(self) -> OpLog:
        """Return the log as it is now."""
        return build_op_log(self._recorder, "the block")


def build_op_log(
    recorder: OpRecorder, subject: str, notes: Iterable[str] = (), outcome: str = ""
) -> OpLog:
    """Return the table of the ops that were recorded so far.

    `subject` names what ran, for the title. `notes` are sentences on the run. `outcome` is what the
    run raised, in words, or "".
    """
    rows = []
    # `reads` and `makes` are tuples with (number, dtype and sizes, name) of each tensor.
    for number, (name, reads, makes, stage, where, layer) in enumerate(recorder.ops, start=1):
        values_read = tuple(OpTensor(*value) for value in reads)
        values_made = tuple(OpTensor(*value) for value in makes)
        rows.append(Op(number, name, values_read, values_made, stage, where, layer))

    return OpLog(
        f"{subject}: {format_count(recorder.total, 'op')}",
        _list_op_columns(rows),
        tuple(rows),
        " ".join([*_list_op_notes(recorder, rows), *notes]),
        outcome,
    )


def _list_op_columns(rows: list[Op]) -> tuple[Column, ...]:
    """Return the columns of the table, without columns that would say nothing.

    These are "layer" if no op belongs to a layer, and "where" if no op is in a graph.
    """
    left_out_fields = set()
    if not any(row.layer for row in rows):
        left_out_fields.add("layer")
    if all(row.where == EAGER for row in rows):
        left_out_fields.add("where")

    columns = []
    for field, heading in HEADINGS.items():
        if field not in left_out_fields:
            columns.append(Column(field, heading, field == "op"))
    return tuple(columns)


def _list_op_notes(recorder: OpRecorder, rows: list[Op]) -> list[str]:
    """Return the sentences on what the table does not show."""
    notes = []
    # After an error in the recorder (`fault`), nobody knows how many ops there were.
    if recorder.fault:
        notes.append(FAULT_NOTE.format(len(rows) + 1, recorder.fault))
    else:
        if recorder.left_out_count:
            notes.append(LEFT_OUT_NOTE.format(recorder.left_out_count, recorder.total))
        if not rows:
            notes.append(NO_OPS_NOTE)

    higher_order_ops = sorted({row.op for row in rows if row.op.startswith(HIGHER_ORDER)})
    if higher_order_ops:
        notes.append(HIGHER_ORDER_NOTE.format(format_names(higher_order_ops, MOST_LISTED)))
    if recorder.has_compiled_calls:
        notes.append(COMPILED_NOTE)
    graphs = sorted({row.op for row in rows if row.op.startswith(GRAPH)})
    if graphs:
        notes.append(GRAPHS_NOTE.format(format_names(graphs, MOST_LISTED)))
    return notes


def join_op_logs(title: str, **logs: OpLog) -> Graph:
    """Return the ops of a `watch_ops` log as a graph; of several logs, all graphs in one picture.

    Each log is a keyword argument, whose name heads its part of the picture. TypeError says that an
    argument is no log, or that there is none.
    """
    title = printable(require_str(title, "title"), LONGEST_TITLE)
    logs = {printable(name, LONGEST_NAME): log for name, log in logs.items()}
    if not logs or not all(real_isinstance(log, OpLog) for log in logs.values()):
        raise TypeError("show_op_graph needs logs of watch_ops, such as TensorFlow=log")

    graphs = {name: build_op_graph(log, title) for name, log in logs.items()}
    if len(graphs) > 1:
        return join_graphs(title, graphs, OUTSIDE_NOTE)
    (graph,) = graphs.values()
    return replace(graph, note=OUTSIDE_NOTE)

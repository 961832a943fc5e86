"""A function of a program -> a recorder of its traces, or what one call of it would add.

`trace_recorder` records the calls, `call_forecast` looks one up, `call_rows` builds the ledger.
"""

from types import MethodType

from ...model.trace_records import TraceEntry
from .tf_functions import require_tf_function
from .trace_recorder import TraceRecorder, find_recorder


def watch_function(fn, **options) -> TraceRecorder:
    """Return `fn` as a recorder, to be called as before.

    A plain function becomes `tf.function(fn, **options)`. A recorder is returned as it is.
    """
    recorder = None if options else find_recorder(fn)
    if recorder is not None:
        return recorder
    return TraceRecorder(require_tf_function(fn, options))


def would_trace(fn, /, *args, **kwargs) -> TraceEntry:
    """Return the row that a call `fn(*args, **kwargs)` would add now, without making the call."""
    if type(fn) is MethodType:
        # Of an object without a recorder of its own: the class's, whose call begins with `self`.
        class_recorder = find_recorder(fn.__func__)
        if class_recorder is not None:
            return class_recorder.forecast((fn.__self__, *args), kwargs).build_entry()
    recorder = find_recorder(fn)
    if recorder is None:
        recorder = TraceRecorder(require_tf_function(fn, args=args))
    return recorder.forecast(args, kwargs).build_entry()

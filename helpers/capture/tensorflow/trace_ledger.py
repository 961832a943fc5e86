"""A function of a program -> a recorder of its traces, or the row that one more call would add.

A recorder is called in place of the function, and each call adds a row to its ledger: whether it
traced, and why. `trace_recorder` records the calls, `call_forecast` looks one call up, and
`call_rows` builds the ledger.
"""

from types import MethodType

from ...model.trace_records import TraceEntry
from .tf_functions import require_tf_function
from .trace_recorder import TraceRecorder, find_recorder


def watch_function(fn, **options) -> TraceRecorder:
    """Return a recorder that is called like `fn` and records each call.

    `fn` is a tf.function, or a Python function of which `tf.function(fn, **options)` is made. If
    `fn` is a recorder already, it is returned.
    """
    # With options a new tf.function is wanted, and `require_tf_function` refuses to change one.
    recorder = None if options else find_recorder(fn)
    if recorder is not None:
        return recorder
    return TraceRecorder(require_tf_function(fn, options))


def would_trace(fn, /, *args, **kwargs) -> TraceEntry:
    """Return the row that a call `fn(*args, **kwargs)` would add now, without making the call.

    `fn` may be a recorder, a tf.function, or a Python function.
    """
    if type(fn) is MethodType:
        # The recorder may stand in the class, in place of the function. Then `self` is an argument.
        class_recorder = find_recorder(fn.__func__)
        if class_recorder is not None:
            return class_recorder.forecast((fn.__self__, *args), kwargs).build_entry()
    recorder = find_recorder(fn)
    if recorder is None:
        recorder = TraceRecorder(require_tf_function(fn, args=args))
    return recorder.forecast(args, kwargs).build_entry()

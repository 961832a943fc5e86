"""Install the hooks by which TensorFlow and PyTorch report each op to a `JourneyRecorder`, which
counts what happens in a call. The recorder is a profiler, so it would also count calls that these
hooks make. The hooks tell it which calls to leave out.

TensorFlow: the entry points into C of tensorflow/python/pywrap_tfe.py are replaced while the call
runs. PyTorch: a TorchDispatchMode (torch/utils/_python_dispatch.py) is called for each op, below
autograd.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager

from ...internals import tensorflow_private, torch_modes, torch_private
from ...internals.tensorflow_private import FAST, SLOW, SLOW_CANCELABLE
from ...safety.interrupts import register_recorders
from ...safety.restoring import patched
from .journey_recorder import JourneyRecorder

# Entry point of TensorFlow -> the position of the op's name among its arguments.
NAME_POSITIONS = {FAST: 1, SLOW: 2, SLOW_CANCELABLE: 2}


def recording_tensorflow_ops(recorder: JourneyRecorder) -> AbstractContextManager:
    """Return a context manager in which TensorFlow's ops are reported to the recorder.

    Each entry point of TensorFlow into C is replaced by a function that calls it and reports.
    """
    entry_points = tensorflow_private.pywrap_tfe
    replacements = {}
    for name, name_position in NAME_POSITIONS.items():
        entry_point = getattr(entry_points, name)
        replacements[name] = _report_op_of(entry_point, name_position, recorder)
    return patched(entry_points, **replacements)


def _report_op_of(entry_point: Callable, name_position: int, recorder: JourneyRecorder) -> Callable:
    """Return a function that calls an entry point into C, and then reports the op.

    `name_position` is where the op's name is among the arguments of the entry point.
    """

    def call_and_report(*arguments):
        """Do what the entry point does, and report the op."""
        result = entry_point(*arguments)
        recorder.note_op(arguments[name_position], result)
        return result

    # The program calls this function where it would call C. So the recorder counts the call of C
    # that is in this function as the program's.
    code = call_and_report.__code__
    recorder.transparent_codes[id(code)] = code
    return call_and_report


def build_torch_mode(recorder: JourneyRecorder) -> AbstractContextManager:
    """Return a mode of torch, a context manager, that reports each op to the recorder.

    The reporting function must not call Python functions, because the profiler would count them and
    Dynamo would try to compile them. So everything that it needs is looked up before, and it
    appends to `recorder.ops` itself.
    """
    import torch

    ops = recorder.ops
    without_overrides = torch._C.DisableTorchFunction
    device_of = vars(torch._C.TensorBase)["device"].__get__
    dtype_of = vars(torch._C.TensorBase)["dtype"].__get__
    tensor_type = torch.Tensor
    kernels_by_place: dict[tuple, str] = {}  # (device, dtype) -> text such as "cpu, float32"

    def report_op(name, inputs, result):
        """Add an op to the record; the mode calls this after each op with the op's result."""
        recorder.is_paused = True  # so that the recorder does not count this report
        kernel = ""  # device and dtype of the first tensor in the result
        try:
            first = result
            if type(result) is list or type(result) is tuple:
                first = result[0] if result else None
            if issubclass(type(first), tensor_type):
                # In this block torch calls no `__torch_function__` of the tensor's class or of a
                # mode of the user's.
                with without_overrides():
                    place = device_of(first), dtype_of(first)
                if place not in kernels_by_place:
                    words = f"{place[0]}, {place[1]}"
                    kernels_by_place[place] = words.replace("torch.", "")
                kernel = kernels_by_place[place]
        except Exception:  # a tensor that is on no device raises: its kernel is not known
            kernel = ""
        ops.append((name, kernel))
        recorder.is_paused = bool(recorder.fault)  # a fault has ended the counting for good

    def hide_calls_of(code):
        """Have the recorder not count what a function of the mode calls."""
        recorder.hidden_callers[id(code)] = code

    register_recorders(report_op)
    mode = torch_modes.build_dispatch_mode(report_op, hide_calls_of)
    hide_calls_of(report_op.__code__)

    # For a higher-order op, torch calls this rule only because there is a mode. So nothing that
    # runs in the rule counts as the program's.
    rule_code = torch_private.find_torch_dispatch_rule.__code__
    recorder.paused_codes[id(rule_code)] = rule_code
    return mode

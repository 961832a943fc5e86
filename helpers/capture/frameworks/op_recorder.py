"""Record the ops that TensorFlow and PyTorch report while code runs: the name of each op, the
tensors that it read and made, its *stage* (such as "forward" or "backward"), and its layer.

TensorFlow: tensorflow/python/framework/op_callbacks.py, which the fast path calls from C++
(tensorflow/python/eager/pywrap_tfe_src.cc) and the fallback from execute.execute_with_callbacks.
PyTorch: TorchDispatchMode of torch/utils/_python_dispatch.py, below autograd.
"""

import contextlib
import functools
import re
from collections.abc import Iterator

from ...internals import dynamo_reports, tensorflow_private, torch_modes
from ...safety import restoring
from ...safety.arguments import real_type_name
from ...safety.users_frames import users_frame
from .op_layers import LayerFinder
from .op_stages import BACKWARD, FORWARD, UPDATE, FrameReader
from .op_values import TensorRegister
from .tensor_names import TensorNames

AFTER = "after"  # the stage of an op that reads a gradient, and that no tape asked for
EAGER = "eager"
IN_GRAPH = "graph"
# An op that writes in place, by the names of TensorFlow, or by those of PyTorch: an in-place op
# ends in one underscore, or is a method such as `__ilshift__`; `__lshift__` is none.
WRITES = re.compile(
    r"Assign|Resource(Sparse)?Apply|ResourceScatter|ResourceStridedSliceAssign"
    r"|(?!__)\w+\.(__i[a-z]+__|.*[^_]_)$"
)
# Names of graphs end in a counter; a backward graph that serves a forward graph has two.
GRAPH_NAME = re.compile(r"(__inference___backward_.*?)_\d+_\d+|(__(?:inference|forward)_.*)_\d+")


class OpRecorder:
    """Records ops by hooks into both frameworks, up to a limit.

    TensorFlow calls `note_tensorflow_op` after each of its ops, and torch's mode calls
    `note_torch_op`. Neither ever raises: an error in the recorder ends the recording.
    """

    def __init__(self, names: TensorNames, limit: int):
        """Start with no ops.

        `names` has the names of the program's tensors. At most `limit` ops are recorded; further
        ops are only counted.
        """
        #: A tuple for each op: (name, tensors read, tensors made, stage, EAGER or IN_GRAPH, layer).
        #: A tensor is (number, dtype and sizes, name). Plain tuples, because there may be many.
        self.ops: list[tuple] = []
        #: How many ops were reported, but not recorded.
        self.left_out_count = 0
        #: Whether code of torch.compile was called.
        self.has_compiled_calls = False
        #: The type of an error in the recorder, after which nothing was recorded; or "".
        self.fault = ""
        self._limit = limit
        self._frames = FrameReader()  # finds the stage of an op, and the modules that are called
        self._tensors = TensorRegister(names)  # gives each tensor a number
        self._layers = LayerFinder(self._tensors, names)  # finds the path of an op's layer
        self._names = names
        # The numbers of tensors that a backward op made, or that were computed from one of them.
        self._gradients: set[int] = set()

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Have both frameworks report the ops of this thread in the block.

        A framework that is not imported when the block begins is not watched.
        """
        with contextlib.ExitStack() as stack:
            if restoring.find_loaded_module("torch"):
                stack.enter_context(torch_modes.build_dispatch_mode(self.note_torch_op))
                stack.enter_context(
                    dynamo_reports.report_compiled_functions(self._note_compiled_call)
                )
            if restoring.find_loaded_module("tensorflow"):
                stack.enter_context(tensorflow_private.report_ops(self.note_tensorflow_op))
            try:
                yield
            finally:
                # The recorder lives as long as its exhibit. It must not keep the program's classes
                # and code objects alive.
                self._tensors.forget_types()
                self._frames.forget_codes()

    @property
    def total(self) -> int:
        """Return how many ops were reported, recorded or not."""
        return len(self.ops) + self.left_out_count

    def note_tensorflow_op(self, op_type, inputs, attrs, outputs, op_name=None, graph=None):
        """Record one op of TensorFlow, which calls this as an op callback after the op.

        The parameters are those that TensorFlow passes. `op_type` is the name of the op, as str or
        bytes. `graph` is the graph that is being built, None for an op that runs now.
        """
        if not self._has_room():
            return
        try:
            name = op_type.decode() if isinstance(op_type, bytes) else str(op_type)
            where = EAGER if graph is None else IN_GRAPH
            self._add(_strip_graph_number(name), inputs, outputs, where, _writes_in_place(name))
        except Exception as error:  # a fault of ours is never the user's error
            self._stop_at_fault(error)

    def note_torch_op(self, name, inputs, outputs):
        """Record one op that torch has dispatched; torch's mode calls this after the op."""
        if not self._has_room():
            return
        try:
            # An op that writes in place is an update only if it writes a parameter, which is a leaf
            # that requires a gradient. The tensor that is written is the first input.
            written = self._tensors.find_tensors(inputs[:1]) if _writes_in_place(name) else []
            is_update = any(tensor.requires_grad and tensor.is_leaf for tensor in written)
            self._add(name, inputs, outputs, EAGER, is_update)
        except Exception as error:  # a fault of ours is never the user's error
            self._stop_at_fault(error)

    def _note_compiled_call(self, _function) -> None:
        """Note that code of torch.compile is called; torch_private calls this before the call."""
        self.has_compiled_calls = True

    def _stop_at_fault(self, error: Exception) -> None:
        """Record nothing from here on."""
        self.fault = real_type_name(error)
        self._limit = len(self.ops)

    def _has_room(self) -> bool:
        """Return whether there is room to record one more op; if not, count the op as left out."""
        if len(self.ops) < self._limit:
            return True
        self.left_out_count += 1
        return False

    def _add(self, name: str, inputs, outputs, where: str, is_update: bool) -> None:
        """Append an op to `ops`.

        `inputs` and `outputs` are what the framework reports: tensors, lists of them, other values.
        `where` is EAGER or IN_GRAPH. `is_update` says whether the op writes a variable or a
        parameter.
        """
        # Stage and layers are read from the frames that are open now.
        open_calls = self._frames.read_open_calls(users_frame())
        tensors_read = self._tensors.find_tensors(inputs)
        reads = tuple(map(self._tensors.read_value, tensors_read))
        tensors_made = self._tensors.find_tensors((outputs,))
        makes = tuple(map(self._tensors.read_value, tensors_made))

        stage = open_calls.stage
        if stage == FORWARD and is_update:
            stage = UPDATE  # the program updates a variable itself, without an optimizer
        if stage == FORWARD and self._reads_gradient(tensors_read, reads):
            stage = AFTER  # the program computes with gradients after the backward pass
        # Whatever is computed from a gradient counts as a gradient.
        if stage in (BACKWARD, AFTER):
            self._gradients.update(number for number, _, _ in makes)

        layer = self._layers.find_path(open_calls.layers)
        # An op of a hook of the user's runs in the backward pass, but belongs to no forward op.
        if not open_calls.is_hook:
            layer = self._layers.trace_through_autograd(layer, tensors_read)
        self.ops.append((name, reads, makes, stage, where, layer))

    def _reads_gradient(self, tensors_read: list, values: tuple) -> bool:
        """Return whether an op reads a gradient, of this run or of a backward pass before it.

        `values` has (number, dtype and sizes, name) of each tensor in `tensors_read`.
        """
        if any(number in self._gradients for number, _, _ in values):
            return True
        return any(self._names.is_earlier_gradient(tensor) for tensor in tensors_read)


def _strip_graph_number(name: str) -> str:
    """Return the name of an op that TensorFlow reports, without a number that varies by run.

    An op that runs a graph has such a number: "__inference_step_12" gives "__inference_step_".
    """
    graph_name = GRAPH_NAME.fullmatch(name)
    if graph_name is None:
        return name
    return f"{graph_name[1] or graph_name[2]}_"


@functools.cache
def _writes_in_place(name: str) -> bool:
    """Return whether the op of this name writes to one of its inputs."""
    return bool(WRITES.match(name))

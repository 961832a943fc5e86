"""A run -> the ops that it executed, in TensorFlow, in PyTorch, or in both, with names of tensors.

TensorFlow: tensorflow/python/framework/op_callbacks.py, which the fast path calls from C++
(tensorflow/python/eager/pywrap_tfe_src.cc) and the fallback from execute.execute_with_callbacks.
PyTorch: TorchDispatchMode of torch/utils/_python_dispatch.py, below autograd.
"""

import contextlib
import re
import sys
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import FunctionType

from helpers.capture.cpython.objects import GENERATOR, called, compiled, instance_dict, names_used
from helpers.capture.cpython.unwrapping import arguments
from helpers.capture.frameworks.call_recorder import refuse_what_does_not_run, run_to_end
from helpers.capture.text import tensors
from helpers.capture.text.tensors import TENSORS, base_of
from helpers.internals import tensorflow_private, torch_private
from helpers.model.framework_records import Op, OpLog, Value, op_graph, together
from helpers.model.graphs import Graph
from helpers.model.phrase import counted
from helpers.model.tables import Column
from helpers.safety import restoring
from helpers.safety.arguments import printable, real_isinstance, require_str

MOST_OPS, MOST_ITEMS, LONGEST_NAME, LONGEST_TITLE = 500, 100, 80, 300
MODULE, LAYER = ("torch.nn.modules.module", "Module"), ("keras.src.layers.layer", "Layer")
COLUMNS = {"number": "#", "op": "op", "inputs": "reads", "outputs": "makes", "stage": "stage"}
COLUMNS |= {"where": "where"}
NONE = "Neither TensorFlow nor PyTorch reported an op of this thread; those of other libraries are "
NONE += "not seen."
BACKWARD = {("tensorflow.python.eager.backprop", "gradient"), ("torch.autograd", "backward")}
BACKWARD |= {("torch.autograd", "grad"), ("tensorflow.python.eager.backprop", "jacobian")}
UPDATE = ("keras.src.optimizers", "torch.optim")
WRITES = re.compile(  # in place: by TensorFlow's names; by PyTorch's, where `__lshift__` is none
    r"Assign|Resource(Sparse)?Apply|ResourceScatter|ResourceStridedSliceAssign"
    r"|(?!__)\w+\.(__i[a-z]+__|.*[^_]_)$"
)
GENERATED = re.compile(r"__(inference|forward|backward)_.*")


def op_log(fn, *args, **kwargs) -> OpLog:
    """Run `fn(*args, **kwargs)` and list the ops that TensorFlow, or PyTorch, reports for it.

    Both frameworks report the ops of the calling thread alone: what `fn` has other threads run
    is not listed. A tf.function that has its graph is one op; of a function that torch compiled,
    what a kernel of its own does is none.
    An Exception that it raises is told, not raised. TypeError if `fn` cannot be called.
    """
    function = refuse_what_does_not_run(fn, "watch_ops")
    recorder = _Recorder(names_of(fn, args, kwargs))
    with contextlib.ExitStack() as stack:
        if restoring.module("torch"):
            stack.enter_context(torch_private.dispatch_mode(recorder.of_torch))
        if restoring.module("tensorflow"):
            stack.enter_context(tensorflow_private.op_callback(recorder.of_tensorflow))
        outcome = run_to_end(lambda: fn(*args, **kwargs))
    rows, missing = recorder.rows, recorder.left_out
    notes = [f"{missing:,} more ops are left out; watch a shorter run to see them."] * bool(missing)
    if not rows:
        notes.append(NONE)
    if compiled(fn) is not None:
        notes.append("torch.compile made it; what its generated kernels do is not listed.")
    if function is not None and function.__code__.co_flags & GENERATOR:
        notes.append("The call only made a generator: none of its body ran.")
    notes += [f"Then it raised {outcome}"] if outcome else []
    columns = [Column(name, heading, name == "op") for name, heading in COLUMNS.items()]
    shown = columns[: 5 if all(row.where == "eager" for row in rows) else 6]
    title = f"{called(fn)}: {counted(len(rows) + missing, 'op')}"
    return OpLog(title, tuple(shown), tuple(rows), " ".join(notes), outcome)


def ops_graph(title: str, **logs: OpLog) -> Graph:
    """Draw the ops of a log of `watch_ops` as a graph; several logs stand in one picture by name.

    TypeError if there is none, or one is no log.
    """
    title = printable(require_str(title, "title"), LONGEST_TITLE)
    logs = {printable(name, LONGEST_NAME): log for name, log in logs.items()}
    if not logs or not all(real_isinstance(log, OpLog) for log in logs.values()):
        raise TypeError("show_op_graph needs logs of watch_ops, such as TensorFlow=log")
    note = "Values that came from outside without a name, such as shapes, are left out."
    graphs = {name: op_graph(log, title) for name, log in logs.items()}
    one = next(iter(graphs.values()))
    return together(title, graphs, note) if len(graphs) > 1 else replace(one, note=note)


class _Recorder:
    """Both hooks, and the numbers of the tensors that they have seen."""

    def __init__(self, names: Mapping[object, str]):
        self.rows, self.left_out = [], 0
        self._names, self._numbers, self._count, self._held = names, {}, 0, []
        self._gradients = set()  # numbers of what backward ops made, and of what came of it

    def of_tensorflow(self, op_type, inputs, attrs, outputs, op_name=None, graph=None):
        """Write down one op; an op callback of TensorFlow."""
        name = op_type.decode() if isinstance(op_type, bytes) else str(op_type)
        plain = GENERATED.sub(lambda found: found[0].rstrip("0123456789"), name)  # no counter
        where = "eager" if graph is None else "graph"
        self._add(plain, inputs, outputs, where, bool(WRITES.match(name)))

    def of_torch(self, name, inputs, outputs):
        """Write down one op that torch dispatched; what is no parameter is written in place too."""
        written = _tensors(inputs[:1]) if WRITES.match(name) else ()
        updates = any(tensor.requires_grad and tensor.is_leaf for tensor in written)
        self._add(name, inputs, outputs, "eager", updates)

    def _add(self, name: str, inputs, outputs, where: str, updates: bool) -> None:
        if len(self.rows) >= MOST_OPS:
            self.left_out += 1
            return
        stage = _stage(sys._getframe(2))
        if stage == "forward" and updates:
            stage = "update"  # asked for by no tape
        reads, makes = (tuple(map(self._value, _tensors(side))) for side in (inputs, outputs))
        if stage == "forward" and any(value.number in self._gradients for value in reads):
            stage = "after"
        if stage in ("backward", "after"):
            self._gradients |= {value.number for value in makes}
        self.rows.append(Op(len(self.rows) + 1, name, reads, makes, stage, where))

    def _value(self, tensor) -> Value:
        key = identity(tensor)
        if key not in self._numbers:
            self._numbers[key] = self._count = self._count + 1
            if key == id(tensor):
                # A freed tensor lends its identity to another, so the key goes with the tensor,
                # which must not be held: autograd copies a gradient that somebody else holds.
                self._held.append(weakref.ref(tensor, lambda _: self._numbers.pop(key, None)))
        return Value(self._numbers[key], tensors.words(tensor), self._names.get(key, ""))


def _tensors(found) -> Iterator[object]:
    if real_isinstance(found, list, tuple):
        for item in found:
            yield from _tensors(item)
    elif is_tensor(found):
        yield found


def _stage(frame) -> str:
    stage = "forward"
    while frame is not None:
        place = str(frame.f_globals.get("__name__", "")), frame.f_code.co_name
        if place in BACKWARD:
            return "backward"
        stage = "update" if place[0].startswith(UPDATE) else stage
        frame = frame.f_back
    return stage


def names_of(fn, args: tuple, kwargs: Mapping) -> dict[object, str]:
    """Return identity -> name of every tensor and variable that `fn` names or is given."""
    names = {}
    for name, value in _named_values(fn, args, kwargs):
        for path, tensor in _find_tensors(name, value, 2):
            handle = (instance_dict(tensor) or {}).get("_handle")  # of a variable of TensorFlow
            of_handle = [identity(handle)] if _is_of(handle, TENSORS[1]) else []
            for key in (identity(tensor), *of_handle, id(tensor)):
                names.setdefault(key, printable(path, LONGEST_NAME))
    return names


def is_tensor(value) -> bool:
    """Return whether this is a tensor, a variable or an array by its real type."""
    return base_of(type(value)) is not None


def identity(tensor) -> object:
    """Return what stands for a tensor: TensorFlow numbers them, torch's have one object each."""
    of_tensorflow = _is_of(tensor, TENSORS[1])
    return tensorflow_private.tensor_number(tensor) if of_tensorflow else id(tensor)


def _is_of(value, place: tuple[str, str]) -> bool:
    kind = getattr(restoring.module(place[0]), place[1], None)
    return isinstance(kind, type) and real_isinstance(value, kind)


def _named_values(fn, args, kwargs) -> Iterator[tuple[str, object]]:
    yield "layer", fn  # where it is one; of anything else no tensor is found
    yield from arguments(fn, args, kwargs)
    if type(fn) is FunctionType:
        for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):  # bound later
                yield name, cell.cell_contents
        for name in sorted(names_used(fn.__code__) & fn.__globals__.keys()):
            yield name, fn.__globals__[name]


def _find_tensors(name: str, value, depth: int) -> Iterator[tuple[str, object]]:
    """Yield the tensors in a value, with their names: in lists of lists, in layers and modules."""
    if real_isinstance(value, list, tuple):
        for at, item in enumerate(value if depth and len(value) <= MOST_ITEMS else ()):
            yield from _find_tensors(f"{name}[{at}]", item, depth - 1)
    elif _is_of(value, LAYER):
        with contextlib.suppress(Exception):  # a class of somebody's own may raise
            yield from [(weight.path, weight.value) for weight in value.weights]
    elif _is_of(value, MODULE):
        with contextlib.suppress(Exception):
            for part, weight in value.named_parameters():
                yield f"{name}.{part.replace('_orig_mod.', '')}", weight
    elif is_tensor(value):
        yield name, value

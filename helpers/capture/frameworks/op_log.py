"""A run -> the ops that it executed, in TensorFlow, in PyTorch, or in both.

TensorFlow: tensorflow/python/framework/op_callbacks.py, which the fast path calls from C++
(tensorflow/python/eager/pywrap_tfe_src.cc) and the fallback from execute.execute_with_callbacks.
PyTorch: TorchDispatchMode of torch/utils/_python_dispatch.py, below autograd.
"""

import contextlib
import functools
import re
import sys
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import replace

from helpers.capture.cpython.objects import (
    GENERATOR,
    LONGEST_NAME,
    called,
    compiled,
    instance_dict,
    refuse_async,
)
from helpers.capture.cpython.settrace import UNRAISABLE
from helpers.capture.cpython.unwrapping import behind, calls_itself
from helpers.capture.frameworks.tensor_names import identity, is_tensor, names_of
from helpers.capture.text import tensors
from helpers.capture.text.error import instead, said
from helpers.capture.text.value import brief, type_name
from helpers.internals import torch_private
from helpers.model.graph import Graph
from helpers.model.listing import Column
from helpers.model.op_log import Op, OpLog, Value, op_graph, together
from helpers.model.phrase import counted
from helpers.safety import imported
from helpers.safety.arguments import is_a, printable, word
from helpers.safety.interpreter_state import theirs
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS  # those of the interpreter may be patched when this runs

MOST_OPS, DEEPEST, LONGEST_TITLE = 500, 20, 300
COLUMNS = (
    Column("number", "#"),
    Column("op", "op", True),
    Column("inputs", "reads"),
    Column("outputs", "makes"),
    Column("stage", "stage"),
    Column("layer", "in layer"),
    Column("where", "where"),
)
NONE = (
    "Neither TensorFlow nor PyTorch reported an op of this thread; those of other libraries "
    "are not seen."
)
RARE = {"layer": "", "where": "eager"}  # a column that would say this in every row is left out
BACKWARD = {("tensorflow.python.eager.backprop", "gradient"), ("torch.autograd", "backward")}
BACKWARD |= {("torch.autograd", "grad"), ("tensorflow.python.eager.backprop", "jacobian")}
UPDATE = ("keras.src.optimizers", "torch.optim")
WRITES = re.compile(  # in place: by TensorFlow's names; by PyTorch's, where `__lshift__` is none
    r"Assign|Resource(Sparse)?Apply|ResourceScatter|ResourceStridedSliceAssign"
    r"|(?!__)\w+\.(__i[a-z]+__|.*[^_]_)$"
)
LAYERS = {("keras.src.layers.layer", "__call__"), ("torch.nn.modules.module", "_call_impl")}


def op_log(fn, *args, **kwargs) -> OpLog:
    """Return the ops that `fn(*args, **kwargs)` runs or puts into a graph, in order.

    PyTorch is watched too if it has been imported. Op callbacks and modes belong to a thread, so
    what `fn` has other threads run is not seen. What the run raises becomes the log's
    `outcome`. TypeError if `fn` cannot be called, or makes a coroutine.
    """
    if calls_itself(fn):
        raise TypeError("watch_ops needs a function, not a partial that is its own function")
    function = behind(fn)
    if function is not None:
        refuse_async(function, "watch_ops")
    if not callable(fn):
        needed = f"watch_ops needs a function and its arguments, not {brief(fn)}"
        raise TypeError(f"{needed}{instead(fn)}")
    recorder, outcome = _Recorder(names_of(fn, args, kwargs)), ""
    with _watching(recorder):
        try:
            with theirs():
                fn(*args, **kwargs)
        except UNRAISABLE:
            raise
        except BaseException as error:
            outcome = said(error)
    rows, missing = recorder.rows, recorder.left_out
    notes = [f"{missing:,} more ops are left out; watch a shorter run to see them."] * bool(missing)
    if not recorder.rows:
        notes.append(NONE)
    if compiled(fn) is not None:
        notes.append("torch.compile made it; what its generated kernels do is not listed.")
    if function is not None and function.__code__.co_flags & GENERATOR:
        notes.append("The call only made a generator: none of its body ran.")
    notes += [f"Then it raised {outcome}"] if outcome else []
    used = tuple(c for c in COLUMNS if c.field not in RARE or any(_told(c, row) for row in rows))
    count = len(rows) + missing
    title = f"{called(fn)}: {counted(count, 'op')}"
    return OpLog(title, used, tuple(rows), " ".join(notes), outcome)


def log_of(thing):
    """Return the log in an exhibit of `watch_ops`; anything else as given."""
    model = (instance_dict(thing) or {}).get("model")
    return model if is_a(model, OpLog) else thing


def ops_graph(logs: Mapping[str, OpLog], title: str) -> Graph:
    """Return the graph of one log, or of several side by side."""
    title = printable(word(title, "title"), LONGEST_TITLE)
    logs = {printable(word(name, "a name"), LONGEST_NAME): log for name, log in logs.items()}
    if not logs or not all(is_a(log, OpLog) for log in logs.values()):
        raise TypeError("show_op_graph needs logs of watch_ops, such as TensorFlow=log")
    note = "Values that came from outside without a name, such as shapes, are left out."
    if len(logs) == 1:
        return replace(op_graph(*logs.values(), title, unnamed=False), note=note)
    graphs = {name: op_graph(log, unnamed=False) for name, log in logs.items()}
    return together(title, graphs, note)


def _told(column: Column, row: Op) -> bool:
    return getattr(row, column.field) != RARE[column.field]


@contextlib.contextmanager
def _watching(recorder) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        if imported.module("torch"):
            stack.enter_context(_torch_mode(recorder))
        if imported.module("tensorflow"):
            from tensorflow.python.framework import op_callbacks

            callback = recorder.of_tensorflow
            op_callbacks.add_op_callback(callback)
            stack.callback(op_callbacks.remove_op_callback, callback)
        yield


def _torch_mode(recorder):
    torch_private.refuse_late_dynamo()
    from torch.utils._python_dispatch import TorchDispatchMode

    class Watching(TorchDispatchMode):
        @classmethod
        def ignore_compile_internals(cls):
            return True  # or torch.compile gives the function up, for good

        @classmethod
        def _should_skip_dynamo(cls):
            return False

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            recorder.of_torch(func, (*args, *(kwargs or {}).values()), result)
            return result

    if torch := imported.module("torch._dynamo"):  # or Dynamo would compile the recorder's frames
        Watching.__torch_dispatch__ = torch.disable(Watching.__torch_dispatch__)
    return Watching()


class _Recorder:
    """Both hooks, and the numbers of the tensors that they have seen."""

    def __init__(self, names: Mapping[object, str]):
        self.rows, self.left_out = [], 0
        self._names, self._numbers, self._count, self._held = names, {}, 0, []
        self._gradients = set()  # numbers of what backward ops made, and of what came of it

    def of_tensorflow(self, op_type, inputs, attrs, outputs, op_name=None, graph=None):
        """Write down one op; an op callback of TensorFlow."""
        name = op_type.decode() if isinstance(op_type, bytes) else str(op_type)
        where = "eager" if graph is None else "graph"
        self._add(_plain(name), inputs, outputs, where, bool(WRITES.match(name)))

    def of_torch(self, func, inputs, outputs):
        """Write down one op that torch dispatched."""
        if func.namespace != "profiler":
            name = f"{func.namespace}.{func.overloadpacket.__name__}"
            updates = WRITES.match(name) and any(map(_learns, _tensors(inputs[:1])))
            self._add(name, inputs, outputs, "eager", bool(updates))

    def _add(self, name: str, inputs, outputs, where: str, updates: bool) -> None:
        if len(self.rows) >= MOST_OPS:
            self.left_out += 1
            return
        stage, layer = _asked_by(sys._getframe(2))
        if stage == "forward" and updates:
            stage = "update"  # asked for by no tape
        reads, makes = (tuple(map(self._value, _tensors(side))) for side in (inputs, outputs))
        if stage == "forward" and any(value.number in self._gradients for value in reads):
            stage = "after"
        if stage in ("backward", "after"):
            self._gradients |= {value.number for value in makes}
        self.rows.append(Op(len(self.rows) + 1, name, reads, makes, stage, layer, where))

    def _value(self, tensor) -> Value:
        key = identity(tensor)
        if key not in self._numbers:
            self._count += 1
            self._numbers[key] = self._count
            self._forget_in_time(key, tensor)
        return Value(self._numbers[key], tensors.words(tensor), self._names.get(key, ""))

    def _forget_in_time(self, key: object, tensor) -> None:
        """Drop a key with its tensor: a freed tensor lends its identity to another.

        The tensor itself must not be held: autograd copies a gradient that somebody else holds.
        """
        if key == id(tensor):
            drop = functools.partial(lambda numbers, _: numbers.pop(key, None), self._numbers)
            try:
                self._held.append(weakref.ref(tensor, drop))
            except TypeError:
                self._held.append(tensor)


def _plain(name: str) -> str:
    """Return an op's name; the counter of a generated function's name is left out."""
    inner = name.removeprefix("__inference_").removeprefix("__forward_").removeprefix("__backward_")
    return (
        name if inner == name else f"{name[: len(name) - len(inner)]}{inner.rstrip('0123456789')}"
    )


def _tensors(found, depth: int = DEEPEST) -> Iterator[object]:
    """Yield the tensors in nested lists and tuples, in order."""
    if is_a(found, list, tuple):
        base = list if is_a(found, list) else tuple
        for item in base.__iter__(found) if depth else ():
            yield from _tensors(item, depth - 1)
    elif is_tensor(found):
        yield found


def _learns(tensor) -> bool:
    """Return whether a tensor of torch is a variable: others, too, are written in place."""
    return bool(tensors.field(tensor, "requires_grad") and tensors.field(tensor, "is_leaf"))


def _asked_by(frame) -> tuple[str, str]:
    """Return stage and layer, read from the frames below the op."""
    stage, layer = "forward", ""
    while frame is not None:
        place = str(frame.f_globals.get("__name__", "")), frame.f_code.co_name
        if place in BACKWARD:
            stage = "backward"
        elif place[0].startswith(UPDATE):
            stage = "update" if stage == "forward" else stage
        elif place in LAYERS and not layer:
            layer = _layer(frame.f_locals.get("self"))
        frame = frame.f_back
    return stage, layer


def _layer(owner) -> str:
    """Return a layer's name in Keras, else its type; neither of them runs code of the layer's."""
    name = (instance_dict(owner) or {}).get("name", "")
    return printable(name, LONGEST_NAME) if is_a(name, str) and name else type_name(owner)

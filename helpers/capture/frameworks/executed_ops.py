"""A run -> the ops that it executed, in TensorFlow, in PyTorch, or in both, with names of tensors.

TensorFlow: tensorflow/python/framework/op_callbacks.py, which the fast path calls from C++
(tensorflow/python/eager/pywrap_tfe_src.cc) and the fallback from execute.execute_with_callbacks.
PyTorch: TorchDispatchMode of torch/utils/_python_dispatch.py, below autograd.
"""

import contextlib
import functools
import inspect
import os
import re
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import FunctionType, MethodType

from ...internals import tensorflow_private, torch_private
from ...model.framework_records import Op, OpLog, Value, op_graph, together
from ...model.graphs import Graph
from ...model.phrase import counted, interrupted, listed
from ...model.tables import Column
from ...safety import restoring
from ...safety.arguments import printable, real_isinstance, real_type_name, require_str
from ...safety.dynamo_aside import leave_to_python
from ...safety.users_frames import is_library, users_frame
from ..cpython.following import Limits
from ..cpython.objects import GENERATOR, called, instance_dict, name_of, names_used
from ..cpython.settrace import INTERRUPTED, run_to_end
from ..cpython.unwrapping import UNSEEN, arguments, frameworks_of
from ..text import tensors
from ..text.tensors import TENSORS, base_of
from .call_recorder import refuse_what_does_not_run

MOST_OPS, MOST_ITEMS, LONGEST_NAME, LONGEST_TITLE = 500, 100, 80, 300
CALLS_OF_LAYERS = ("torch.nn.modules.module", "_call_impl"), ("keras.src.layers.layer", "__call__")
OWN_GRADIENT = os.path.join("torch", "autograd", "function.py")  # calls what a user defined
MODULE, LAYER = ("torch.nn.modules.module", "Module"), ("keras.src.layers.layer", "Layer")
COLUMNS = {"number": "#", "op": "op", "inputs": "reads", "outputs": "makes", "stage": "stage"}
COLUMNS |= {"layer": "layer", "where": "where"}
COMPILED = (
    "torch.compile made some of this code. Ops in its kernels are not listed one by one. The "
)
COMPILED += "others name no layer inside compiled code: at most the module that was compiled, or a "
COMPILED += "GraphModule or <lambda> of torch's. Run it uncompiled for the layer of each."
GRAPHS = "The ops inside the graph of {} are not listed one by one: `show_graph(fn, …)` lists "
GRAPHS += "them, for a Keras model `show_graph(model.train_function)`."
HIGHER = "higher_order."
HIGHER_ONES = "The ops of the functions that {} calls are not listed."
NONE = "Neither TensorFlow nor PyTorch reported an op of this thread; those of other libraries are "
NONE += "not seen."
# (module, function) of a frame -> what runs below it. The innermost of such frames decides.
STAGES = dict.fromkeys(
    (
        ("torch.autograd", "backward"),
        ("torch.autograd", "grad"),
        ("tensorflow.python.eager.backprop", "gradient"),
        ("tensorflow.python.eager.backprop", "jacobian"),
        ("tensorflow.python.ops.gradients_util", "_GradientsHelper"),
    ),
    "backward",
)
STAGES |= dict.fromkeys(
    (
        ("torch.utils.checkpoint", "recompute_fn"),
        ("torch.utils.checkpoint", "CheckpointFunction.backward"),
        ("tensorflow.python.ops.custom_gradient", "inner_recompute_grad"),
    ),
    "recompute",
)
UPDATE = ("keras.src.optimizers", "torch.optim")
AVERAGING = "torch.optim.swa_utils"  # its models and loaders run forward passes, too
AVERAGES = "update_parameters"
LOST = "From op {} on nothing is known: the recorder failed with {}."
WRITES = re.compile(  # in place: by TensorFlow's names; by PyTorch's, where `__lshift__` is none
    r"Assign|Resource(Sparse)?Apply|ResourceScatter|ResourceStridedSliceAssign"
    r"|(?!__)\w+\.(__i[a-z]+__|.*[^_]_)$"
)
GRADIENT = "gradient"
LIST, PLAIN = "list", "plain tensor"  # sorts of classes
# Names of graphs end in a counter; a backward graph that serves a forward graph has two.
GENERATED = re.compile(r"(__inference___backward_.*?)_\d+_\d+|(__(?:inference|forward)_.*)_\d+")


def op_log(fn, /, *args, most: int = MOST_OPS, **kwargs) -> OpLog:
    """Run `fn(*args, **kwargs)` and list the ops that TensorFlow, or PyTorch, reports for it."""
    most = Limits("watch_ops", most=most).most
    function = refuse_what_does_not_run(fn, "watch_ops", args)
    recorder = _Recorder(names_of(fn, args, kwargs), most)
    with recorder.watching():
        outcome = run_to_end(lambda: fn(*args, **kwargs))
    notes = [UNSEEN] * ("jax" in frameworks_of(fn, (*args, *kwargs.values())))
    if function is not None and function.__code__.co_flags & GENERATOR:
        notes.append("The call only made a generator. None of its body ran.")
    if outcome == INTERRUPTED:
        if not recorder.total:
            raise KeyboardInterrupt
        return recorder.log(name_of(fn), [interrupted(recorder.total, "op"), *notes])
    notes += [f"Then it raised {outcome}"] if outcome else []
    return recorder.log(name_of(fn), notes, outcome)


class OpsSeen:
    """List the ops that TensorFlow and PyTorch report in a `with` block."""

    unit = "op"  # what a row is

    def __init__(self, most: int = MOST_OPS):
        frame = users_frame()
        named = {**frame.f_locals}
        named |= {n: frame.f_globals.get(n) for n in names_used(frame.f_code) if n not in named}
        recorder = _Recorder(_names(named.items()), Limits("watching_ops", most=most).most)
        self.watching, self._log = recorder.watching, recorder.log

    @property
    def model(self) -> OpLog:
        """Return the log as it is now."""
        return self._log("the block")


def ops_graph(title: str, **logs: OpLog) -> Graph:
    """Draw the ops of a `watch_ops` log as a graph. Several logs share a picture, by name."""
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

    def __init__(self, names: Mapping[object, str], most: int):
        self._found, self._left_out, self._most = [], 0, most  # plain tuples until the log is read
        self._names, self._numbers, self._count, self._held = names, {}, 0, []
        self._compiled: set[str] = set()
        # Number of a node of autograd, or ("leaf", number of a tensor) -> layer; "" if several.
        self._layers = {}
        self._lost, self._is_left = "", False
        self._gradients = set()  # numbers of what backward ops made, and of what came of it
        self._sorts, self._marks, self._words = {}, {}, {}  # what is known of types and frames

    @contextlib.contextmanager
    def watching(self):
        """Have both frameworks report the ops of this thread in the block."""
        with contextlib.ExitStack() as stack:
            if restoring.module("torch"):
                stack.enter_context(torch_private.dispatch_mode(self.of_torch))
                note = torch_private.compiled_calls(lambda _: self._compiled.add(COMPILED))
                stack.enter_context(note)
            if restoring.module("tensorflow"):
                stack.enter_context(tensorflow_private.op_callback(self.of_tensorflow))
            try:
                yield
            finally:
                self._sorts, self._marks = {}, {}  # and hold nobody's classes and code

    @property
    def total(self) -> int:
        """Return how many ops were reported, recorded or not."""
        return len(self._found) + self._left_out

    def log(self, what: str, more: Iterable[str] = (), outcome: str = "") -> OpLog:
        """Return the ops so far; `more` are sentences on the run."""
        rows, missing = [], self._left_out
        for number, (name, reads, makes, *more_of_it) in enumerate(self._found, 1):
            sides = (tuple(Value(*value) for value in side) for side in (reads, makes))
            rows.append(Op(number, name, *sides, *more_of_it))
        total = len(rows) + missing
        left_out = f"{missing:,} more ops were not recorded; most={total} records all."
        graphs = {row.op for row in rows if row.op.startswith("__inference_")}
        inner = listed(sorted({row.op for row in rows if row.op.startswith(HIGHER)}), 3)
        inside = [HIGHER_ONES.format(inner)] * bool(inner)
        inside += [*self._compiled, *[GRAPHS.format(listed(sorted(graphs), 3))] * bool(graphs)]
        if self._lost:
            notes = [self._lost, *inside, *more]
        else:
            notes = [*[left_out] * bool(missing), *[NONE] * (not rows), *inside, *more]
        columns = [Column(name, heading, name == "op") for name, heading in COLUMNS.items()]
        used = {"layer": any(row.layer for row in rows)}
        used |= {"where": any(row.where != "eager" for row in rows)}
        shown = [column for column in columns if used.get(column.field, True)]
        title = f"{what}: {counted(total, 'op')}"
        return OpLog(title, tuple(shown), tuple(rows), " ".join(notes), outcome)

    def of_tensorflow(self, op_type, inputs, attrs, outputs, op_name=None, graph=None):
        """Write down one op; an op callback of TensorFlow."""
        if self._has_room():
            try:
                name = op_type.decode() if isinstance(op_type, bytes) else str(op_type)
                graph_name = GENERATED.fullmatch(name)
                plain = f"{graph_name[1] or graph_name[2]}_" if graph_name else name
                where = "eager" if graph is None else "graph"
                self._add(plain, inputs, outputs, where, _writes(name))
            except Exception as error:  # a fault of ours is never the user's error
                self._lose(error)

    def of_torch(self, name, inputs, outputs):
        """Write down one op that torch dispatched; what is no parameter is written in place too."""
        if self._has_room():
            try:
                written = self._tensors(inputs[:1]) if _writes(name) else ()
                updates = any(tensor.requires_grad and tensor.is_leaf for tensor in written)
                self._add(name, inputs, outputs, "eager", updates)
            except Exception as error:
                self._lose(error)

    def _lose(self, error: Exception) -> None:
        self._lost = LOST.format(len(self._found) + 1, real_type_name(error))
        self._most = len(self._found)

    def _has_room(self) -> bool:
        room = len(self._found) < self._most
        self._left_out += not room
        return room

    def _add(self, name: str, inputs, outputs, where: str, updates: bool) -> None:
        stage, calls, is_of_hook = self._open_calls(users_frame())
        if stage == "forward" and updates:
            stage = "update"  # asked for by no tape
        given = self._tensors(inputs)
        reads = tuple(map(self._value, given))
        makes = tuple(map(self._value, self._tensors((outputs,))))
        if stage == "forward" and self._has_gradient(given, reads):
            stage = "after"
        if stage in ("backward", "after"):
            self._gradients |= {value[0] for value in makes}
        layer = self._path(calls) if calls else ""
        layer = layer if is_of_hook else self._of_node(layer, given)
        self._found.append((name, reads, makes, stage, where, layer))

    def _has_gradient(self, tensors_read: list, values: tuple) -> bool:
        """Return whether this reads what came of a backward pass, or a `.grad` of before it ran."""
        came = any(value[0] in self._gradients for value in values)
        if came:
            return True
        known = ((self._names.get((GRADIENT, id(tensor))), tensor) for tensor in tensors_read)
        return any(reference and reference() is tensor for reference, tensor in known)

    def _of_node(self, layer: str, given: list) -> str:
        """Return `layer`, or that of the forward op whose node runs; its node is made before it."""
        node, newest = torch_private.autograd_now()
        if node is not None and not layer:
            leaf = getattr(node, "variable", None)
            layer = self._layers.get(node._sequence_nr() if leaf is None else self._leaf(leaf), "")
        for tensor in given if newest >= 0 else ():
            if getattr(tensor, "requires_grad", False):
                self._layers[newest] = layer  # a number that another thread used is of this op now
                if tensor.is_leaf:
                    key = self._leaf(tensor)
                    if self._layers.setdefault(key, layer) != layer:
                        self._layers[key] = ""  # its gradient is a sum over several layers
        return layer

    def _leaf(self, tensor) -> tuple[str, int]:
        return "leaf", self._value(tensor)[0]

    def _path(self, calls: list) -> str:
        """Return the path of the innermost of these, such as `layer1.0.conv1`; "" for none."""
        if _is_of(calls[0], LAYER):
            return printable(calls[0].path or calls[0].name, LONGEST_NAME)
        if id(calls[-1]) not in self._names:  # no name leads to it
            self._held.append(calls[-1])
            for path, found in _find_tensors(real_type_name(calls[-1]), calls[-1], 2):
                self._names.setdefault(id(found), printable(path, LONGEST_NAME))
        if id(calls[0]) not in self._names:  # a module that is registered nowhere
            return called(calls[0]) if len(calls) == 1 else real_type_name(calls[0])
        path = self._names[id(calls[0])]
        return called(calls[-1]) if path == "layer" else path.removeprefix("layer.")

    def _value(self, tensor) -> tuple[int, str, str]:
        key = id(tensor) if self._sorts[type(tensor)] == PLAIN else identity(tensor)
        if key not in self._numbers:
            self._numbers[key] = self._count = self._count + 1
            if key == id(tensor):
                # A freed tensor lends its identity to another, so the key goes with the tensor,
                # which must not be held: autograd copies a gradient that somebody else holds.
                self._held.append(weakref.ref(tensor, self._forgetting(key)))
        return self._numbers[key], self._said(tensor), self._names.get(key, "")

    def _forgetting(self, key: int) -> Callable[[object], None]:
        """Return what forgets the number of a tensor when the program frees it."""

        def forget(_):
            self._numbers.pop(key, None)

        if not self._is_left:
            leave_to_python(forget)  # all of these have one code object
            self._is_left = True
        return forget

    def _said(self, tensor) -> str:
        """Return dtype and sizes; equal ones of plain tensors of torch are put in words once."""
        if self._sorts[type(tensor)] != PLAIN:
            return tensors.words(tensor)
        try:
            words = self._words.get(what := (tensor.dtype, tensor.shape))
        except Exception:  # nested, or of sizes that are symbols
            return tensors.words(tensor)
        if words is None:
            words = self._words[what] = tensors.words(tensor)
        return words

    def _tensors(self, found) -> list:
        """Return the tensors in a list or tuple, and in those inside it."""
        inside = []
        for one in found:
            kind = type(one)
            if (sort := self._sorts.get(kind)) is None:
                sort = self._sorts[kind] = _sort_of(kind)
            if sort == LIST:
                inside += self._tensors(one)
            elif sort:
                inside.append(one)
        return inside

    def _open_calls(self, frame) -> tuple[str, list, bool]:
        """Return the stage, the modules and layers with open calls, and whether a hook runs.

        The innermost call is the first. A hook is a function of the user's that autograd calls.

        From frames, because a compiler would see a hook. A backward pass hides the calls around
        it, and so does a recomputation: only what is called inside them is known.
        """
        stage, calls, inside, files = "", [], set(), []
        while frame is not None:
            mark = self._mark(frame)
            if mark == "call":
                calls.append(frame.f_locals["self"])
            elif mark == "update" and not stage:
                # What an optimizer calls of yours to get the loss is no update.
                stage = "update" if inside.isdisjoint(_closures(frame)) else "forward"
            elif mark and mark != "update":
                return stage or mark, calls, _is_hook(files)
            files.append(frame.f_code.co_filename)
            inside.add(id(frame.f_code))
            frame = frame.f_back
        return stage or "forward", calls, False

    def _mark(self, frame) -> str:
        code = frame.f_code
        if (known := self._marks.get(id(code))) is None:
            known = self._marks[id(code)] = _mark_of(frame), code  # kept, or another has its id
        return known[0]


def _is_hook(files: list[str]) -> bool:
    """Return whether a user's function runs in a backward pass, and not as an op's backward."""
    is_of_op = any(file.endswith(OWN_GRADIENT) for file in files)
    return not is_of_op and any(map(_is_of_user, files))


@functools.cache
def _is_of_user(file: str) -> bool:
    return not is_library(file)


@functools.cache
def _writes(name: str) -> bool:
    return bool(WRITES.match(name))


def _sort_of(kind: type) -> str:
    """Return what a class is to the recorder: LIST, PLAIN, another word for a tensor, or ""."""
    torch = restoring.module("torch")
    if torch and kind in (torch.Tensor, torch.nn.Parameter):
        return PLAIN
    return LIST if issubclass(kind, (list, tuple)) else "tensor" * (base_of(kind) is not None)


def _mark_of(frame) -> str:
    """Return a stage, or "call" for a frame of a layer, "update" for one of an optimizer, or ""."""
    code, module = frame.f_code, str(frame.f_globals.get("__name__", ""))
    place = module, code.co_name
    if stage := STAGES.get(place) or STAGES.get((module, code.co_qualname)):
        return stage
    if place in CALLS_OF_LAYERS:
        return "call"
    if module == AVERAGING and code.co_name != AVERAGES:
        return ""
    return "update" if module.startswith(UPDATE) else ""


def _closures(frame) -> set[int]:
    """Return the ids of the codes of the functions that an optimizer's step was given to call."""
    space = frame.f_locals
    given = [space.get("closure"), *space.get("args", ()), *space.get("kwargs", {}).values()]
    functions = [inspect.unwrap(one) for one in given if type(one) is FunctionType]
    functions += [one.__func__ for one in given if type(one) is MethodType]
    return {id(one.__code__) for one in functions if type(one) is FunctionType}


def names_of(fn, args: tuple, kwargs: Mapping) -> dict[object, str]:
    """Return identity -> name of every tensor and variable that `fn` names or is given."""
    return _names(_named_values(fn, args, kwargs))


def _names(named: Iterable[tuple[str, object]]) -> dict[object, str]:
    names = {}
    for name, value in named:
        for path, tensor in _find_tensors(name, value, 2):
            handle = (instance_dict(tensor) or {}).get("_handle")  # of a variable of TensorFlow
            of_handle = [identity(handle)] if _is_of(handle, TENSORS[1]) else []
            for key in (identity(tensor), *of_handle, id(tensor)):
                names.setdefault(key, printable(path, LONGEST_NAME))
            gradient = tensors.gradient(tensor)
            if gradient is not None:
                names[GRADIENT, id(gradient)] = weakref.ref(gradient)
    return names


def is_tensor(value) -> bool:
    """Return whether this is a tensor, a variable or an array by its real type."""
    return base_of(type(value)) is not None


def identity(tensor) -> object:
    """Return the identity of a tensor: TensorFlow numbers them, torch's have one object each."""
    of_tensorflow = _is_of(tensor, TENSORS[1])
    return tensorflow_private.tensor_number(tensor) if of_tensorflow else id(tensor)


def _is_of(value, place: tuple[str, str]) -> bool:
    kind = getattr(restoring.module(place[0]), place[1], None)
    return isinstance(kind, type) and real_isinstance(value, kind)


def _named_values(fn, args, kwargs) -> Iterator[tuple[str, object]]:
    itself = fn.__self__ if type(fn) is MethodType else fn
    yield "layer", itself  # where it is one; of anything else no tensor is found
    if type(fn) is MethodType:
        yield from ((f"self.{name}", one) for name, one in (instance_dict(itself) or {}).items())
    yield from arguments(fn, args, kwargs)
    if type(fn) is FunctionType:
        for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):  # bound later
                yield name, cell.cell_contents
        for name in sorted(names_used(fn.__code__) & fn.__globals__.keys()):
            yield name, fn.__globals__[name]


def _find_tensors(name: str, value, depth: int) -> Iterator[tuple[str, object]]:
    """Yield tensors and modules in a value, with their names: in lists of lists, in layers."""
    if real_isinstance(value, list, tuple):
        base = list if real_isinstance(value, list) else tuple  # whose methods are nobody's own
        few = depth and base.__len__(value) <= MOST_ITEMS
        for at, item in enumerate(base.__iter__(value) if few else ()):
            yield from _find_tensors(f"{name}[{at}]", item, depth - 1)
    elif _is_of(value, LAYER):
        with contextlib.suppress(Exception):  # a class of somebody's own may raise
            yield from [(weight.path, weight.value) for weight in value.weights]
    elif _is_of(value, MODULE):
        with contextlib.suppress(Exception):
            inside = *value.named_modules(prefix=name), *value.named_parameters(prefix=name)
            for path, one in inside:
                yield path.replace("._orig_mod", ""), one
    elif is_tensor(value):
        yield name, value

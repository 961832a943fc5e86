"""A call under all recorders at once -> a tally: what was counted, and nothing in words.

`sys.setprofile` reports the calls of all frames of this thread, `sys.settrace` the lines and the
instructions of those that belong to the learner (PEP 523's slot is asked at each of them). The ops
that reach a kernel are heard of at the doors into C (tensorflow/python/pywrap_tfe.py), through
which every eager op of TensorFlow goes, and by a TorchDispatchMode of PyTorch, below autograd.
TensorFlow's cache of graphs is asked by TensorFlow's own key, Dynamo's hangs on the code objects.
"""

import contextlib
import gc
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from opcode import opname
from types import CodeType, FunctionType
from unittest import mock

from helpers.capture.cpython.hooked_frames import own_codes
from helpers.capture.cpython.objects import global_lookups
from helpers.capture.cpython.settrace import UNRAISABLE, Printed
from helpers.capture.frameworks.executed_ops import is_tensor
from helpers.capture.tensorflow.trace_types import Names
from helpers.capture.text import tensors
from helpers.capture.text.error import said
from helpers.internals import tensorflow_private, torch_private
from helpers.internals.tensorflow_private import FAST, SLOW, SLOW_CANCELABLE
from helpers.mini.frame_hook.slot import address_installed
from helpers.safety import restoring
from helpers.safety.arguments import is_a, own
from helpers.safety.restoring import redirected, theirs

LIBRARIES = ("tensorflow", "keras", "torch", "numpy")
MOST_STEPS = 300_000  # instructions of the learner's; what comes after is only counted by calls
MOST_OPS = 100_000
OPERATORS = ("BINARY_OP", "BINARY_SUBSCR", "COMPARE_OP", "UNARY_NEGATIVE", "UNARY_INVERT")
SWITCHES = ("setprofile", "settrace")
KEYED = "tensorflow.python.eager.polymorphic_function.polymorphic_function"
GENERATED = "__autograph_generated_file"
HOUSE = (__name__, "helpers.internals", "helpers.safety")
OP_AT = {FAST: 1, SLOW: 2, SLOW_CANCELABLE: 2}  # which argument of a door is the op's name


@dataclass(frozen=True)
class Ran:
    """One op that ran: its name, and device and dtype of its first output, such as CPU, float32."""

    op: str
    kernel: str = ""


@dataclass(frozen=True)
class Tally:
    """What one call did. Frames and lines are by whose code it is: yours, AutoGraph's, Dynamo's."""

    seen: "Recorder"
    frames: Counter
    lines: Counter
    operators: int
    translated: int
    traces: int
    key: str
    ran: tuple[Ran, ...]
    nodes: int
    outcome: str
    printed: str

    @property
    def own_frames(self) -> int:
        """Return how many frames of the learner's there were, whoever wrote their code."""
        return self.frames.total()


def tally(fn, args: tuple, kwargs: dict, function, space) -> Tally:
    """Call `fn(*args, **kwargs)` and count. What it raises is told; KeyboardInterrupt passes."""
    known, key = _dynamo_codes(function), _key_words(fn, args, kwargs)
    seen, printed = Recorder(space, _switch()), Printed()
    outcome = ""
    with _traces() as traced, _ops(seen) as ran, redirected(printed):
        _nobody_s()
        try:
            with _without_collector(), theirs():
                _record(seen, fn, args, kwargs)
        except UNRAISABLE:
            raise
        except BaseException as error:
            outcome = said(error)
    made = _dynamo_codes(function)
    whose = {at: _whose(at, code, known | made) for at, code in seen.codes.items()}
    return Tally(
        seen,
        _by(whose, seen.frames),
        _by(whose, seen.lines),
        sum(many for at, many in seen.operators.items() if whose.get(at) != "Dynamo"),
        len(made.keys() - known.keys()),
        len(traced),
        key,
        tuple(ran),
        sum(many for (_, name), many in seen.c.items() if name == "TF_FinishOperation"),
        outcome,
        printed.text(),
    )


def _whose(at: int, code, dynamo: dict) -> str:
    if at in dynamo:
        return "Dynamo"
    return "AutoGraph" if GENERATED in code.co_filename else "you"


def _by(whose: dict, counts: Counter) -> Counter:
    found = Counter()
    for at, many in counts.items():
        found[whose.get(at, "you")] += many
    return found


def _switch():
    """Return the C function by which torch puts its evaluator into the slot, if it is loaded."""
    return torch_private.set_eval_frame if restoring.module("torch._dynamo") else None


def _nobody_s() -> None:
    """Have Dynamo leave the recorder's own code alone: it runs in the midst of compiled calls."""
    if restoring.module("torch._dynamo"):
        for code in _codes():
            torch_private.skip_code(code)


def _traces():
    """Give the list of the graphs that TensorFlow traces in the block, on this thread."""
    there = restoring.module("tensorflow")
    return tensorflow_private.hearing_traces() if there else contextlib.nullcontext([])


@contextlib.contextmanager
def _without_collector():
    """Keep the collector off: a finaliser would add calls to one call and not to the next."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


# ------------------------------------------------------------------ the caches


def space_of(function: FunctionType | None) -> dict | None:
    """Return the globals of a function that is the learner's: of none in a framework's package."""
    if function is None:
        return None
    module = dict.get(function.__globals__, "__name__")
    package = module.partition(".")[0] if type(module) is str else ""
    return None if package in LIBRARIES else function.__globals__


def _dynamo_codes(function: FunctionType | None) -> dict[int, CodeType]:
    """Return what Dynamo has made of the code of this function's module, by id."""
    if function is None or not restoring.module("torch._dynamo"):
        return {}
    entries = torch_private.cache_entries
    found = (entry.code for code in own_codes(function) for entry in entries(code))
    return {id(code): code for code in found}


def _key_words(fn, args: tuple, kwargs: dict) -> str:
    """Return the words of the key of this call, if `fn` is a tf.function; else nothing."""
    tensorflow = restoring.module("tensorflow")
    kind = getattr(getattr(tensorflow, "types", None), "experimental", None)
    kind = getattr(kind, "PolymorphicFunction", None)
    if kind is None or not is_a(fn, kind):
        return ""
    try:
        return Names().arguments(tensorflow_private.wanted_key(fn, args, kwargs)[1])
    except KeyboardInterrupt:
        raise
    except BaseException:  # an argument's own protocol may raise: the call itself will say it
        return ""


# ------------------------------------------------------------------ frames, lines, names, C calls


def through(fn, args, kwargs):
    """Make the call: what this frame calls, the learner calls."""
    return fn(*args, **kwargs)


class Recorder:
    """Two callbacks and what they were told. `space`: the globals whose frames are the learner's.

    Of these alone, by the id of their code (`codes`): `frames`, `lines`, `operators`. `others`:
    package -> frames. `c`: (package, name) -> calls; `own_c` those that the learner's frames made.
    `evaluators`: addresses. `switch`: the C function after which the evaluator may be another.
    """

    def __init__(self, space: dict | None, switch=None):
        self.space, self.switch = space, switch
        self.codes: dict[int, CodeType] = {}
        self.frames, self.lines, self.operators = Counter(), Counter(), Counter()
        self.names, self.others, self.c, self.own_c = (Counter() for _ in range(4))
        self.found: dict[str, object] = {}  # name -> what stood under it in the globals
        self.evaluators: set[int] = set()
        self.keys = self.threads = self.steps = 0
        self._until = None  # the frame with which a pause ends
        self.stayed = True  # to the end of the call
        self.paused = False  # while the house itself looks at something
        self._steps: dict[int, tuple[dict[int, str], frozenset[int]]] = {}

    @property
    def cut(self) -> bool:
        """Return whether there were more steps than are looked at."""
        return self.steps >= MOST_STEPS

    def profile(self, frame, event, argument):
        """Count a call of a frame, or of a C function."""
        if self.paused:
            if frame is self._until and event == "return":
                self.paused, self._until = False, None
        elif event == "call" and id(frame.f_code) in INSIDE:
            self.paused, self._until = True, frame
        elif event == "call":
            self._frame(frame)
        elif event == "c_call":
            self._c_call(frame, argument)
        elif event == "c_return" and argument is self.switch and argument is not None:
            self.evaluators.add(address_installed())

    def trace(self, frame, event, argument):
        """Ask for the steps of a frame of the learner's, and of no other."""
        if frame.f_globals is not self.space or self.cut:
            return None
        frame.f_trace = self.step  # 3.13: before f_trace_opcodes, or the first frame sends none
        frame.f_trace_opcodes = True
        return self.step

    def step(self, frame, event, argument):
        """Count a line, or look at an instruction."""
        if event == "line":
            self.lines[id(frame.f_code)] += 1
        elif event == "opcode":
            self.steps += 1
            if self.cut:
                frame.f_trace_lines = frame.f_trace_opcodes = False
                return None
            self._instruction(frame)
        return self.step

    def _frame(self, frame) -> None:
        code, space = frame.f_code, frame.f_globals
        if not self.evaluators:
            self.evaluators.add(address_installed())
        if space is self.space:
            self.codes[id(code)] = code
            self.frames[id(code)] += 1
            self.evaluators.add(address_installed())
        elif not _hidden(frame):
            module = _text(dict.get(space, "__name__"))
            self.others[module.partition(".")[0]] += 1
            self.keys += module == KEYED and code.co_qualname == "Function.__call__"

    def _c_call(self, frame, function) -> None:
        caller, name = frame.f_code, _name_in_c(function)
        ours = caller is through.__code__
        if name in SWITCHES or (_hidden(frame) and not ours and id(caller) not in LETS_THROUGH):
            return
        module = _module_of_c(function)
        self.threads += module == "_thread" and name.startswith("start_")
        self.c[module.partition(".")[0], name] += 1
        if frame.f_globals is self.space or ours:
            self.own_c[module.partition(".")[0], name] += 1

    def _instruction(self, frame) -> None:
        code, at = frame.f_code, frame.f_lasti
        if id(code) not in self._steps:
            self._steps[id(code)] = _steps_of(code)
        lookups, operators = self._steps[id(code)]
        if at in lookups:
            name = lookups[at]
            self.names[name] += 1
            self.found[name] = dict.get(frame.f_globals, name, KeyError)
        elif at in operators:
            self.operators[id(code)] += 1


# By the id of code: what stands in the place of a C function, and calls it; what makes calls of its
# own, which are nobody else's; and what is asked because of the recorder alone, with all in it.
LETS_THROUGH: dict[int, CodeType] = {}
SHUT: dict[int, CodeType] = {}
INSIDE: dict[int, CodeType] = {}


def _codes() -> list[CodeType]:
    """Return the code that runs in the midst of a call, and is nobody's but the recorder's."""
    callbacks = (Recorder.profile, Recorder.trace, Recorder.step, Recorder._frame)
    callbacks += (Recorder._c_call, Recorder._instruction, Printed.write, through)
    return [*(fn.__code__ for fn in callbacks), *LETS_THROUGH.values(), *SHUT.values()]


def _hidden(frame) -> bool:
    if frame.f_back is not None and id(frame.f_back.f_code) in SHUT:
        return True
    name = _text(dict.get(frame.f_globals, "__name__"))
    return name.startswith(HOUSE) or frame.f_code is Printed.write.__code__


def _steps_of(code: CodeType) -> tuple[dict[int, str], frozenset[int]]:
    steps = code.co_code
    operators = (at for at in range(0, len(steps), 2) if opname[steps[at]] in OPERATORS)
    return global_lookups(code), frozenset(operators)


def _name_in_c(function) -> str:
    """Return the name of a C function, without the words that a binding puts before it."""
    try:
        words = _text(function.__qualname__)
    except Exception:  # the class of a method's object may raise when it is asked for its name
        words = _text(own(function, "__name__"))
    for before, after in (("_VariableFunctionsClass.", "torch."), ("_TensorBase.", "Tensor.")):
        words = words.replace(before, after)
    last = words.rpartition("PyCapsule.")[2]
    return last.rpartition(".")[2] if "pybind11" in last else last


def _module_of_c(function) -> str:
    owner = getattr(function, "__self__", None)
    try:
        return _text(function.__module__) or _text(own(type(owner), "__module__"))
    except Exception:
        return ""


def _text(value) -> str:
    return value if type(value) is str else ""


def _record(recorder: Recorder, fn, args: tuple, kwargs: dict) -> None:
    """Make a call under a recorder; what watched before watches again afterwards."""
    profile, trace, frame = sys.getprofile(), sys.gettrace(), sys._getframe()
    opcodes, frame.f_trace_opcodes = frame.f_trace_opcodes, True  # 3.12 wants to know beforehand
    try:
        sys.settrace(recorder.trace)
        sys.setprofile(recorder.profile)
        through(fn, args, kwargs)
    finally:
        recorder.stayed = sys.getprofile() == recorder.profile
        sys.setprofile(profile)
        sys.settrace(trace)
        frame.f_trace_opcodes = opcodes


# ------------------------------------------------------------------ ops


@contextlib.contextmanager
def _ops(seen: Recorder) -> Iterator[list[Ran]]:
    """Give the list of ops that run in the block, in order; at most `MOST_OPS`.

    `seen` pauses while an op is written down.
    """
    ran: list[Ran] = []

    def write(name: str, made) -> None:
        if len(ran) < MOST_OPS:
            ran.append(Ran(name, _kernel(made)))

    with contextlib.ExitStack() as stack:
        if restoring.module("torch"):
            stack.enter_context(_torch_mode(write, seen))
        if restoring.module("tensorflow"):
            doors = tensorflow_private.doors
            noting = {
                name: _noting(getattr(doors, name), at, write, seen) for name, at in OP_AT.items()
            }
            stack.enter_context(mock.patch.multiple(doors, **noting))
        yield ran


def _noting(door, at: int, write, seen: Recorder):
    def noting(*given):
        made = door(*given)
        before, seen.paused = seen.paused, True
        write(given[at].decode() if type(given[at]) is bytes else str(given[at]), made)
        seen.paused = before
        return made

    LETS_THROUGH[id(noting.__code__)] = noting.__code__
    return noting


def _torch_mode(write, seen: Recorder):
    if dynamo := restoring.module("torch._dynamo"):
        write = dynamo.disable(write)  # or Dynamo would compile its frames

    def heard(name, inputs, made):
        seen.paused = True
        write(name, made)
        seen.paused = False

    mode = torch_private.dispatch_mode(heard, lambda code: SHUT.update({id(code): code}))
    SHUT[id(heard.__code__)] = heard.__code__
    rule = torch_private.find_torch_dispatch_rule
    INSIDE[id(rule.__code__)] = rule.__code__
    return mode


def _kernel(made) -> str:
    """Return device and dtype of a tensor, or of the first one in a list or a tuple."""
    first = next(iter(made), None) if type(made) in (list, tuple) else made
    try:
        if tensors.is_tensor(first):
            found = str(tensors.field(first, "device")), str(tensors.field(first, "dtype"))
            return ", ".join(found).replace("torch.", "")
        if is_tensor(first):
            device = first.device.rpartition("/device:")[2].partition(":")[0]
            return f"{device}, {first.dtype.name}"
    except Exception:  # a tensor on no device: what cannot be said is not said
        return ""
    return ""

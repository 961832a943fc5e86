"""A call under all recorders at once -> a tally: what was counted, and nothing in words.

`sys.setprofile` reports the calls of all frames of this thread, `sys.settrace` the lines and the
instructions of the learner's. Ops are heard of at TensorFlow's doors into C
(tensorflow/python/pywrap_tfe.py), and by a TorchDispatchMode of PyTorch, below autograd.
"""

import contextlib
import sys
from collections import Counter
from opcode import opname
from types import CodeType, FunctionType

from helpers.capture.cpython.hooked_frames import own_codes
from helpers.capture.cpython.objects import global_lookups
from helpers.capture.cpython.settrace import Printed
from helpers.capture.frameworks.call_recorder import c_place, module_of, no_finalisers, run_to_end
from helpers.capture.frameworks.executed_ops import is_tensor
from helpers.capture.tensorflow.trace_types import Names
from helpers.capture.text import tensors
from helpers.internals import tensorflow_private, torch_private
from helpers.internals.tensorflow_private import FAST, SLOW, SLOW_CANCELABLE
from helpers.mini.frame_hook.slot import address_installed
from helpers.safety import restoring
from helpers.safety.arguments import real_isinstance
from helpers.safety.restoring import patched, redirected

LIBRARIES = ("tensorflow", "keras", "torch", "numpy")
OPERATORS = ("BINARY_OP", "BINARY_SUBSCR", "COMPARE_OP", "UNARY_NEGATIVE", "UNARY_INVERT")
SWITCHES = ("setprofile", "settrace")
KEYED = "tensorflow.python.eager.polymorphic_function.polymorphic_function"
GENERATED = "__autograph_generated_file"
HOUSE = (__name__, "helpers.internals", "helpers.safety")
OP_AT = {FAST: 1, SLOW: 2, SLOW_CANCELABLE: 2}  # which argument of a door is the op's name
SPELLED = {"_VariableFunctionsClass.": "torch.", "_TensorBase.": "Tensor."}


def tally(fn, args: tuple, kwargs: dict, function: FunctionType | None) -> "Tally":
    """Call `fn(*args, **kwargs)` and count. What it raises is told; KeyboardInterrupt passes.

    `function`: the Python function behind `fn`; the globals that it has are the learner's, unless
    it is in a framework's package.
    """
    dynamo, tensorflow = restoring.module("torch._dynamo"), restoring.module("tensorflow")
    known, printed = _codes_of_dynamo(function), Printed()
    space = getattr(function, "__globals__", None)
    if space is not None and module_of(space).partition(".")[0] in LIBRARIES:
        space = None
    # The C function by which torch puts its evaluator into the slot, if it is loaded.
    found = Tally(space, torch_private.set_eval_frame if dynamo else None)
    with contextlib.ExitStack() as stack:
        traced = []
        if tensorflow:
            if real_isinstance(fn, tensorflow_private.Function):
                with contextlib.suppress(Exception):  # an argument's own: the call will say it
                    key = tensorflow_private.wanted_key(fn, args, kwargs)
                    found.key = Names().arguments(key[1])
            traced = stack.enter_context(tensorflow_private.hearing_traces())
            doors = tensorflow_private.doors
            noting = {name: _noting(getattr(doors, name), at, found) for name, at in OP_AT.items()}
            stack.enter_context(patched(doors, **noting))
        if restoring.module("torch"):
            stack.enter_context(_torch_mode(found))
        stack.enter_context(redirected(printed))
        if dynamo:  # it is to leave alone what runs in the midst of a compiled call
            callbacks = (Tally.profile, Tally.trace, Tally.step, Tally._enter_frame, Tally._enter_c)
            codes = [fn.__code__ for fn in (*callbacks, Printed.write, through)]
            for code in (*codes, *LETS_THROUGH.values(), *SHUT.values()):
                torch_private.skip_code(code)
        stack.enter_context(no_finalisers())
        found.outcome = run_to_end(lambda: _record(found, fn, args, kwargs))
    made = _codes_of_dynamo(function)
    found.traces, found.printed = len(traced), printed.text()
    found.translated = len(made.keys() - known.keys())
    for name in ("frames", "lines", "operators"):
        owned = Counter()
        for at, many in getattr(found, name).items():
            autograph = at in found.codes and GENERATED in found.codes[at].co_filename
            owner = "AutoGraph" if autograph else "you"
            owned["Dynamo" if at in known | made else owner] += many
        setattr(found, name, owned)
    del found.operators["Dynamo"]
    found.nodes = sum(many for (_, name), many in found.c.items() if name == "TF_FinishOperation")
    return found


def _codes_of_dynamo(function: FunctionType | None) -> dict[int, CodeType]:
    if function is None or not restoring.module("torch._dynamo"):
        return {}
    entries = torch_private.cache_entries
    found = (entry.code for code in own_codes(function) for entry in entries(code))
    return {id(code): code for code in found}


def through(fn, args, kwargs):
    """Make the call: what this frame calls, the learner calls."""
    return fn(*args, **kwargs)


class Tally:
    """What one call did, by two callbacks. `space`: the globals whose frames are the learner's.

    Of these alone, by the id of their code (`codes`), and in the end by its owner (you, AutoGraph,
    Dynamo): `frames`, `lines`, `operators`. `others`: package -> frames. `c`: (package, name) ->
    calls; `own_c` those that the learner's frames made. `evaluators`: addresses. `switch`: the C
    function after which the evaluator may be another.
    """

    def __init__(self, space: dict | None, switch=None):
        self.space, self.switch = space, switch
        self.codes: dict[int, CodeType] = {}
        self.frames, self.lines, self.operators = Counter(), Counter(), Counter()
        self.names, self.others, self.c, self.own_c = (Counter() for _ in range(4))
        self.found: dict[str, object] = {}  # name -> what stood under it in the globals
        self.evaluators: set[int] = set()
        self.keys = self.traces = self.translated = self.nodes = 0
        self.key = self.outcome = self.printed = ""
        self.ran: list[tuple[str, str]] = []  # an op; device and dtype, such as CPU, float32
        self.paused = False  # while the house itself looks at something
        self._until = None  # the frame with which a pause ends
        self._steps: dict[int, tuple[dict[int, str], frozenset[int]]] = {}

    def note_op(self, name: str | bytes, made) -> None:
        """Write down an op that ran."""
        before, self.paused = self.paused, True
        name = name.decode() if type(name) is bytes else str(name)
        self.ran.append((name, _kernel(made)))
        self.paused = before

    def profile(self, frame, event, argument):
        """Count a call of a frame, or of a C function."""
        if self.paused:
            if frame is self._until and event == "return":
                self.paused, self._until = False, None
        elif event == "call" and id(frame.f_code) in INSIDE:
            self.paused, self._until = True, frame
        elif event == "call":
            self._enter_frame(frame)
        elif event == "c_call":
            self._enter_c(frame, argument)
        elif event == "c_return" and argument is self.switch and argument is not None:
            self.evaluators.add(address_installed())

    def trace(self, frame, event, argument):
        """Ask for the steps of a frame of the learner's, and of no other."""
        if frame.f_globals is not self.space:
            return None
        frame.f_trace = self.step  # 3.13: before f_trace_opcodes, or the first frame sends none
        frame.f_trace_opcodes = True
        return self.step

    def step(self, frame, event, argument):
        """Count a line, or look at an instruction."""
        code, at = frame.f_code, frame.f_lasti
        if event == "line":
            self.lines[id(code)] += 1
        elif event == "opcode":
            if id(code) not in self._steps:
                steps = enumerate(code.co_code)
                operators = (at for at, n in steps if at % 2 == 0 and opname[n] in OPERATORS)
                self._steps[id(code)] = global_lookups(code), frozenset(operators)
            lookups, operators = self._steps[id(code)]
            if at in lookups:
                self.names[lookups[at]] += 1
                self.found[lookups[at]] = dict.get(frame.f_globals, lookups[at], KeyError)
            elif at in operators:
                self.operators[id(code)] += 1
        return self.step

    def _enter_frame(self, frame) -> None:
        code, space = frame.f_code, frame.f_globals
        if space is self.space or not self.evaluators:
            self.evaluators.add(address_installed())
        if space is self.space:
            self.codes[id(code)] = code
            self.frames[id(code)] += 1
        elif not _is_hidden(frame):
            module = module_of(space)
            self.others[module.partition(".")[0]] += 1
            self.keys += module == KEYED and code.co_qualname == "Function.__call__"

    def _enter_c(self, frame, function) -> None:
        caller, (module, name) = frame.f_code, c_place(function)
        ours = caller is through.__code__
        if name in SWITCHES or (_is_hidden(frame) and not ours and id(caller) not in LETS_THROUGH):
            return
        for before, after in SPELLED.items():
            name = name.replace(before, after)
        key = module.partition(".")[0], name
        self.c[key] += 1
        if frame.f_globals is self.space or ours:
            self.own_c[key] += 1


# By the id of code: what stands in the place of a C function, and calls it; what makes calls of its
# own, which are nobody else's; and what is asked because of the recorder alone, with all in it.
LETS_THROUGH: dict[int, CodeType] = {}
SHUT: dict[int, CodeType] = {}
INSIDE: dict[int, CodeType] = {}


def _is_hidden(frame) -> bool:
    if frame.f_back is not None and id(frame.f_back.f_code) in SHUT:
        return True
    return module_of(frame.f_globals).startswith(HOUSE) or frame.f_code is Printed.write.__code__


def _record(found: Tally, fn, args: tuple, kwargs: dict) -> None:
    profile, trace, frame = sys.getprofile(), sys.gettrace(), sys._getframe()
    opcodes, frame.f_trace_opcodes = frame.f_trace_opcodes, True  # 3.12 wants to know beforehand
    try:
        sys.settrace(found.trace)
        sys.setprofile(found.profile)
        through(fn, args, kwargs)
    finally:
        sys.setprofile(profile)
        sys.settrace(trace)
        frame.f_trace_opcodes = opcodes


def _noting(door, at: int, found: Tally):
    def noting(*given):
        made = door(*given)
        found.note_op(given[at], made)
        return made

    LETS_THROUGH[id(noting.__code__)] = noting.__code__
    return noting


def _torch_mode(found: Tally):
    note = found.note_op
    if dynamo := restoring.module("torch._dynamo"):
        note = dynamo.disable(note)  # or Dynamo would compile its frames

    def heard(name, inputs, made):
        found.paused = True
        note(name, made)
        found.paused = False

    mode = torch_private.dispatch_mode(heard, lambda code: SHUT.update({id(code): code}))
    SHUT[id(heard.__code__)] = heard.__code__
    rule = torch_private.find_torch_dispatch_rule
    INSIDE[id(rule.__code__)] = rule.__code__
    return mode


def _kernel(made) -> str:
    """Return device and dtype of a tensor, or of the first one in a list or a tuple."""
    first = next(iter(made), None) if type(made) in (list, tuple) else made
    with contextlib.suppress(Exception):  # a tensor on no device: what cannot be said is not said
        if tensors.is_tensor(first):
            found = str(tensors.field(first, "device")), str(tensors.field(first, "dtype"))
            return ", ".join(found).replace("torch.", "")
        if is_tensor(first):
            device = first.device.rpartition("/device:")[2].partition(":")[0]
            return f"{device}, {first.dtype.name}"
    return ""

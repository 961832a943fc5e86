"""A call -> its frames, lines, looked-up names and C calls, as the interpreter reports them.

`sys.setprofile` reports the calls of all frames of this thread, `sys.settrace` the lines and the
instructions of those that belong to the learner (PEP 523's slot is asked at each of them).
"""

import sys
from collections import Counter
from opcode import opname
from types import CodeType

from helpers.capture.cpython.objects import global_lookups
from helpers.capture.cpython.settrace import Printed
from helpers.mini.frame_hook.slot import address_installed
from helpers.safety.arguments import own
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS  # those of the interpreter may be patched while this runs

MOST_STEPS = 300_000  # instructions of the learner's; what comes after is only counted by calls
OPERATORS = ("BINARY_OP", "BINARY_SUBSCR", "COMPARE_OP", "UNARY_NEGATIVE", "UNARY_INVERT")
SWITCHES = ("setprofile", "settrace")
KEYED = "tensorflow.python.eager.polymorphic_function.polymorphic_function"
HERE = __name__.rpartition(".")[0]


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


def codes() -> list[CodeType]:
    """Return the code that runs in the midst of a call, and is nobody's but the recorder's."""
    callbacks = (Recorder.profile, Recorder.trace, Recorder.step, Recorder._frame)
    callbacks += (Recorder._c_call, Recorder._instruction, Printed.write, through)
    return [*(fn.__code__ for fn in callbacks), *LETS_THROUGH.values(), *SHUT.values()]


def _hidden(frame) -> bool:
    if frame.f_back is not None and id(frame.f_back.f_code) in SHUT:
        return True
    name = _text(dict.get(frame.f_globals, "__name__"))
    return name.startswith(HERE) or frame.f_code is Printed.write.__code__


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


def recorded(recorder: Recorder, fn, args: tuple, kwargs: dict) -> None:
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

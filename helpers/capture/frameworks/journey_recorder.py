"""Count what one call does: its frames, lines, names, operators, calls of C functions and ops. The
*learner's* frames are those whose globals are the learner's module; all other frames belong to
libraries, or to the recorder itself, whose frames are not counted.

`sys.setprofile` reports the calls of all frames of this thread, `sys.settrace` the lines and the
instructions of the learner's frames. Ops are reported by TensorFlow's entry points into C and by a
TorchDispatchMode of PyTorch (journey_hooks.py installs both).
"""

import functools
import gc
import sys
from collections import Counter
from dataclasses import dataclass
from opcode import opname
from types import CodeType, FrameType, FunctionType

from ...internals import dynamo_codes, own_profilers
from ...internals.collector import CollectorWatch
from ...internals.frame_tracer import ask_for_opcodes, forget_tracer
from ...internals.own_profilers import is_of_recorder
from ...mini.frame_hook.slot import address_installed
from ...safety import PACKAGE, restoring
from ...safety.arguments import is_exactly
from ...safety.interrupts import PRESSES, register_recorders
from ...safety.users_frames import is_library
from ..cpython.objects import ASYNC_GENERATOR, COROUTINE, GENERATOR, find_global_lookups
from ..cpython.settrace import Printed
from .call_recorder import read_c_place, read_module_name
from .tensor_names import is_tensor

OPERATORS = ("BINARY_OP", "BINARY_SUBSCR", "COMPARE_OP", "UNARY_NEGATIVE", "UNARY_INVERT")
# The C functions by which a program sets or finds a hook. They are stored before a program runs.
HOOK_FUNCTIONS = (own_profilers.SETPROFILE, own_profilers.GETPROFILE, sys.settrace)
RESUMABLE = GENERATOR | COROUTINE | ASYNC_GENERATOR
AFTER_YIELD = 3  # the bits of RESUME's argument that are 0 at the start of a function
NO_FILE = "", "<string>"  # the file of what exec or a dataclass made: many codes share it
TF_FUNCTION_MODULE = "tensorflow.python.eager.polymorphic_function.polymorphic_function"
# The start of the names of modules whose frames run only because of the recorder.
OWN_MODULES = (f"{__package__}.journey", f"{PACKAGE}.internals", f"{PACKAGE}.safety")
# How torch names the class of its functions -> how a program writes it.
SPELLINGS = {"_VariableFunctionsClass.": "torch.", "_TensorBase.": "Tensor."}
MOST_FOLLOWED = 300_000  # frames of other modules; following them takes about ten times as long


def call_from_learner(fn, args, kwargs):
    """Call a function; what the frame of this function calls counts as called by the learner."""
    return fn(*args, **kwargs)


@dataclass(frozen=True)
class CountedInstructions:
    """The offsets in one code object at which the recorder counts an instruction."""

    #: Offset -> the name that the instruction looks up in the globals.
    names_by_offset: dict[int, str]
    #: The offsets of operators such as `+`.
    operator_offsets: set[int]


class JourneyRecorder:
    """Counts what one call does; `profile`, `trace`, `step` and `note_op` are its callbacks.

    CPython calls `profile` at each start and end of a call in the thread, `trace` at the start of
    each frame, and `step` for each line and instruction of a frame of the learner's. A hook into a
    framework calls `note_op` for each op. None of these raises into the program: an error in the
    recorder ends the counting, and its type is in `fault`.
    """

    def __init__(self, space: dict | None, evaluator_setter=None):
        """Start with empty counts.

        `space` is the dict of globals whose frames are the learner's, None if there is none.
        `evaluator_setter` is the C function that sets torch's frame evaluator, None without Dynamo.
        """
        self.space = space
        self.evaluator_setter = evaluator_setter
        file = str(dict.get(space or {}, "__file__") or "")
        module = str(dict.get(space or {}, "__name__") or "")
        #: The installed package of the module of these globals, "" if the file is the learner's.
        self.library = module.partition(".")[0] if is_library(file) else ""

        #: The learner's code objects by id.
        self.codes: dict[int, CodeType] = {}
        # The next four count by the id of a code object of the learner's.
        #: How many frames of the code object started.
        self.frames_by_code: Counter[int] = Counter()
        #: How many of these frames started while TensorFlow traced.
        self.traced_frames_by_code: Counter[int] = Counter()
        #: How many lines ran; a line in a loop counts each time.
        self.lines_by_code: Counter[int] = Counter()
        #: How many instructions of an operator such as `+` ran.
        self.operators_by_code: Counter[int] = Counter()
        self._line_places: set[tuple[int, int]] = set()  # (id of code, number) of lines that ran

        #: Name -> how often the learner's frames looked it up in the globals or the builtins.
        self.names: Counter[str] = Counter()
        #: Name -> the value in the globals at its last look-up; KeyError for a builtin.
        self.values_by_name: dict[str, object] = {}
        #: Package -> how many frames of its modules started.
        self.other_frames: Counter[str] = Counter()
        #: (package of the C function, its name) -> how many calls there were.
        self.c_calls: Counter[tuple[str, str]] = Counter()
        #: (package of the C function, its name) -> how many calls the learner's frames made.
        self.own_c_calls: Counter[tuple[str, str]] = Counter()
        #: The addresses of the frame evaluators that were set when something was counted.
        self.evaluators: set[int] = set()
        #: How many times a tf.function was called.
        self.tf_function_calls = 0
        #: (name, kernel) of each op. Tuples, because torch's mode may not call Python functions.
        self.ops: list[tuple[str, str]] = []

        #: The type of an error in the recorder, after which nothing was counted; or "".
        self.fault = ""
        #: After how many frames of other modules the counting of calls stops.
        self.frame_limit = MOST_FOLLOWED
        self._remaining_frames = self.frame_limit
        #: Sets and takes away the profiler, also where the program sets one of its own.
        self.profilers = own_profilers.OwnProfilers(self.profile)
        #: Tells whether the garbage collector runs by itself: its finalizers are not counted.
        self.collector = CollectorWatch()
        #: The code and the line of the program that replaced the tracer; None if none did.
        self.tracer_replaced_at: tuple[CodeType, int] | None = None
        #: How many ops there were when the program replaced the profiler.
        self.op_count_at_replacement = 0

        #: Whether nothing is counted now, because a hook of ours looks at something.
        self.is_paused = False
        self._pause_frame: FrameType | None = None  # a pause ends when this frame returns
        self._tracing_frames: list[FrameType] = []  # frames of TensorFlow in which it traces now
        # The ids of frames of generators and coroutines. CPython reports a "call" each time such a
        # frame goes on.
        self._resumable_frames: set[int] = set()
        # The id of a code object -> the instructions in it that are counted.
        self._instructions_by_code: dict[int, CountedInstructions] = {}

        # The next three map the id of a code object to the code object. The code object is no key
        # itself, because its hash would call the hashes of its constants.
        #: Of functions that replace a C function and call it: this call is counted.
        self.transparent_codes: dict[int, CodeType] = {}
        #: Of functions of our hooks: no call that they make is counted.
        self.hidden_callers: dict[int, CodeType] = {}
        #: Of functions of torch that run only because of our mode: nothing in them is counted.
        self.paused_codes: dict[int, CodeType] = {}

    # -- what the counts amount to ---------------------------------------------------------------

    def count_distinct_lines(self) -> Counter[int]:
        """Return the id of a code object -> how many different lines of it ran.

        A lambda or a generator expression may be in the middle of a line, so several code objects
        may share a line. Such a line counts once, for the first of them.
        """
        code_ids_by_line = {}  # (file, line number) -> id of the code object for which it counts
        for code_id, line in sorted(self._line_places, key=lambda place: place[1]):
            file = self.codes[code_id].co_filename if code_id in self.codes else ""
            # Without a file of its own, equal line numbers do not mean the same line.
            file_key = code_id if file in NO_FILE else file
            code_ids_by_line.setdefault((file_key, line), code_id)
        return Counter(code_ids_by_line.values())

    def list_resume_codes(self) -> set[int]:
        """Return the ids of code objects of resume functions.

        Dynamo makes a resume function of the rest of the learner's function after a graph break.
        """
        if not restoring.find_loaded_module("torch._dynamo"):
            return set()
        resume_ids = set()
        for code_id, code in self.codes.items():
            # The code object itself, unless it is that of a resume function.
            original_code = dynamo_codes.find_original_code(code)
            if original_code is not code:
                resume_ids.add(code_id)
        return resume_ids

    def count_events(self) -> int:
        """Return how many lines, frames of libraries, calls of C functions and ops were counted."""
        counters = (self.lines_by_code, self.other_frames, self.c_calls)
        return sum(counter.total() for counter in counters) + len(self.ops)

    @property
    def is_stopped(self) -> bool:
        """Return whether the recorder of calls has stopped because there were too many frames."""
        return self._remaining_frames <= 0

    # -- what hooks and CPython call -------------------------------------------------------------

    def stop_at_fault(self, error: Exception) -> None:
        """End the counting, because there was an error in the recorder.

        The error is not raised: the user's program has nothing to do with it.
        """
        self.fault = type(error).__name__
        self.is_paused = True
        self._pause_frame = None

    def note_op(self, name: str | bytes, result) -> None:
        """Record an op of TensorFlow that has run, and returned `result`; never raise an error."""
        try:
            self._note_op(name, result)
        except Exception as error:
            self.stop_at_fault(error)

    def _note_op(self, name: str | bytes, result) -> None:
        """Append the name and the kernel of an op to `ops`.

        Reading device and dtype of the result runs code of TensorFlow, which must not be counted.
        """
        was_paused = self.is_paused
        self.is_paused = True
        op_name = name.decode() if type(name) is bytes else str(name)
        self.ops.append((op_name, _describe_kernel(result)))
        self.is_paused = was_paused

    def profile(self, frame, event, argument):
        """Count a call of a Python function or of a C function; a profiler of `sys.setprofile`.

        `event` is "call" or "return" for a Python function, and "c_call", "c_return" or
        "c_exception" for a C function, which is the `argument`.
        """
        # A frame of another recorder; or the program has set its own profiler, so this one is over.
        if is_of_recorder(frame) or self.profilers.replaced_at:
            return
        if self._remaining_frames <= 0:  # there were too many frames: the counting has stopped
            PRESSES.once_more  # noqa: B018 (see the last line)
            return

        # Most events are returns, and there may be millions. A return is ignored as early as
        # possible, unless it matters.
        is_ignored = False
        if event == "c_return":
            # It matters that a frame evaluator has been set, or that the collector has run.
            is_ignored = argument is not self.evaluator_setter and argument is not gc.collect
        elif event == "return":
            # It matters that TensorFlow's trace may end, or a pause.
            is_ignored = not self._tracing_frames and self._pause_frame is None
        if is_ignored:
            PRESSES.once_more  # noqa: B018 (see the last line)
            return

        # The garbage collector runs by itself: what it calls is not called by the program.
        if self.collector.runs_by_itself(event, argument):
            return
        try:
            self._count_event(frame, event, argument)
            if event == "c_call" and argument in HOOK_FUNCTIONS:
                self._note_use_of_hook(frame, argument)
        except Exception as error:
            self.stop_at_fault(error)
        # A signal handler waits while the recorder runs. Reading this attribute sends the signal
        # again. It is read last, so that the handler runs after the recorder and not in it.
        PRESSES.once_more  # noqa: B018

    def _count_event(self, frame, event, argument) -> None:
        """Count an event of the profiler, or begin or end a pause.

        In a pause nothing is counted. It begins at a function in `paused_codes`, and ends when the
        frame of this function returns.
        """
        if self.is_paused:
            if frame is self._pause_frame and event == "return":
                self.is_paused = False
                self._pause_frame = None
        elif event == "call":
            if id(frame.f_code) in self.paused_codes:
                self.is_paused = True
                self._pause_frame = frame
            else:
                self._enter_frame(frame)
        elif event == "return":
            # TensorFlow's trace ends.
            if self._tracing_frames and frame is self._tracing_frames[-1]:
                self._tracing_frames.pop()
        elif event == "c_call":
            self._enter_c_function(frame, argument)
        elif event == "c_return" and argument is self.evaluator_setter is not None:
            # torch has just set a frame evaluator.
            self.evaluators.add(address_installed())

    def _note_use_of_hook(self, frame, function) -> None:
        """Note that the program sets a profiler or a tracer, or asks which profiler is set.

        `function` is one of HOOK_FUNCTIONS. If the program sets a tracer, the settings by which
        frames report to the recorder's tracer are removed from all open frames of the learner's.
        """
        if function is own_profilers.GETPROFILE:
            self.profilers.note_asking()
        elif function is own_profilers.SETPROFILE:
            self.op_count_at_replacement = len(self.ops)
            self.profilers.note_setting(frame)
        else:
            self.tracer_replaced_at = self.tracer_replaced_at or own_profilers.users_line(frame)
            while frame is not None:
                if frame.f_globals is self.space:
                    forget_tracer(frame)
                frame = frame.f_back

    def trace(self, frame, event, argument):
        """Return the tracer of a new frame: `step` for a frame of the learner's, else None.

        CPython calls `step` for each event of the frame, and reports no event for None.
        """
        if frame.f_globals is not self.space or self.collector.runs_by_itself(event, None):
            return None
        ask_for_opcodes(frame)
        return self.step

    def step(self, frame, event, argument):
        """Count a line or an instruction; return what CPython calls at the frame's next event."""
        try:
            self._count_step(frame, event)
        except Exception as error:
            self.stop_at_fault(error)
        if event == "return":
            forget_tracer(frame)
            return None
        return self.step

    def _count_step(self, frame, event) -> None:
        """Count a line, the look-up of a global name, or an operator such as `+`.

        `event` is "line" before a line runs, and "opcode" before an instruction runs.
        """
        code = frame.f_code
        code_id = id(code)
        if event == "line":
            self.lines_by_code[code_id] += 1
            self._line_places.add((code_id, frame.f_lineno))
        elif event == "opcode":
            if code_id not in self._instructions_by_code:
                self._instructions_by_code[code_id] = _find_counted_instructions(code)
            instructions = self._instructions_by_code[code_id]
            offset = frame.f_lasti  # of the instruction that is about to run
            if offset in instructions.names_by_offset:
                name = instructions.names_by_offset[offset]
                self.names[name] += 1
                # KeyError stands for a name that the globals do not have: it is a builtin's.
                self.values_by_name[name] = dict.get(frame.f_globals, name, KeyError)
            elif offset in instructions.operator_offsets:
                self.operators_by_code[code_id] += 1

    # -- calls -----------------------------------------------------------------------------------

    def _enter_frame(self, frame) -> None:
        """Count the start of a frame, unless the frame of a generator only goes on.

        The address of the frame evaluator that is set now is recorded, too. Dynamo may set another
        evaluator during the call.
        """
        code = frame.f_code
        is_learners = frame.f_globals is self.space
        # The evaluator is read for each frame of the learner's, and for the first other frame.
        if is_learners or not self.evaluators:
            self.evaluators.add(address_installed())

        if code.co_flags & RESUMABLE:
            # A new frame may have the id of a frame that has ended. So `_is_resumed` looks at the
            # position in the bytecode, too.
            if id(frame) in self._resumable_frames and _is_resumed(frame):
                return
            self._resumable_frames.add(id(frame))

        if is_learners:
            self.codes[id(code)] = code
            self.frames_by_code[id(code)] += 1
            if self._tracing_frames:
                self.traced_frames_by_code[id(code)] += 1
        elif not self._is_hidden(frame):
            self._enter_other_frame(frame)

    def _enter_other_frame(self, frame) -> None:
        """Count a frame of a library; note a call of a tf.function, and where a trace begins."""
        code = frame.f_code
        module = read_module_name(frame.f_globals)
        self.other_frames[_find_package(module)] += 1
        self._remaining_frames -= 1
        if code.co_name == "func_graph_from_py_func":  # TensorFlow traces until it returns
            self._tracing_frames.append(frame)
        if module == TF_FUNCTION_MODULE and code.co_qualname == "Function.__call__":
            self.tf_function_calls += 1

    def _enter_c_function(self, frame, function) -> None:
        """Count the call of a C function by a frame, unless the frame is one of the recorder's.

        Two kinds of the recorder's frames make calls that are the program's: `call_from_learner`,
        which calls the learner's function, and functions in `transparent_codes`, which replace a C
        function and call it.
        """
        module, name = read_c_place(function)
        caller = frame.f_code
        is_learners_call = caller is call_from_learner.__code__
        is_call_of_program = is_learners_call or id(caller) in self.transparent_codes
        if self._is_hidden(frame) and not is_call_of_program:
            return

        key = (_find_package(module), _spell_as_program(name))
        self.c_calls[key] += 1
        if frame.f_globals is self.space or is_learners_call:
            self.own_c_calls[key] += 1

    def _is_hidden(self, frame) -> bool:
        """Return whether a frame runs only because of the recorder.

        These are frames that a hook calls, the function that receives what the program prints, and
        functions of modules that work for the recorder.
        """
        caller = frame.f_back
        if caller is not None and id(caller.f_code) in self.hidden_callers:
            return True
        is_write = frame.f_code is Printed.write.__code__
        return is_write or _is_own_module(read_module_name(frame.f_globals))


register_recorders(
    JourneyRecorder.profile, JourneyRecorder.trace, JourneyRecorder.step, JourneyRecorder.note_op
)


def list_recorder_functions() -> list[FunctionType]:
    """Return all methods of the recorder, which Dynamo must not compile.

    They run inside the program, so Dynamo meets them there.
    """
    return [value for value in vars(JourneyRecorder).values() if type(value) is FunctionType]


def _describe_kernel(result) -> str:
    """Return device and dtype, such as `CPU, float32`, of the first tensor that an op returned.

    `result` is a tensor of TensorFlow, or a list or tuple of them. The text is "" for anything
    else.
    """
    first = next(iter(result), None) if is_exactly(result, list, tuple) else result
    try:
        if is_tensor(first):
            device = first.device.rpartition("/device:")[2].partition(":")[0]
            return f"{device}, {first.dtype.name}"
    except Exception:  # a tensor that is on no device raises: its kernel is not known
        return ""
    return ""


def _is_resumed(frame) -> bool:
    """Return whether the frame of a generator or a coroutine goes on, and does not start.

    The last instruction that ran tells it. A frame that starts has run none, or has just run one of
    the first two: RETURN_GENERATOR, or RESUME with the argument 0.
    """
    bytecode = frame.f_code.co_code
    offset = frame.f_lasti  # of the last instruction
    if offset < 0:  # no instruction has run yet
        return False
    name = opname[bytecode[offset]]
    if name == "RETURN_GENERATOR":
        return False
    if name == "RESUME":
        argument = bytecode[offset + 1]  # says where RESUME is: at the start, after a yield, …
        return argument & AFTER_YIELD != 0
    return True


def _find_counted_instructions(code: CodeType) -> CountedInstructions:
    """Return the offsets at which a code object looks up a global name, or has an operator."""
    # An instruction has two bytes: its opcode is at an even offset, its argument follows.
    operator_offsets = {
        offset
        for offset in range(0, len(code.co_code), 2)
        if opname[code.co_code[offset]] in OPERATORS
    }
    return CountedInstructions(find_global_lookups(code), operator_offsets)


@functools.cache
def _is_own_module(module: str) -> bool:
    """Return whether a module is the recorder's, or one that works for it."""
    return module.startswith(OWN_MODULES)


@functools.cache
def _find_package(module: str) -> str:
    """Return the first part of a module's name."""
    return module.partition(".")[0]


@functools.lru_cache(maxsize=10_000)
def _spell_as_program(name: str) -> str:
    """Return the name of a C function as a program writes it: `torch.add`, `Tensor.add`.

    torch's own names of these functions begin with `_VariableFunctionsClass.` or `_TensorBase.`.
    """
    for torchs_spelling, programs_spelling in SPELLINGS.items():
        name = name.replace(torchs_spelling, programs_spelling)
    return name

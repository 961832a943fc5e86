"""Record the calls of functions of TensorFlow, Keras and PyTorch, in Python and in C, while some
function runs. The recorder is a profiler: CPython calls it at the start and the end of each call
(`sys.setprofile`). A call that has not returned is *open*.
"""

from dataclasses import replace
from types import CodeType, FunctionType

from ...internals.collector import CollectorWatch
from ...internals.own_profilers import GETPROFILE, SETPROFILE, OwnProfilers, is_of_recorder
from ...internals.tensorflow_private import (
    AUTOGRAPH_FILE,
    FAST,
    SLOW,
    SLOW_CANCELABLE,
    find_code_before_autograph,
)
from ...model.call_records import Call
from ...safety.arguments import printable, real_type_name
from ...safety.interrupts import PRESSES, register_recorders
from ..cpython.following import RecordingLimits
from ..text.source import format_place

FRAMEWORKS = ("tensorflow", "keras", "torch")
NEW_NODE = "TF_FinishOperation"  # the C function that writes a node into a graph
# The landmarks on the way to C, from the outermost: functions that many ops pass.
LANDMARKS = (
    "Dispatch",
    FAST,
    SLOW,
    SLOW_CANCELABLE,
    "quick_execute",
    "_apply_op_helper",
    "_create_c_op",
    "TF_NewOperation",
    "TF_AddInput",
    "TF_AddInputList",
    "TF_SetAttrValueProto",
    NEW_NODE,
)


class CallRecorder:
    """A profiler of `sys.setprofile`: CPython calls it for each call and return of the thread.

    A call of no framework leaves no line in the tree, and the calls inside it move up one level.
    The recorder never raises into the program: an error in it ends the recording.
    """

    def __init__(self, function: FunctionType | None, limits: RecordingLimits):
        """Start with no calls.

        `function` is the Python function that is watched, None if there is none. `limits` says
        which calls are recorded: how deep, by which names, and how many.
        """
        self.function = function
        self.limits = limits
        self.calls: list[Call] = []
        #: How many calls were left out because there are too many rows.
        self.left_out_count = 0
        #: How many calls of functions there were, recorded or not.
        self.call_count = 0
        #: The names of functions of which TensorFlow ran AutoGraph's rewritten copy, in order.
        self.copied_functions: dict[str, None] = {}
        #: Why the recording ended before the run did, in words that follow "the recorder"; or "".
        self.end_reason = ""
        #: Sets this recorder as the profiler, and knows whether the program sets another one.
        self.profilers = OwnProfilers(self)
        #: Knows whether the garbage collector runs by itself: its finalizers are not counted.
        self.collector = CollectorWatch()
        # Of each call that has not returned: its index in `calls`, None if it is not recorded.
        self._open_calls: list[int | None] = []
        self._depth = 0  # how many of the open calls are recorded
        # AutoGraph's code by id -> that code, which is kept alive, and the code it is a copy of.
        self._originals_by_code: dict[int, tuple[CodeType, CodeType | None]] = {}

    def __call__(self, frame, event, argument):
        """Record one event, which CPython reports to a profiler of `sys.setprofile`.

        `event` is "call", "return", "c_call", "c_return" or "c_exception". `argument` is the C
        function for the last three.
        """
        # Nothing is recorded after the end, or in a frame that runs only because of a recorder.
        if self.end_reason or self.profilers.replaced_at or is_of_recorder(frame):
            return
        if self.collector.runs_by_itself(event, argument):
            return
        if event == "c_call" and argument is SETPROFILE:
            self.profilers.note_setting(frame)  # the program's profiler is about to replace this
            return
        if event == "c_call" and argument is GETPROFILE:
            self.profilers.note_asking()  # the program will find this recorder
        try:
            self._note_event(frame, event, argument)
        except Exception as error:  # a fault of ours is never the user's error
            self.end_reason = f"failed with {real_type_name(error)}"
        # A signal handler waits while the recorder runs. Reading this attribute sends the signal
        # again; it is read last, so that the handler runs after the recorder and not in it.
        PRESSES.once_more  # noqa: B018

    def _note_event(self, frame, event, argument) -> None:
        """Open a call at its start, or close the innermost open call at its end."""
        if event == "call":
            self._enter_python_function(frame)
        elif event == "c_call":
            module, name = read_c_place(argument)
            self._enter(module, name, is_c=True)
        elif self._open_calls:  # otherwise a call ends that began before the recorder was set
            self._leave(has_raised=event == "c_exception")

    def _leave(self, has_raised: bool) -> None:
        """Close the innermost open call; `has_raised` says that a C function raised."""
        index = self._open_calls.pop()
        if index is None:  # the call is not recorded
            return
        self._depth -= 1
        if has_raised:
            self.calls[index] = replace(self.calls[index], raised=True)

    def _enter_python_function(self, frame) -> None:
        """Open the call of a Python function.

        AutoGraph is the part of TensorFlow that rewrites a function and runs the copy. The limit
        `only=` names the original function, so a copy is compared by the original's name and code.
        """
        code = frame.f_code
        original = self._find_original(code)
        name = _strip_enclosing_functions(code)
        module = read_module_name(frame.f_globals)
        if original is None:
            self._enter(module, name, is_c=False, code=code)
            return

        original_name = _strip_enclosing_functions(original)
        is_recorded = self._enter(
            module, name, is_c=False, code=original, name_for_limits=original_name
        )
        # The learner has named the original by `only=`. A note will say that a copy ran instead.
        if is_recorded and not self.limits.all:
            self.copied_functions[printable(original_name)] = None

    def _find_original(self, code: CodeType) -> CodeType | None:
        """Return the code object of which `code` is AutoGraph's copy; None if `code` is no copy.

        The answer is stored, because CPython reports every call.
        """
        if AUTOGRAPH_FILE not in code.co_filename:
            return None
        if id(code) not in self._originals_by_code:
            self._originals_by_code[id(code)] = code, find_code_before_autograph(code)
        _, original = self._originals_by_code[id(code)]
        return original

    def _enter(
        self,
        module: str,
        name: str,
        is_c: bool,
        code: CodeType | None = None,
        name_for_limits: str = "",
    ) -> bool:
        """Open a call, and record it if the limits allow that; return whether it is recorded.

        `code` is the code object of a Python function, None for a C function. `name_for_limits` is
        compared with `only=` in place of the name.
        """
        self.call_count += 1
        is_of_framework = module.partition(".")[0] in FRAMEWORKS
        # Chosen by `only=`, or without it because the function is one of a framework.
        is_chosen = self.limits.should_record_call(
            is_of_framework, module, name_for_limits or name, code
        )
        # Not deeper than `depth=`.
        is_chosen = is_chosen and self.limits.is_within_depth(self._depth + 1)
        if is_chosen and len(self.calls) < self.limits.most:
            self._open_calls.append(len(self.calls))
            self.calls.append(Call(self._depth, module, name, is_c, door=name in LANDMARKS))
            self._depth += 1
            return True

        if is_chosen:
            self.left_out_count += 1
        self._open_calls.append(None)
        return False


register_recorders(CallRecorder.__call__)


def describe_replacement(profilers: OwnProfilers) -> str:
    """Return why the recording ended, in words that follow "the recorder".

    The program has set a profiler of its own, which replaced the recorder. The words name the line
    where it did, if that is known.
    """
    if profilers.replaced_at is None:  # a profiler in C, such as that of cProfile
        return "was replaced by another profiler in your code"
    code, line = profilers.replaced_at
    return f"was replaced by sys.setprofile in your code ({format_place(code, line)})"


def _strip_enclosing_functions(code: CodeType) -> str:
    """Return the qualified name of a function without the functions in which it is defined."""
    return code.co_qualname.rpartition("<locals>.")[2]


def read_module_name(space: dict) -> str:
    """Return the name of the module whose globals are `space`; "" if it has none.

    `dict.get` runs no code of a class that is derived from dict.
    """
    name = dict.get(space, "__name__")
    return name if type(name) is str else ""


def read_c_place(function) -> tuple[str, str]:
    """Return (module, qualified name) of a C function, such as ("math", "sqrt").

    The module of a method without one is that of the class of its receiver; "" if there is none.
    """
    module = function.__module__
    if type(module) is not str:
        class_of_receiver = type(getattr(function, "__self__", None))
        module = vars(class_of_receiver).get("__module__")
    # pybind11 binds a function to a capsule, and writes "PyCapsule." or words of its own before the
    # name. They are removed.
    name = function.__qualname__.rpartition("PyCapsule.")[2]
    if "pybind11" in name:
        name = name.rpartition(".")[2]
    return module if type(module) is str else "", name

"""Define the frozen records of what one call did: a CallRecord has counts of frames, lines and ops.
The *learner's module* is the module of the called function.

The recorder (journey_recorder.py) counts while the call runs. `record_call` (journey_call.py)
makes a `CallRecord` of the counts when the call has ended.
"""

from collections import Counter
from dataclasses import dataclass
from types import CodeType

# The owners of a code object of the learner's module: who wrote its bytecode.
YOU = "you"
AUTOGRAPH = "AutoGraph"
DYNAMO = "Dynamo"


@dataclass(frozen=True)
class RecordedOp:
    """One op that ran."""

    #: The name of the op, such as `AddV2` or `aten.add`.
    name: str
    #: Device and dtype of the first tensor that the op returned, such as `CPU, float32`; or "".
    kernel: str


@dataclass(frozen=True)
class CacheCounts:
    """How often the caches of functools had an answer in one call."""

    #: Whether the function that was called is itself a cache.
    is_called: bool
    #: How often the called cache had an answer, and how often it had none.
    hits: int
    misses: int
    #: The same counts for the other caches in the learner's module, added up.
    inner_hits: int
    inner_misses: int
    #: Whether the learner's code cleared a cache, which sets the counts of that cache to zero.
    is_cleared: bool


@dataclass(frozen=True)
class RecorderEnd:
    """How the recorder came to its end, which may have been before the end of the call."""

    #: The type of an error in the recorder, after which nothing was counted; or "".
    fault: str
    #: After how many frames of other modules the recorder of calls stopped; 0 if it did not.
    stopped_after: int
    #: Whether the program replaced the profiler, and the code and line where it did, if known.
    is_profiler_replaced: bool
    profiler_replaced_at: tuple[CodeType, int] | None
    #: Whether the program's own profiler was sent the end of its call of `sys.setprofile`.
    is_profiler_heard: bool
    #: Whether the program's own profiler was also sent calls of the recorder of ops.
    is_op_recorder_heard: bool
    #: Whether the program called the C function `sys.getprofile` and so found our profiler.
    is_profiler_found: bool
    #: Whether the program replaced the tracer, and the code and line where it did, if known.
    is_tracer_replaced: bool
    tracer_replaced_at: tuple[CodeType, int] | None
    #: The sentences on a tracer and a profiler of the program's that did not run meanwhile.
    set_aside: str

    @property
    def is_stopped(self) -> bool:
        """Return whether the recorder of calls stopped because there were too many frames."""
        return self.stopped_after > 0


@dataclass(frozen=True)
class CallRecord:
    """What one call did. A `Counter` whose keys are owners has YOU, AUTOGRAPH and DYNAMO."""

    #: Whether there are globals of a learner's module. Without them no frame is the learner's.
    has_globals: bool
    #: The installed package whose globals take the place of the learner's; or "".
    library: str
    #: The learner's code objects that ran, by id.
    codes: dict[int, CodeType]
    #: Owner -> how many frames of the learner's module ran.
    frames: Counter[str]
    #: Owner -> how many of these frames ran while TensorFlow traced.
    traced_frames: Counter[str]
    #: Owner -> how many times a line ran; a line in a loop counts each time.
    lines: Counter[str]
    #: Owner -> how many different lines ran.
    distinct_lines: Counter[str]
    #: Owner -> how many instructions of an operator such as `+` ran, without those of DYNAMO.
    operators: Counter[str]
    #: Name -> how often the learner's frames looked it up in the globals or the builtins.
    names: Counter[str]
    #: Name -> the value in the globals at its last look-up; KeyError for a builtin.
    values_by_name: dict[str, object]
    #: Package -> how many frames of its modules ran.
    other_frames: Counter[str]
    #: (package of the C function, its name) -> how many calls there were.
    c_calls: Counter[tuple[str, str]]
    #: (package of the C function, its name) -> how many calls the learner's frames made.
    own_c_calls: Counter[tuple[str, str]]
    #: The addresses of the frame evaluators that were set at some time in the call.
    evaluators: frozenset[int]
    #: How many times a tf.function was called, and how many traces were made.
    tf_function_calls: int
    traces: int
    #: How many nodes were written into graphs of TensorFlow.
    nodes: int
    #: How many code objects Dynamo made of the learner's.
    new_dynamo_codes: int
    #: How often the caches of functools had an answer.
    caches: CacheCounts
    #: The arguments as the called tf.function looks them up, in words; or "".
    key: str
    #: The ops that ran, in order.
    ops: tuple[RecordedOp, ...]
    #: What the call raised, in words; or "".
    outcome: str
    #: What the call printed through `sys.stdout`.
    printed: str
    #: Whether Ctrl-C ended the call.
    is_interrupted: bool
    #: How many lines, frames of other modules, calls of C functions, and ops were counted.
    event_count: int
    #: How the recorder came to its end.
    end: RecorderEnd

"""A function and its arguments -> its journey: the first call that is watched, and one again.

A call under all recorders at once gives a tally; the six stops say it in words. `sys.setprofile`
reports the calls of all frames of this thread, `sys.settrace` the lines and the instructions of the
learner's. Ops are heard of at TensorFlow's doors into C (tensorflow/python/pywrap_tfe.py), and by
a TorchDispatchMode of PyTorch, below autograd. Time is measured in a run under `cProfile` alone.
"""

import contextlib
import functools
import gc
import re
import sys
import weakref
from collections import Counter
from cProfile import Profile
from dataclasses import replace
from importlib import import_module
from opcode import opname
from types import CodeType, FunctionType, MethodType

from ...internals import dynamo_state, own_profilers, tensorflow_private, torch_private
from ...internals.collector import CollectorHeard
from ...internals.frame_tracer import FrameTracer, ask_for_opcodes, forget_tracer
from ...internals.own_hooks import profiler_setter
from ...internals.own_profilers import is_aside
from ...internals.tensorflow_private import FAST, SLOW, SLOW_CANCELABLE, graph_ops
from ...mini import frame_hook
from ...mini.frame_hook.slot import address_installed
from ...model.framework_records import NOT_CALLED, SHARES, Journey, Passage, Stop
from ...model.phrase import clipped, counted, interrupted, listed
from ...model.spine import SPINE
from ...safety import PACKAGE, restoring
from ...safety.arguments import is_exactly, printable, real_isinstance, require_bool
from ...safety.dynamo_aside import leave_to_python
from ...safety.interrupts import PRESSES, are_recorders
from ...safety.restoring import is_interrupted, patched
from ...safety.standard_output import redirected
from ...safety.users_frames import is_library
from ..cpython.aside import OF_COLLECTOR, OF_FRAMES, OF_SYS, say_aside, say_found
from ..cpython.hooked_frames import own_codes
from ..cpython.objects import ASYNC_GENERATOR, COROUTINE, GENERATOR, global_lookups, name_of
from ..cpython.settrace import INTERRUPTED, Printed, run_to_end
from ..cpython.unwrapping import UNSEEN, frameworks_of
from ..tensorflow.trace_words import Names
from ..text.source import place_of, source_of
from ..text.value import label, short_repr
from .call_recorder import HEARD, c_place, module_of, refuse_what_does_not_run
from .executed_ops import is_tensor
from .framework_ways import COMPILED, PLAIN, Prepared, prepared_calls

LIBRARIES = ("tensorflow", "keras", "torch", "numpy")
OPERATORS = ("BINARY_OP", "BINARY_SUBSCR", "COMPARE_OP", "UNARY_NEGATIVE", "UNARY_INVERT")
SETTRACE = sys.settrace
RESUMABLE = GENERATOR | COROUTINE | ASYNC_GENERATOR
AFTER_YIELD = 3  # the bits of RESUME's argument that are 0 at the start of a function
NO_FILE = "", "<string>"  # what exec or a dataclass made: other codes have other lines
OF_CALLS, OF_LINES = {2, 3, 4, 6}, {1, 3}  # the stops that are known from calls, and from lines
KEYED = "tensorflow.python.eager.polymorphic_function.polymorphic_function"
GENERATED = "__autograph_generated_file"
HOUSE = (__name__, f"{PACKAGE}.internals", f"{PACKAGE}.safety")
OP_AT = {FAST: 1, SLOW: 2, SLOW_CANCELABLE: 2}  # which argument of a door is the op's name
SPELLED = {"_VariableFunctionsClass.": "torch.", "_TensorBase.": "Tensor."}
MOST_NAMES, MOST_SHOWN, EXACT, LONGEST = 4, 5, 200, 60
THEIRS = {"tensorflow": "TensorFlow", "keras": "Keras", "torch": "PyTorch", "numpy": "NumPy"}
MADE = re.compile(r"(__compiled_fn|__resume_at)_[0-9a-f_]+.*")
GRAPH = re.compile(r"__(?:inference|forward|backward)_(.+?)_\d+")
LARGE = (("millions", 10**6), ("hundreds of thousands", 10**5), ("tens of thousands", 10**4))
LARGE += (("thousands", 10**3), ("hundreds", 0))
NO_LINE = "none of your lines ran"
CALL_PYTHON = {"EagerPyFunc", "PyFunc", "PyFuncStateless"}  # ops of a graph
GIVEN = "Numbers and arrays are passed to each framework as its tensors."
NO_COMPILER = '`torch.compile` is called with `backend="eager"`: it runs what Dynamo found op '
NO_COMPILER += "by op."
NO_C = "none seen from your lines; calls of classes and of ufuncs such as np.add are not reported"

RANDOM_STATES = f"{PACKAGE}.internals.random_states"  # imported where it is needed
SEEDED = "TensorFlow cannot put back what a random op with a seed has drawn: it drew in each call."
REPLACED = "Your code set another {}, or none, in place of the recorder{}. Which {} there were "
REPLACED += "from there on is not known."
MOST_FOLLOWED = 300_000  # frames of other modules; following them takes about ten times as long
STOPPED = "The recorder of calls stopped after {:,} frames of other modules, because following all "
STOPPED += "would take too long. Which calls there were from there on is not known."
HEARS_OPS = "A profiler that it set also hears the recorder of ops."


def _tally(fn, args: tuple, kwargs: dict, function: FunctionType | None) -> "Tally":
    """Call `fn(*args, **kwargs)` and count. What it raises, or that it was interrupted, is told.

    `function`: the Python function behind `fn`; the globals that it has are the learner's. If it is
    in a framework's package, those of the class whose method `fn` is, unless that is there too.
    """
    dynamo, tensorflow = restoring.module("torch._dynamo"), restoring.module("tensorflow")
    known, printed = _codes_of_dynamo(function), Printed()
    space = getattr(function, "__globals__", None)
    if space is not None and module_of(space).partition(".")[0] in LIBRARIES:
        home = type(fn.__self__).__module__ if type(fn) is MethodType else LIBRARIES[0]
        owner = None if home.partition(".")[0] in LIBRARIES else restoring.module(home)
        space = getattr(owner, "__dict__", None)
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
        if dynamo:  # it must not touch what runs inside a compiled call
            callbacks = (Tally.profile, Tally.trace, Tally.step, Tally._enter_frame, Tally._enter_c)
            callbacks += (Tally._profile, Tally._step, Tally.note_op, Tally._note_op, Tally.lose)
            callbacks += (Tally._note_setting, *own_profilers.functions())
            leave_to_python(*callbacks, Printed.write)
            for code in (through.__code__, *LETS_THROUGH.values(), *SHUT.values()):
                torch_private.skip_code(code)
        stack.enter_context(found.collector)
        before, inner_before = _cache_counts(fn), _inner_caches(fn, space)
        found.outcome = run_to_end(lambda: _record(found, fn, args, kwargs))
        after, inner_after = _cache_counts(fn), _inner_caches(fn, space)
    # The function itself may clear its cache, which sets the counts to zero.
    found.is_cache = _is_cache(fn)
    found.hits, found.misses = (max(b - a, 0) for a, b in zip(before, after, strict=True))
    for cache, (hits, misses) in inner_after.items():
        hits_before, misses_before = inner_before.get(cache, (0, 0))
        found.inner_hits += max(hits - hits_before, 0)
        found.inner_misses += max(misses - misses_before, 0)
    found.is_cache_cleared = any(name.endswith(".cache_clear") for _, name in found.own_c)
    if found.outcome == INTERRUPTED:
        found.is_interrupted, found.outcome = True, "KeyboardInterrupt"
    made = _codes_of_dynamo(function)
    found.traces, found.printed = len(traced), printed.text()
    found.translated = len(made.keys() - known.keys())
    found.distinct = found.count_places()
    for name in ("frames", "traced", "lines", "operators", "distinct"):
        owned = Counter()
        for at, many in getattr(found, name).items():
            autograph = at in found.codes and GENERATED in found.codes[at].co_filename
            owner = "AutoGraph" if autograph else "you"
            if at in known | made or (name == "frames" and at in found.codes_resuming):
                owner = "Dynamo"
            owned[owner] += many
        setattr(found, name, owned)
    del found.operators["Dynamo"]
    found.nodes = sum(many for (_, name), many in found.c.items() if name == "TF_FinishOperation")
    return found


def _is_cache(fn) -> bool:
    return type(fn) is functools._lru_cache_wrapper


def _cache_counts(fn) -> tuple[int, int]:
    """Return how often the cache that `fn` is had an answer, and had none; zeros for no cache."""
    if not _is_cache(fn):
        return 0, 0
    counts = fn.cache_info()
    return counts.hits, counts.misses


def _inner_caches(fn, space: dict | None) -> dict[weakref.ref, tuple[int, int]]:
    """Return the counts of the caches of functools, less `fn`, that are in the learner's module.

    These are the caches that its globals name, and those of its functions, wherever they are kept.
    """
    if space is None:
        return {}
    named = {id(value) for value in list(dict.values(space)) if _is_cache(value)}
    kind = functools._lru_cache_wrapper  # no call for each: there may be a million objects
    caches = [thing for thing in gc.get_objects() if type(thing) is kind and thing is not fn]
    inner = (one for one in caches if id(one) in named or _keeps(one, space))
    return {weakref.ref(one): _cache_counts(one) for one in inner}


def _keeps(cache, space: dict) -> bool:
    """Return whether a cache keeps the answers of a function that has these globals."""
    inside = vars(cache).get("__wrapped__")
    return type(inside) is FunctionType and inside.__globals__ is space


def _codes_of_dynamo(function: FunctionType | None) -> dict[int, CodeType]:
    """Return, by id, the codes that Dynamo made of the function and of others in its files.

    The code of a resume function is among them. No function has it until Dynamo's own code runs.
    """
    if function is None or not restoring.module("torch._dynamo"):
        return {}
    files = {code.co_filename for code in own_codes(function)}
    made = (reference() for reference in torch_private.output_codes.seen)
    return {id(code): code for code in made if code is not None and code.co_filename in files}


def _goes_on(frame) -> bool:
    """Return whether the frame of a generator or a coroutine is entered, but not for its start."""
    code, at = frame.f_code.co_code, frame.f_lasti
    if at < 0 or opname[code[at]] == "RETURN_GENERATOR":
        return False
    return opname[code[at]] != "RESUME" or code[at + 1] & AFTER_YIELD != 0


def through(fn, args, kwargs):
    """Make the call: what this frame calls, the learner calls."""
    return fn(*args, **kwargs)


class Tally:
    """What one call did, by two callbacks. `space`: the globals whose frames are the learner's.

    Of these alone, by the id of their code (`codes`), and in the end by its owner (you, AutoGraph,
    Dynamo): `frames`, `traced` ones, `lines`, `operators`. `others`: package -> frames. `c`:
    (package, name) -> calls; `own_c` those that the learner's frames made. `evaluators`: addresses.
    `switch`: the C function after which the evaluator may be another. `is_cache`: what is called is
    a cache of functools, which had an answer `hits` times and none `misses` times. `inner_hits`
    and `inner_misses` are those of the other caches in the learner's module.
    """

    def __init__(self, space: dict | None, switch=None):
        self.space, self.switch = space, switch
        file, home = (str(dict.get(space or {}, n) or "") for n in ("__file__", "__name__"))
        self.library = home.partition(".")[0] if is_library(file) else ""
        self.codes: dict[int, CodeType] = {}
        self.frames, self.traced, self.lines, self.operators = (Counter() for _ in range(4))
        self.places: set[tuple[int, int]] = set()  # the lines that ran, by code and number
        self.names, self.others, self.c, self.own_c = (Counter() for _ in range(4))
        self.found: dict[str, object] = {}  # name -> what stood under it in the globals
        self.evaluators: set[int] = set()
        self.keys = self.traces = self.translated = self.nodes = 0
        self.is_cache, self.hits, self.misses = False, 0, 0
        self.is_cache_cleared, self.inner_hits, self.inner_misses = False, 0, 0
        self.key = self.outcome = self.printed = ""
        self.is_interrupted = False
        self.left = MOST_FOLLOWED  # frames of others until the recorder of calls stops
        self.lost = ""  # the type of a fault of ours; nothing is counted after it
        self.ran: list[tuple[str, str]] = []  # an op; device and dtype, such as CPU, float32
        self.paused, self._tracers = False, []  # while we look; TensorFlow's frames that trace
        self._until = None  # the frame with which a pause ends
        self._resumable: set[int] = set()  # the ids of frames that may be entered again
        self._steps: dict[int, tuple[dict[int, str], set[int]]] = {}
        self.profilers = own_profilers.OwnProfilers(self.profile)
        self.collector = CollectorHeard()
        self.aside = ""  # a sentence on a tracer and a profiler that the program had set
        self.is_replaced = self.is_untraced = False  # whether the program set its own in our place
        self.untraced_at: tuple[CodeType, int] | None = None  # where it set a tracer
        self.ran_before = 0  # ops, until the program set its own profiler

    def count_places(self) -> Counter:
        """Return code's id -> lines that ran in it, less those of which another code has a part.

        A lambda, or a generator expression, may be in the middle of a line.
        """
        lines = {}
        for at, line in sorted(self.places, key=lambda place: place[1]):
            file = self.codes[at].co_filename if at in self.codes else ""
            lines.setdefault((at if file in NO_FILE else file, line), at)
        return Counter(lines.values())

    @property
    def codes_resuming(self) -> set[int]:
        """Return the ids of codes that Dynamo made to go on behind a graph break."""
        if not restoring.module("torch._dynamo"):
            return set()
        resumed_from = torch_private.resumed_from
        return {at for at, code in self.codes.items() if resumed_from(code) is not code}

    @property
    def events(self) -> int:
        """Return how many lines, frames of others, calls of C and ops were counted."""
        counted_ones = self.lines, self.others, self.c
        return sum(one.total() for one in counted_ones) + len(self.ran)

    @property
    def is_stopped(self) -> bool:
        """Whether the recorder of calls has stopped, because there were too many."""
        return self.left <= 0

    def lose(self, error: Exception) -> None:
        """End the counting: a fault of ours is never the user's error."""
        self.lost, self.paused, self._until = type(error).__name__, True, None

    def note_op(self, name: str | bytes, made) -> None:
        """Write down an op that ran."""
        try:
            self._note_op(name, made)
        except Exception as error:
            self.lose(error)

    def _note_op(self, name: str | bytes, made) -> None:
        before, self.paused = self.paused, True
        self.ran.append((name.decode() if type(name) is bytes else str(name), _kernel(made)))
        self.paused = before

    def profile(self, frame, event, argument):
        """Count a call of a frame, or of a C function."""
        if is_aside(frame) or self.profilers.replaced_at:
            return
        if self.left <= 0:
            PRESSES.once_more  # noqa: B018
            return
        # Most events are of these two kinds, and there may be millions.
        if event == "c_return":
            is_known = argument is not self.switch and argument is not gc.collect
        else:
            is_known = event == "return" and not self._tracers and not self._until
        if is_known:
            PRESSES.once_more  # noqa: B018
            return
        if self.collector.is_at_work(event, argument):
            return
        try:
            self._profile(frame, event, argument)
            if event == "c_call" and argument in (own_profilers.SETPROFILE, SETTRACE):
                self._note_setting(frame, argument)
            elif event == "c_call" and argument is own_profilers.GETPROFILE:
                self.profilers.note_asking()
        except Exception as error:
            self.lose(error)
        PRESSES.once_more  # noqa: B018

    def _note_setting(self, frame, function) -> None:
        """Note that the program sets a profiler or a tracer, and ask its frames for no more."""
        if function is own_profilers.SETPROFILE:
            self.ran_before = len(self.ran)
            self.profilers.note_setting(frame)
            return
        self.untraced_at = self.untraced_at or own_profilers.users_line(frame)
        while frame is not None:
            if frame.f_globals is self.space:
                forget_tracer(frame)
            frame = frame.f_back

    def _profile(self, frame, event, argument):
        if self.paused:
            if frame is self._until and event == "return":
                self.paused, self._until = False, None
        elif event == "call" and id(frame.f_code) in INSIDE:
            self.paused, self._until = True, frame
        elif event == "call":
            self._enter_frame(frame)
        elif event == "return" and self._tracers and frame is self._tracers[-1]:
            self._tracers.pop()
        elif event == "c_call":
            self._enter_c(frame, argument)
        elif event == "c_return" and argument is self.switch and argument is not None:
            self.evaluators.add(address_installed())

    def trace(self, frame, event, argument):
        """Ask for the steps of a frame of the learner's, and of no other."""
        if frame.f_globals is not self.space or self.collector.is_at_work(event, None):
            return None
        ask_for_opcodes(frame)
        return self.step

    def step(self, frame, event, argument):
        """Count a line, or look at an instruction."""
        try:
            self._step(frame, event)
        except Exception as error:
            self.lose(error)
        if event == "return":
            forget_tracer(frame)
            return None
        return self.step

    def _step(self, frame, event) -> None:
        code, at = frame.f_code, frame.f_lasti
        if event == "line":
            self.lines[id(code)] += 1
            self.places.add((id(code), frame.f_lineno))
        elif event == "opcode":
            if id(code) not in self._steps:
                steps = enumerate(code.co_code)
                operators = {at for at, n in steps if at % 2 == 0 and opname[n] in OPERATORS}
                self._steps[id(code)] = global_lookups(code), operators
            lookups, operators = self._steps[id(code)]
            if at in lookups:
                self.names[lookups[at]] += 1
                self.found[lookups[at]] = dict.get(frame.f_globals, lookups[at], KeyError)
            elif at in operators:
                self.operators[id(code)] += 1

    def _enter_frame(self, frame) -> None:
        code, space = frame.f_code, frame.f_globals
        if space is self.space or not self.evaluators:
            self.evaluators.add(address_installed())
        if code.co_flags & RESUMABLE:
            if id(frame) in self._resumable and _goes_on(frame):
                return
            self._resumable.add(id(frame))
        if space is self.space:
            self.codes[id(code)] = code
            self.frames[id(code)] += 1
            self.traced[id(code)] += bool(self._tracers)
        elif not _is_hidden(frame):
            module = module_of(space)
            self.others[_package(module)] += 1
            self.left -= 1
            self._tracers += [frame] * (code.co_name == "func_graph_from_py_func")
            self.keys += module == KEYED and code.co_qualname == "Function.__call__"

    def _enter_c(self, frame, function) -> None:
        caller, (module, name) = frame.f_code, c_place(function)
        ours = caller is through.__code__
        if _is_hidden(frame) and not ours and id(caller) not in LETS_THROUGH:
            return
        key = _package(module), _spelled(name)
        self.c[key] += 1
        if frame.f_globals is self.space or ours:
            self.own_c[key] += 1


# By the id of code: what replaces a C function, and calls it; what makes calls of its
# own, which are nobody else's; and what is asked because of the recorder alone, with all in it.
LETS_THROUGH: dict[int, CodeType] = {}
SHUT: dict[int, CodeType] = {}
INSIDE: dict[int, CodeType] = {}


are_recorders(Tally.profile, Tally.trace, Tally.step, Tally.note_op)


def _is_hidden(frame) -> bool:
    if frame.f_back is not None and id(frame.f_back.f_code) in SHUT:
        return True
    return _is_of_house(module_of(frame.f_globals)) or frame.f_code is Printed.write.__code__


@functools.cache
def _is_of_house(module: str) -> bool:
    return module.startswith(HOUSE)


@functools.cache
def _package(module: str) -> str:
    return module.partition(".")[0]


@functools.lru_cache(maxsize=10_000)
def _spelled(name: str) -> str:
    """Return the name of a C function as a program writes it."""
    for before, after in SPELLED.items():
        name = name.replace(before, after)
    return name


def _record(found: Tally, fn, args: tuple, kwargs: dict) -> None:
    # 3.12 wants to know beforehand. A variable that refers to this frame would be in a cycle.
    opcodes = sys._getframe().f_trace_opcodes
    sys._getframe().f_trace_opcodes = True
    tracer = FrameTracer(found.trace)
    try:
        tracer.start()
        found.profilers.start()
        through(fn, args, kwargs)
    finally:
        found.is_replaced = not found.profilers.finish()
        is_set = tracer.is_ours()
        found.is_untraced = found.untraced_at is not None or not is_set
        if is_set:
            tracer.put_back()
        tracer.finish()
        found.aside = say_aside(tracer, found.profilers)
        sys._getframe().f_trace_opcodes = opcodes


def _noting(door, at: int, found: Tally):
    def noting(*given):
        made = door(*given)
        found.note_op(given[at], made)
        return made

    LETS_THROUGH[id(noting.__code__)] = noting.__code__
    return noting


def _torch_mode(found: Tally):
    """Return a mode that has `found` hear of each op of torch.

    It calls no Python function for that, which the profiler would hear and Dynamo be asked about.
    """
    import torch

    ran, plainly = found.ran, torch._C.DisableTorchFunction
    device_of, dtype_of = (vars(torch._C.TensorBase)[name].__get__ for name in ("device", "dtype"))
    tensor, kernels = torch.Tensor, {}

    def heard(name, inputs, made):
        found.paused, kernel = True, ""
        try:
            first = made
            if type(made) is list or type(made) is tuple:
                first = made[0] if made else None
            if issubclass(type(first), tensor):
                with plainly():  # neither a tensor's own class nor a user's mode hears of it
                    place = device_of(first), dtype_of(first)
                if place not in kernels:
                    kernels[place] = f"{place[0]}, {place[1]}".replace("torch.", "")
                kernel = kernels[place]
        except Exception:  # a tensor on no device: what is unknown is left out
            kernel = ""
        ran.append((name, kernel))
        found.paused = bool(found.lost)

    are_recorders(heard)
    mode = torch_private.dispatch_mode(heard, lambda code: SHUT.update({id(code): code}))
    SHUT[id(heard.__code__)] = heard.__code__
    rule = torch_private.find_torch_dispatch_rule
    INSIDE[id(rule.__code__)] = rule.__code__
    return mode


def _kernel(made) -> str:
    """Return device and dtype of TensorFlow's tensor, or of the first in a list or a tuple."""
    first = next(iter(made), None) if is_exactly(made, list, tuple) else made
    with contextlib.suppress(Exception):  # a tensor on no device: what is unknown is left out
        if is_tensor(first):
            device = first.device.rpartition("/device:")[2].partition(":")[0]
            return f"{device}, {first.dtype.name}"
    return ""


# ------------------------------------------------------------------ the stops, in words


def journey(fn, /, *args, ways: bool = False, shares: bool = False, **kwargs) -> Journey:
    """Run `fn(*args, **kwargs)` twice, and show which of the six seams each of the calls passed."""
    function = refuse_what_does_not_run(fn, "show_journey", args)
    if require_bool(ways, "ways=") and function is not fn:
        cure = "write a function that calls it"
        raise TypeError(f"ways=True needs a plain Python function, not {short_repr(fn)}: {cure}")
    require_bool(shares, "shares=")
    calls = prepared_calls(fn, args, kwargs) if ways else {}  # imports: no call is to do that
    first = _tally(fn, args, kwargs, function)
    if not ways:
        return _and_again(first, fn, args, kwargs, function, shares)
    with import_module(RANDOM_STATES).random_numbers_kept() as use:
        found = _and_again(first, fn, args, kwargs, function, shares)
        others = tuple(_journey_of_way(way, call) for way, call in calls.items())
    title = f"Who runs {name_of(fn)}? One function, three ways to call it"
    told = found.note, GIVEN, NO_COMPILER * (not calls[COMPILED].lacks)
    told += (SEEDED * bool(use and use.has_own_seed),)
    note, source = " ".join(filter(None, told)), source_of(fn.__code__).text
    return replace(found, title=title, note=note, way=PLAIN, source=source, others=others)


def _journey_of_way(way: str, call: Prepared) -> Journey:
    """Return the journey of one way to call a function, or why there is none."""
    lacks = call.lacks or ("It was interrupted before this way." if is_interrupted() else "")
    if lacks:
        return Journey("", Passage(()), Passage(()), note=lacks, way=way)
    with dynamo_state.apart() if way == COMPILED else contextlib.nullcontext():
        first = _tally(call.fn, call.args, call.kwargs, call.function)
        found = _and_again(first, call.fn, call.args, call.kwargs, call.function)
    return replace(found, way=way)


def _and_again(first: Tally, fn, args, kwargs, function, shares=False) -> Journey:
    """Call a function for the second time; return the journey of both calls."""
    if first.is_interrupted:
        return _interrupted_journey(fn, first)
    again = _tally(fn, args, kwargs, function)
    cut = again.is_interrupted
    measured = _measure_shares(fn, args, kwargs, again) if shares and not cut else ()
    is_generator = function is not None and function.__code__.co_flags & GENERATOR
    note = "The call only made a generator. None of its body ran." if is_generator else ""
    if "jax" in frameworks_of(fn, (*args, *kwargs.values())):
        note = f"{note} {UNSEEN}".lstrip()
    if shares and not measured and not is_interrupted():
        note = "No time was measured because the call raises."
    if cut:
        note = f"{note} {_interruption(again, 'In the second call, y')}".lstrip()
    if lost := again.lost or first.lost:
        note = f"{note} The recorder failed with {lost}. What came after that is unknown.".lstrip()
    replaced = [*_what_was_not_followed(first), *_what_was_not_followed(again)]
    asked = OF_SYS[1:] * (first.profilers.is_found or again.profilers.is_found)
    found = say_found(function and function.__code__, OF_FRAMES + OF_COLLECTOR, asked)
    replaced += [again.aside or first.aside, found]
    note = " ".join(filter(None, (note, *dict.fromkeys(replaced))))
    title = f"The journey of {name_of(fn)}, called twice"
    return Journey(title, _passage(first), _passage(again), measured, note)


def _interrupted_journey(fn, first: Tally) -> Journey:
    """Return the journey of a first call that was interrupted: there is no second one."""
    if not first.events:
        raise KeyboardInterrupt
    stations = range(1, len(SPINE) + 1)
    stops = tuple(Stop(at, False, "–", "the function was not called again") for at in stations)
    again = Passage(stops, ran=NOT_CALLED)
    note = " ".join(filter(None, (_interruption(first, "In the first call, y"), first.aside)))
    return Journey(f"The journey of {name_of(fn)}, interrupted", _passage(first), again, (), note)


def _interruption(tally: Tally, start: str) -> str:
    """Return the sentence on an interrupt, with these first words."""
    return start + interrupted(tally.events, "event")[1:]


def _what_was_not_followed(tally: Tally) -> list[str]:
    """Return the sentences on a recorder that stopped, or that the program replaced."""
    notes = []
    if tally.is_replaced:
        notes.append(REPLACED.format("profiler", _where(tally), "calls"))
    if tally.profilers.is_heard:
        notes.append(HEARD)
    if tally.is_replaced and len(tally.ran) > tally.ran_before:
        notes.append(HEARS_OPS)
    if tally.is_stopped:
        notes.append(STOPPED.format(MOST_FOLLOWED))
    if tally.is_untraced:
        place = f" ({place_of(*tally.untraced_at)})" if tally.untraced_at else ""
        notes.append(REPLACED.format("tracer", place, "lines"))
    return notes


def _where(tally: Tally) -> str:
    at = tally.profilers.replaced_at
    return f" ({place_of(*at)})" if at else ""


def _until_the_end(stop: tuple, tally: Tally) -> tuple:
    """Return the parts of a stop, which say until when they hold if its recorder has ended."""
    at, is_passed, brief, words = stop
    if (tally.is_replaced and at in OF_CALLS) or (tally.is_untraced and at in OF_LINES):
        ended = "was replaced"
    elif tally.is_stopped and at in OF_CALLS:
        ended = "stopped"
    else:
        return stop
    if is_passed:
        return at, True, brief, f"{words}; then not known"
    return at, False, "not known", f"until the recorder {ended}: {words}; then not known"


def _measure_shares(fn, args: tuple, kwargs: dict, again: Tally) -> tuple[tuple[str, float], ...]:
    if again.outcome:
        return ()
    profile, found = Profile(), dict.fromkeys(SHARES, 0.0)
    set_own_again = profiler_setter()
    with redirected(Printed()):
        raised = run_to_end(lambda: profile.runcall(through, fn, args, kwargs))
    if sys.getprofile() is None:
        set_own_again()
    if raised:
        return ()
    yours, python, c = SHARES
    for entry in profile.getstats():
        of_python = yours if id(entry.code) in again.codes else python
        found[c if isinstance(entry.code, str) else of_python] += entry.inlinetime
    return tuple((name, part / sum(found.values())) for name, part in found.items())


def _passage(tally: Tally) -> Passage:
    makers = (_name, _key, _frame, _evaluator, _registry, _c_call)
    found = [_until_the_end((at, *maker(tally)), tally) for at, maker in enumerate(makers, 1)]
    stops = tuple(Stop(*parts, _of_library(words, tally)) for *parts, words in found)
    printed = clipped(tally.printed.strip().replace("\n", " / "), LONGEST)
    names = tuple(_op(name)[0] for name, _ in tally.ran)
    counts = {name: getattr(tally, name) for name in ("keys", "traces", "translated", "nodes")}
    counts |= {"names": tally.names.total(), "operators": tally.operators.total()}
    counts |= {"frames of others": tally.others.total(), "ops": len(tally.ran)}
    counts |= {"frames of Dynamo's": tally.frames["Dynamo"]}
    counts["cache hits"] = tally.hits + tally.inner_hits
    counts["cache misses"] = tally.misses + tally.inner_misses
    counts |= {"C calls": _entries_into_c(tally).total()}
    for name, counter in (("frames", tally.frames), ("lines", tally.lines)):
        counts[name] = counter.total() - counter["Dynamo"]
    ran, by = _ran(tally)
    if tally.is_stopped:
        by = f"Until the recorder of calls stopped: {by}"
    said = (_of_library(words, tally) for words in (ran, by))
    return Passage(stops, tuple(counts.items()), names, tally.outcome, printed, *said)


def _of_library(words: str, tally: Tally) -> str:
    """Return words on the learner's lines; those of a library's function are the library's."""
    whose = f"{tally.library}'s"
    return re.sub(r"\byours?\b", whose, words) if tally.library not in ("", PACKAGE) else words


def _ran(tally: Tally) -> tuple[str, str]:
    """Return which of the learner's lines ran, and who ran them or what ran in their place."""
    if tally.space is None and tally.traces:
        return "No line was counted.", "To count yours, make this call in a function of yours."
    if tally.space is None:
        return "There was no line of yours to run.", "No Python function of yours is called."
    graph, copied = f"a graph of {counted(tally.nodes, 'node')}", tally.frames["AutoGraph"]
    if lines := tally.distinct["you"]:
        steps, frames, traced = (n["you"] for n in (tally.lines, tally.frames, tally.traced))
        often = f", in {counted(steps, 'step')}" if steps > lines else ""
        often += ", and AutoGraph's copy of others" * bool(copied)
        by = "CPython evaluated your frame, instruction by instruction."
        if traced:
            some = "They" if traced == frames else f"{traced} of your {frames} frames"
            by = f"{some} ran to be traced, which built {graph}."
        elif made := tally.frames["Dynamo"]:
            by = f"Code of Dynamo's also ran, in {counted(made, 'frame')}."
        end = ", until the recorder of lines was replaced; then not known" * tally.is_untraced
        return f"{lines} of your lines ran{often}{end}.", by
    if copied:
        ran = ", which then ran." if any(_op(name)[1] for name, _ in tally.ran) else "."
        return "A copy of your lines ran.", f"AutoGraph wrote it. Running it made {graph}{ran}"
    by = ""
    if tally.frames["Dynamo"] and tally.translated:
        by = "Dynamo read your bytecode, and what it compiled ran instead."
    elif tally.frames["Dynamo"]:
        by = "The guards held, and what Dynamo had compiled ran in your frame."
    elif tally.keys and not tally.outcome:
        by = "The graph of an earlier call matched and ran instead."
    elif tally.hits:
        by = "The cache returned the answer of an earlier call."
    if ops := _ops_that_call_python(tally):
        by += f" Its {listed(ops, 3)} may call Python in another thread, where no line is counted."
    return f"{_no_line(tally).capitalize()}.", by.strip()


def _no_line(tally: Tally) -> str:
    """Say that no line of the learner's ran, as far as that is known."""
    return NO_LINE + " in this thread" * bool(_ops_that_call_python(tally))


def _ops_that_call_python(tally: Tally) -> list[str]:
    """Return the ops in the graphs that ran by which a graph calls a Python function."""
    inside = {op for name, _ in tally.ran for op in _op(name)[1]}
    return sorted(inside & CALL_PYTHON)


def _name(tally: Tally) -> tuple[bool, str, str]:
    if tally.space is None:
        return False, "–", "no Python function of yours is called"
    if not tally.frames:
        return False, "–", f"{_no_line(tally)}, so none of their names was looked up"
    if not tally.names:
        return False, "–", "your lines use only their own arguments and variables"
    shown = Counter()
    for name, many in tally.names.items():
        shown[_held(MADE.sub(r"\1", name), tally.found.get(name))] += many
    return True, counted(len(shown), "name"), _times(shown, MOST_NAMES)


def _held(name: str, value) -> str:
    """Return a name and, where that says more, what stood under it; KeyError is for a builtin."""
    shown, told = printable(name, LONGEST), label(value)
    if value is KeyError:
        return f"{shown} (builtin)"
    if name.startswith("__import_"):  # Dynamo's name for a module
        return told
    return shown if told.rstrip("()") == shown or name.startswith("__") else f"{shown} ({told})"


def _key(tally: Tally) -> tuple[bool, str, str]:
    is_passed, brief, words = _outer_key(tally)
    inner, cleared = "", ""
    if total := tally.inner_hits + tally.inner_misses:
        answers = counted(tally.inner_hits, "answer")
        inner = f"caches of functools in your module: {answers} found, {tally.inner_misses} not"
        brief = brief if is_passed else counted(total, "look-up")
    if tally.is_cache_cleared:
        cleared = "what a cache found before your code cleared it is not known"
        brief = brief if is_passed or inner else "not known"
    if not is_passed and (inner or cleared):
        words = ""
    return is_passed or bool(inner), brief, _joined(words, inner, cleared)


def _outer_key(tally: Tally) -> tuple[bool, str, str]:
    """Return what was found under the arguments of a tf.function, or of a cache that `fn` is."""
    many, traces = tally.keys, tally.traces
    if tally.hits or tally.misses:
        return True, *_cached(tally)
    if not many and not traces:
        return False, "–", "no tf.function is called, so no graph is looked up"
    if many != 1 or traces > 1:
        words = f"{counted(many, 'call')} of tf.functions, {counted(traces, 'trace')}"
        return True, counted(traces, "trace") if traces else "graphs found", words
    key = f" {tally.key}" if tally.key else ""
    if traces:
        return True, "traced", f"no graph matches the key{key}: traced"
    if tally.outcome or not any(_op(name)[1] for name, _ in tally.ran):
        return True, "no graph", f"the key{key} led to no graph that was run"
    return True, "graph found", f"a graph matches the key{key}: found"


def _cached(tally: Tally) -> tuple[str, str]:
    """Return in brief and in words what a cache of functools found under the arguments."""
    if tally.hits + tally.misses > 1:
        answers = counted(tally.hits, "answer")
        return (
            f"{answers} found",
            f"the cache of functools: {answers} found, {tally.misses} not found",
        )
    if tally.hits:
        return "answer found", "the cache of functools has an answer for these arguments"
    return (
        "no answer",
        "the cache of functools has none for these arguments: your function is called",
    )


def _frame(tally: Tally) -> tuple[bool, str, str]:
    package = max(THEIRS, key=lambda package: tally.others[package])
    most = tally.others[package]
    others = f"{_about(most)} of {THEIRS[package]}'s" if most else ""
    if not tally.frames:
        found = "the graph was found, and " * bool(tally.keys and not tally.outcome)
        found = found or "the answer was found, and " * bool(tally.hits)
        return False, "–", _joined(found + _no_line(tally), others)
    yours, copied, made = (tally.frames[who] for who in ("you", "AutoGraph", "Dynamo"))
    lines, operators = counted(tally.lines["you"], "line"), tally.operators.total()
    done = f"{lines}, {counted(operators, 'operator')}" if operators else lines
    words = _joined(
        f"{counted(yours, 'frame')} of yours: {done}" * bool(yours),
        f"{counted(copied, 'frame')} of AutoGraph's copy of yours" * bool(copied),
        f"{counted(made, 'frame')} of yours, with Dynamo's code in it" * bool(made),
        others,
    )
    return True, "Dynamo's code" if made else lines if yours else "AutoGraph's copy", words


def _about(many: int) -> str:
    """Return a count; of many frames, which may be other ones each time, only how many about."""
    large = next(words for words, least in LARGE if many >= least)
    return large if many > EXACT else f"{many}"


def _evaluator(tally: Tally) -> tuple[bool, str, str]:
    owners = {frame_hook.evaluator_at(address).owner for address in tally.evaluators}
    other = sorted(owner for owner in owners if not owner.startswith("CPython"))
    if not other:
        return False, "–", "CPython's own evaluator runs the frames; no other one is set"
    whose = "torch's evaluator" if other == ["torch"] else f"evaluator of {', '.join(other)}"
    if tally.translated:
        # a frame in which Dynamo finds no graph gets no code of its own
        words = f"Dynamo makes {counted(tally.translated, 'new code object')} from yours"
        return True, "translated", f"{whose}; no cache entry matches: {words}"
    if made := tally.frames["Dynamo"]:
        words = f"the guards of an entry hold, for {counted(made, 'frame')}"
        return True, "entry found", f"{whose}; {words}"
    words = "which lets your code run as it is" if tally.frames else "and no code of yours ran"
    return True, "asked", f"{whose}, {words}"


def _registry(tally: Tally) -> tuple[bool, str, str]:
    written = f"{counted(tally.nodes, 'node')} written into a graph" if tally.nodes else ""
    if not tally.ran:
        nothing = "no op of TensorFlow or PyTorch runs; calls of NumPy's ufuncs are not seen"
        return False, "–", _joined(nothing, written)
    ops, kernels, inside = Counter(), {}, ""
    for op, kernel in tally.ran:
        name, graph = _op(op)
        ops[f"the graph of {name}" if graph else name] += 1
        if graph:
            inside = inside or f"in it {listed(graph, MOST_SHOWN)}"
        elif kernel:
            kernels[kernel] = kernel.replace(", ", " ")
    places = [*kernels.values()] if len(kernels) > 1 else [*kernels]  # "CPU, float32", if alone
    chosen = f"kernels for {listed(places, 2)}" if places else ""
    words = _joined(_times(ops, MOST_SHOWN), inside, chosen, written)
    brief = counted(len(tally.ran), "op") + ": the graph" * bool(inside and len(tally.ran) == 1)
    return True, brief, words


def _op(name: str) -> tuple[str, tuple[str, ...]]:
    found = GRAPH.fullmatch(name)
    inside = graph_ops(name) if found else ()
    return (printable(found[1], LONGEST), inside) if inside else (name, ())


def _c_call(tally: Tally) -> tuple[bool, str, str]:
    into = _entries_into_c(tally)
    if not into:
        inside = "; an operator calls its C code within one instruction"
        words = NO_C + inside * bool(tally.operators.total())
        is_inner = bool(tally.inner_hits or tally.inner_misses)
        return False, "–", words + "; the cache itself is in C" * (tally.is_cache or is_inner)
    doors = Counter()
    for start in ("TFE_Py_E", "TFE_Py_Fast"):
        doors += Counter({name: many for name, many in into.items() if name.startswith(start)})
    own = Counter({name: many for (_, name), many in tally.own_c.items()})
    rest = (into - doors - own).total()
    shown = doors + (own - doors)
    more = f"{_about(rest)}{' more' * bool(shown)} of the frameworks' own" if rest else ""
    brief = counted(into.total(), "call") if into.total() <= EXACT else "many calls"
    return True, brief, _joined(_times(shown, MOST_NAMES), more)


def _entries_into_c(tally: Tally) -> Counter:
    """Return C function -> calls, of those that your frames call, and of the frameworks' own."""
    found = Counter()
    for key, many in tally.c.items():
        found[key[1]] += many if key[0] in LIBRARIES else tally.own_c[key]
    return +found


def _joined(*parts: str) -> str:
    return "; ".join(filter(None, parts))


def _times(counts: Counter, most: int) -> str:
    times = {name: f" ×{n:,}" if n > 1 else "" for name, n in counts.items()}
    return listed((printable(name, LONGEST) + words for name, words in times.items()), most)

"""One call of a framework's function -> the tree of Python and C calls inside it, and its route.

The generated wrappers of TensorFlow (tensorflow/python/ops/gen_*_ops.py) try the fast path, catch
what it raises, and go on to a function named for the fallback. A tf.function goes to
tensorflow/python/eager/execute.py at once; so do a few ops, such as the Fill of constant_op.py.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import groupby, islice, takewhile
from types import CodeType, FunctionType

from ...internals import own_profilers
from ...internals.collector import CollectorHeard
from ...internals.own_profilers import GETPROFILE, SETPROFILE, OwnProfilers, is_aside
from ...internals.tensorflow_private import (
    AUTOGRAPH_FILE,
    FAST,
    SLOW,
    SLOW_CANCELABLE,
    code_before_autograph,
)
from ...model.framework_records import Call, CallTree
from ...model.phrase import counted, interrupted, listed
from ...model.tables import Entry, Ledger, Pair, SideBySide, Verdict
from ...safety import progress
from ...safety.arguments import called, parts, printable, real_isinstance, real_type_name, table
from ...safety.dynamo_aside import leave_to_python
from ...safety.interrupts import PRESSES, are_recorders
from ...safety.restoring import is_interrupted
from ..cpython.aside import OF_COLLECTOR, OF_SYS, say_aside, say_found
from ..cpython.following import Limits
from ..cpython.objects import name_of, refuse_async
from ..cpython.settrace import INTERRUPTED, run_to_end
from ..cpython.unwrapping import behind
from ..text.error import instead
from ..text.source import place_of
from ..text.value import short_repr

FRAMEWORKS = ("tensorflow", "keras", "torch")
MOST_CALLS = 20_000
NONE = "No function of TensorFlow or PyTorch was called. What an operator (`x + y`) does in C is "
NONE += (
    "not a call. `watch_ops` lists the ops, and `watch_frames` shows calls of Python functions. "
)
NONE += "`only=` follows the calls of other libraries."
NO_MATCH = "No call matches only=, among {}. This follows the calls of this thread. It cannot see "
NO_MATCH += (
    "what compiled code or a graph of an earlier call runs in place of a function, or which "
)
NO_MATCH += (
    "calls other threads make. CPython does not report a call of a class in C or of a ufunc."
)
TWICE = "Each case was called twice, and this is the second call."
COPIED = "AutoGraph's copy ran in place of {}."
LOST = "From there on nothing is known: the recorder {}."
LOST_CASE = "In the case '{}' the recorder {}, and nothing is known from there on."
HEARD = "Your profiler heard the end of its sys.setprofile, which it does not hear in a plain run."
NEW_NODE, FALLBACK = "TF_FinishOperation", "_eager_fallback"
DOORS = (
    *("Dispatch", FAST, SLOW, SLOW_CANCELABLE, "quick_execute", "_apply_op_helper"),
    *("_create_c_op", "TF_NewOperation", "TF_AddInput", "TF_AddInputList"),
    *("TF_SetAttrValueProto", NEW_NODE),
)
MARKS = (("changed", "differs from the first column"),)
CASES = "name -> function, or (function, *arguments)"
MOST_CASES, MOST_LINES, DEEPEST, LONGEST, FEW = 200, 1_000, 40, 160, 5


def call_tree(fn, /, *args, depth=None, only=None, most=MOST_CALLS, **kwargs) -> CallTree:
    """Run `fn(*args, **kwargs)` once, and show its calls into a framework as a tree."""
    function = refuse_what_does_not_run(fn, "watch_call")
    recorder = _Recorder(function, Limits("watch_call", depth, only, most))
    return _record(recorder, fn, args, kwargs)


def _record(recorder: "_Recorder", fn, args: tuple, kwargs: dict) -> CallTree:
    with recorder.collector:
        outcome = run_to_end(lambda: _run_profiled(recorder, fn, args, kwargs))
    calls = recorder.calls
    if outcome == INTERRUPTED:
        if not calls:
            raise KeyboardInterrupt
        ending = interrupted(len(calls), "call")
        return _tree(fn, recorder, "", [ending, *recorder.notes()])
    return _tree(fn, recorder, outcome, recorder.notes())


def _run_profiled(recorder: "_Recorder", fn, args: tuple, kwargs: dict) -> None:
    leave_to_python(_Recorder.__call__, *own_profilers.functions())
    recorder.profilers.start()
    try:
        fn(*args, **kwargs)
    finally:
        if not recorder.profilers.finish():
            recorder.lost = recorder.lost or how_replaced(recorder.profilers)


def how_replaced(profilers: OwnProfilers) -> str:
    """Return the words for a recorder in whose place the program has set a profiler of its own."""
    if profilers.replaced_at is None:  # a profiler in C, such as that of cProfile
        return "was replaced by another profiler in your code"
    return f"was replaced by sys.setprofile in your code ({place_of(*profilers.replaced_at)})"


def _tree(fn, recorder: "_Recorder", outcome: str, notes: list[str]) -> CallTree:
    calls = tuple(recorder.calls)
    of_tensorflow = any(call.module.startswith(FRAMEWORKS[:2]) for call in calls)
    tree = CallTree("", calls, tuple(routes(calls)), outcome, " ".join(notes))
    title = f"{name_of(fn)}: {counted(len(calls), 'call')}"
    if recorder.lost:
        return replace(tree, title=title + ", then not known")
    return replace(tree, title=title + f", route: {tree.route}" * of_tensorflow)


def refuse_what_does_not_run(fn, verb: str, args: tuple = ()) -> FunctionType | None:
    """Return the Python function behind `fn`; TypeError if it cannot be called, or is async."""
    if not callable(fn):
        needed = f"{verb} needs a function and its arguments, not {short_repr(fn)}"
        raise TypeError(f"{needed}{instead(fn)}")
    function = behind(fn, args)
    if function is not None:
        refuse_async(function, verb)
    return function


class _Recorder:
    """A profile function. A call of no framework leaves no line, and its calls move up one."""

    def __init__(self, function: FunctionType | None, limits: Limits):
        self._function = function  # the Python function that is watched, if it is one
        self.calls, self._open, self.limits = [], [], limits
        self._depth, self.left_out, self.met = 0, 0, 0
        self._originals: dict[int, tuple[CodeType, CodeType | None]] = {}
        self.copied: dict[str, None] = {}  # the names of functions whose copies ran
        self.lost = ""  # why it ended early, if it did
        self.profilers, self.collector = OwnProfilers(self), CollectorHeard()

    def __call__(self, frame, event, argument):
        if self.lost or self.profilers.replaced_at or is_aside(frame):
            return
        if self.collector.is_at_work(event, argument):
            return
        if event == "c_call" and argument is SETPROFILE:
            self.profilers.note_setting(frame)
            return
        if event == "c_call" and argument is GETPROFILE:
            self.profilers.note_asking()
        try:
            self._note(frame, event, argument)
        except Exception as error:  # a fault of ours is never the user's error
            self.lost = f"failed with {real_type_name(error)}"
        PRESSES.once_more  # noqa: B018

    def _note(self, frame, event, argument):
        if event == "call":
            self._enter_python(frame)
        elif event == "c_call":
            self._enter(*c_place(argument), True)
        elif self._open:
            at = self._open.pop()
            if at is not None:
                self._depth -= 1
                if event == "c_exception":
                    self.calls[at] = replace(self.calls[at], raised=True)

    def _enter_python(self, frame) -> None:
        code, original = frame.f_code, self._original(frame.f_code)
        name = code.co_qualname.rpartition("<locals>.")[2]
        module = module_of(frame.f_globals)
        if original is None:
            self._enter(module, name, False, code)
            return
        name_before = original.co_qualname.rpartition("<locals>.")[2]
        if self._enter(module, name, False, original, name_before) and not self.limits.all:
            self.copied[printable(name_before)] = None

    def _original(self, code: CodeType) -> CodeType | None:
        """Return the code of which this is AutoGraph's copy, or None."""
        if AUTOGRAPH_FILE not in code.co_filename:
            return None
        if id(code) not in self._originals:
            self._originals[id(code)] = code, code_before_autograph(code)
        return self._originals[id(code)][1]

    def _enter(
        self, module: str, name: str, c: bool, code: CodeType | None = None, match=""
    ) -> bool:
        """Record a call, if the limits allow it; `match`: the name that they compare."""
        self.met += 1
        of_framework = module.partition(".")[0] in FRAMEWORKS
        shown = self.limits.takes(of_framework, module, match or name, code)
        shown = shown and self.limits.reaches(self._depth + 1)
        if not shown or len(self.calls) >= self.limits.most:
            self.left_out += shown
            self._open.append(None)
            return False
        self._open.append(len(self.calls))
        self.calls.append(Call(self._depth, module, name, c, door=name in DOORS))
        self._depth += 1
        return True

    def notes(self) -> list[str]:
        """Return the sentences on what the tree does not show."""
        notes = []
        if self.left_out:
            total = len(self.calls) + self.left_out
            more = f"{self.left_out:,} more are left out (most={total} shows all)."
            notes.append(f"The first {len(self.calls):,} calls; {more}")
        if self.calls and self.limits.note():
            notes.append(self.limits.note())
        if self.copied:
            notes.append(COPIED.format(listed(self.copied, FEW)))
        if not self.calls and not self.lost:
            met = counted(self.met, "call")
            notes.append(NONE if self.limits.all else NO_MATCH.format(met))
        if self.lost:
            notes.append(LOST.format(self.lost))
        if self.profilers.is_heard:
            notes.append(HEARD)
        return [*notes, *filter(None, [self.aside()])]

    def is_cut(self) -> bool:
        """Return whether there are calls that are not counted, because of the limits."""
        return bool(self.calls and (self.left_out or self.limits.note()))

    def aside(self) -> str:
        """Return the sentences on the profilers of the program and of the recorder."""
        code = self._function and self._function.__code__
        found = say_found(code, OF_COLLECTOR, OF_SYS[1:] * self.profilers.is_found)
        return " ".join(filter(None, (say_aside(profiler=self.profilers), found)))


are_recorders(_Recorder.__call__)


def module_of(space: dict) -> str:
    """Return the name of the module that has these globals; "" if it has none."""
    name = dict.get(space, "__name__")
    return name if type(name) is str else ""


def c_place(function) -> tuple[str, str]:
    """Return module (or that of the class of a method) and name of a C function, as written."""
    held = vars(type(getattr(function, "__self__", None))).get("__module__")
    modules = [one for one in (function.__module__, held) if type(one) is str]
    name = function.__qualname__.rpartition("PyCapsule.")[2]
    last = name.rpartition(".")[2] if "pybind11" in name else name  # it puts words before it
    return modules[0] if modules else "", last


def routes(calls: Sequence[Call]) -> Iterator[str]:
    """Yield the route of each op, read only from the landmarks."""
    above: list[str] = []  # the names of the calls that are open, from the outermost
    for at, call in enumerate(calls):
        above[call.depth :] = [call.name]
        if call.name == FAST and not call.raised:
            yield "fast path"
        elif call.name == FAST:
            depth, later = call.depth, islice(calls, at + 1, None)
            beside = takewhile(lambda one, depth=depth: one.depth >= depth, later)
            if not any(one.depth == depth and one.name.endswith(FALLBACK) for one in beside):
                yield "refused"
        elif call.name in (SLOW, SLOW_CANCELABLE):
            ways = {
                "refused": call.raised,
                "fallback": any(name.endswith(FALLBACK) for name in above),
                "function": any(name.endswith(".call_function") for name in above),
            }
            yield next((way for way, true in ways.items() if true), "direct")
        elif call.name == NEW_NODE:
            yield "graph"


def calls_ledger(cases: Mapping[str, object], depth=None, only=None, most=MOST_CALLS) -> Ledger:
    """Run every case twice, and compare the landmarks that each second call passes."""
    found = table(cases, "watch_calls", CASES, MOST_CASES)
    pairs = {printable(name): parts(case) for name, case in found}
    for name, (fn, *_) in pairs.items():
        called(fn, f"the case '{name}'")
    trees, recorders, stopped = [], [], ""
    for name, case in progress.counted("watching call", pairs.items()):
        try:
            if run_to_end(lambda case=case: case[0](*case[1:])) == INTERRUPTED:
                raise KeyboardInterrupt
            fn, *args = case
            function = refuse_what_does_not_run(fn, "watch_call")
            recorder = _Recorder(function, Limits("watch_call", depth, only, most))
            trees.append(_record(recorder, fn, args, {}))
            recorders.append(recorder)
        except KeyboardInterrupt:
            if not (trees and is_interrupted()):
                raise
        if is_interrupted():
            stopped = f"You interrupted it in the case '{name}'."
            break
    names = [*pairs][: len(trees)]
    lost = [recorder.lost for recorder in recorders]
    routes_taken = [tree.route for tree in trees]
    rows = {
        "route": ["not known" if end else way for way, end in zip(routes_taken, lost, strict=True)]
    }
    if any(tree.outcome and tree.route != "refused" for tree in trees):
        rows["raised"] = [tree.outcome.partition(":")[0] or "–" for tree in trees]
    counted_calls = {
        "all calls": [len(tree.calls) for tree in trees],
        "calls of C functions": [sum(call.c for call in tree.calls) for tree in trees],
    }
    for row, counts in counted_calls.items():
        rows[row] = [_until_lost(str(count), end) for count, end in zip(counts, lost, strict=True)]
    for door in DOORS:
        raised = [[call.raised for call in tree.calls if call.name == door] for tree in trees]
        if any(raised):
            words = (f"×{len(one)}{', raised' * all(one)}" if one else "–" for one in raised)
            rows[door] = [_until_lost(word, end) for word, end in zip(words, lost, strict=True)]
    entries = tuple(
        Entry(row, tuple(Verdict(w, "changed" if w != words[0] else "plain") for w in words))
        for row, words in rows.items()
    )
    recorded = zip(names, recorders, strict=True)
    cut = [name for name, recorder in recorded if recorder.is_cut() and not recorder.lost]
    note = f"Only some calls of {listed(cut, FEW)} are counted (depth=, only=, most=)." * bool(cut)
    ends = [LOST_CASE.format(name, end) for name, end in zip(names, lost, strict=True) if end]
    heard = [HEARD] * any(recorder.profilers.is_heard for recorder in recorders)
    aside = dict.fromkeys(recorder.aside() for recorder in recorders)
    note = " ".join(filter(None, (stopped, TWICE, note, *ends, *heard, *aside)))
    title = "The landmarks that each call reaches"
    return Ledger(title, "landmark", tuple(names), entries, note, marks=MARKS)


def _until_lost(words: str, lost: str) -> str:
    """Return the words of a cell; of a recorder that was lost, until when they hold."""
    return f"{words} until the recorder was lost" if lost else words


def calls_diff(left: CallTree, right: CallTree) -> SideBySide:
    """Show two trees of `watch_call` side by side, line by line."""
    for tree in (left, right):
        if not real_isinstance(tree, CallTree):
            words = f"show_call_diff needs two calls of watch_call, not {real_type_name(tree)}"
            raise TypeError(words)
    whole = [_lines(tree) for tree in (left, right)]
    before, after = (lines[:MOST_LINES] for lines in whole)
    names = [[line.strip() for line in side] for side in (before, after)]
    before, after, pairs = [*enumerate(before, 1)], [*enumerate(after, 1)], []
    for same, a, b, c, d in SequenceMatcher(None, *names, autojunk=False).get_opcodes():
        left_side, right_side = before[a:b], after[c:d]
        if same == "equal":
            pairs += [Pair(*one, *other) for one, other in zip(left_side, right_side, strict=True)]
        else:
            pairs += [Pair(*one, 0, "") for one in left_side]
            pairs += [Pair(0, "", *other) for other in right_side]
    both = sum(bool(pair.left and pair.right) for pair in pairs)
    note = f"{both} lines are the same. A line without a partner was called only on its side."
    if max(map(len, whole)) > MOST_LINES:
        note += f" Only the first {MOST_LINES:,} lines of each side are compared."
    titles = "Two calls, side by side", left.title, right.title
    return SideBySide(*titles, tuple(pairs), note, folds=True)


def _lines(tree: CallTree) -> list[str]:
    lines = []
    shown = [(call.depth, f"{'[C] ' * call.c}{call.path}") for call in tree.calls]
    for (depth, words), group in groupby(shown):
        times, blanks = len(list(group)), "  " * min(depth, DEEPEST)
        lines.append(blanks + printable(words, LONGEST) + f" ×{times}" * (times > 1))
    return lines

"""One call of a framework's function -> the tree of Python and C calls inside it.

`sys.setprofile` reports both kinds, so the way ends where Python ends: at the last function that
an extension module offers (tensorflow/python/_pywrap_tfe.so, or torch's own C functions).
"""

import contextlib
import gc
import sys
from collections.abc import Callable, Mapping
from itertools import groupby

from helpers.capture.said import said
from helpers.capture.words import label, type_name
from helpers.model.calls import Call, CallTree
from helpers.model.ledger import Entry, Ledger, Verdict
from helpers.model.side_by_side import Pair, SideBySide

FRAMEWORKS = ("tensorflow", "keras", "torch")
MOST_CALLS = 20_000
FAST, SLOW = "TFE_Py_FastPathExecute", "TFE_Py_Execute"
SLOW_CANCELABLE, NEW_NODE = "TFE_Py_ExecuteCancelable", "TF_FinishOperation"
DOORS = (
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


def call_tree(fn, *args, **kwargs) -> CallTree:
    """Return the calls inside `fn(*args, **kwargs)` that belong to a framework.

    The call is made twice, and the second time is recorded: the first fills TensorFlow's caches,
    and traces what has to be traced. What it raises becomes the tree's `outcome`. TypeError if
    `fn` cannot be called.
    """
    if not callable(fn):
        raise TypeError(f"watch_call needs a function and its arguments, not {type_name(fn)}")
    with contextlib.suppress(Exception):
        fn(*args, **kwargs)
    calls, outcome = _recorded(lambda: fn(*args, **kwargs))
    cut = f"The first {MOST_CALLS:,} calls." if len(calls) == MOST_CALLS else ""
    tree = CallTree("", tuple(calls), tuple(_routes(calls)), outcome)
    words = f"{_name(fn)}: {len(calls)} call{'s' * (len(calls) != 1)}"
    if any(not call.module.startswith("torch") for call in calls):
        words += f", route: {tree.route}"
    return CallTree(words, tree.calls, tree.routes, outcome, cut)


def calls_ledger(cases: Mapping[str, object]) -> Ledger:
    """Return which landmarks each case passes, how often, and how many calls it takes.

    `cases`: name -> a function, or (function, *arguments). What differs from the first case has
    the tone `changed`.
    """
    trees = {name: call_tree(*_called(case)) for name, case in cases.items()}
    doors = [door for door in DOORS if any(tree.count(door) for tree in trees.values())]
    rows = {"route": [tree.route for tree in trees.values()]}
    rows["all calls"] = [str(len(tree.calls)) for tree in trees.values()]
    rows["of them into C"] = [str(sum(c.c for c in tree.calls)) for tree in trees.values()]
    rows |= {door: [_times(tree, door) for tree in trees.values()] for door in doors}
    entries = tuple(
        Entry(row, tuple(Verdict(w, "changed" if w != words[0] else "plain") for w in words))
        for row, words in rows.items()
    )
    return Ledger("What each call passes on its way", "landmark", tuple(trees), entries)


def calls_diff(left: CallTree, right: CallTree) -> SideBySide:
    """Return two trees line against line; what only one of them calls has no partner."""
    from difflib import SequenceMatcher

    sides = [_lines(tree) for tree in (left, right)]
    names = [[line.strip() for line in side] for side in sides]
    pairs = []
    for same, a, b, c, d in SequenceMatcher(None, *names, autojunk=False).get_opcodes():
        if same == "equal":
            pairs += [_pair(sides, i, c + i - a) for i in range(a, b)]
        else:
            pairs += [Pair(i + 1, sides[0][i], 0, "") for i in range(a, b)]
            pairs += [Pair(0, "", i + 1, sides[1][i]) for i in range(c, d)]
    both = sum(bool(pair.left and pair.right) for pair in pairs)
    note = f"{both} lines are the same; a line without a partner is called on its side only."
    return SideBySide("Two calls, side by side", left.title, right.title, tuple(pairs), note)


def _pair(sides, i: int, j: int) -> Pair:
    return Pair(i + 1, sides[0][i], j + 1, sides[1][j])


def _lines(tree: CallTree) -> list[str]:
    """Return a line per call; neighbours that are the same become one."""
    lines = []
    shown = [(call.depth, f"{'[C] ' * call.c}{call.path}") for call in tree.calls]
    for (depth, words), group in groupby(shown):
        times = len(list(group))
        lines.append(f"{'  ' * depth}{words}{f' ×{times}' if times > 1 else ''}")
    return lines


def _called(case) -> tuple:
    return case if isinstance(case, tuple) else (case,)


def _times(tree: CallTree, door: str) -> str:
    calls = [call for call in tree.calls if call.name == door]
    if not calls:
        return "–"
    return f"×{len(calls)}{', raised' if all(call.raised for call in calls) else ''}"


def _name(fn) -> str:
    given = getattr(fn, "__name__", "")
    return given if isinstance(given, str) and given else label(fn)


def _recorded(run: Callable) -> tuple[list[Call], str]:
    """Return the calls of a run, and the words of what it raised."""
    recorder = _Recorder()
    collecting, before = gc.isenabled(), sys.getprofile()
    gc.disable()  # a finaliser would add calls to one run and not to the next
    sys.setprofile(recorder)
    try:
        run()
        outcome = ""
    except Exception as error:
        outcome = error
    finally:
        sys.setprofile(before)
        if collecting:
            gc.enable()
    return recorder.calls, outcome and said(outcome)


class _Recorder:
    """A profile function. A call of no framework leaves no line, and its calls move up one."""

    def __init__(self):
        self.calls, self._open = [], []
        self._depth = 0

    def __call__(self, frame, event, argument):
        if event in ("call", "c_call"):
            self._enter(*_where(frame, event, argument), event == "c_call")
        elif self._open:
            at = self._open.pop()
            if at is not None:
                self._depth -= 1
                if event == "c_exception":
                    self.calls[at] = _raised(self.calls[at])

    def _enter(self, module: str, name: str, c: bool) -> None:
        if module.partition(".")[0] not in FRAMEWORKS or len(self.calls) >= MOST_CALLS:
            self._open.append(None)
            return
        self._open.append(len(self.calls))
        self.calls.append(Call(self._depth, module, name, c, door=name in DOORS))
        self._depth += 1


def _raised(call: Call) -> Call:
    return Call(call.depth, call.module, call.name, call.c, True, call.door)


def _where(frame, event: str, function) -> tuple[str, str]:
    """Return module and name of a function, without the words that pybind11 puts before it."""
    if event == "call":
        name = frame.f_code.co_qualname.rpartition("<locals>.")[2]
        return str(frame.f_globals.get("__name__", "")), name
    owner = getattr(function, "__self__", None)
    module = function.__module__ or type(owner).__module__ or ""
    name = function.__qualname__.removeprefix("PyCapsule.")
    return (module if isinstance(module, str) else ""), name.rpartition("<locals>.")[2]


def _routes(calls: list[Call]):
    """Yield the route of each op, read from the landmarks alone."""
    for at, call in enumerate(calls):
        if call.name == FAST and not call.raised:
            yield "fast path"
        elif call.name == FAST and not _falls_back(calls, at):
            yield "refused"
        elif call.name in (SLOW, SLOW_CANCELABLE):
            fallback = "fallback" if _inside_fallback(calls, at) else "function"
            yield "refused" if call.raised else fallback
        elif call.name == NEW_NODE:
            yield "graph"


def _falls_back(calls: list[Call], at: int) -> bool:
    """Return whether the wrapper went on to its fallback after the fast path said no."""
    depth = calls[at].depth
    for call in calls[at + 1 :]:
        if call.depth < depth:
            return False
        if call.depth == depth and call.name.endswith("_eager_fallback"):
            return True
    return False


def _inside_fallback(calls: list[Call], at: int) -> bool:
    depth = calls[at].depth
    for call in reversed(calls[:at]):
        if call.depth < depth:
            depth = call.depth
            if call.name.endswith("_eager_fallback"):
                return True
    return False

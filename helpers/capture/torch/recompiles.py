"""A compiled function -> what torch.compile keeps for it, and a ledger of its calls.

The picture goes from the slot to the backend. The ledger says hit or recompile, and why. Before
each call, the guards of every cache entry are asked, as torch asks them. Whether the call
compiled is read after it: from the cache, and, of resume functions and of what it calls, from what
Dynamo notes of each frame. Mirrors torch/_dynamo/guards.py (get_guard_fail_reason).
"""

import contextlib
import functools
import inspect
import logging
from collections import Counter
from dataclasses import replace
from types import CodeType, FunctionType, MethodType

from helpers.capture.cpython.objects import LONGEST_NAME, called, instance_dict, named, refuse_async
from helpers.capture.cpython.unwrapping import opened
from helpers.capture.text import tensors
from helpers.capture.text.error import said
from helpers.capture.text.value import brief, plain, type_name
from helpers.capture.torch import dynamo_words as words
from helpers.capture.torch.cache_entries import (
    behind,
    copied,
    entries,
    frame_locals,
    given,
    is_module,
    ledger,
    refuse_tensorflow,
)
from helpers.capture.torch.fx_graph import KINDS, fx_nodes
from helpers.capture.torch.guard_tree import failure, leaves, reason_words
from helpers.internals import torch_private
from helpers.mini import frame_hook
from helpers.mini.frame_hook import guarded
from helpers.model.graph import Edge, Graph, Node
from helpers.model.guards import HEADINGS, MARKS, CompileEntry, CompileLedger, compile_entry
from helpers.model.phrase import clipped, counted
from helpers.safety.arguments import is_a, is_exactly, own, printable
from helpers.safety.restoring import patched, whole

# What an error in the midst of compiling may leave behind.
KEPT = ("torch's frame callback", "the frame evaluator", "torch's dispatch keys")
KEPT += ("torch's compilation",)
LOGGER = logging.getLogger("torch._dynamo.convert_frame")
MOST_FAILURES, MOST_FRAMES, LONGEST = 2, 3, 120
MOST_ENTRIES, MOST_CALLS = 12, 6
COMPILED, RESUME = "__compiled_fn", "__resume_at"
OTHER = "the guards hold, but the backend is another"
EMPTY = "Dynamo made no entry: nothing in it to compile, or it was told to skip it"
NOTHING, NO_GRAPH = "nothing was there", "; what Dynamo made has no graph in it"
GAVE_UP = "Dynamo gave the function up, and looks at what it calls"
MAY_BE_PLAIN = "recompile_limit was met in what is called: plain Python may run that"
WRAPPER = "external_utils.py"  # where torch wraps what it cannot start with


def watch(fn, **options) -> "Compiled":
    """Return `fn` with a ledger; what is not compiled becomes `torch.compile(fn, **options)` first.

    The function, or the forward of a module, is compiled as a copy, so that its ledger starts from
    an empty cache. The backend is `eager` where `options` names none.

    Raises:
        TypeError: there is no Python function in `fn`, or options are given for a compiled one.
    """
    if is_a(fn, Compiled):
        return fn
    refuse_tensorflow(fn, "watch_recompiles")
    function, told = behind(fn)
    if torch_private.is_compiled(fn) or ledger(fn):
        if options:
            raise TypeError(f"this is compiled already; give {', '.join(options)} to torch.compile")
        return Compiled(fn, function, fn, told)
    torch_private.refuse_late_dynamo()
    refuse_async(function, "watch_recompiles")
    compiled, function = _compiled(fn, {"backend": "eager", **options})
    torch_private.forget_sizes(function.__code__)
    return Compiled(compiled, function, fn, told)


def _compiled(fn, options):
    """Return what runs `fn` with a compiled copy of its function, and that copy."""
    import torch

    if type(fn) is functools.partial:
        compiled, function = _compiled(fn.func, options)
        return functools.partial(compiled, *fn.args, **fn.keywords), function
    if is_module(fn):
        compiled, function = _compiled(fn.forward, options)
        return functools.partial(_with_forward, fn, compiled), function
    if type(call := own(fn, "__call__")) is FunctionType:
        return _compiled(MethodType(call, fn), options)
    if not is_exactly(fn, FunctionType, MethodType):
        return _compiled(opened(fn, (), 1).function, options)
    copy = copied(fn)
    try:
        return torch.compile(copy, **options), behind(copy)[0]
    except Exception as error:
        raise TypeError(f"torch.compile refuses these options: {said(error)}") from None


def _with_forward(module, forward, /, *args, **kwargs):
    """Call a module with another forward: its hooks run as ever."""
    with patched(module, forward=forward):
        return module(*args, **kwargs)


class Compiled:
    """A compiled function that keeps a ledger. What it returns or raises is the function's own."""

    def __init__(self, compiled, function: FunctionType, fn, told=()):
        self._compiled, self.compiled_function, self.compiled_from = compiled, function, fn
        self._rows: list[CompileEntry] = []
        self.peeled, self._others, self._limited = told, 0, False
        self._calls, self._empty = 0, EMPTY
        functools.update_wrapper(self, function, updated=())
        with contextlib.suppress(Exception):  # what the function says of its own is not to be read
            self.__signature__ = inspect.signature(compiled)

    @functools.partial(whole, names=KEPT)
    def __call__(self, *args, **kwargs):
        """Call the function, and write the call down."""
        _refuse_deadly((*args, *kwargs.values()))
        given_ = _arguments(args, kwargs)
        before, failures = self._asked(args, kwargs)
        noted, error = list(torch_private.compilations()), None
        LOGGER.addFilter(_unsaid)
        try:
            with guarded():
                return self._compiled(*args, **kwargs)
        except BaseException as raised:
            error = raised
            raise
        finally:
            LOGGER.removeFilter(_unsaid)
            self._write(given_, before, failures, error, noted)
            error = None  # or its traceback would hold this frame, and this frame it

    def each(self, *calls: tuple) -> str:
        """Call with each tuple of arguments; return the verdicts of these calls in a row."""
        before = self._calls
        for args in calls:
            self(*args)
        return " ".join(self.model.verdicts[before:])

    @property
    def model(self) -> CompileLedger:
        """Return the ledger as it is now."""
        rows = tuple(self._rows)
        cached = len(entries(self.compiled_function.__code__))
        note = " ".join((_summary(rows, cached, self._others), *self.peeled))
        title = f"Calls of {named(self.compiled_function)}"
        return CompileLedger(title, "call", HEADINGS, rows, note, cached, marks=MARKS)

    def _asked(self, args, kwargs):
        """Return the compile ids in the cache, and a failure per entry; None where one accepts."""
        function = self.compiled_function
        kept = entries(function.__code__)
        ids = {str(entry.compile_id) for entry in kept}
        try:
            seen = frame_locals(function, *given(self.compiled_from, args, kwargs))
            failures = [failure(n, e, function, seen) for n, e in enumerate(kept, 1)]
        except Exception:  # the call itself will say it
            return ids, ()
        return ids, None if None in failures else tuple(failures)

    def _write(self, given_, before, failures, error, noted) -> None:
        kept = entries(self.compiled_function.__code__)
        made = sum(str(entry.compile_id) not in before for entry in kept)
        known = {id(one) for one in noted}
        frames = [one for one in torch_private.compilations() if id(one) not in known]
        verdict, note = self._verdict(made, before, failures, error, frames)
        self._calls += 1
        row = compile_entry(str(self._calls), given_, verdict, note, failures=failures or ())
        last = self._rows[-1] if self._rows else None
        if last and verdict == "hit" and last.verdicts == row.verdicts:
            first = last.subject.partition("–")[0]
            span = f"{first}–{self._calls}"
            self._rows[-1] = replace(last, subject=span, calls=last.calls + 1)
        else:
            self._rows.append(row)

    def _verdict(self, made, before, failures, error, frames) -> tuple[str, str]:
        because = _because(failures or ())
        others = [one for one in frames if one.graph_op_count is not None and not one.fail_type]
        there, self._others = before or self._others, self._others + len(others) - made
        if error is not None:
            return "error", said(error)
        if torch_private.stance() == "force_eager":
            return "eager", "torch.compiler.set_stance turned compiling off"
        if any(one.fail_type and self._is_own(one) for one in frames):
            self._empty = GAVE_UP
        bare = NO_GRAPH * (bool(frames) and not any(one.graph_op_count for one in frames))
        if made:
            again = because or OTHER
            return ("recompile", again + bare) if before else ("compile", NOTHING + bare)
        if others:
            why = [there and one.recompile_reason for one in others]
            said_ = [reason_words(one) if one else NOTHING for one in why]
            told = [f"{self._who(m)}: {w}" for m, w in zip(others, said_, strict=True)]
            told = [GAVE_UP] * (self._empty is GAVE_UP) + [*dict.fromkeys(told)]
            more = [f"and {len(told) - MOST_FRAMES} more"] * (len(told) > MOST_FRAMES)
            note = "; ".join(told[:MOST_FRAMES] + more)
            return "recompile" if any(why) else "compile", note + bare
        limited = [one.recompile_reason for one in frames if one.fail_type and one.recompile_reason]
        if failures is None or (there and not before):
            if limited:
                self._limited = True
                return "eager", f"{_limit()} what is called; {reason_words(limited[0])}"
            return "hit", MAY_BE_PLAIN if self._limited else ""
        full = len(before) >= torch_private.config.recompile_limit  # with fewer, no limit is met
        why = _limit() if full else self._empty
        return "eager", f"{why}; {because}" if before else self._empty

    def _is_own(self, frame) -> bool:
        code = self.compiled_function.__code__
        own = code.co_name, code.co_firstlineno, code.co_filename
        return own == (frame.co_name, frame.co_firstlineno, frame.co_filename)

    def _who(self, frame) -> str:
        code = self.compiled_function.__code__
        name, line = words.resumed(frame.co_name)
        if self._is_own(frame) or frame.co_filename.endswith(WRAPPER):
            return named(self.compiled_function)
        lines = [number for _, _, number in code.co_lines() if number]
        if (frame.co_filename, name) == (code.co_filename, code.co_name) and line in lines:
            return f"{name}, resumed after line {line - code.co_firstlineno + 1}"
        where = words.in_file(frame.co_filename, line or frame.co_firstlineno)
        return f"{name}{', resumed' * bool(line)}{where}"


def _refuse_deadly(values) -> None:
    """RuntimeError where torch's guards, written in C++, would end the process at this tensor."""
    if any(tensors.is_tensor(v) and tensors.ends_the_process(v) for v in values):
        raise RuntimeError(
            "torch's guards end the process at a nested tensor of this layout; make it with "
            "layout=torch.jagged"
        )


def _because(failures) -> str:
    several = len(failures) > 1
    shown = [f"{f'entry {f.entry}: ' * several}{f}" for f in failures[-MOST_FAILURES:]]
    more = len(failures) - len(shown)
    return "; ".join(shown + [f"and {more} older"] * bool(more))


def _limit() -> str:
    return f"recompile_limit is {torch_private.config.recompile_limit}: plain Python ran"


def _arguments(args, kwargs) -> str:
    named_ = ((printable(n, LONGEST_NAME), v) for n, v in kwargs.items())
    shown = [*map(value_words, args), *(f"{n}={value_words(v)}" for n, v in named_)]
    return clipped(", ".join(shown) or "(none)", LONGEST)


def value_words(value) -> str:
    """Return a tensor as dtype and sizes, such as `float32 [3]`; another value in brief."""
    plain = tensors.is_tensor(value) and type_name(value) == "Tensor"
    return f"{brief(value)}{', requires_grad' * (plain and tensors.field(value, 'requires_grad'))}"


def _summary(rows, cached: int, others: int) -> str:
    verdicts = [row.verdict for row in rows for _ in range(row.calls)]
    told = [
        f"{number:,} eager" if verdict == "eager" else counted(number, verdict)
        for verdict, number in Counter(verdicts).items()
    ]
    total = counted(len(verdicts), "call")
    kept = f"{cached} {'entry' if cached == 1 else 'entries'} in the cache"
    kept += f", and {others} in those of other code" * bool(others)
    return f"{total}: {', '.join(told)}; {kept}." if rows else "no call yet."


def _unsaid(record) -> bool:
    """Let through whatever torch logs but that a limit is reached: the ledger says so."""
    return not str(record.msg).startswith("torch._dynamo hit config.")


# ------------------------------------------------------------------ what is kept


def compiled_graph(fn) -> Graph:
    """Return the way from a call of `fn` to what was compiled for it, as it is at this moment.

    TypeError if there is no Python function behind `fn`. What was never compiled has no entry.
    """
    function, told = behind(fn, compiled=True)
    draft = _Draft(function)
    kept = entries(function.__code__)
    ranks = {id(e): n for n, e in enumerate(torch_private.cache_entries(function.__code__), 1)}
    for number, entry in enumerate(kept[:MOST_ENTRIES], 1):
        draft.add(number, entry, ranks.get(id(entry), 0))
    more = len(kept) - MOST_ENTRIES
    left_out = f" The last {_entries(more)} left out." * (more > 0)
    note = " ".join((f"{_entries(len(kept))} in the cache.{left_out}", *told))
    title = f"What torch.compile keeps for {named(function)}"
    return Graph(title, tuple(draft.nodes), tuple(draft.edges), note, wide=True)


class _Draft:
    """The graph being made."""

    def __init__(self, function: FunctionType):
        self._home, code, slot = function.__globals__, function.__code__, frame_hook.installed()[0]
        self.nodes = [
            Node("call", f"{plain(function.__name__)}(…)", "site", "a call"),
            Node("slot", slot.name, "function", f"in the slot now: {slot.owner}"),
            Node("code", f"code of {plain(code.co_name)}", "code", f"__code__: {_units(code)}"),
        ]
        self.edges = [
            Edge("call", "slot", "its frame goes to"),
            Edge("slot", "code", "asks for entries" if slot.owner == "torch" else "runs"),
        ]

    def add(self, number: int, entry, rank: int) -> None:
        """Add one cache entry: its guards, its code, and what that calls."""
        key, guards = f"entry {number}", len(leaves(entry))
        self._box("code", key, key, "entry", f"tried as number {rank}", "keeps")
        self._box(key, f"{key} guards", counted(guards, "guard"), "guard", "in C++", "asks")
        code = f"{key} code"
        self._box(key, code, "new code", "code", _units(entry.code), "if all hold, runs")
        for name in entry.code.co_names:
            if name.startswith(COMPILED):
                self._graph(key, code, entry.backend, self._home.get(name))
            elif name.startswith(RESUME):
                self._resume(code, f"{key} {len(self.nodes)}", self._home.get(name))

    def _graph(self, key: str, code: str, backend, compiled) -> None:
        made, by = f"{key} graph", _backend(backend)
        self._box(code, made, "what the backend made", "call", _calls(compiled), "calls")
        if all(node.key != f"backend {by}" for node in self.nodes):
            self.nodes.append(Node(f"backend {by}", by, "function", "the backend"))
        self.edges.append(Edge(made, f"backend {by}", "made by"))

    def _resume(self, code: str, key: str, function) -> None:
        if type(function) is not FunctionType:
            return
        name, _ = words.resumed(function.__code__.co_name)
        own = f"{_entries(len(entries(function.__code__)))} of its own"
        self._box(code, f"{key} resumed", f"{plain(name)}, resumed", "function", own, "then calls")

    def _box(self, source: str, key: str, label: str, kind: str, detail: str, words: str) -> None:
        self.nodes.append(Node(key, label, kind, detail))
        self.edges.append(Edge(source, key, words))


def _entries(number: int) -> str:
    return f"{number} {'entry' if number == 1 else 'entries'}"


def _units(code: CodeType) -> str:
    return counted(len(code.co_code) // 2, "code unit")


def _calls(compiled) -> str:
    """Return the calls of the FX graph that a backend gave back as it was; else that it is none."""
    import torch

    inner = torch_private.inner_function(compiled)
    module = inner.__self__ if type(inner) is MethodType else inner
    if not is_a(module, torch.fx.GraphModule):
        return "no FX graph any more"
    nodes = [node for node in fx_nodes(module) if node.op not in KINDS]
    names = [node.name for node in nodes]
    more = f", … {len(names) - MOST_CALLS} more" if len(names) > MOST_CALLS else ""
    return clipped(f"the FX graph: {', '.join(names[:MOST_CALLS])}{more}", 80)


def _backend(backend) -> str:
    """Return the name of the function that `torch.compile` was given as its backend."""
    inside = instance_dict(backend) or {}
    return plain(called(inside.get("compiler_fn", backend)))

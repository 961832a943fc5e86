"""A compiled function -> what torch.compile makes and keeps for it, and a ledger of its calls.

Before each call, the guards of every cache entry are asked, as torch asks them. Whether the call
compiled is read after it: from the cache, and from what Dynamo notes of each other frame.
"""

import functools
import inspect
import logging
import re
import shutil
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from types import FunctionType, MethodType

from ...internals import torch_private
from ...internals.dynamo_state import as_if_new
from ...mini import frame_hook
from ...model.graphs import Edge, Graph, Node
from ...model.phrase import clipped, counted, listed
from ...model.tables import SideBySide, Verdict, align
from ...model.torch_records import (
    HEADINGS,
    MARKS,
    TONES,
    CompileEntry,
    CompileLedger,
    explain_failures,
)
from ...safety.arguments import near, real_isinstance, require_bool
from ...safety.bookkeeping import Bookkeeping
from ...safety.missing_parts import COMPILER_CURE
from ...safety.restoring import patched
from ..cpython.objects import called, inherited, instance_dict, named, refuse_async
from ..cpython.unwrapping import DEEPEST, opened, refuse_other_framework
from ..text import tensors
from ..text.error import error_message
from ..text.source import source_of
from ..text.value import short_repr, type_name
from . import guard_tree
from .compiled_calls import MARKED, NO_MORE, CompiledCalls, failure_words, limit
from .dynamo_recorder import in_file, resumed
from .fx_graph import KINDS
from .guard_tree import behind, copied, entries, entries_for, entries_words, given, why_again
from .guard_words import quoted
from .source_values import MISSING

LOGGER = logging.getLogger("torch._dynamo.convert_frame")
MOST_FRAMES, LONGEST, MOST_CALLS = 3, 120, 6
NOTHING, OTHER = "there was no entry", "the guards hold, but the backend is different"
UNKNOWN, RAN = "unknown", ("hit", "compile", "recompile")
UNCOUNTED = ("eager", UNKNOWN)
LOST = "unknown: noting what Dynamo did failed ({}), so something may be missing here"
DISABLED = "torch.compiler.disable made this: Dynamo never compiles it"
NOT_ENTERED = "unknown: the call did not pass through what torch.compile made"
ENDS = "torch's guards crash the process on a nested tensor of this layout; use layout=torch.jagged"
CALL = re.compile(r"\nin call .*\)$")  # one without a file may be of any function
SEVERAL = " A row is a frame. A call compiles several where a graph breaks; watch_recompiles "
SEVERAL += "counts it once."
WRAPPER = "external_utils.py"  # where torch wraps what it cannot start with


def watch(fn, **options) -> "Compiled":
    """Return `fn`, to be called as before, with a ledger of its calls: hit or recompile."""
    if real_isinstance(fn, Compiled):
        return fn
    refuse_other_framework(fn, (), "watch_recompiles", "PyTorch")
    function, told = behind(fn)
    users_own = _find_compiled(fn)
    if users_own is not None or guard_tree.ledger(fn):
        if options:
            raise TypeError(f"this is already compiled; pass {', '.join(options)} to torch.compile")
        return Compiled(fn, function, fn, told, wrapper=torch_private.wrapper_around(users_own))
    torch_private.refuse_late_dynamo()
    refuse_async(function, "watch_recompiles")
    compiled, function = _compile(fn, {"backend": "eager", **options})
    return Compiled(compiled, function, fn, told, is_own=True)


def _signature(compiled) -> inspect.Signature:
    """Return the signature of a callable; an object of the user's is not asked for one."""
    call = inherited(type(compiled), "__call__")
    is_object = type(compiled) is not FunctionType and type(call) is FunctionType
    return inspect.signature(MethodType(call, compiled) if is_object else compiled)


def _is_call_of_module(fn) -> bool:
    """Return whether it is `module.__call__`, as torch's own class defines it."""
    import torch

    is_method = real_isinstance(fn, MethodType) and real_isinstance(fn.__self__, torch.nn.Module)
    return is_method and fn.__func__ is torch.nn.Module.__call__


def _find_compiled(fn):
    """Return what torch.compile made, to which a call of `fn` comes; None if there is nothing."""
    import torch

    for _ in range(DEEPEST):
        if torch_private.is_compiled(fn):
            return fn
        if real_isinstance(fn, functools.partial):
            fn = fn.func
        elif _is_call_of_module(fn):
            fn = fn.__self__
        elif real_isinstance(fn, MethodType):
            fn = fn.__func__
        elif real_isinstance(fn, torch.nn.Module):
            fn = fn.forward
        elif type(call := inherited(type(fn), "__call__")) is FunctionType:
            fn = call
        else:
            return None
    return None


def _compile(fn, options):
    """Return what runs `fn` with a compiled copy of its function, and that copy."""
    import torch

    if real_isinstance(fn, functools.partial):
        compiled, function = _compile(fn.func, options)
        return functools.partial(compiled, *fn.args, **fn.keywords), function
    if _is_call_of_module(fn):
        return _compile(fn.__self__, options)
    if real_isinstance(fn, torch.nn.Module):
        compiled, function = _compile(fn.forward, options)
        return functools.partial(_call_with_forward, fn, compiled), function
    if not real_isinstance(fn, FunctionType, MethodType):
        layer, call = opened(fn, 1), inherited(type(fn), "__call__")
        does_more = layer.call is fn and type(call) is FunctionType  # as a decorator may
        return _compile(MethodType(call, fn) if does_more else layer.function, options)
    copy = copied(fn)
    try:
        return guard_tree.compile_copy(copy, **options)
    except Exception as error:
        known = inspect.signature(torch.compile).parameters
        meant = [near(name, known) for name in options if name not in known]
        ask = f"; did you mean {meant[0]}=?" if any(meant) else ""
        words = f"torch.compile refuses these options: {error_message(error)}{ask}"
        raise TypeError(words) from None


def _call_with_forward(module, forward, /, *args, **kwargs):
    """Call a module with another forward: its hooks run as ever."""
    with patched(module, forward=forward):
        return module(*args, **kwargs)


class Compiled:
    """A compiled function that keeps a ledger. What it returns or raises is the function's own."""

    unit = "call"  # what a row is

    def __init__(self, compiled, function: FunctionType, fn, told=(), is_own=False, wrapper=None):
        """`wrapper`: torch's own around `function`, if Dynamo cannot start with `function`."""
        self._compiled, self.compiled_function, self.compiled_from = compiled, function, fn
        self._start = wrapper or function
        self._rows: list[CompileEntry] = []
        self._sizes = {} if is_own else None  # what Dynamo learned of our copy
        self._why_skipped = ""
        self.peeled = told
        functools.update_wrapper(self, function, updated=())
        self.__signature__ = _signature(compiled)

    def __getattr__(self, name: str):
        """Return what the user's module or function has under this name, such as `train`."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.compiled_from, name)

    def __call__(self, /, *args, **kwargs):
        """Call the function, and write the call down."""
        noted = _NotedCall(self)
        try:
            noted.begin(args, kwargs)
            if noted.is_fatal:
                raise RuntimeError(ENDS)
            result = self._compiled(*args, **kwargs)
        except BaseException as error:
            noted.end(error)
            raise
        noted.end()
        return result

    def each(self, *calls: tuple) -> str:
        """Call with each tuple of arguments; return the verdicts of these calls in a row."""
        before = len(self._rows)
        for args in calls:
            self(*args)
        return " ".join(self.model.verdicts[before:])

    @property
    def model(self) -> CompileLedger:
        """Return the ledger as it is now."""
        cached, rows = len(entries_for(self._start)), tuple(self._rows)
        told = [
            f"{number:,} {verdict}" if verdict in UNCOUNTED else counted(number, verdict)
            for verdict, number in Counter(row.verdict for row in rows).items()
        ]
        note = f"{counted(len(rows), 'call')}: {', '.join(told)}; "
        note += f"{entries_words(cached)} in the cache."
        note = " ".join((note if rows else "no call yet.", *self.peeled))
        fn = self._start
        name = guard_tree.wrapped_name(fn)
        wrapper = f", in its wrapper {guard_tree.code_words(fn.__code__)}"
        wrapper = "" if name or not hasattr(fn, "__wrapped__") else wrapper
        title = f"Calls of {name or named(fn)}{wrapper}"
        ran = sum(row.verdict in RAN for row in rows)
        unknown = any(row.verdict == UNKNOWN for row in rows)
        counts = {"calls": len(rows), "compiled_calls": None if unknown else ran}
        return CompileLedger(title, "call", HEADINGS, rows, note, marks=MARKS, **counts)


class _NotedCall:
    """One call of a `Compiled`: what is noted before, during and after it. Nothing here raises."""

    def __init__(self, ledger: Compiled):
        self.ledger, self.start, self.code = ledger, ledger._start, ledger._start.__code__
        self.book = Bookkeeping()
        self.is_fatal, self.shown = False, UNKNOWN
        self.kept_before, self.failures, self.backends = None, [], []
        self.noted_before, self.asked, self.heard = (), [], None

    def begin(self, args, kwargs) -> None:
        """Note what there is before the call, and begin to hear what Dynamo does."""
        book = self.book
        self.is_fatal = book.attempt(_ends_the_process, args, kwargs, default=False)
        self.shown = book.attempt(_call_words, args, kwargs, default=UNKNOWN)
        book.attempt(self._ask_guards, args, kwargs)
        self.noted_before = book.attempt(lambda: [*torch_private.compilations()], default=())
        if self.ledger._sizes is not None:
            book.open(torch_private.own_sizes, self.code, self.ledger._sizes)
            book.open(torch_private.without_monitor)
        book.open(_unsaid)
        book.open(frame_hook.guarded)
        self.asked = book.open(torch_private.recompile_reasons, why_again, book.lost, default=[])
        self.heard = book.attempt(CompiledCalls, book)
        if self.heard is not None:
            book.open(self.heard.hearing)

    def end(self, error: BaseException | None = None) -> None:
        """Stop hearing, and write the call down."""
        self.book.close()
        number = str(len(self.ledger._rows) + 1)
        word, note = self.book.attempt(self._judge, error, default=(UNKNOWN, ""))
        if lost := self.book.lost:
            found = self.book.attempt(error_message, lost[0], default=type(lost[0]).__name__)
            note = f"{note}\n{LOST.format(found)}".strip()
            word = word if error is not None else UNKNOWN
        verdicts = Verdict(self.shown), Verdict(word, TONES.get(word, "plain"))
        self.ledger._rows.append(CompileEntry(number, verdicts, note))

    def _ask_guards(self, args, kwargs) -> None:
        """Note the compile ids in the cache, and a failure per entry; None where one accepts."""
        function, kept = self.start, entries_for(self.start)
        self.kept_before = {str(entry.compile_id) for entry in kept}
        if not kept:
            return
        try:
            arguments = given(self.ledger.compiled_from, args, kwargs, function)
            seen = guard_tree.frame_locals(function, *arguments)
        except TypeError:  # the call itself will say it
            return
        scope = {"L": seen, "G": function.__globals__}
        if any(guard_tree.asking_runs_users_code(entry, scope) for entry in kept):
            return
        is_hit = any(entry.guard_manager.root.check_verbose(seen).result for entry in kept)
        found = None if is_hit else guard_tree.reasons(kept, function.__globals__, seen)
        self.failures, self.backends = found, [entry.backend for entry in kept]

    def _judge(self, error) -> tuple[str, str]:
        if error is not None:
            if self.heard is not None and self.heard.why:
                self._why_eager()  # the next call may be skipped for it
            return "error", error_message(error)
        if self.kept_before is None:
            return UNKNOWN, ""
        kept = entries_for(self.start)
        called_again = [
            f"{self._who(code)}: {reason}"
            for code, reasons in self.asked
            for reason in reasons
            if code is not self.code
        ]
        if new := [entry for entry in kept if str(entry.compile_id) not in self.kept_before]:
            return self._judge_new(new[-1], called_again)
        there = self.kept_before or any(row.verdict == "compile" for row in self.ledger._rows)
        frames = [one for one in torch_private.compilations() if self._is_new(one)]
        made = [one for one in frames if one.graph_op_count is not None and not one.fail_type]
        if made:  # resume functions, and functions that are called
            new = [one for one in made if not (there and one.recompile_reason)]
            first = [f"{self._who(one)}: {NOTHING}" for one in new]
            told = [*(called_again if there else ()), *[*dict.fromkeys(first)][:MOST_FRAMES]]
            return "recompile" if there and called_again else "compile", "\n".join(told)
        return self._judge_run(called_again)

    def _judge_new(self, entry, called_again) -> tuple[str, str]:
        """Return the verdict on a call for which Dynamo made an entry."""
        because, dynamic = NOTHING, guard_tree.dynamic_words(entry, self.start)
        if self.kept_before:
            because = "\n".join(self._why_refused(entry.backend)) or OTHER
            because = "\n".join((because, *called_again))
        return "recompile" if self.kept_before else "compile", "\n".join((because, *dynamic))

    def _why_refused(self, backend=MISSING) -> list[str]:
        """Return in lines why each entry refused the call; `backend`: the call's, if known."""
        told = [reasons for code, reasons in self.asked if code is self.code]
        # Those of torch's own wrapper are about the entries of other modules, too.
        if told and self.start is self.ledger.compiled_function:
            return self._named(told[-1])
        failures = self.failures or ()
        if failures and backend is not MISSING:
            failures = guard_tree.with_backends(failures, self.backends, backend)
        return self._named(explain_failures(failures))

    def _judge_run(self, called_again) -> tuple[str, str]:
        """Return the verdict on a call for which Dynamo compiled nothing."""
        heard = self.heard
        if heard is None or not (heard.measured or heard.why):
            return UNKNOWN, "unknown: this torch does not say whether compiled code ran"
        if heard.ran and not heard.eager:
            return "hit", ""
        why, because = self._why_eager(), self._why_refused()
        if NO_MORE in why:
            inside = " what is called" if called_again else " a part of it" if heard.ran else ""
            what = "" if because else inside
            why = f"recompile_limit is {limit()}: plain Python ran{what}"
            because = because or called_again
        elif heard.ran:
            because = ["compiled code ran another part of this call", *because]
        return "eager", "\n".join((why, *because))

    def _why_eager(self) -> str:
        """Return why plain Python ran: as Dynamo says it now, or said it in an earlier call."""
        ledger, why = self.ledger, next(iter(self.heard.why), "")
        if not self.heard.total:
            return DISABLED if torch_private.is_disabled(ledger._compiled) else NOT_ENTERED
        if why.startswith((UNKNOWN, MARKED.partition("{")[0])):
            return f"{why}. {ledger._why_skipped}" if ledger._why_skipped else why
        if why.startswith("Dynamo"):
            ledger._why_skipped = f"In call {len(ledger._rows) + 1}: {why}"
        return why

    def _named(self, reasons) -> list[str]:
        """Return reasons in the names of what the user called, where torch put a wrapper around."""
        fn = self.start
        return [guard_tree.in_users_names(reason, fn) for reason in reasons]

    def _is_new(self, noted) -> bool:
        return all(noted is not one for one in self.noted_before)

    def _who(self, frame) -> str:
        code, (name, line) = self.ledger.compiled_function.__code__, resumed(frame.co_name)
        place = frame.co_filename, line or frame.co_firstlineno
        if place[0].endswith(WRAPPER) or (code.co_filename, code.co_firstlineno) == place:
            name = guard_tree.wrapped_name(self.start) or code.co_name
            place = (code.co_filename, code.co_firstlineno)
        return f"{name}{', resumed' * bool(line)}{in_file(*place)}"


class CompilesSeen:
    """List what Dynamo compiles in a `with` block, in any function: what, and why."""

    unit = "compile"  # what a row is

    def __init__(self):
        torch_private.needed("dynamo", "cache")
        self._rows: list[CompileEntry] = []
        self._book, self._limited = Bookkeeping(), None
        self._calls, self._tried = CompiledCalls(self._book, self._hear), None

    @contextmanager
    def watching(self):
        """Hear of every compile in the block."""
        lost = self._book.lost
        asked = torch_private.recompile_reasons(why_again, lost)
        skips = torch_private.hearing_skips(self._skip, lost)
        with asked as self._asked, skips, self._calls.hearing():
            try:
                yield
            finally:
                self._limited = self._book.attempt(self._at_limit, default="")
                self._asked, self._tried = [], None

    def _hear(self, noted) -> None:
        code, metrics, caller = noted.code, noted.metrics, noted.caller
        word, note = self._judge(noted)
        if not code.co_name or (word == "compile" and metrics.graph_op_count is None):
            return
        entry = getattr(noted.guarded, "guarded_code", None)
        dynamic = guard_tree.dynamic_words(entry) if entry else ()
        note = "\n".join((note, *dynamic))
        note = guard_tree.in_users_names(note, None, code, noted.seen)
        if noted.call is not None and caller:
            place = in_file(caller.f_code.co_filename, caller.f_lineno)
            note += f"\nin call {noted.call.number}{place}"
        verdicts = Verdict(guard_tree.frame_words(code, noted.seen)), Verdict(word, TONES[word])
        self._tried = code, len(self._rows)
        self._rows.append(CompileEntry(str(len(self._rows) + 1), verdicts, note))

    def _judge(self, noted) -> tuple[str, str]:
        """Return a row's verdict and its reasons."""
        metrics = noted.metrics
        asked = [reasons for known, reasons in self._asked if known is noted.code]
        why = metrics.recompile_reason or ""
        if why:
            why = "\n".join(asked[-1] if asked and asked[-1] else [quoted(why)])
        if noted.at_limit:
            return "eager", f"recompile_limit is {limit()}: plain Python ran\n{why}".rstrip()
        if metrics.fail_type:
            return "error", f"{failure_words(metrics)}\n{why}".strip()
        if why and metrics.graph_op_count is None:
            return "eager", f"Dynamo found no tensor op to compile, and plain Python ran\n{why}"
        return ("recompile", why) if why else ("compile", NOTHING)

    def _skip(self, code, reason: str, is_start: bool) -> None:
        """Note that a frame which Dynamo failed to compile was left to Python: no error came."""
        if self._tried is None or self._tried[0] is not code:
            return
        row = self._rows[self._tried[1]]
        if row.verdict == "error":
            verdicts = row.verdicts[0], Verdict("eager", TONES["eager"])
            note = f"Dynamo gave it up, and plain Python ran\n{row.note}"
            self._rows[self._tried[1]] = CompileEntry(row.subject, verdicts, note)
        self._tried = None

    @property
    def model(self) -> CompileLedger:
        """Return the ledger as it is now."""
        rows, headings, calls = tuple(self._rows), ("function", HEADINGS[1]), self._calls
        known = calls.measured and not self._book.lost
        made = CompileLedger(
            "Compiled in the block", "number", headings, rows, marks=MARKS, calls=calls.total,
            compiled_calls=calls.ran if known else None, plain=calls.eager if known else None,
            unknown=calls.unknown,
        )  # fmt: skip
        note = f"{counted(made.compiles, 'compile')}, {counted(made.recompiles, 'recompile')} "
        note += "among them."
        found = [match[0] for row in rows if (match := CALL.search(row.note))]
        note += SEVERAL * (len({*found}) < len(found) or ", resumed" in str(rows))
        note += f" {calls.summary()}"
        if calls.eager:
            limited = self._at_limit() if self._limited is None else self._limited
            note += f" {limited}" * bool(limited)
        if self._book.lost:
            note += f" {LOST.format(error_message(self._book.lost[0]))}"
        return replace(made, note=note)

    def _at_limit(self) -> str:
        """Say which functions have as many entries as torch allows."""
        most, met = limit(), torch_private.codes_met()
        full = [one for one in met if len(torch_private.cache_entries(one)) >= most]
        who = listed([*dict.fromkeys(map(guard_tree.code_words, full))], MOST_FRAMES)
        return f"With recompile_limit {most}, Dynamo compiles no more of {who}." if who else ""


def _ends_the_process(args, kwargs) -> bool:
    values = (*args, *kwargs.values())
    return any(tensors.is_tensor(one) and tensors.ends_the_process(one) for one in values)


def _call_words(args, kwargs) -> str:
    named_values = (f"{name}={_value_words(value)}" for name, value in kwargs.items())
    return clipped(", ".join([*map(_value_words, args), *named_values]) or "(none)", LONGEST)


@contextmanager
def _unsaid():
    """Keep torch from logging that a limit is reached: the ledger says so."""
    LOGGER.addFilter(_is_unsaid)
    try:
        yield
    finally:
        LOGGER.removeFilter(_is_unsaid)


def _value_words(value) -> str:
    """Return a tensor as dtype and sizes, such as `float32 [3]`; another value in brief."""
    plain = tensors.is_tensor(value) and type_name(value) == "Tensor"
    grad = plain and tensors.field(value, "requires_grad")
    return f"{short_repr(value)}{', requires_grad' * grad}"


def _is_unsaid(record) -> bool:
    """Let through whatever torch logs but that a limit is reached: the ledger says so."""
    return not str(record.msg).startswith("torch._dynamo hit config.")


def compiled_graph(fn) -> Graph:
    """Return what `torch.compile` keeps for `fn` now, from the slot to the backend."""
    function, told = behind(fn, compiled=True)
    name, code, slot = named(function), function.__code__, frame_hook.installed()[0]
    units = f"__code__: {counted(len(code.co_code) // 2, 'code unit')}"
    nodes = [
        Node("call", f"{name}(…)", "site", "a call"),
        Node("slot", slot.name, "function", f"in the slot now: {slot.owner}"),
        Node("code", f"code of {code.co_name}", "code", units),
    ]
    edges = [
        Edge("call", "slot", "its frame goes to"),
        Edge("slot", "code", "looks for entries" if slot.owner == "torch" else "runs"),
    ]

    def add(source: str, words: str, key: str, *node) -> None:
        if all(one.key != key for one in nodes):
            nodes.append(Node(key, *node))
        edges.append(Edge(source, key, words))

    kept, tried = entries(code), torch_private.cache_entries(code)
    for number, entry in enumerate(kept, 1):
        key, new = f"entry {number}", f"entry {number} code"
        units = counted(len(entry.code.co_code) // 2, "code unit")
        guards = counted(len(guard_tree.leaves(entry)), "guard")
        rank = next((rank for rank, one in enumerate(tried, 1) if one is entry), "")
        add("code", "keeps", key, key, "entry", f"tried as number {rank}")
        add(key, "checks", f"{key} guards", guards, "guard", "in C++")
        add(key, "if all hold, runs", new, "new code", "code", units)
        backend = (instance_dict(entry.backend) or {}).get("compiler_fn") or entry.backend
        made_by = f"backend {called(backend)}", called(backend), "function", "the backend"
        for used in entry.code.co_names:
            made, place = function.__globals__.get(used), f"{key} {used}"
            if used.startswith("__compiled_fn"):
                place, words = f"{key} graph", _graph_words(made)
                add(new, "calls", place, "what the backend made", "call", words)
                add(place, "made by", *made_by)
            elif used.startswith("__resume_at") and isinstance(made, FunctionType):
                words = f"{entries_words(len(entries(made.__code__)))} of its own"
                add(new, "then calls", place, f"{name}, resumed", "function", words)
    note = " ".join((f"{entries_words(len(kept))} in the cache.", *told))
    title = f"What torch.compile keeps for {name}"
    return Graph(title, tuple(nodes), tuple(edges), note, wide=True)


def _graph_words(compiled) -> str:
    """Return the calls of the FX graph that a backend returned unchanged; else say it is none."""
    import torch

    inner = torch_private.inner_function(compiled)
    module = getattr(inner, "__self__", inner)
    if not isinstance(module, torch.fx.GraphModule):
        return "no FX graph any more"
    names = [node.name for node in module.graph.nodes if node.op not in KINDS]
    return clipped(f"the FX graph: {listed(names, MOST_CALLS)}", 80)


# ------------------------------------------------------------------ Inductor's C++

KERNEL = re.compile(r"async_compile\.cpp\w*\(.*?'''(.*?)'''", re.DOTALL)
NOT_RUN, NO_KERNEL = "(none yet: Inductor did not run)", "(none: Inductor wrote no kernel)"
OFF = "Inductor did not run. It needs a C++ compiler and some patience; pass run=True to run it."
NO_COMPILER = (
    "Inductor did not run: there is no C++ compiler here (none of g++, clang++, c++): "
    f"{COMPILER_CURE}."
)


def inductor_side_by_side(fn, /, *args, run: bool = False, **kwargs) -> SideBySide:
    """With `run=True`, show the C++ that Inductor writes for `fn(*args)` beside the source."""
    run, function = require_bool(run, "run"), behind(fn)[0]
    args, kwargs = given(fn, args, kwargs)
    pairs = align(source_of(function.__code__).text.rstrip().split("\n"), [], {})
    compiler = any(map(shutil.which, ("g++", "clang++", "c++")))
    lines, note, words = [], NO_COMPILER if run else OFF, NOT_RUN
    if run and compiler:
        modules = _generate(function, args, kwargs)
        kernels = [kernel for code in modules for kernel in KERNEL.findall(code)]
        lines = "\n".join(found.strip("\n") for found in kernels).split("\n")
        lines = [line for line in lines if line and not line.startswith("#include")]
        note, words = f"{counted(len(kernels), 'kernel')} for this graph.", NO_KERNEL
    if lines:  # no line on the right says which line it came from
        pairs = (*pairs, *align([], lines, {}))
    else:
        pairs = (replace(pairs[0], right_text=words), *pairs[1:])
    title = f"What Inductor generates for {named(function)}()"
    return SideBySide(title, "your Python", "its C++", pairs, note)


def _generate(function, args: tuple, kwargs: dict) -> list[str]:
    """Compile and run once; return the modules of Python that Inductor wrote."""
    import torch

    print("Dynamo makes a graph. Inductor writes C++ for it, and it is compiled …")
    written, save = [], staticmethod(lambda code: written.append(code))
    one_worker = torch_private.inductor_config.patch(compile_threads=1)
    torch_private.needed("hook", "dynamo", "cache")
    lowering = patched(torch_private.GraphLowering, save_output_code=save)
    with lowering, one_worker, as_if_new(function.__code__):
        torch.compile(copied(function))(*args, **kwargs)
    print("Done.")
    return written

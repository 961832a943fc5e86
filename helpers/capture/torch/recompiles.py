"""A compiled function -> what torch.compile makes and keeps for it, and a ledger of its calls.

Before each call, the guards of every cache entry are asked, as torch asks them. Whether the call
compiled is read after it: from the cache, and from what Dynamo notes of each other frame.
"""

import functools
import inspect
import logging
import re
import shutil
import weakref
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
from ...safety.missing_parts import COMPILER_CURE
from ...safety.restoring import patched
from ..cpython.objects import called, inherited, instance_dict, named, refuse_async
from ..cpython.unwrapping import opened, refuse_other_framework
from ..text import tensors
from ..text.error import error_message
from ..text.source import source_of
from ..text.value import short_repr, type_name
from . import guard_tree
from .dynamo_recorder import in_file, resumed, same
from .fx_graph import KINDS
from .guard_tree import behind, copied, entries, entries_words, given, why_again

LOGGER = logging.getLogger("torch._dynamo.convert_frame")
MOST_FRAMES, LONGEST, MOST_CALLS = 3, 120, 6
NOTHING, OTHER = "there was no entry", "the guards hold, but the backend is different"
EMPTY = "Dynamo made no entry: there was nothing to compile, or it skipped or gave up this code"
ENDS = "torch's guards crash the process on a nested tensor of this layout; use layout=torch.jagged"
CALL = re.compile(r"\nin call .*\)$")  # one without a file may be of any function
SEVERAL = " A row is a frame. A call compiles several where a graph breaks; watch_recompiles "
SEVERAL += "counts it once."
WRAPPER = "external_utils.py"  # where torch wraps what it cannot start with


def watch(fn, **options) -> "Compiled":
    """Return `fn`, to be called as before, with a ledger of its calls: hit or recompile, and why.

    A function, nn.Module or partial that is not compiled becomes `torch.compile(fn,
    backend="eager", **options)` first; TypeError for others. A call is not a hit if it compiles a
    resume function, or a function that `fn` calls: all of them are one compile here, and a row each
    in `watching_recompiles`. `.model.compiles` counts recompiles too,
    `.recompiles` only them, and `.verdicts` has a word per call. Of a row's reasons, torch found
    the first. Example: `step = watch_recompiles(step)`, then `step(x)` and `print(step)`
    """
    if real_isinstance(fn, Compiled):
        return fn
    refuse_other_framework(fn, (), "watch_recompiles", "PyTorch")
    function, told = behind(fn)
    if torch_private.is_compiled(fn) or guard_tree.ledger(fn):
        if options:
            raise TypeError(f"this is already compiled; pass {', '.join(options)} to torch.compile")
        return Compiled(fn, function, fn, told)
    torch_private.refuse_late_dynamo()
    refuse_async(function, "watch_recompiles")
    compiled, function = _compile(fn, {"backend": "eager", **options})
    torch_private.forget_sizes(function.__code__)
    return Compiled(compiled, function, fn, told)


def _compile(fn, options):
    """Return what runs `fn` with a compiled copy of its function, and that copy."""
    import torch

    if real_isinstance(fn, functools.partial):
        compiled, function = _compile(fn.func, options)
        return functools.partial(compiled, *fn.args, **fn.keywords), function
    if real_isinstance(fn, torch.nn.Module):
        compiled, function = _compile(fn.forward, options)
        return functools.partial(_call_with_forward, fn, compiled), function
    if not real_isinstance(fn, FunctionType, MethodType):
        layer, call = opened(fn, 1), inherited(type(fn), "__call__")
        does_more = layer.call is fn and type(call) is FunctionType  # as a decorator may
        return _compile(MethodType(call, fn) if does_more else layer.function, options)
    copy = copied(fn)
    try:
        return torch.compile(copy, **options), behind(copy)[0]
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

    def __init__(self, compiled, function: FunctionType, fn, told=()):
        self._compiled, self.compiled_function, self.compiled_from = compiled, function, fn
        self._rows: list[CompileEntry] = []
        self.peeled = told
        functools.update_wrapper(self, function, updated=())
        self.__signature__ = inspect.signature(compiled)

    def __call__(self, *args, **kwargs):
        """Call the function, and write the call down."""
        words = [*map(_value_words, args), *(f"{n}={_value_words(v)}" for n, v in kwargs.items())]
        shown = clipped(", ".join(words) or "(none)", LONGEST)
        for value in (*args, *kwargs.values()):
            if tensors.is_tensor(value) and tensors.ends_the_process(value):
                raise RuntimeError(ENDS)
        before, failures = self._ask_guards(args, kwargs)
        noted, error = list(torch_private.compilations()), ""
        LOGGER.addFilter(_is_unsaid)
        try:
            with frame_hook.guarded(), torch_private.recompile_reasons(why_again) as asked:
                return self._compiled(*args, **kwargs)
        except BaseException as raised:
            error = error_message(raised)
            raise
        finally:
            LOGGER.removeFilter(_is_unsaid)
            new = [o for o in torch_private.compilations() if all(o is not n for n in noted)]
            word, note = ("error", error) if error else self._judge(before, failures, new, asked)
            verdicts = Verdict(shown), Verdict(word, TONES.get(word, "plain"))
            self._rows.append(CompileEntry(str(len(self._rows) + 1), verdicts, note))

    def each(self, *calls: tuple) -> str:
        """Call with each tuple of arguments; return the verdicts of these calls in a row."""
        before = len(self._rows)
        for args in calls:
            self(*args)
        return " ".join(self.model.verdicts[before:])

    @property
    def model(self) -> CompileLedger:
        """Return the ledger as it is now."""
        cached, rows = len(entries(self.compiled_function.__code__)), tuple(self._rows)
        told = [
            f"{number:,} eager" if verdict == "eager" else counted(number, verdict)
            for verdict, number in Counter(row.verdict for row in rows).items()
        ]
        note = f"{counted(len(rows), 'call')}: {', '.join(told)}; "
        note += f"{entries_words(cached)} in the cache."
        note = " ".join((note if rows else "no call yet.", *self.peeled))
        fn = self.compiled_function
        wrapper = f", in its wrapper {guard_tree.code_words(fn.__code__)}"
        title = f"Calls of {named(fn)}{wrapper * hasattr(fn, '__wrapped__')}"
        return CompileLedger(title, "call", HEADINGS, rows, note, marks=MARKS)

    def _ask_guards(self, args, kwargs):
        """Return the compile ids in the cache, and a failure per entry; None where one accepts."""
        function = self.compiled_function
        kept = entries(function.__code__)
        try:
            seen = guard_tree.frame_locals(function, *given(self.compiled_from, args, kwargs))
            hit = any(one.guard_manager.root.check_verbose(seen).result for one in kept)
            failures = None if hit else guard_tree.reasons(kept, function.__globals__, seen)
        except Exception:  # the call itself will say it
            failures = []
        return {str(one.compile_id) for one in kept}, failures

    def _judge(self, before, failures, frames, asked) -> tuple[str, str]:
        kept = entries(self.compiled_function.__code__)
        because = "\n".join(explain_failures(failures or ()))
        called_again = [
            f"{self._who(code)}: {reason}"
            for code, reasons in asked
            for reason in reasons
            if code is not self.compiled_function.__code__
        ]
        if torch_private.stance() == "force_eager":
            return "eager", "torch.compiler.set_stance turned compiling off"
        if new := [entry for entry in kept if str(entry.compile_id) not in before]:
            because = "\n".join((because or OTHER, *called_again) if before else (NOTHING,))
            because = "\n".join((because, *guard_tree.dynamic_words(new[-1])))
            return "recompile" if before else "compile", because
        there = before or any(row.verdict == "compile" for row in self._rows)
        made = [one for one in frames if one.graph_op_count is not None and not one.fail_type]
        if made:  # resume functions, and functions that are called
            new = [one for one in made if not (there and one.recompile_reason)]
            first = [f"{self._who(one)}: {NOTHING}" for one in new]
            told = [*(called_again if there else ()), *[*dict.fromkeys(first)][:MOST_FRAMES]]
            return "recompile" if there and called_again else "compile", "\n".join(told)
        limit = torch_private.config.recompile_limit
        plain = f"recompile_limit is {limit}: plain Python ran"
        if failures is None or (there and not before):
            if called_again and any(one.fail_type for one in frames):
                return "eager", "\n".join((f"{plain} what is called", *called_again))
            return "hit", ""
        why = plain if len(before) >= limit else EMPTY  # with fewer, no limit is met
        return "eager", f"{why}\n{because}".rstrip() if before else EMPTY

    def _who(self, frame) -> str:
        code, (name, line) = self.compiled_function.__code__, resumed(frame.co_name)
        place = frame.co_filename, line or frame.co_firstlineno
        if place[0].endswith(WRAPPER) or (code.co_filename, code.co_firstlineno) == place:
            return named(self.compiled_function)
        own = line in (number for _, _, number in code.co_lines())  # not of another forward
        if own and (place[0], name) == (code.co_filename, code.co_name):
            return f"{name}, resumed after line {line - code.co_firstlineno + 1}"
        return guard_tree.code_words(frame)


class CompilesSeen:
    """List what Dynamo compiles in a `with` block, in any function: what, and why.

    `.model.compiles` counts recompiles too, `.recompiles` only them. `.model.eager` counts the
    calls that plain Python runs because the recompile limit is reached. Each of `.model.entries`
    has `subject`, `verdict` and `note`: all failed guards, and your call that compiled. A compiled
    frame is a row, so a function with a graph break has another row for its resume function. A call
    that compiles nothing adds no row. Functions compiled before the block and functions of other
    threads are included. Errors in the block are raised. RuntimeError if torch cannot be watched.
    Example: `with watching_recompiles() as seen: train()`, then `assert seen.model.recompiles == 0
    and not seen.model.eager, str(seen)`
    """

    unit = "compile"  # what a row is

    def __init__(self):
        torch_private.needed("dynamo", "cache")
        self._rows: list[CompileEntry] = []
        self._calls, self._misses, self._limited = weakref.WeakKeyDictionary(), [], None

    @contextmanager
    def watching(self):
        """Hear of every compile in the block."""
        heard = torch_private.hearing_compilations(self._hear)
        count = self._calls
        calls = torch_private.compiled_calls(lambda fn: count.update({fn: count.get(fn, 0) + 1}))
        misses = torch_private.hearing_misses(lambda: self._misses.append(1))
        with torch_private.recompile_reasons(why_again) as self._asked, heard, calls, misses:
            try:
                yield
            finally:
                self._limited = self._at_limit()

    def _hear(self, one) -> None:
        given, fn, caller = torch_private.compiling_now()
        del self._misses[: bool(given.get("cache_entries"))]  # this one is not passed over
        code = given.get("code", one)
        at_limit = not one.co_name and one.recompile_reason
        failed = clipped(same(f"{one.fail_type}: {one.fail_reason}").split("\n")[0], LONGEST)
        asked, why = [told for known, told in self._asked if known is code], one.recompile_reason
        why = why and "\n".join(asked[-1] if asked else [guard_tree.clean(why)])
        word, note = ("recompile", why) if why else ("compile", NOTHING)
        if one.fail_type or at_limit:
            limit = f"recompile_limit is {torch_private.config.recompile_limit}: plain Python ran"
            word, note = ("eager", f"{limit}\n{why}") if why else ("error", failed)
        if code.co_name and (word != "compile" or one.graph_op_count is not None):
            inside = given.get("locals") or {}
            who = f"{type_name(inside['self'])}." if "self" in inside else ""
            entry = getattr(given.get("guarded_code"), "guarded_code", None)
            note = "\n".join((note, *(guard_tree.dynamic_words(entry) if entry else ())))
            if caller and fn in self._calls:
                place = in_file(caller.f_code.co_filename, caller.f_lineno)
                note += f"\nin call {self._calls[fn]}{place}"
            verdicts = Verdict(who + guard_tree.code_words(code)), Verdict(word, TONES[word])
            self._rows.append(CompileEntry(str(len(self._rows) + 1), verdicts, note))

    @property
    def model(self) -> CompileLedger:
        """Return the ledger as it is now."""
        rows, headings = tuple(self._rows), ("function", HEADINGS[1])
        made = CompileLedger("Compiled in the block", "number", headings, rows, marks=MARKS)
        made = replace(made, unlisted=len(self._misses))
        note = f"{counted(made.compiles, 'compile')}, {counted(made.recompiles, 'recompile')} "
        note += "among them."
        calls = [found[0] for row in rows if (found := CALL.search(row.note))]
        note += SEVERAL * (len({*calls}) < len(calls) or ", resumed" in str(rows))
        if made.eager:
            note += f" {counted(made.eager, 'call')} ran in plain Python"
            note += f", {made.unlisted:,} without a row" * bool(made.unlisted) + "."
        if made.unlisted:
            limited = self._at_limit() if self._limited is None else self._limited
            note += f" {limited}" * bool(limited)
        return replace(made, note=note)

    def _at_limit(self) -> str:
        """Say which functions have as many entries as torch allows."""
        limit, met = torch_private.config.recompile_limit, torch_private.codes_met()
        full = [one for one in met if len(torch_private.cache_entries(one)) >= limit]
        who = listed([*dict.fromkeys(map(guard_tree.code_words, full))], MOST_FRAMES)
        return f"With recompile_limit {limit}, Dynamo compiles no more of {who}." if who else ""


def _value_words(value) -> str:
    """Return a tensor as dtype and sizes, such as `float32 [3]`; another value in brief."""
    plain = tensors.is_tensor(value) and type_name(value) == "Tensor"
    return f"{short_repr(value)}{', requires_grad' * (plain and value.requires_grad)}"


def _is_unsaid(record) -> bool:
    """Let through whatever torch logs but that a limit is reached: the ledger says so."""
    return not str(record.msg).startswith("torch._dynamo hit config.")


def compiled_graph(fn) -> Graph:
    """Draw what `torch.compile` keeps for `fn` now: slot, cache entries, guards, new code, backend.

    TypeError if there is no Python function behind `fn`.
    """
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


def inductor_side_by_side(fn, *args, run: bool = False) -> SideBySide:
    """With `run=True`, show the C++ that Inductor writes for `fn(*args)` beside the source.

    It prints a line as each stage begins. Without `run=True` or a C++ compiler, it only says so.
    TypeError if `fn` contains no Python function. `.model.pairs` contains the lines. Example:
    `watch_inductor(step, x, run=True)`
    """
    run, function, args = require_bool(run, "run"), behind(fn)[0], given(fn, args, {})[0]
    pairs = align(source_of(function.__code__).text.rstrip().split("\n"), [], {})
    compiler = any(map(shutil.which, ("g++", "clang++", "c++")))
    lines, note, words = [], NO_COMPILER if run else OFF, NOT_RUN
    if run and compiler:
        kernels = [found for code in _generate(function, args) for found in KERNEL.findall(code)]
        lines = "\n".join(found.strip("\n") for found in kernels).split("\n")
        lines = [line for line in lines if line and not line.startswith("#include")]
        note, words = f"{counted(len(kernels), 'kernel')} for this graph.", NO_KERNEL
    if lines:  # no line on the right says which line it came from
        pairs = (*pairs, *align([], lines, {}))
    else:
        pairs = (pairs[0]._replace(right_text=words), *pairs[1:])
    title = f"What Inductor generates for {named(function)}()"
    return SideBySide(title, "your Python", "its C++", pairs, note)


def _generate(function, args) -> list[str]:
    """Compile and run once; return the modules of Python that Inductor wrote."""
    import torch

    print("Dynamo makes a graph. Inductor writes C++ for it, and it is compiled …")
    written, save = [], staticmethod(lambda code: written.append(code))
    one_worker = torch_private.inductor_config.patch(compile_threads=1)
    torch_private.needed("hook", "dynamo", "cache")
    lowering = patched(torch_private.GraphLowering, save_output_code=save)
    with lowering, one_worker, as_if_new(function.__code__):
        torch.compile(copied(function))(*args)
    print("Done.")
    return written

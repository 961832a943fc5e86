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
from types import FunctionType, MethodType

from helpers.capture.cpython.objects import called, inherited, instance_dict, named, refuse_async
from helpers.capture.cpython.unwrapping import opened
from helpers.capture.text import tensors
from helpers.capture.text.error import error_message
from helpers.capture.text.source import source_of
from helpers.capture.text.value import short_repr, type_name
from helpers.capture.torch import guard_tree
from helpers.capture.torch.dynamo_recorder import in_file, resumed
from helpers.capture.torch.fx_graph import KINDS
from helpers.capture.torch.guard_tree import behind, copied, entries, entries_words, given
from helpers.internals import torch_private
from helpers.mini import frame_hook
from helpers.model.graphs import Edge, Graph, Node
from helpers.model.phrase import clipped, counted, listed
from helpers.model.tables import SideBySide, Verdict, align
from helpers.model.torch_records import HEADINGS, MARKS, TONES, CompileEntry, CompileLedger
from helpers.safety.arguments import real_isinstance, require_bool
from helpers.safety.missing_parts import COMPILER_CURE
from helpers.safety.restoring import patched

LOGGER = logging.getLogger("torch._dynamo.convert_frame")
MOST_FAILURES, MOST_FRAMES, LONGEST, MOST_CALLS = 2, 3, 120, 6
NOTHING, OTHER = "nothing was there", "the guards hold, but the backend is another"
EMPTY = "Dynamo made no entry: nothing in it to compile, or it was told to skip it, or gave it up"
ENDS = "torch's guards end the process at a nested tensor of this layout; use layout=torch.jagged"
WRAPPER = "external_utils.py"  # where torch wraps what it cannot start with


def watch(fn, **options) -> "Compiled":
    """Return `fn`, to be called as before, with a ledger of its calls: hit or recompile, and why.

    What is not compiled, such as a function, an nn.Module or a partial, becomes
    `torch.compile(fn, backend="eager", **options)` first. A call that compiles a resume function,
    or a function that is called, is no hit.
    """
    if real_isinstance(fn, Compiled):
        return fn
    guard_tree.refuse_tensorflow(fn, "watch_recompiles")
    function, told = behind(fn)
    if torch_private.is_compiled(fn) or guard_tree.ledger(fn):
        if options:
            raise TypeError(f"this is compiled already; give {', '.join(options)} to torch.compile")
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
        raise TypeError(f"torch.compile refuses these options: {error_message(error)}") from None


def _call_with_forward(module, forward, /, *args, **kwargs):
    """Call a module with another forward: its hooks run as ever."""
    with patched(module, forward=forward):
        return module(*args, **kwargs)


class Compiled:
    """A compiled function that keeps a ledger. What it returns or raises is the function's own."""

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
            with frame_hook.guarded():
                return self._compiled(*args, **kwargs)
        except BaseException as raised:
            error = error_message(raised)
            raise
        finally:
            LOGGER.removeFilter(_is_unsaid)
            new = [o for o in torch_private.compilations() if all(o is not n for n in noted)]
            word, note = ("error", error) if error else self._judge(before, failures, new)
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
        title = f"Calls of {named(self.compiled_function)}"
        return CompileLedger(title, "call", HEADINGS, rows, note, marks=MARKS)

    def _ask_guards(self, args, kwargs):
        """Return the compile ids in the cache, and a failure per entry; None where one accepts."""
        function = self.compiled_function
        kept = entries(function.__code__)
        try:
            seen = guard_tree.frame_locals(function, *given(self.compiled_from, args, kwargs))
            failures = [guard_tree.failure(n, e, function, seen) for n, e in enumerate(kept, 1)]
        except Exception:  # the call itself will say it
            failures = []
        return {str(one.compile_id) for one in kept}, None if None in failures else tuple(failures)

    def _judge(self, before, failures, frames) -> tuple[str, str]:
        kept, failed = entries(self.compiled_function.__code__), failures or ()
        told = [f"entry {f.entry}: {f}" if len(failed) > 1 else str(f) for f in failed]
        older = [f"and {len(told) - MOST_FAILURES} older"] * (len(told) > MOST_FAILURES)
        because = "; ".join(told[-MOST_FAILURES:] + older)
        if torch_private.stance() == "force_eager":
            return "eager", "torch.compiler.set_stance turned compiling off"
        if any(str(entry.compile_id) not in before for entry in kept):
            return ("recompile", because or OTHER) if before else ("compile", NOTHING)
        there = before or any(row.verdict == "compile" for row in self._rows)
        made = [one for one in frames if one.graph_op_count is not None and not one.fail_type]
        if made:  # resume functions, and functions that are called
            reasons = [there and one.recompile_reason for one in made]
            told = [
                f"{self._who(one)}: {guard_tree.describe_reason(why) if why else NOTHING}"
                for one, why in zip(made, reasons, strict=True)
            ]
            note = "; ".join([*dict.fromkeys(told)][:MOST_FRAMES])
            return "recompile" if any(reasons) else "compile", note
        limit = torch_private.config.recompile_limit
        plain = f"recompile_limit is {limit}: plain Python ran"
        if failures is None or (there and not before):
            limited = (one.recompile_reason for one in frames if one.fail_type)
            if reason := next(filter(None, limited), None):
                return "eager", f"{plain} what is called; {guard_tree.describe_reason(reason)}"
            return "hit", ""
        why = plain if len(before) >= limit else EMPTY  # with fewer, no limit is met
        return "eager", f"{why}; {because}" if before else EMPTY

    def _who(self, frame) -> str:
        code, (name, line) = self.compiled_function.__code__, resumed(frame.co_name)
        place = frame.co_filename, line or frame.co_firstlineno
        if place[0].endswith(WRAPPER) or (code.co_filename, code.co_firstlineno) == place:
            return named(self.compiled_function)
        own = line in (number for _, _, number in code.co_lines())  # not of another forward
        if own and (place[0], name) == (code.co_filename, code.co_name):
            return f"{name}, resumed after line {line - code.co_firstlineno + 1}"
        return f"{name}{', resumed' * bool(line)}{in_file(*place)}"


def _value_words(value) -> str:
    """Return a tensor as dtype and sizes, such as `float32 [3]`; another value in brief."""
    plain = tensors.is_tensor(value) and type_name(value) == "Tensor"
    return f"{short_repr(value)}{', requires_grad' * (plain and value.requires_grad)}"


def _is_unsaid(record) -> bool:
    """Let through whatever torch logs but that a limit is reached: the ledger says so."""
    return not str(record.msg).startswith("torch._dynamo hit config.")


def compiled_graph(fn) -> Graph:
    """Draw what `torch.compile` keeps for `fn` now: slot, cache entries, guards, new code, backend.

    TypeError if there is no Python function behind it.
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
        Edge("slot", "code", "asks for entries" if slot.owner == "torch" else "runs"),
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
        add(key, "asks", f"{key} guards", guards, "guard", "in C++")
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
    """Return the calls of the FX graph that a backend gave back as it was; else that it is none."""
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
OFF = "Inductor was not asked to run: this takes a C++ compiler and some patience. Pass run=True."
NO_COMPILER = (
    "Inductor did not run: there is no C++ compiler here (none of g++, clang++, c++): "
    f"{COMPILER_CURE}."
)


def inductor_side_by_side(fn, *args, run: bool = False) -> SideBySide:
    """Set the C++ that Inductor writes for `fn(*args)` beside the source, if told to `run`.

    It prints a line as each stage begins. Without `run`, or a C++ compiler, it only says so.
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
    title = f"What Inductor makes of {named(function)}()"
    return SideBySide(title, "your Python", "its C++", pairs, note)


def _generate(function, args) -> list[str]:
    """Compile and run once; return the modules of Python that Inductor wrote."""
    import torch

    print("Dynamo makes a graph. Inductor writes C++ for it, and it is compiled …")
    written, save = [], staticmethod(lambda code: written.append(code))
    one_worker = torch_private.inductor_config.patch(compile_threads=1)
    with patched(torch_private.GraphLowering, save_output_code=save), one_worker:
        torch.compile(copied(function))(*args)
    print("Done.")
    return written

"""A function under `torch.compile` -> the bytecode that Dynamo makes of it, and Inductor's C++.

Of the bytecode, names that Dynamo numbers or marks with a uuid are shown without; nothing else of
the code changes. Mirrors torch/_dynamo/convert_frame.py, where the new code object is made.

Inductor takes long and needs a C++ compiler, so it runs only when asked for. Follows
torch/_inductor/compile_fx.py: AOTAutograd hands over aten calls, Inductor writes a module of
Python around kernels in C++, and the C++ compiler makes a library of each kernel.
"""

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import CodeType, FunctionType
from unittest import mock

from helpers.capture.cpython.bytecode import bytecode
from helpers.capture.cpython.objects import named
from helpers.capture.text.error import said
from helpers.capture.text.source import source_of
from helpers.capture.torch import dynamo_words as words
from helpers.capture.torch.cache_entries import behind, copied, given
from helpers.capture.torch.dynamo_recorder import record
from helpers.capture.torch.dynamo_run import compilable
from helpers.internals import torch_private
from helpers.model.bytecode import Bytecode
from helpers.model.phrase import counted
from helpers.model.side_by_side import SideBySide, align
from helpers.safety.arguments import switch
from helpers.safety.folders import temporary
from helpers.safety.missing_parts import COMPILER_CURE

RESUME = "__resume_at_"
TIMING = "record_runtime_overhead"  # a setting: without it, no calls that only measure time


def rewritten(fn, *args, **kwargs) -> Bytecode:
    """Return the bytecode that Dynamo made for `fn` when it was called with these arguments.

    Raises:
        TypeError: there is no Python function to translate.
        RuntimeError: torch is missing or not one that this reads.
        ValueError: Dynamo made no new code for it.
    """
    torch_private.needed("cache", "dynamo")
    inside, (function, told) = compilable(fn, "watch_rewriting"), behind(fn)
    with _without_timing():
        kept = record(inside.call, inside.function, args, kwargs, steps=0)
    entries = torch_private.cache_entries(function.__code__)
    if not entries:
        why = f"the call raised {said(kept.error)}" if kept.error else "Python runs it as it is"
        if kept.graphs and not kept.error:  # of a module of torch's own it starts further inside
            why = "what it compiled starts further inside; give a function that calls it"
        raise ValueError(f"Dynamo made no new code for {named(function)}: {why}")
    listed = bytecode(_same(entries[0].code))
    columns = tuple(column for column in listed.columns if _tells(column.field, listed.rows))
    cut = listed.cut.partition(";")[0]  # of this code `show_bytecode` cannot list the rest
    left_out = [f"{cut}."] * bool(cut) + _left_out(entries[0].code, len(entries), function)
    note = "\n".join([*told, *left_out, listed.note.removeprefix(listed.cut).lstrip("\n")]).rstrip(
        "\n"
    )
    title = f"What Dynamo made of {named(function)}"
    return replace(listed, title=title, columns=columns, note=note, cut=" ".join(left_out))


def _left_out(code: CodeType, entries: int, function) -> list[str]:
    """Say what else Dynamo made: resume functions, and code for other calls of the function."""
    told, resumed = [], len(_resume_functions(code, function.__globals__))
    if resumed:
        them = f"{resumed:,} resume functions" if resumed > 1 else "1 resume function"
        told.append(f"The code of {them} is left out; watch_compile steps through what is there.")
    if entries > 1:
        told.append(f"Dynamo made code for {entries:,} calls of it; only the first is listed.")
    return told


def _resume_functions(code: CodeType, home: dict) -> set[str]:
    """Return the names of the resume functions that new code calls, and that their code calls."""
    found, waiting = set(), [code]
    while waiting:
        names = {name for name in waiting.pop().co_names if name.startswith(RESUME)} - found
        found |= names
        functions = [home[name] for name in names if type(home.get(name)) is FunctionType]
        waiting += [
            entry.code for one in functions for entry in torch_private.cache_entries(one.__code__)
        ]
    return found


def _tells(field: str, rows) -> bool:
    """Return whether a column tells instructions apart: new code may be of one line only."""
    return field not in ("where", "snippet") or len({getattr(row, field) for row in rows}) > 1


def _without_timing():
    config = torch_private.config
    if hasattr(config, TIMING):
        return torch_private.setting(config, TIMING, False)
    return contextlib.nullcontext()


def _same(code: CodeType) -> CodeType:
    return code.replace(co_names=tuple(words.same(name) for name in code.co_names))


# ------------------------------------------------------------------ Inductor

KERNEL = re.compile(r"async_compile\.cpp\w*\(.*?'''(.*?)'''", re.DOTALL)
COMPILERS = ("g++", "clang++", "c++")
NOT_RUN, NO_KERNEL = "(none yet: Inductor did not run)", "(none: Inductor wrote no kernel)"
OFF = "Inductor was not asked to run: this takes a C++ compiler and some patience. Pass run=True."
NO_COMPILER = (
    "Inductor did not run: there is no C++ compiler here (none of g++, clang++, c++): "
    f"{COMPILER_CURE}."
)


def inductor_side_by_side(fn, *args, run: bool = False, tell=print) -> SideBySide:
    """Return the source of `fn` beside the C++ kernels that Inductor writes for `fn(*args)`.

    Without `run`, or without a compiler, nothing runs and the note says so. `tell` is called with
    a sentence as each stage begins. Raises what Dynamo, Inductor or the C++ compiler raises.
    """
    run, function, args = switch(run, "run"), behind(fn)[0], given(fn, args, {})[0]
    left = source_of(function.__code__).text.rstrip().split("\n")
    title = f"What Inductor makes of {named(function)}()"
    heads = (title, "your Python", "its C++")
    if not run or not has_compiler():
        return SideBySide(*heads, _alone(left, NOT_RUN), NO_COMPILER if run else OFF)
    kernels = [kernel for code in _generated(function, args, tell) for kernel in _kernels(code)]
    lines = [line for kernel in kernels for line in kernel.strip("\n").split("\n")]
    note = f"{counted(len(kernels), 'kernel')} for this graph."
    return SideBySide(*heads, _beside(left, lines) if lines else _alone(left, NO_KERNEL), note)


def has_compiler() -> bool:
    """Return whether a C++ compiler is at hand."""
    return any(map(shutil.which, COMPILERS))


def _generated(function, args, tell) -> list[str]:
    """Compile and run once; return the modules of Python that Inductor wrote."""
    import torch

    compile_fx, inner = torch_private.compile_fx, torch_private.compile_fx_inner

    def inside(graph, examples, **options):
        tell(f"AOTAutograd: {_calls(graph)} aten calls. Inductor writes C++, and it is compiled …")
        return inner(graph, examples, **options)

    def backend(graph, examples):
        tell(f"Dynamo: a graph of {_calls(graph)} calls.")
        return compile_fx(graph, examples, inner_compile=inside)

    written = []
    recording = torch_private.output_code(written)
    with recording, torch_private.one_compile_worker(), _compiler_files():
        torch.compile(copied(function), backend=backend)(*args)
    tell("Done.")
    return written


@contextmanager
def _compiler_files() -> Iterator[None]:
    """Give the C++ compiler a folder for its own files: where it is killed, they are left.

    What Inductor keeps stays where it was: Python asks for the folder once.
    """
    tempfile.gettempdir()
    with temporary("inductor-") as home, mock.patch.dict(os.environ, TMPDIR=str(home.path)):
        yield


def _calls(graph) -> int:
    return sum(node.op.startswith("call_") for node in graph.graph.nodes)


def _kernels(code: str) -> list[str]:
    return [
        "\n".join(line for line in kernel.split("\n") if not line.startswith("#include"))
        for kernel in KERNEL.findall(code)
    ]


def _alone(left: list[str], why: str):
    """Return rows with nothing on the right but, in the first, why."""
    first, *others = align(left, [], {})
    return (replace(first, right_text=why), *others)


def _beside(left: list[str], right: list[str]):
    """Return rows that stand level; no line on the right says which line it came from."""
    return (*align(left, [], {}), *align([], right, {}))

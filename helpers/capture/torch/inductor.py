"""A function compiled by Inductor -> the C++ that it generates, beside the Python that it is for.

This takes long and needs a C++ compiler, so it is done only when asked for. Follows
torch/_inductor/compile_fx.py: AOTAutograd hands over aten calls, Inductor writes a module of
Python around kernels in C++, and the C++ compiler makes a library of each kernel.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from helpers.capture.cpython.objects import named
from helpers.capture.text.source import source_of
from helpers.capture.torch.cache_entries import copied
from helpers.capture.torch.unwrapping import behind, given
from helpers.internals import torch_private
from helpers.model.phrase import counted
from helpers.model.side_by_side import SideBySide, align
from helpers.safety.arguments import switch
from helpers.safety.folders import temporary
from helpers.safety.interrupts import uninterrupted
from helpers.safety.missing_parts import COMPILER_CURE

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
    with temporary("inductor-") as home:
        before = os.environ.get("TMPDIR")
        try:
            os.environ["TMPDIR"] = str(home.path)
            yield
        finally:
            with uninterrupted():
                if before is None:
                    os.environ.pop("TMPDIR", None)
                else:
                    os.environ["TMPDIR"] = before


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

"""A function and arguments -> the C++ kernels that Inductor generates, beside the Python source.

Inductor is torch.compile's default backend. Its `GraphLowering` (torch/_inductor/graph.py) writes a
Python module that contains each C++ kernel as a string.
"""

import re
import shutil
from collections.abc import Callable
from dataclasses import replace

from ...internals import torch_private
from ...internals.dynamo_state import as_if_new
from ...model.phrase import format_count
from ...model.side_by_side import SideBySide, align_lines
from ...safety.arguments import require_bool
from ...safety.missing_parts import COMPILER_CURE
from ...safety.restoring import patched
from ..cpython.objects import read_function_name
from ..text.source import find_source
from .compiled_function import add_bound_arguments, copy_function, find_compiled_function

# a C++ kernel in a Python module that Inductor wrote: async_compile.cpp('…', '''…''')
KERNEL = re.compile(r"async_compile\.cpp\w*\(.*?'''(.*?)'''", re.DOTALL)
COMPILERS = ("g++", "clang++", "c++")
NOT_RUN = "(none yet: Inductor did not run)"
NO_KERNEL = "(none: Inductor wrote no kernel)"
NOT_REQUESTED = (
    "Inductor did not run. It needs a C++ compiler and some patience; pass run=True to run it."
)
NO_COMPILER = (
    "Inductor did not run: there is no C++ compiler here (none of g++, clang++, c++): "
    f"{COMPILER_CURE}."
)


def compare_with_inductor(fn, /, *args, run: bool = False, **kwargs) -> SideBySide:
    """Return the source of `fn` beside the C++ that Inductor writes for `fn(*args)`.

    Inductor runs only with `run=True`, because it takes time. Without it, or without a C++ compiler
    on this machine, the second column has a note instead of C++.
    """
    run = require_bool(run, "run")
    function, _ = find_compiled_function(fn)
    args, kwargs = add_bound_arguments(fn, args, kwargs)
    source_lines = find_source(function.__code__).text.rstrip().split("\n")
    # rows of a table with two columns: a line of the source on the left, nothing on the right
    pairs = align_lines(source_lines, [], {})

    kernel_lines = []
    placeholder = NOT_RUN
    note = NO_COMPILER if run else NOT_REQUESTED
    if run and any(map(shutil.which, COMPILERS)):
        modules = _generate_modules(function, args, kwargs)
        kernels = [kernel for module in modules for kernel in KERNEL.findall(module)]
        kernel_lines = _list_lines(kernels)
        placeholder = NO_KERNEL
        note = f"{format_count(len(kernels), 'kernel')} for this graph."

    # The C++ is below the source, because it does not say which line of Python it came from.
    if kernel_lines:
        pairs = (*pairs, *align_lines([], kernel_lines, {}))
    else:
        pairs = (replace(pairs[0], right_text=placeholder), *pairs[1:])
    title = f"What Inductor generates for {read_function_name(function)}()"
    return SideBySide(title, "your Python", "its C++", pairs, note)


def _list_lines(kernels: list[str]) -> list[str]:
    """Return the lines of all kernels, without empty lines and without includes.

    An include is left out because it has the path of a folder on this machine.
    """
    lines = "\n".join(kernel.strip("\n") for kernel in kernels).split("\n")
    return [line for line in lines if line and not line.startswith("#include")]


def _generate_modules(function: Callable, args: tuple, kwargs: dict) -> list[str]:
    """Compile a copy of a function, call it, and return the Python modules that Inductor wrote."""
    import torch

    modules = []

    def save_module(code: str) -> None:
        """Keep a module of Inductor's; torch calls this with each that it has written."""
        modules.append(code)

    print("Dynamo makes a graph. Inductor writes C++ for it, and it is compiled …")
    torch_private.require_names("hook", "dynamo", "cache")
    with (
        # Torch calls `save_output_code(code)` on an instance. A static method gets the code only.
        patched(torch_private.GraphLowering, save_output_code=staticmethod(save_module)),
        # With more than one, Inductor would start worker processes, which outlive this call.
        torch_private.inductor_config.patch(compile_threads=1),
        as_if_new(function.__code__),  # Dynamo's caches are set aside in this block
    ):
        torch.compile(copy_function(function))(*args, **kwargs)
    print("Done.")
    return modules

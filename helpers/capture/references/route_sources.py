"""Cut short pieces of source for a map of routes. A *route* is a function without arguments that
makes a call in one way, such as `lambda: op(x)`. A *reader* returns the object that the route is
about to call, such as `lambda: op`. An *intervention* is a context manager that changes something,
such as a rebinding.
"""

import re
from collections.abc import Callable
from dis import get_instructions
from inspect import getclosurevars
from os.path import commonprefix
from textwrap import dedent
from types import FunctionType, ModuleType

from ...safety.arguments import item_of_type
from ..cpython.objects import read_instance_dict
from ..text.source import find_source
from ..text.value import format_label, format_name

LONGEST_CALL = 24  # characters of the call of a route
LONGEST_LINE = 22  # characters of a line that differs
LONGEST_PATCH = 200  # characters of a lambda that makes an intervention
MOST_PATCH_LINES = 8
SHARED_CHARACTERS = 8  # that two long lines show of what both begin with
_ONE_LINE_HEAD = re.compile(r"def .*?\)[^:]*:\s+(?=\S)")  # of `def f(): return 1`


def find_differing_lines(sources: list[list[str]]) -> list[str]:
    """Return one line of each source, by which a reader can tell the sources apart.

    Each source is a list of lines. Its first line that is not in all sources is returned; its last
    line if there is no such line. If the lines returned are long and begin alike, their common
    beginning is replaced by "…".
    """
    bodies = [_read_body(lines) for lines in sources]
    shared_lines: list[str] = []
    if bodies:
        shared_lines = [line for line in bodies[0] if all(line in body for body in bodies)]

    differing = []
    for body in bodies:
        own_lines = [line for line in body if line not in shared_lines]
        differing.append(own_lines[0] if own_lines else body[-1])

    # A few characters of the common beginning stay, so that a reader recognises the line.
    cut_length = len(commonprefix(differing)) - SHARED_CHARACTERS
    longest = max(map(len, differing), default=0)
    if cut_length <= 1 or longest <= LONGEST_LINE:
        return differing
    return [f"…{line[cut_length:]}" for line in differing]


def _read_body(lines: list[str]) -> list[str]:
    """Return the lines of a function without the line of its `def`, and without indentation.

    Of a function on one line, such as `def f(): return 1`, the list is ["return 1"].
    """
    body = lines[1:] or [_ONE_LINE_HEAD.sub("", lines[0])]
    return [line.strip() for line in body]


def format_call(route: Callable) -> str:
    """Return the source of a route: what its lambda returns, or a call of its name."""
    if _is_lambda(route):
        return format_name(_read_lambda_body(route) or "…", LONGEST_CALL)
    return format_label(route)


def _is_lambda(value: object) -> bool:
    """Return whether a value is a function without a name."""
    return type(value) is FunctionType and value.__name__ == "<lambda>"


def _read_lambda_body(function: FunctionType) -> str:
    """Return the source of a lambda's expression; "" if the source is not available.

    CPython stores for each instruction the span of source that it comes from. The instruction that
    computes the whole expression has the longest span.
    """
    source = find_source(function.__code__)
    spans = [source.span(positions) for positions in function.__code__.co_positions()]
    return source.snippet(max(spans, key=_measure_span))


def _measure_span(span: tuple[int, int, int, int]) -> tuple[int, int]:
    """Return how many lines and columns a span covers, to compare it with others."""
    line, column, end_line, end_column = span
    return end_line - line, end_column - column


def find_holder_kind(reader: Callable) -> str:
    """Return what holds the function that `reader` reads: a "name", a "function" or an "object".

    The reader is not run. The first variable that its code loads decides. `lambda: op` reads a
    name. `lambda: user.__defaults__[0]` loads the function `user` first, so a "function" holds the
    object. `lambda: module.op` reads a "name" in a module.
    """
    if type(reader) is not FunctionType:
        return "object"
    loads = [
        instruction
        for instruction in get_instructions(reader)
        if instruction.opname.startswith("LOAD_")
    ]
    if not loads:
        return "object"
    if len(loads) == 1:  # nothing but the variable is read
        return "name"
    variables = getclosurevars(reader)
    values_by_name = {**variables.globals, **variables.nonlocals}
    first_value = values_by_name.get(loads[0].argval)
    return item_of_type(first_value, {ModuleType: "name", FunctionType: "function"}, "object")


def format_intervention(intervention: Callable) -> str:
    """Return the lines of source that say what an intervention does, up to MOST_PATCH_LINES.

    Of a function these are the lines of its body; of a lambda its expression. The text is "" if the
    intervention is no Python function.
    """
    attributes = read_instance_dict(intervention) or {}
    # `contextlib.contextmanager` keeps the function that it wraps as `__wrapped__`.
    function = attributes.get("__wrapped__", intervention)
    if type(function) is not FunctionType:
        return ""
    if _is_lambda(function):
        return format_name(_read_lambda_body(function), LONGEST_PATCH)
    lines = find_source(function.__code__).lines
    body = [line for line in lines if not line.startswith(("@", "def "))]
    shown = [format_name(line) for line in body[:MOST_PATCH_LINES]]
    return dedent("\n".join(shown))

"""The guards of a cache entry as a Python function: to call it, and to show it line by line."""

import inspect
from collections.abc import Callable
from functools import partial
from types import FunctionType

from ...model.guard_records import LINE_COLUMNS, GuardLine, GuardProgram
from ...model.phrase import clip_text
from ...safety.arguments import real_isinstance
from ..cpython.objects import read_function_name
from ..text.value import format_label
from .compiled_function import add_bound_arguments
from .frame_arguments import bind_frame_locals
from .written_guards import WrittenGuards

LONGEST_LINE = 400  # characters


def build_guard_function(fn: Callable, entry: int = 1) -> FunctionType:
    """Return the guards of one cache entry of `fn` as a Python function of the same arguments.

    It returns whether the guards accept a call. If `fn` is a method or a partial, the arguments
    that these add are added here, too.
    """
    written = WrittenGuards(fn, entry)
    name = written.compiled_function.__name__
    function = written.function
    _rename_function(function, name)

    supplied_args, supplied_kwargs = add_bound_arguments(fn, (), {})
    if not supplied_args and not supplied_kwargs:
        return function

    def holds(*args, **kwargs):
        args, kwargs = add_bound_arguments(fn, args, kwargs)
        return function(*args, **kwargs)

    # The signature of a partial leaves out what it supplies; it is never called.
    supplied = partial(function, *supplied_args, **supplied_kwargs)
    holds.__signature__ = inspect.signature(supplied)
    _rename_function(holds, name)
    return holds


def _rename_function(function: FunctionType, name: str) -> None:
    """Give a function the name that a TypeError of a call begins with."""
    function.__name__ = name
    function.__qualname__ = name


def build_guard_program(fn: Callable, call, entry: int = 1) -> GuardProgram:
    """Return the guards of one cache entry as Python text, and which of them refuses a call.

    Each condition of the text has a row.

    Parameters
    ----------
    fn : callable
        What was compiled.
    call : tuple or dict
        The arguments of a call, by position or by name.
    entry : int
        The number of the cache entry, from 1.
    """
    written = WrittenGuards(fn, entry)
    args, kwargs = _read_call(fn, call)
    frame_locals = bind_frame_locals(written.compiled_function, args, kwargs)
    rows = _build_rows(written, frame_locals)
    torch_accepts = written.root.check_verbose(frame_locals).result

    python_count = sum(line.is_python for line in written.lines)
    verdict = "accepts" if torch_accepts else "refuses"
    note = (
        f"{python_count} of {len(rows)} are Python, "
        f"{len(rows) - python_count} call torch's guard in C++. "
        f"torch's own tree {verdict} this call."
    )
    name = read_function_name(written.compiled_function)
    return GuardProgram(
        title=f"The guards of {name}(), entry {entry}, as Python",
        columns=LINE_COLUMNS,
        rows=rows,
        note=" ".join((note, *written.sentences)),
        source=written.source,
        accepts=written.function(*args, **kwargs),
        torch_accepts=torch_accepts,
    )


def _read_call(fn: Callable, call) -> tuple[tuple, dict]:
    """Return the arguments of a call of `fn`, with those that a method or a partial adds."""
    if not real_isinstance(call, tuple, list, dict):
        must = "call is a tuple of arguments, or a dict of them by name, not"
        raise TypeError(f"{must} {format_label(call)}")
    if real_isinstance(call, dict):
        return add_bound_arguments(fn, (), dict(call))
    return add_bound_arguments(fn, tuple(call), {})


def _build_rows(written: WrittenGuards, frame_locals: dict) -> tuple[GuardLine, ...]:
    """Return a row for each condition; behind the first that refuses, none is checked."""
    rows = []
    answer = "holds"
    for line in written.lines:
        if answer == "holds":
            is_true = _evaluate_condition(line.condition, written.space, frame_locals)
            answer = "holds" if is_true else "refuses"
        else:
            answer = "not checked"
        row = GuardLine(
            python=clip_text(line.condition, LONGEST_LINE),
            kind=line.kind,
            written="Python" if line.is_python else "C++",
            asked=answer,
        )
        rows.append(row)
    return tuple(rows)


def _evaluate_condition(condition: str, space: dict, frame_locals: dict) -> bool:
    """Return whether a condition holds; False for an error, as the written function answers.

    `space` has the globals of the written function, and `frame_locals` the locals of the call.
    """
    try:
        # The locals are globals, too: a generator expression sees only those.
        return bool(eval(condition, space | frame_locals, dict(frame_locals)))
    except Exception:
        return False

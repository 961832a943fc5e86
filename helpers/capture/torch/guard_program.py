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
    written_guards = WrittenGuards(fn, entry)
    name = written_guards.compiled_function.__name__
    function = written_guards.function
    _rename_function(function, name)

    supplied_args, supplied_kwargs = add_bound_arguments(fn, (), {})
    if not supplied_args and not supplied_kwargs:
        return function

    def holds(*args, **kwargs):
        args, kwargs = add_bound_arguments(fn, args, kwargs)
        return function(*args, **kwargs)

    # The signature must leave out the supplied arguments, as that of a partial does. The partial is
    # made only for its signature.
    with_supplied = partial(function, *supplied_args, **supplied_kwargs)
    holds.__signature__ = inspect.signature(with_supplied)
    _rename_function(holds, name)
    return holds


def _rename_function(function: FunctionType, name: str) -> None:
    """Give a function the name of the compiled one, which Python writes in errors of a call."""
    function.__name__ = name
    function.__qualname__ = name


def build_guard_program(fn: Callable, call, entry: int = 1) -> GuardProgram:
    """Return the guards of one cache entry as Python text, and which of them refuses a call.

    The result is a table with a row for each condition of the text. It also has the whole text, and
    the answers of the text and of torch to the call.

    Parameters
    ----------
    fn : callable
        What was compiled.
    call : tuple or dict
        The arguments of a call, by position or by name.
    entry : int
        The number of the cache entry, from 1.
    """
    written_guards = WrittenGuards(fn, entry)
    args, kwargs = _read_call(fn, call)
    frame_locals = bind_frame_locals(written_guards.compiled_function, args, kwargs)
    rows = _build_rows(written_guards, frame_locals)
    torch_accepts = written_guards.root.check_verbose(frame_locals).result

    # Some guards cannot be written in Python. Their conditions call torch's own guard.
    python_count = sum(line.is_python for line in written_guards.lines)
    verdict = "accepts" if torch_accepts else "refuses"
    note = (
        f"{python_count} of {len(rows)} are Python, "
        f"{len(rows) - python_count} call torch's guard in C++. "
        f"torch's own tree {verdict} this call."
    )
    name = read_function_name(written_guards.compiled_function)
    return GuardProgram(
        title=f"The guards of {name}(), entry {entry}, as Python",
        columns=LINE_COLUMNS,
        rows=rows,
        note=" ".join((note, *written_guards.sentences)),
        source=written_guards.source,
        accepts=written_guards.function(*args, **kwargs),
        torch_accepts=torch_accepts,
    )


def _read_call(fn: Callable, call) -> tuple[tuple, dict]:
    """Return the positional and keyword arguments for the Python function inside `fn`.

    `call` has the arguments of a call of `fn`. The ones that a method or a partial adds are added.
    """
    if not real_isinstance(call, tuple, list, dict):
        raise TypeError(
            f"call is a tuple of arguments, or a dict of them by name, not {format_label(call)}"
        )
    if real_isinstance(call, dict):
        return add_bound_arguments(fn, (), dict(call))
    return add_bound_arguments(fn, tuple(call), {})


def _build_rows(written_guards: WrittenGuards, frame_locals: dict) -> tuple[GuardLine, ...]:
    """Return a row for each condition, with its answer to a call.

    The answer is "holds" or "refuses". Behind the first condition that refuses it is "not checked",
    because the written function joins the conditions by `and`.
    """
    rows = []
    answer = "holds"
    for line in written_guards.lines:
        if answer == "holds":
            is_true = _evaluate_condition(
                line.condition, written_guards.function_globals, frame_locals
            )
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


def _evaluate_condition(condition: str, function_globals: dict, frame_locals: dict) -> bool:
    """Return whether a condition holds; False if it raises an error.

    The written function returns False for an error, too. `function_globals` are its globals by
    name, and `frame_locals` the locals of the call.
    """
    try:
        # The locals are passed as globals, too. In `eval`, a generator expression does not see the
        # locals.
        return bool(eval(condition, function_globals | frame_locals, dict(frame_locals)))
    except Exception:
        return False

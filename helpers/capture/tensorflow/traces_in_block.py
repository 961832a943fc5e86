"""The traces that TensorFlow makes in a `with` block, in any function -> a ledger of them.

One function of TensorFlow defines every trace (polymorphic_function/tracing_compilation.py,
`_maybe_define_function`); in the block it reports what it was asked for.
"""

import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import FunctionType, MethodType

from ...internals import tensorflow_private
from ...model.framework_records import HEADINGS, MARKS, Cause, TraceLedger, trace_entry
from ...model.phrase import counted
from ...safety.arguments import real_isinstance
from ...safety.users_frames import is_library
from ..cpython.objects import called
from ..text.error import error_message
from .trace_causes import IN_ITSELF, explain
from .trace_ledger import KERAS, PYTHON, WHEN
from .trace_words import Names

MOST_PARTS = 20
OLD, NEW = "an earlier one", "a new one of its code"


class TracesSeen:
    """List the traces that TensorFlow makes in a `with` block, in any function.

    `.model` is as of `watch_traces`. A call that hits adds no row. Functions that were made before
    the block, as Keras does, and functions of other threads are included. A new tf.function is a
    retrace if its code, of a method with the same self, was traced in the block, or by a
    tf.function that was in memory at its start.
    Functions that tf.data traces are only counted. Errors in the block are raised. Example: `with
    watching_traces() as seen: train()`, then `assert not seen.model.retraces, str(seen)`
    """

    unit = "trace"  # what a row is

    def __init__(self):
        self._names, self._calls, self._of_data = Names(), [], 0
        # What was traced, so that each id stays its own, and after how many rows that ended.
        self._made: dict[tuple, tuple[list, int]] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Hear of each trace in the block; what is traced already counts as traced before."""
        for function in tensorflow_private.traced_functions():
            self._remember(_sources(parts_of(function.python_function)))
        with tensorflow_private.hearing_lookups(self._hear, lambda: len(self._calls)):
            yield

    def _remember(self, source: dict[tuple, list]) -> None:
        """Note what is traced now, if no trace of it is noted."""
        for ids, things in source.items():
            self._made.setdefault(ids, (things, len(self._calls)))

    def _was_traced(self, source: dict[tuple, list], began: int) -> bool:
        """Return whether a trace of this code had ended when this one began."""
        ended = [self._made[ids][1] for ids in source if ids in self._made]
        return bool(ended) and ended[0] <= began

    def _hear(self, heard) -> None:
        python, error = heard.python_function, heard.error
        module = str(getattr(python, "__module__", ""))
        if module.startswith("tensorflow.python.data."):
            self._of_data += 1
            return
        parts = parts_of(python)
        note, causes, compared = explain(heard.earlier_keys, heard.key, self._names)
        source = _sources(parts)
        if heard.in_itself:
            note, causes, compared = IN_ITSELF, (), ""
        elif not heard.earlier_keys and self._was_traced(source, heard.began):
            note, causes = _tell_new_function(parts, module) or (note, causes)
        verdict, traces = "trace", 1
        if error:
            note = f"{WHEN['trace']}: {error_message(error)}"
            verdict, traces, causes, compared = "error", 0, (), ""
        subject = f"{len(self._calls) + 1}: {_name_of(python, parts)}"
        words, why = self._names.arguments(heard.key[1]), {"causes": causes, "compared": compared}
        self._calls.append(trace_entry(subject, words, verdict, note, traces=traces, **why))
        if not error:
            self._remember(source)

    @property
    def model(self) -> TraceLedger:
        """Return the ledger as it is now."""
        title = "Traced in the block"
        ledger = TraceLedger(title, "function", HEADINGS, (*self._calls,), marks=MARKS)
        note = (
            f"{counted(ledger.traces, 'trace')}, {counted(ledger.retraces, 'retrace')} among them."
        )
        data = f" tf.data traced {counted(self._of_data, 'function')} for datasets."
        return replace(ledger, note=note + data * bool(self._of_data))


def _name_of(python, parts: list) -> str:
    """Return the name of a traced function, and of the method that it wraps, if there is one."""
    name = called(python)
    methods = [called(part) for part in parts if type(part) is MethodType]
    return f"{name} ({methods[0]})" if methods and methods[0] != name else name


def _tell_new_function(parts: list, module: str) -> tuple[str, tuple[Cause, ...]] | None:
    """Say whose new tf.function it is whose code was traced before; None if TensorFlow made it.

    Only a person who makes the tf.function can make it once: a library is named instead.
    """
    if module == KERAS:
        step = _keras_step(parts)
        note = f"Keras made a new {step} function of this model"
        compiled = any(getattr(model, "compiled", False) is True for model in _keras_models(parts))
        note += "; each compile() causes that" * compiled
        return note, (Cause(f"{step} function", "object", OLD, NEW),)
    if module.startswith("tensorflow."):
        return None
    cause = Cause("tf.function", "object", OLD, NEW)
    note = "new tf.function of code traced before"
    if all(is_library(code.co_filename) for code in _codes_of(parts)):
        return f"{note}, made by {module.partition('.')[0]}", (cause,)
    return f"{note}: make the tf.function once", (cause,)


def _keras_step(parts: list) -> str:
    """Return train, test or predict: the step that a function of Keras's trainer runs."""
    methods = [called(part) for part in parts if type(part) is MethodType]
    return methods[0].partition("_")[0] if methods else "predict"  # whose step is no method


def _keras_models(parts: list) -> list:
    """Return the objects whose steps a function of Keras runs: of methods, or closed on as self."""
    owners = [part.__self__ for part in parts if type(part) is MethodType]
    for part in parts:
        code = getattr(part, "__code__", None)
        if type(part) is FunctionType and "self" in code.co_freevars:
            with suppress(ValueError):  # a cell without contents
                owners.append(part.__closure__[code.co_freevars.index("self")].cell_contents)
    return owners


def parts_of(python) -> list:
    """Return a callable, and the functions, methods and tf.functions that it wraps or closes on."""
    kinds, waiting, found = (*PYTHON, tensorflow_private.Function), [python], {}
    for part in waiting:
        if id(part) not in found and real_isinstance(part, *kinds) and len(found) < MOST_PARTS:
            found[id(part)] = part
            waiting += (getattr(part, name, None) for name in ("__wrapped__", "_python_function"))
            for cell in getattr(part, "__closure__", None) or ():
                with suppress(ValueError):  # a cell without contents
                    waiting.append(cell.cell_contents)
    return [*found.values()]


def _codes_of(parts: list) -> list:
    """Return the code of the functions that are not TensorFlow's own wrappers."""
    python = [part for part in parts if real_isinstance(part, *PYTHON)]
    homes = (str(part.__globals__.get("__name__")) for part in python)
    return [
        part.__code__
        for part, home in zip(python, homes, strict=True)
        if not home.startswith("tensorflow.")
    ]


def _sources(parts: list) -> dict[tuple, list]:
    """Return {ids of the code, and of the owners, of what a tf.function runs: code and owners}.

    TensorFlow wraps each function in code of its own, which all of them share. The functions of
    Keras's trainer are the same code for all models, so they count by their model.
    """
    codes = _codes_of(parts)
    is_keras = any(getattr(part, "__module__", "") == KERAS for part in parts)
    methods = [part.__self__ for part in parts if type(part) is MethodType]
    owners = _keras_models(parts) if is_keras else methods
    source = codes + [_weak(owner) for owner in owners]
    return {tuple(map(id, source)): source} if codes else {}


def _weak(owner):
    return weakref.ref(owner) if type(owner).__weakrefoffset__ else owner

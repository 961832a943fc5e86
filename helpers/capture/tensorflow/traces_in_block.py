"""The traces that TensorFlow makes in a `with` block, in any function -> a ledger of them.

One function of TensorFlow defines every trace (polymorphic_function/tracing_compilation.py,
`_maybe_define_function`); in the block it reports what it was asked for.
"""

import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from types import FunctionType, MethodType
from typing import NamedTuple

from ...internals import tensorflow_private
from ...model.framework_records import HEADINGS, MARKS, Cause, TraceLedger, trace_entry
from ...model.phrase import counted, listed
from ...safety.arguments import is_exactly, real_isinstance
from ...safety.users_frames import is_library
from ..cpython.objects import called
from ..text.error import error_message
from ..text.value import SCALARS
from .trace_causes import FIRST, IN_ITSELF, explain
from .trace_ledger import KERAS, PYTHON, WHEN
from .trace_words import Names

MOST_PARTS, MOST_OWNERS = 20, 200
SELF, NOT_COMPARED = "self", object()
OLD, NEW = "an earlier one", "a new one of its code"


class Traced(NamedTuple):
    """Code that was traced, kept so that its ids stay its own; its owners; after how many rows."""

    codes: list
    owners: dict[str, object]
    ended: int


class TracesSeen:
    """List the traces that TensorFlow makes in a `with` block, in any function."""

    unit = "trace"  # what a row is

    def __init__(self):
        self._names, self._calls, self._of_data = Names(), [], 0
        self._made: dict[tuple, list[Traced]] = {}  # by the ids of the codes

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Hear of each trace in the block; what is traced already counts as traced before."""
        for function in tensorflow_private.traced_functions():
            self._remember(parts_of(function.python_function))
        with tensorflow_private.hearing_lookups(self._hear, lambda: len(self._calls)):
            yield

    def _remember(self, parts: list) -> None:
        """Note what has been traced, as often as its owner is another."""
        if codes := _codes_of(parts):
            owners, alike = _owners_of(parts), self._made.setdefault(_ids(codes), [])
            if not any(_others(owners, one.owners) == [] for one in alike[-MOST_OWNERS:]):
                alike.append(Traced(codes, owners, len(self._calls)))

    def _tell_earlier(self, heard, parts: list, module: str) -> tuple[str, tuple[Cause, ...]]:
        """Say of a first trace whether a trace of its code had ended when it began, and whose."""
        found = self._made.get(_ids(_codes_of(parts)), [])
        found = [one for one in found[-MOST_OWNERS:] if one.ended <= heard.began]
        if not found:
            return FIRST, ()
        others = min((_others(_owners_of(parts), one.owners) for one in found), key=len)
        if not others:
            return _tell_new_function(parts, module) or (FIRST, ())
        names = [name for name in others if name != SELF]
        with_names = f"; its code was traced before, with another {listed(names, 3)}"
        return FIRST + with_names * bool(names), ()

    def _hear(self, heard) -> None:
        python, error = heard.python_function, heard.error
        module = str(getattr(python, "__module__", ""))
        if module.startswith("tensorflow.python.data."):
            self._of_data += 1
            return
        parts = parts_of(python)
        note, causes, compared = explain(heard.earlier_keys, heard.key, self._names)
        if heard.in_itself:
            note, causes, compared = IN_ITSELF, (), ""
        elif not heard.earlier_keys:
            note, causes = self._tell_earlier(heard, parts, module)
        verdict, traces = "trace", 1
        if error:
            note = f"{WHEN['trace']}: {error_message(error)}"
            verdict, traces, causes, compared = "error", 0, (), ""
        subject = f"{len(self._calls) + 1}: {_name_of(python, parts)}"
        words, why = self._names.arguments(heard.key[1]), {"causes": causes, "compared": compared}
        self._calls.append(trace_entry(subject, words, verdict, note, traces=traces, **why))
        if not error:
            self._remember(parts)

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
    partials = [part.func for part in parts if type(part) is partial]
    name = called(partials[-1] if partials and _is_tensorflows(python) else python)
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
    kinds, waiting, found = (*PYTHON, partial, tensorflow_private.Function), [python], {}
    for part in waiting:
        if id(part) not in found and real_isinstance(part, *kinds) and len(found) < MOST_PARTS:
            found[id(part)] = part
            names = "__wrapped__", "_python_function", "func"
            waiting += (getattr(part, name, None) for name in names)
            for cell in getattr(part, "__closure__", None) or ():
                with suppress(ValueError):  # a cell without contents
                    waiting.append(cell.cell_contents)
    return [*found.values()]


def _codes_of(parts: list) -> list:
    """Return the code of the functions that are not TensorFlow's own wrappers."""
    python = [part for part in parts if real_isinstance(part, *PYTHON)]
    return [part.__code__ for part in python if not _is_tensorflows(part)]


def _is_tensorflows(python) -> bool:
    return str(python.__globals__.get("__name__")).startswith("tensorflow.")


def _owners_of(parts: list) -> dict[str, object]:
    """Return to whom the code of a tf.function belongs: name -> a value, or a weak reference.

    These are of a method its self, of a closure what it closes on, of a partial its arguments. What
    can be neither referred to weakly nor compared safely counts as the same. The functions of
    Keras's trainer close on much that is made anew, so that of those only the model counts.
    """
    methods = [tensorflow_private.owner_of(part) for part in parts if type(part) is MethodType]
    if any(getattr(part, "__module__", "") == KERAS for part in parts):
        return {SELF: tuple(map(_weak, _keras_models(parts)))}
    found = {SELF: tuple(map(_weak, methods))}
    for part in parts:
        if real_isinstance(part, *PYTHON) and not _is_tensorflows(part):
            names = zip(part.__code__.co_freevars, part.__closure__ or (), strict=True)
            for name, cell in names:
                with suppress(ValueError):  # a cell without contents
                    found[name] = _told(cell.cell_contents)
        elif type(part) is partial:
            found |= {f"argument {at}": _told(one) for at, one in enumerate(part.args)}
            found |= {name: _told(one) for name, one in part.keywords.items()}
    return found


def _weak(owner):
    return weakref.ref(owner) if type(owner).__weakrefoffset__ else owner


def _told(value):
    """Return what tells an owner from others: a plain value itself, else a weak reference."""
    if is_exactly(value, *SCALARS):
        return value
    is_part = real_isinstance(value, *PYTHON, partial, tensorflow_private.Function)
    return NOT_COMPARED if is_part or not type(value).__weakrefoffset__ else weakref.ref(value)


def _others(owners: dict[str, object], earlier: dict[str, object]) -> list[str]:
    """Return the names of the owners that are known to be others."""
    names = dict.fromkeys([*owners, *earlier])
    return [name for name in names if not _is_same(owners.get(name, ()), earlier.get(name, ()))]


def _is_same(value, other) -> bool:
    if type(value) is tuple is type(other):
        return len(value) == len(other) and all(map(_is_same, value, other))
    is_equal = is_exactly(value, *SCALARS) and type(value) is type(other) and value == other
    return is_equal or value is other or NOT_COMPARED in (value, other)


def _ids(codes: list) -> tuple[int, ...]:
    return tuple(map(id, codes))

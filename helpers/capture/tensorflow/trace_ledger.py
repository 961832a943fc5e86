"""A tf.function, called as ever -> a ledger of its calls: hit or trace, and why it traced.

Each call is looked up beforehand by TensorFlow's own types, and a callback of TensorFlow's own
tells which traces it made. `trace_causes` says why a call fits no key of the cache.
"""

import dis
import functools
import inspect
import weakref
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from threading import get_ident
from types import BuiltinFunctionType, FunctionType, MethodType

from ...internals import tensorflow_private
from ...model.framework_records import HEADINGS, MARKS, TraceEntry, TraceLedger, trace_entry
from ...model.phrase import clipped, counted, listed
from ...safety.arguments import is_exactly, near, quote_value, real_isinstance, static_attribute
from ..cpython.objects import called, inherited
from ..cpython.unwrapping import refuse_other_framework
from ..text.error import error_message, instead
from .trace_causes import IN_ITSELF, explain
from .trace_words import Names, is_complete

KERAS = "keras.src.backend.tensorflow.trainer"
ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_EAGER = "run_functions_eagerly is on: Python ran, nothing was looked up"
_WIDENING = "TensorFlow cannot widen an earlier key to these arguments, as reduce_retracing asks"
_EMPTY = (
    "TensorFlow runs an empty function, which returns None: the first trace created a variable "
)
_EMPTY += "and then failed. Make a new tf.function"
_XLA = (
    "XLA may compile at a hit too, for a shape or a constant that is new to it; no row shows that."
)
MOST_REMEMBERED, MOST_WORDS = 1_000, 2_400
WHEN = {"error": "no key", "trace": "raised while tracing"}
PYTHON = FunctionType, MethodType


def watch(fn, **options) -> "Watched":
    """Return `fn`, to be called as before, with a ledger of its calls: hit or trace, and why."""
    known = None if options else watched_of(fn)
    return known or Watched(as_function(fn, options))


def would_trace(fn, /, *args, **kwargs) -> TraceEntry:
    """Return the row that a call `fn(*args, **kwargs)` would add now, without making the call."""
    if type(fn) is MethodType and (known := watched_of(fn.__func__)):
        return known.forecast((fn.__self__, *args), kwargs)
    return (watched_of(fn) or Watched(as_function(fn, args=args))).forecast(args, kwargs)


def as_function(fn, options=(), args=()):
    """Return the tf.function that `fn` is, or becomes. TypeError if it can be neither."""
    refuse_other_framework(fn, args, "watch_traces", "TensorFlow")
    import tensorflow as tf

    kinds = tf.types.experimental
    fn = known.function if (known := watched_of(fn)) else fn
    call = inherited(type(fn), "__call__")
    if real_isinstance(call, kinds.PolymorphicFunction):
        fn = call.__get__(fn, type(fn))  # of an object whose class decorates its `__call__`
    if real_isinstance(fn, kinds.PolymorphicFunction):
        if options:
            raise TypeError("this is already a tf.function; pass the options to tf.function itself")
        return fn
    if real_isinstance(fn, kinds.ConcreteFunction):
        raise TypeError("a ConcreteFunction is one trace and makes no other; pass the tf.function")
    shown = quote_value(fn)
    if real_isinstance(static_attribute(fn, "__wrapped__"), kinds.PolymorphicFunction):
        raise TypeError(f"{shown} wraps a tf.function; watch that one, its __wrapped__")
    if not callable(fn):
        raise TypeError(f"a function is needed, and {shown} cannot be called{instead(fn)}")
    return as_tf_function(fn, **dict(options))


def as_tf_function(fn, **options):
    """Return `tf.function(fn, **options)`. TypeError, in one sentence, if TensorFlow refuses."""
    import tensorflow as tf

    shown = quote_value(fn)
    if type(fn) is FunctionType and fn.__code__.co_flags & ASYNC:
        raise TypeError(f"a call of {shown} only makes a coroutine, which TensorFlow cannot trace")
    if real_isinstance(fn, *PYTHON) and fn.__module__ == KERAS:
        loop = "is a loop in Python around its own tf.function, which TensorFlow cannot trace"
        raise TypeError(f"{fn.__name__} of Keras {loop}; use `with watching_traces(): fit(…)`")
    try:
        made = tf.function(fn, **options)
        inspect.signature(made)
    except Exception as error:  # what `fn` says of itself may raise anything
        given = f" with {', '.join(options)}" if options else "; wrap it in a def"
        known = inspect.signature(tf.function).parameters
        meant = [near(name, known) for name in options if name not in known]
        ask = f"; did you mean {meant[0]}=?" if any(meant) else ""
        words = f"tf.function does not accept {shown}{given}: {error_message(error)}{ask}"
        raise TypeError(clipped(words, MOST_WORDS)) from None
    return made


def watched_of(fn):
    """Return the Watched that `fn` is or shows, or None."""
    found = fn if real_isinstance(fn, Watched) else static_attribute(fn, "_source")
    return found if real_isinstance(found, Watched) else None


class Watched:
    """A tf.function that keeps a ledger, in the order in which the calls ended.

    Other attributes are the function's; what `get_concrete_function` traces is written down too.
    """

    autograph_info__ = {}  # AutoGraph rewrites callers, but no function with this name
    unit = "call"  # what a row is

    def __init__(self, function, whole=None, owner=None):
        self.function = function
        # Of a method: the ledger of its class, which has these rows, too, and whose method it is.
        self._whole, self._owner = whole, None if whole is None else weakref.ref(owner)
        self._methods = weakref.WeakKeyDictionary()  # object -> what was made of its method
        self._names, self._calls = Names(), []
        # The calls that trace now: their thread, and the traces that no row has told yet.
        self._tracing: list[tuple[int, list]] = []
        self._fits: dict = {}  # key -> number of keys, its words, and how another one serves it
        self.__wrapped__ = python = function.python_function
        inner = python.__func__ if type(python) is MethodType else python
        is_function = type(inner) is FunctionType
        self._space = inner.__globals__ if is_function else {}
        names = _global_names(inner.__code__) if is_function else ()
        found = ((name, self._space.get(name)) for name in names)
        self._before = {n: weakref.ref(value) for n, value in found if type(value) is FunctionType}
        if is_exactly(python, *PYTHON, BuiltinFunctionType):
            functools.update_wrapper(self, python, updated=())
        self.__signature__ = inspect.signature(function)

    def __call__(self, *args, **kwargs):
        """Call the function, and write the call down."""
        return self._run(self.function, args, kwargs)

    def __getattr__(self, name):
        if name == "function":
            raise AttributeError(name)
        return getattr(self.function, name)

    def method_of(self, owner, made):
        """Return `made(…)` of the method of an object, which has a ledger of its own.

        TensorFlow makes a tf.function for each object, but not for a composite tensor: None then.
        """
        function = self.function.__get__(owner, type(owner))
        if type(function) is MethodType:
            return None
        if owner not in self._methods:
            self._methods[owner] = made(Watched(function, self, owner))
        return self._methods[owner]

    def get_concrete_function(self, *args, **kwargs):
        """Trace if need be, without running; a row says what was asked for."""
        name = "get_concrete_function"
        return self._run(getattr(self.function, name), args, kwargs, f"{name}: ")

    @property
    def model(self) -> TraceLedger:
        """Return the ledger as it is now."""
        title = f"Calls of {called(self.function.python_function)}"
        rows, seen = self._calls.copy(), Counter()  # a copy: other threads may add rows
        for row in rows:
            seen[row.verdict] += row.calls
        parts = [counted(sum(row.traces for row in rows), "trace")]
        parts += [counted(seen[verdict], verdict) for verdict in ("hit", "error") if seen[verdict]]
        parts += [f"{seen['empty']} empty"] * bool(seen["empty"])
        note = f"{counted(seen.total(), 'call')}: {', '.join(parts)}."
        note += f" {_XLA}" * tensorflow_private.compiles_with_xla(self.function)
        return TraceLedger(title, "call", HEADINGS, (*_numbered(rows),), note, marks=MARKS)

    @property
    def last(self) -> TraceEntry | None:
        """Return the row of the last call on its own, however the ledger folds it."""
        return replace(self._calls[-1], calls=1) if self._calls else None

    def forecast(self, args, kwargs) -> TraceEntry:
        """Return the row that a call would add; nothing is called, and no row is added."""
        if tensorflow_private.runs_eagerly(self.function):
            return trace_entry("next", self._eager_words(args, kwargs), "eager", _EAGER)
        try:
            key = tensorflow_private.wanted_key(self.function, args, kwargs)
        except Exception as error:  # the call itself will say it
            words = self._names.values(self.function, args, kwargs)
            return trace_entry("next", words, "error", f"no key: {error_message(error)}")
        words = self._names.arguments(key[1])
        if tensorflow_private.lost_its_function(self.function):
            return trace_entry("next", words, "empty", _EMPTY)
        if (note := self._serving_note(key, words)) is not None:
            return trace_entry("next", words, "hit", note)
        if error := self._widening_error(key):
            return trace_entry("next", words, "error", f"{_WIDENING}: {error}")
        known = list(tensorflow_private.cached_keys(self.function))
        note, causes, compared = explain(known, key, self._names)
        more = {"traces": 1, "causes": causes, "compared": compared}
        return trace_entry("next", words, "trace", note, **more)

    def _widening_error(self, key) -> str:
        """Return what TensorFlow will raise when it widens a key for `reduce_retracing`, or ""."""
        try:
            widened = tensorflow_private.widened_type(self.function, key)
        except Exception as error:
            return error_message(error)
        types = (parameter.type_constraint for parameter in widened.parameters.values())
        return "" if all(map(is_complete, types)) else "a part of a nest has no common type"

    def _eager_words(self, args, kwargs) -> str:
        try:
            key = tensorflow_private.wanted_key(self.function, args, kwargs)
        except Exception:  # Python accepts more than TensorFlow has keys for
            return self._names.values(self.function, args, kwargs)
        return self._names.arguments(key[1])

    def _serving_note(self, key, words: str) -> str | None:
        """Return which key serves a call, where that is not said by its words; None if none does.

        What was found out is remembered while the cache has as many keys.
        """
        known = tensorflow_private.count_keys(self.function)
        if self._fits.get(key, ())[:2] == (known, words):
            return self._fits[key][2]
        serving = tensorflow_private.serving_key(self.function, key)
        if serving is None:
            return None
        cached = tensorflow_private.cached_keys(self.function)
        stored = self._names.arguments(next(k for k in cached if k == serving)[1])
        how = "equal to" if serving == key else "matches"
        note = "" if stored == words else f"{how} the key {stored}"
        if len(self._fits) >= MOST_REMEMBERED:
            self._fits.clear()
        self._fits[key] = known, words, note
        return note

    def _run(self, call, args, kwargs, asked=""):
        signature = tensorflow_private.signature_of(self.function) if asked else None
        fewer = signature and not (args or kwargs)  # get_concrete_function() means the signature
        try:
            row = self.forecast(signature if fewer else args, kwargs)
        except Exception as broken:  # an argument's own `__eq__`, which must not change the call
            note = f"no key to compare with: {type(broken).__name__}"
            row = trace_entry("next", self._names.values(self.function, args, kwargs), "hit", note)
        error, made, thread = "", [], get_ident()
        around = [told for tracer, told in self._tracing if tracer == thread]
        if around and row.verdict == "trace":
            row = replace(row, note=IN_ITSELF, causes=(), compared="")
        try:
            with tensorflow_private.hearing_traces() as made:
                if row.verdict == "trace":
                    self._tracing.append((thread, made))
                return call(*args, **kwargs)
        except BaseException as raised:
            error = error_message(raised)
            raise
        finally:
            self._tracing = [(tracer, told) for tracer, told in self._tracing if told is not made]
            self._write(row, made, error, asked)
            for traces in around:  # they are told of this call, and not again of the one around it
                traces[:] = [one for one in traces if not any(one is own for own in made)]

    def _write(self, row: TraceEntry, made, error: str, asked: str) -> None:
        """Record the outcome of a call that was predicted as `row`."""
        cached = tensorflow_private.cached_keys(self.function) if made else {}
        new = [key for key, concrete in cached.items() if any(concrete is one for one in made)]
        verdict, notes = row.verdict, [row.note]
        if error:
            when = "traced, then raised" if new else WHEN.get(verdict, "raised while running")
            when = _WIDENING if row.note.startswith(_WIDENING) else when
            verdict, notes = "error", [f"{when}: {error}"]
        elif new:
            verdict, notes = (
                "trace",
                [row.note * (verdict == "trace"), *self._tell_traces(row, new)],
            )
        elif asked or verdict not in ("eager", "empty"):
            verdict, notes = "hit", [row.note * (verdict == "hit"), self._tell_renamed()]
        words, note = asked + row.arguments, "; ".join(filter(None, notes))
        why = {"causes": row.causes, "compared": row.compared} if new else {}
        self._add(trace_entry("", words, verdict, note, traces=len(new), **why))
        if whole := self._whole:
            words = f"of {whole._names.thing(self._owner)}: {words}"
            whole._add(trace_entry("", words, verdict, note, traces=len(new), **why))

    def _tell_traces(self, row: TraceEntry, new: list) -> list[str]:
        """Say as what a call was traced, and how often, where that is not as expected."""
        traced = self._names.arguments(new[-1][1])
        notes = [f"traced as {traced}"] * (traced != row.arguments)
        scopes = {context.scope_type for context, _ in new}  # one, if it called itself
        why = ": to create its variables, and to run without creating any" * (len(scopes) > 1)
        return notes + [f"traced {len(new)} times{why}"] * (len(new) > 1)

    def _add(self, entry: TraceEntry) -> None:
        """Add a row, or count it in the one before: calls that are told alike are one row."""
        if self._calls and not entry.traces:
            last = self._calls[-1]
            same = (last.verdicts, last.note, last.traces) == (entry.verdicts, entry.note, 0)
            if same:
                self._calls[-1] = replace(last, calls=last.calls + 1)
                return
        self._calls.append(entry)

    def _tell_renamed(self) -> str:
        """Say which names now lead to another function: a graph does not look them up again."""
        names = [n for n, before in self._before.items() if self._space.get(n) is not before()]
        told = f"now a different {listed(names, 3)}, which the graph does not check"
        return told if names else ""


def _global_names(code) -> set[str]:
    """Return the names that a function looks up in its module; names of attributes are others."""
    return {step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"}


def _numbered(rows: list[TraceEntry]) -> Iterator[TraceEntry]:
    """Yield the rows with the numbers of their calls."""
    first = 1
    for row in rows:
        last = first + row.calls - 1
        yield replace(row, subject=f"{first:,} – {last:,}" if row.calls > 1 else f"{first:,}")
        first = last + 1

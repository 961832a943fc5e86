"""A tf.function, called as ever -> a ledger of its calls: hit or trace, and why it traced.

Each call is looked up beforehand by TensorFlow's own types, and a callback of TensorFlow's own
tells which traces it made. Nothing is written to the function: its counts are the same.
"""

import functools
import inspect
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from types import BuiltinFunctionType, FunctionType, MethodType

from helpers.capture.cpython.objects import called
from helpers.capture.tensorflow.trace_types import Names, nearest
from helpers.capture.text.error import error_message, instead
from helpers.internals import tensorflow_private
from helpers.model.framework_records import HEADINGS, MARKS, TraceEntry, TraceLedger, trace_entry
from helpers.model.phrase import clipped, counted
from helpers.safety.arguments import quote_value, real_isinstance, static_attribute
from helpers.safety.restoring import preserves_interpreter_state

NO_LEAF = "no leaf differs in words; its own equality says that it is another"
KERAS = "keras.src.backend.tensorflow.trainer"
ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_EAGER = "run_functions_eagerly is on: Python ran, nothing was looked up"
WHEN = {"error": "no key", "trace": "raised while tracing"}


def watch(fn, **options) -> "Watched":
    """Return `fn`, to be called as before, with a ledger of its calls: hit or trace, and why.

    A plain function becomes `tf.function(fn, **options)` first. The counts of a tf.function are
    the same with and without.
    """
    known = None if options else watched_of(fn)
    return known or Watched(as_function(fn, options))


@preserves_interpreter_state
def would_trace(fn, *args, **kwargs) -> TraceEntry:
    """Return the row that calling `fn(*args, **kwargs)` now would add, without calling it.

    `fn`: a tf.function or a watched one. Only the body could still make it another row, by raising.
    """
    if type(fn) is MethodType and (known := watched_of(fn.__func__)):
        return known.forecast((fn.__self__, *args), kwargs)
    return (watched_of(fn) or Watched(as_function(fn))).forecast(args, kwargs)


def as_function(fn, options=()):
    """Return the tf.function that `fn` is, or becomes. TypeError if it can be neither."""
    import tensorflow as tf

    kinds = tf.types.experimental
    fn = known.function if (known := watched_of(fn)) else fn
    if real_isinstance(fn, kinds.PolymorphicFunction):
        if options:
            raise TypeError("this is a tf.function already; give the options to tf.function itself")
        return fn
    if real_isinstance(fn, kinds.ConcreteFunction):
        raise TypeError("a ConcreteFunction is one trace and makes no other; give the tf.function")
    shown = quote_value(fn)
    if real_isinstance(static_attribute(fn, "__wrapped__"), kinds.PolymorphicFunction):
        raise TypeError(f"{shown} is around a tf.function; watch that one, its __wrapped__")
    if not callable(fn):
        raise TypeError(f"a function is needed, and {shown} cannot be called{instead(fn)}")
    made = as_tf_function(fn, **dict(options))
    tensorflow_private.omit_retracing_warning(made)  # the ledger says more, and names the cause
    return made


def as_tf_function(fn, **options):
    """Return `tf.function(fn, **options)`. TypeError, in one sentence, if TensorFlow refuses."""
    import tensorflow as tf

    shown = quote_value(fn)
    if type(fn) is FunctionType and fn.__code__.co_flags & ASYNC:
        raise TypeError(f"a call of {shown} only makes a coroutine, and TensorFlow traces none")
    if real_isinstance(fn, FunctionType, MethodType) and fn.__module__ == KERAS:
        loop = "is a loop in Python around its own tf.function, which TensorFlow cannot trace"
        raise TypeError(f"{fn.__name__} of Keras {loop}; watch_ops lists what it runs")
    try:
        made = tf.function(fn, **options)
        inspect.signature(made)
    except Exception as error:  # what `fn` says of itself may raise anything
        given = f" with {', '.join(options)}" if options else "; wrap it in a def"
        words = f"tf.function takes no {shown}{given}: {error_message(error)}"
        raise TypeError(clipped(words, 400)) from None
    return made


def watched_of(fn):
    """Return the Watched that `fn` is or shows, or None."""
    found = fn if real_isinstance(fn, Watched) else static_attribute(fn, "_source")
    return found if real_isinstance(found, Watched) else None


class Watched:
    """A tf.function that keeps a ledger, in the order in which the calls ended.

    Other attributes are the function's; what `get_concrete_function` traces is written down too.
    """

    autograph_info__ = {}  # AutoGraph rewrites callers, and leaves what bears this name alone

    def __init__(self, function):
        self.function = function
        self._names, self._calls = Names(), []
        self._fits: dict = {}  # key -> words of its arguments, and how they fit the key that serves
        self.__wrapped__ = python = function.python_function
        if type(python) in (FunctionType, MethodType, BuiltinFunctionType):
            functools.update_wrapper(self, python, updated=())
        self.__signature__ = inspect.signature(function)

    def __call__(self, *args, **kwargs):
        """Call the function, and write the call down."""
        return self._run(self.function, args, kwargs)

    def __getattr__(self, name):
        if name == "function":
            raise AttributeError(name)
        return getattr(self.function, name)

    def get_concrete_function(self, *args, **kwargs):
        """Trace if need be, without running; a row says what was asked for."""
        return self._run(self.function.get_concrete_function, args, kwargs, "to trace only: ")

    @property
    def model(self) -> TraceLedger:
        """Return the ledger as it is now."""
        title = f"Calls of {called(self.function.python_function)}"
        seen = Counter(call.verdict for call in self._calls)
        parts = [counted(sum(call.traces for call in self._calls), "trace")]
        parts += [counted(seen[verdict], verdict) for verdict in ("hit", "error") if seen[verdict]]
        note = f"{counted(len(self._calls), 'call')}: {', '.join(parts)}."
        return TraceLedger(title, "call", HEADINGS, (*_folded(self._calls),), note, marks=MARKS)

    @property
    def last(self) -> TraceEntry | None:
        """Return the row of the last call on its own, however the ledger folds it."""
        return self._calls[-1] if self._calls else None

    def forecast(self, args, kwargs) -> TraceEntry:
        """Return the row that a call would add; nothing is called, and no row is added."""
        try:
            key = tensorflow_private.wanted_key(self.function, args, kwargs)
        except Exception as error:  # the call itself will say it
            words = self._names.values(args, kwargs)
            return trace_entry("next", words, "error", f"no key: {error_message(error)}")
        words = self._names.arguments(key[1])
        if tensorflow_private.runs_eagerly(self.function):
            return trace_entry("next", words, "eager", _EAGER)
        if self._fits.get(key, ("",))[0] == words:
            return trace_entry("next", words, "hit", self._fits[key][1])
        held = tensorflow_private.serving_key(self.function, key)
        known = list(tensorflow_private.cached_keys(self.function))
        if held is not None:  # by being equal, or by a more general shape
            stored = self._names.arguments(next(k for k in known if k == held)[1])
            fits = f"{'equal to' if held == key else 'fits'} the key {stored}"
            self._fits[key] = words, "" if stored == words else fits
            return trace_entry("next", words, "hit", self._fits[key][1])
        causes = nearest(known, key, self._names)
        more = f"; and {len(causes) - 3} more" if len(causes) > 3 else ""
        note = "; ".join(map(str, causes[:3])) + more or NO_LEAF
        note = note if known else "first trace"
        return trace_entry("next", words, "trace", note, traces=1, causes=causes)

    def _run(self, call, args, kwargs, asked=""):
        try:
            row = self.forecast(args, kwargs)
        except Exception as broken:  # an argument's own `__eq__`, which must not change the call
            note = f"no key to compare with: {type(broken).__name__}"
            row = trace_entry("next", self._names.values(args, kwargs), "hit", note)
        error, made = "", []
        try:
            with tensorflow_private.hearing_traces() as made:
                return call(*args, **kwargs)
        except BaseException as raised:
            error = error_message(raised)
            raise
        finally:
            self._write(row, made, error, asked)

    def _write(self, row: TraceEntry, made, error: str, asked: str) -> None:
        """Write down what became of a call that was foretold as `row`."""
        cached = tensorflow_private.cached_keys(self.function) if made else {}
        new = [key for key, concrete in cached.items() if any(concrete is one for one in made)]
        verdict, notes, causes = row.verdict, [row.note], ()
        if error:
            when = "traced, then raised" if new else WHEN.get(verdict, "raised while running")
            verdict, notes = "error", [f"{when}: {error}"]
        elif new:
            notes, causes = [row.note * (verdict == "trace")], row.causes
            traced = self._names.arguments(new[-1][1])
            notes += [f"traced as {traced}"] * (traced != row.arguments)
            scopes = {context.scope_type for context, _ in new}  # one, if it called itself
            why = ": to create its variables, and to run without creating any" * (len(scopes) > 1)
            notes += [f"traced {len(new)} times{why}"] * (len(new) > 1)
            verdict = "trace"
        elif asked or verdict != "eager":
            verdict, notes = "hit", [row.note * (verdict == "hit")]
        words, note = asked + row.arguments, "; ".join(filter(None, notes))
        made = trace_entry("", words, verdict, note, traces=len(new), causes=causes)
        self._calls.append(made)


def _folded(calls: list[TraceEntry]) -> Iterator[TraceEntry]:
    """Yield the rows: calls in a row that are told alike, and trace nothing, are one."""
    told = lambda pair: (pair[1].verdicts, pair[1].note, pair[1].traces and pair[0])  # noqa: E731
    for _, run in groupby(enumerate(calls, 1), told):
        (first, entry), *more = run
        span = f"{first:,} – {first + len(more):,}" if more else f"{first:,}"
        yield replace(entry, subject=span, calls=1 + len(more))

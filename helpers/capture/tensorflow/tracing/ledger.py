"""A tf.function, called as ever -> a ledger of its calls: hit or trace, and why it traced.

TensorFlow says nothing of a trace but its count. Here each call is looked up beforehand by
TensorFlow's own types, and a callback of TensorFlow's own tells which traces it made. Nothing is
written to the function: its counts are the same with the ledger and without.
"""

import contextlib
import functools
import inspect
import sys
import threading
import traceback
from dataclasses import replace
from itertools import islice
from types import BuiltinFunctionType, CellType, FunctionType, MethodType

from helpers.capture.cpython.objects import called
from helpers.capture.tensorflow.tracing import keys
from helpers.capture.tensorflow.tracing.differences import MOST_KEYS, nearest
from helpers.capture.tensorflow.tracing.log import Log
from helpers.capture.tensorflow.tracing.rebound import Named
from helpers.capture.tensorflow.tracing.trace_type import MOST_ITEMS, Names, cut
from helpers.capture.text.error import instead, said
from helpers.model.phrase import counted
from helpers.model.traces import HEADINGS, MARKS, TraceEntry, TraceLedger, trace_entry
from helpers.safety import imported
from helpers.safety.arguments import (
    alive,
    is_a,
    is_exactly,
    kind_of,
    own,
    printable,
    shown,
    unwritten,
)
from helpers.safety.interpreter_state import whole
from helpers.safety.interrupts import finishing

FIRST = "first trace"
NO_LEAF = "no leaf differs in words; its own equality says that it is another"
MOST_KNOWN = 1024
KERAS = "keras.src.backend.tensorflow.trainer"
LOOPS = {"fit": "train", "evaluate": "test", "predict": "predict"}
MANY = 1_000  # calls in one row
ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def watch(fn, **options) -> "Watched":
    """Return `fn` with a ledger; a plain function becomes `tf.function(fn, **options)` first.

    Of a function that becomes one here, TensorFlow does not warn that it retraces often. A
    decorator around a tf.function, as Keras's train_function is, stays around it.

    Raises:
        TypeError: `fn` cannot be called or has no cache of traces, TensorFlow can make no
            tf.function of it, or options are given for what is a tf.function already.
    """
    if watched_of(fn) and not options:
        return fn if type(fn) in (Watched, Around) else own(fn, "_source")
    at = None if options else inner_cell(fn)
    return Watched(as_function(fn, options)) if at is None else Around(fn, at)


@whole
def would_trace(fn, *args, **kwargs) -> TraceEntry:
    """Return the row that calling `fn(*args, **kwargs)` now would add, without calling it.

    `fn`: a tf.function or a watched one. Only the body could still make it another row, by raising.
    """
    if type(fn) is MethodType and (known := watched_of(fn.__func__)):
        return known.forecast((fn.__self__, *args), kwargs)
    return (watched_of(fn) or Watched(as_function(fn, {}))).forecast(args, kwargs)


def as_function(fn, options):
    """Return the tf.function that `fn` is, or becomes. TypeError if it can be neither."""
    import tensorflow as tf

    if known := watched_of(fn):
        fn = known.function
    if is_a(fn, tf.types.experimental.ConcreteFunction):
        raise TypeError("a ConcreteFunction is one trace and makes no other; give the tf.function")
    if is_a(fn, tf.types.experimental.PolymorphicFunction):
        if options:
            names = ", ".join(options)
            raise TypeError(f"this is a tf.function already; give {names} to tf.function itself")
        return fn
    if (torch := imported.module("torch")) and is_a(fn, torch.nn.Module):
        raise TypeError("TensorFlow traces no module of torch; watch_recompiles watches torch's")
    if not callable(fn):
        raise TypeError(f"a function is needed, and {shown(fn)} cannot be called{instead(fn)}")
    made = as_tf_function(fn, **options)
    made._omit_frequent_tracing_warning = True  # the ledger says more, and names the cause
    return made


def as_tf_function(fn, **options):
    """Return `tf.function(fn, **options)`. TypeError, in one sentence, if TensorFlow refuses."""
    import tensorflow as tf

    alive(fn, shown(fn))
    if why := unwritten(fn):
        raise TypeError(f"{shown(fn)} {why}, so TensorFlow cannot trace it")
    if type(fn) is FunctionType and fn.__code__.co_flags & ASYNC:
        raise TypeError(f"a call of {shown(fn)} only makes a coroutine, and TensorFlow traces none")
    try:
        made = tf.function(fn, **options)
        inspect.signature(made)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # what `fn` says of itself may raise anything
        words = said(error)
        if not options and "signature" in words:
            needed = f"{shown(fn)} has no signature to read; wrap it in a def"
            raise TypeError(needed) from None
        given = f" with {', '.join(options)}" * bool(options)
        needed = f"tf.function takes no {shown(fn)}{given}: {words}"
        raise TypeError(printable(needed, 400)) from None
    return made


def watched_of(fn):
    """Return the Watched that `fn` is or shows, or None."""
    found = fn if type(fn) in (Watched, Around) else own(fn, "_source")
    return found.watched if type(found) in (Watched, Around) else None


def inner_cell(fn) -> int | None:
    """Return at which cell of its closure a decorator, or Keras, holds its tf.function; or None.

    TypeError for a function of Keras that holds none.
    """
    import tensorflow as tf

    if type(fn) is not FunctionType:
        return None
    of_keras, wrapped = fn.__globals__.get("__name__") == KERAS, fn.__dict__.get("__wrapped__")
    for at, cell in enumerate(fn.__closure__ or ()):
        with contextlib.suppress(ValueError):  # the cell is empty
            held = cell.cell_contents
            if is_a(held, tf.types.experimental.PolymorphicFunction) and (
                of_keras or held is wrapped
            ):
                return at
    if of_keras:
        raise TypeError("Keras runs this model eagerly, so there is no tf.function to watch")
    return None


class Around:
    """A Python function around a tf.function, called as ever; the ledger is the tf.function's."""

    autograph_info__ = {}

    def __init__(self, fn: FunctionType, at: int):
        self.watched = Watched(fn.__closure__[at].cell_contents)
        cells = (*fn.__closure__[:at], CellType(self.watched), *fn.__closure__[at + 1 :])
        made = FunctionType(fn.__code__, fn.__globals__, fn.__name__, fn.__defaults__, cells)
        made.__kwdefaults__ = fn.__kwdefaults__
        self._call = functools.update_wrapper(made, fn)
        functools.update_wrapper(self, fn, updated=())

    def __call__(self, *args, **kwargs):
        """Call the function, whose tf.function writes its calls down."""
        return self._call(*args, **kwargs)

    def __getattr__(self, name):
        if name == "watched":
            raise AttributeError(name)
        return getattr(self.watched, name)

    @property
    def model(self) -> TraceLedger:
        """Return the ledger as it is now."""
        model = self.watched.model
        note = f"{model.note} Watched is the tf.function inside; what is around it is Python."
        return replace(model, note=note)


class Watched:
    """A tf.function that keeps a ledger. What it returns or raises is the function's own.

    Only arguments of more than `keys.MOST_THINGS` are refused, with a ValueError.

    Other attributes (`get_concrete_function`, `experimental_get_tracing_count` …) are the
    function's; what `get_concrete_function` traces is written down too. Calls are in the order in
    which they ended. A call from another thread has its own row, which says so.
    """

    autograph_info__ = {}  # AutoGraph rewrites callers, and leaves what bears this name alone

    def __init__(self, function, threads: bool = True):
        self.function = function
        self._names, self._log, self._lock = Names(), Log(), threading.RLock()
        self._words: dict = {}  # key -> words of its arguments, as they were when it was made
        self._home = threading.get_ident() if threads else None
        self.__wrapped__ = python = function.python_function
        self._named = Named(python)
        if is_exactly(python, FunctionType, MethodType, BuiltinFunctionType):
            functools.update_wrapper(self, python, updated=())
        self.__signature__ = inspect.signature(function)

    def __call__(self, *args, **kwargs):
        """Call the function, and write the call down."""
        return self._run(self.function, args, kwargs)

    def __getattr__(self, name):
        if name == "function":
            raise AttributeError(name)
        return getattr(self.function, name)

    @property
    def watched(self) -> "Watched":
        """Return this; an exhibit of it says the same."""
        return self

    def get_concrete_function(self, *args, **kwargs):
        """Trace if need be, without running; a row says what was asked for."""
        return self._run(self.function.get_concrete_function, args, kwargs, "to trace only: ")

    @property
    def model(self) -> TraceLedger:
        """Return the ledger as it is now."""
        with self._lock:
            entries = self._log.entries()
            note = _summary(self._log, self.function.experimental_get_tracing_count())
        if any(entry.calls > MANY for entry in entries):
            note += " Hits in a row are folded to one row; .last is the last call on its own."
        return TraceLedger(f"Calls of {self._name()}", "call", HEADINGS, entries, note, marks=MARKS)

    @property
    def last(self) -> TraceEntry | None:
        """Return the row of the last call on its own, however the ledger folds it."""
        return self._log.last

    def forecast(self, args, kwargs) -> TraceEntry:
        """Return the row that a call would add; nothing is called, and no row is added."""
        keys.sized(args, kwargs)
        key, failed = self._wanted(args, kwargs)
        if failed is not None:
            return trace_entry("next", self._raw(args, kwargs), "error", f"no key: {said(failed)}")
        words = self._arguments(key)
        if keys.runs_eagerly(self.function):
            return trace_entry("next", words, "eager", _EAGER)
        held, refused = keys.held(self.function, key), keys.refused(args, kwargs)
        if held is not None and refused is not None:
            return trace_entry("next", words, "error", f"raised while running: {said(refused)}")
        if held is not None:
            notes = self._fit(key, words, held), keys.wrapped(args, kwargs)
            return trace_entry("next", words, "hit", "; ".join(filter(None, notes)))
        known = list(keys.keys(self.function))
        causes = nearest(known, key, self._names)
        verdict, note = "trace", _because(causes, known) if known else FIRST
        if refused is not None:
            verdict, note = "error", f"traced, then raised: {said(refused)}"
        note = "; ".join(filter(None, (note, keys.wrapped(args, kwargs))))
        return trace_entry("next", words, verdict, note, traces=1, causes=causes)

    @functools.partial(whole, names=("TensorFlow's graphs",))
    def _run(self, call, args, kwargs, asked=""):
        # All in one frame, which an interrupt spares: it comes in the call, or when the row stands.
        keys.sized(args, kwargs)
        made, error = [], None
        with finishing(sys._getframe()) as row:
            key, _ = self._wanted(args, kwargs)
            words = asked + (self._raw(args, kwargs) if key is None else self._arguments(key))
            heard = keys.listeners()
            heard.append(made)
            try:
                return call(*args, **kwargs)
            except BaseException as raised:
                error = raised
                if type(raised) is not KeyboardInterrupt and (why := _loop_of_keras(raised)):
                    error = TypeError(why)
                    raise error from None
                raise
            finally:
                row.finish()
                heard.pop()
                self._write(key, words, made, error, call)
                error = None  # or its traceback would hold this frame, and this frame it

    def _write(self, key, words, made, error, call):
        """Write the row down; an argument whose own `__eq__` raises must not change the call."""
        with self._lock:
            before = self._log.calls
            try:
                self._row(key, words, made, error, call)
            except BaseException as broken:
                if self._log.calls == before:
                    verdict = "error" if error else "trace" if made else "hit"
                    note = f"no key to compare with: {kind_of(broken)}"
                    self._log.add(words, verdict, note, len(made))
                if type(broken) is KeyboardInterrupt:
                    raise

    def _row(self, key, words, made, error, call):
        cached = keys.keys(self.function) if made or error else {}
        own = [k for k, concrete in cached.items() if any(concrete is m for m in made)]
        before = [k for k in cached if not any(k is o for o in own)]  # an == may be an argument's
        causes = nearest(before, key, self._names) if own and key is not None else ()
        verdict, note = self._verdict(key, words, own, before, causes, error, call)
        if self._home not in (None, threading.get_ident()):
            note = f"{note}; on another thread".removeprefix("; ")
        self._log.add(words, verdict, note, len(own), causes if own else ())

    def _verdict(self, key, words, own, before, causes, error, call) -> tuple[str, str]:
        if error is not None:
            return "error", _failure(error, own, key, self.function)
        if own:
            return "trace", self._traced(key, own, before, causes)
        if call is self.function and keys.runs_eagerly(self.function):
            return "eager", _EAGER
        notes = "" if key is None else self._hit(key, words), self._named.others()
        return "hit", "; ".join(filter(None, notes))

    def _traced(self, key, own, before, causes) -> str:
        parts = [_because(causes, before) if before else FIRST]
        made = self._arguments(own[-1])
        if key is not None and made != self._arguments(key):
            parts.append(f"traced as {made}")
        if len(own) > 1:
            scopes = {context.scope_type for context, _ in own}  # one, if it called itself
            why = ": to create its variables, and to run without creating any" * (len(scopes) > 1)
            parts.append(f"traced {len(own)} times{why}")
        return "; ".join(parts)

    def _hit(self, key, words) -> str:
        """Return which key it was, where that is not the one that its own words would name."""
        note = self._words.get(key)
        if note is None or note[0] != words:
            held = keys.held(self.function, key)
            note = (words, "" if held is None else self._fit(key, words, held))
            if len(self._words) < MOST_KNOWN:
                self._words[key] = note
        return note[1]

    def _fit(self, key, words, held) -> str:
        """Return in words how a call fits a key: by being equal, or by a more general shape."""
        made = self._made(held)
        if made == words.partition("to trace only: ")[2] or made == words:
            return ""
        return f"{'equal to' if held == key else 'fits'} the key {made}"

    def _made(self, held) -> str:
        """Return the words of a key in the cache: the key's own object, not one equal to it."""
        own = next(k for k in keys.keys(self.function) if k == held)
        return self._arguments(own)

    def _wanted(self, args, kwargs):
        try:
            return keys.wanted(self.function, args, kwargs), None
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # the call itself will say it
            return None, error

    def _arguments(self, key) -> str:
        try:
            return self._names.arguments(key[1])
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return f"(no words: {kind_of(error)})"

    def _raw(self, args, kwargs) -> str:
        """Return words for arguments that fit no key."""
        words = self._names.value
        first = [words(value) for value in args[:MOST_ITEMS]]
        first += [f"{name}={words(value)}" for name, value in islice(kwargs.items(), MOST_ITEMS)]
        more = len(args) + len(kwargs) - len(first)
        return cut(", ".join(first + [f"… {more} more"] * bool(more))) or "(none)"

    def _name(self) -> str:
        return called(self.__wrapped__)


_EAGER = "run_functions_eagerly is on: Python ran, nothing was looked up"


def _loop_of_keras(error: BaseException) -> str:
    """Return why a trace met `fit` and the like, and what to do; "" if it did not."""
    while error is not None:
        for frame, _ in traceback.walk_tb(error.__traceback__):
            fn = frame.f_locals.get("fn")  # Keras leaves of its frames only that of a decorator
            kind = type(fn) is FunctionType and LOOPS.get(fn.__name__)
            if kind and fn.__module__ == KERAS:
                held = f"model.{kind}_function"
                return (
                    f"{fn.__name__} of Keras is a loop in Python, which TensorFlow cannot trace; "
                    f"call model.make_{kind}_function(), then {held} = watch_traces({held}), "
                    f"then {fn.__name__} as before"
                )
        error = error.__context__
    return ""


def _because(causes, known) -> str:
    words = [str(cause) for cause in causes[:3]]
    more = len(causes) - len(words)
    told = "; ".join(words + [f"and {more} more"] * bool(more)) or NO_LEAF
    if len(known) > MOST_KEYS:
        told += f"; compared with the newest {MOST_KEYS:,} of {len(known):,} keys"
    return told


def _failure(error, own, key, function) -> str:
    when = "traced, then raised" if own else _when(function, key)
    return f"{when}: {said(error)}"


def _when(function, key) -> str:
    if key is None:
        return "no key"
    try:
        held = keys.held(function, key)
    except KeyboardInterrupt:
        raise
    except BaseException:  # an argument's own __eq__
        return "raised while looking the key up"
    return "raised while tracing" if held is None else "raised while running"


def _summary(log: Log, theirs: int) -> str:
    parts = [counted(log.traces, "trace")]
    parts += [counted(log.verdicts[v], v) for v in ("hit", "error") if log.verdicts[v]]
    parts += [f"{log.verdicts['eager']:,} eager"] * bool(log.verdicts["eager"])
    note = f"{counted(log.calls, 'call')}: {', '.join(parts)}."
    if theirs != log.traces:
        made = f"{counted(theirs, 'trace')}; the others were made outside these calls."
        note += f" TensorFlow counts {made}"
    return note

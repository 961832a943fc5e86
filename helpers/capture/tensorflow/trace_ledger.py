"""A tf.function, called as ever -> a ledger of its calls: hit or trace, and why it traced.

TensorFlow says nothing of a trace but its count. Here each call is looked up beforehand by
TensorFlow's own types, and a callback of TensorFlow's own tells which traces it made. Nothing is
written to the function: its counts are the same with the ledger and without.
"""

import contextlib
import functools
import inspect
import threading
import traceback
import weakref
from collections import Counter
from dataclasses import replace
from types import BuiltinFunctionType, CellType, FunctionType, MethodType

from helpers.capture.cpython.objects import called
from helpers.capture.tensorflow.trace_types import MOST_KEYS, Names, nearest
from helpers.capture.text.error import instead, said
from helpers.internals import tensorflow_private
from helpers.model.phrase import counted
from helpers.model.traces import HEADINGS, MARKS, TraceEntry, TraceLedger, trace_entry
from helpers.safety import restoring
from helpers.safety.arguments import is_a, is_exactly, kind_of, own, printable, shown
from helpers.safety.restoring import whole

FIRST = "first trace"
NO_LEAF = "no leaf differs in words; its own equality says that it is another"
KERAS = "keras.src.backend.tensorflow.trainer"
LOOPS = {"fit": "train", "evaluate": "test", "predict": "predict"}
ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
MOST_ROWS = 3  # hits in a row with different arguments: so many rows, and then one for all
MOST_NAMES = 3  # in one note
MOST_KINDS = 2_000  # of arguments that are told apart within one run of hits
_EAGER = "run_functions_eagerly is on: Python ran, nothing was looked up"


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
    at = None if options else _inner_cell(fn)
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
    if (torch := restoring.module("torch")) and is_a(fn, torch.nn.Module):
        raise TypeError("TensorFlow traces no module of torch; watch_recompiles watches torch's")
    if not callable(fn):
        raise TypeError(f"a function is needed, and {shown(fn)} cannot be called{instead(fn)}")
    made = as_tf_function(fn, **options)
    tensorflow_private.omit_retracing_warning(made)  # the ledger says more, and names the cause
    return made


def as_tf_function(fn, **options):
    """Return `tf.function(fn, **options)`. TypeError, in one sentence, if TensorFlow refuses."""
    import tensorflow as tf

    if type(fn) is FunctionType and fn.__code__.co_flags & ASYNC:
        raise TypeError(f"a call of {shown(fn)} only makes a coroutine, and TensorFlow traces none")
    try:
        made = tf.function(fn, **options)
        inspect.signature(made)
    except Exception as error:  # what `fn` says of itself may raise anything
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


def _inner_cell(fn) -> int | None:
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


class CalledByName:
    """The functions that the globals of `python` gave for the names in its code, when made.

    A graph does not ask for a name again. Functions are held weakly: whoever asks who holds one
    must not find this.
    """

    def __init__(self, python):
        function = python.__func__ if type(python) is MethodType else python
        self._space, self._before = {}, {}
        if type(function) is FunctionType:
            self._space = function.__globals__
            found = ((name, self._space.get(name)) for name in function.__code__.co_names)
            self._before = {name: weakref.ref(f) for name, f in found if type(f) is FunctionType}

    def replaced(self) -> str:
        """Say which names lead to something else by now; "" where none does."""
        names = [n for n, before in self._before.items() if self._space.get(n) is not before()]
        if not names:
            return ""
        listed = ", ".join(map(printable, names[:MOST_NAMES])) + ", …" * (len(names) > MOST_NAMES)
        return f"another {listed} by now, for which the graph does not ask"


class Watched:
    """A tf.function that keeps a ledger. What it returns or raises is the function's own.

    Other attributes (`get_concrete_function`, `experimental_get_tracing_count` …) are the
    function's; what `get_concrete_function` traces is written down too. Calls are in the order in
    which they ended. A call from another thread has its own row, which says so.
    """

    autograph_info__ = {}  # AutoGraph rewrites callers, and leaves what bears this name alone

    def __init__(self, function, threads: bool = True):
        self.function = function
        self._names, self._log = Names(), _Log()
        self._words: dict = {}  # key -> words of its arguments, as they were when it was made
        self._home = threading.get_ident() if threads else None
        self.__wrapped__ = python = function.python_function
        self._called = CalledByName(python)
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
        entries = self._log.entries()
        note = self._log.summary(self.function.experimental_get_tracing_count())
        title = f"Calls of {called(self.__wrapped__)}"
        return TraceLedger(title, "call", HEADINGS, entries, note, marks=MARKS)

    @property
    def last(self) -> TraceEntry | None:
        """Return the row of the last call on its own, however the ledger folds it."""
        return self._log.last

    def forecast(self, args, kwargs) -> TraceEntry:
        """Return the row that a call would add; nothing is called, and no row is added."""
        key, failed = self._wanted(args, kwargs)
        if failed is not None:
            words = self._names.values(args, kwargs)
            return trace_entry("next", words, "error", f"no key: {said(failed)}")
        words = self._arguments(key)
        if tensorflow_private.runs_eagerly(self.function):
            return trace_entry("next", words, "eager", _EAGER)
        held = tensorflow_private.serving_key(self.function, key)
        if held is not None:
            return trace_entry("next", words, "hit", self._fit(words, key, held))
        known = list(tensorflow_private.cached_keys(self.function))
        causes = nearest(known, key, self._names)
        note = _because(causes, known) if known else FIRST
        return trace_entry("next", words, "trace", note, traces=1, causes=causes)

    def _run(self, call, args, kwargs, asked=""):
        key, _ = self._wanted(args, kwargs)
        words = self._names.values(args, kwargs) if key is None else self._arguments(key)
        error, made = None, []
        try:
            with tensorflow_private.hearing_traces() as made:
                return call(*args, **kwargs)
        except BaseException as raised:
            error = raised
            if why := _loop_of_keras(raised):
                error = TypeError(why)
                raise error from None
            raise
        finally:
            self._write(key, asked + words, made, error, call)
            error = None  # or its traceback would hold this frame, and this frame it

    def _write(self, key, words, made, error, call):
        """Write the row down; an argument whose own `__eq__` raises must not change the call."""
        try:
            row = self._row(key, words, made, error, call)
        except Exception as broken:
            verdict = "error" if error else "trace" if made else "hit"
            row = verdict, f"no key to compare with: {kind_of(broken)}", len(made), ()
        verdict, note, traces, causes = row
        if self._home not in (None, threading.get_ident()):
            note = f"{note}; on another thread".removeprefix("; ")
        self._log.add(words, verdict, note, traces, causes)

    def _row(self, key, words, made, error, call) -> tuple:
        cached = tensorflow_private.cached_keys(self.function) if made or error else {}
        new = [k for k, concrete in cached.items() if any(concrete is m for m in made)]
        if error is not None:
            return "error", self._failure(error, new, key), len(new), ()
        if new:
            before = [k for k in cached if not any(k is one for one in new)]
            causes = () if key is None else nearest(before, key, self._names)
            return "trace", self._traced(key, new, before, causes), len(new), causes
        if call is self.function and tensorflow_private.runs_eagerly(self.function):
            return "eager", _EAGER, 0, ()
        notes = "" if key is None else self._hit(key, words), self._called.replaced()
        return "hit", "; ".join(filter(None, notes)), 0, ()

    def _traced(self, key, new, before, causes) -> str:
        parts = [_because(causes, before) if before else FIRST]
        made = self._arguments(new[-1])
        if key is not None and made != self._arguments(key):
            parts.append(f"traced as {made}")
        if len(new) > 1:
            scopes = {context.scope_type for context, _ in new}  # one, if it called itself
            why = ": to create its variables, and to run without creating any" * (len(scopes) > 1)
            parts.append(f"traced {len(new)} times{why}")
        return "; ".join(parts)

    def _hit(self, key, words) -> str:
        """Return which key it was, where that is not the one that its own words would name."""
        note = self._words.get(key)
        if note is None or note[0] != words:
            held = tensorflow_private.serving_key(self.function, key)
            note = words, "" if held is None else self._fit(words, key, held)
            if len(self._words) < MOST_KINDS:
                self._words[key] = note
        return note[1]

    def _fit(self, words, key, held) -> str:
        """Return in words how a call fits a key: by being equal, or by a more general shape."""
        stored = next(k for k in tensorflow_private.cached_keys(self.function) if k == held)
        made = self._arguments(stored)
        if made == words.removeprefix("to trace only: "):
            return ""
        return f"{'equal to' if held == key else 'fits'} the key {made}"

    def _wanted(self, args, kwargs):
        try:
            return tensorflow_private.wanted_key(self.function, args, kwargs), None
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # the call itself will say it
            return None, error

    def _arguments(self, key) -> str:
        try:
            return self._names.arguments(key[1])
        except Exception as error:
            return f"(no words: {kind_of(error)})"

    def _failure(self, error, new, key) -> str:
        when = "traced, then raised" if new else "no key" if key is None else self._when(key)
        return f"{when}: {said(error)}"

    def _when(self, key) -> str:
        try:
            held = tensorflow_private.serving_key(self.function, key)
        except Exception:  # an argument's own __eq__
            return "raised while looking the key up"
        return "raised while tracing" if held is None else "raised while running"


def _loop_of_keras(error: BaseException) -> str:
    """Return why a trace met `fit` and the like, and what to do; "" if it did not."""
    while error is not None and type(error) is not KeyboardInterrupt:
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


class _Log:
    """All calls of one watched function; calls in a row that hit are folded as they come."""

    def __init__(self):
        self._runs: list[_Run] = []
        self._calls, self._verdicts, self._traces = 0, Counter(), 0
        self.last: TraceEntry | None = None

    def add(self, arguments: str, verdict: str, note: str, traces: int, causes: tuple) -> None:
        """Write one call down."""
        if not self._runs or traces or not self._runs[-1].takes(verdict):
            self._runs.append(_Run(self._calls + 1, verdict, traces, causes))
        self._runs[-1].add(arguments, note)
        self._calls += 1
        self._verdicts[verdict] += 1
        self._traces += traces
        more = {"traces": traces, "causes": causes}
        self.last = trace_entry(f"{self._calls:,}", arguments, verdict, note, **more)

    def entries(self) -> tuple[TraceEntry, ...]:
        """Return the rows so far."""
        return tuple(entry for run in self._runs for entry in run.entries())

    def summary(self, theirs: int) -> str:
        """Return the counts in words; `theirs` is how many traces TensorFlow counts."""
        seen = self._verdicts
        parts = [counted(self._traces, "trace")]
        parts += [counted(seen[verdict], verdict) for verdict in ("hit", "error") if seen[verdict]]
        parts += [f"{seen['eager']:,} eager"] * bool(seen["eager"])
        note = f"{counted(self._calls, 'call')}: {', '.join(parts)}."
        if theirs != self._traces:
            made = f"{counted(theirs, 'trace')}; the others were made outside these calls."
            note += f" TensorFlow counts {made}"
        return note


class _Run:
    """Calls in a row with the same verdict: how many for each (arguments, note), in order."""

    def __init__(self, first: int, verdict: str, traces: int, causes: tuple):
        self.first, self.verdict, self.traces, self.causes = first, verdict, traces, causes
        self.rows: list[list] = []  # [arguments, note, calls], as long as there are few
        self.kinds: set[tuple] = set()  # (arguments, note)
        self.calls = 0

    def takes(self, verdict: str) -> bool:
        """Return whether another call belongs here; one that traced always stands alone."""
        return verdict == self.verdict and not self.traces

    def add(self, arguments: str, note: str) -> None:
        """Count one more call."""
        self.calls += 1
        if len(self.kinds) < MOST_KINDS:
            self.kinds.add((arguments, note))
        if self.rows and self.rows[-1][:2] == [arguments, note]:
            self.rows[-1][2] += 1
        elif len(self.rows) <= MOST_ROWS:
            self.rows.append([arguments, note, 1])

    def entries(self) -> list[TraceEntry]:
        """Return a row for each change of arguments, or one row for all where they are many."""
        rows = self.rows
        if len(rows) > MOST_ROWS:
            most = " or more" if len(self.kinds) == MOST_KINDS else ""
            words = f"{len(self.kinds)}{most} kinds of arguments in turn, such as {rows[0][0]}"
            rows = [[words, "", self.calls]]
        made, first = [], self.first
        for arguments, note, calls in rows:
            span = f"{first:,}" if calls == 1 else f"{first:,} – {first + calls - 1:,}"
            more = {"calls": calls, "traces": self.traces, "causes": self.causes}
            made.append(trace_entry(span, arguments, self.verdict, note, **more))
            first += calls
        return made

"""A tf.function, called as ever -> a ledger of its calls: hit or trace, and why it traced.

Each call is looked up beforehand by TensorFlow's own types, and a callback of TensorFlow's own
tells which traces it made. A key is (FunctionContext, FunctionType), as in
tensorflow/core/function/trace_type; a walk down two keys names the leaves that differ.
"""

import functools
import inspect
import re
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import groupby, islice
from types import BuiltinFunctionType, FunctionType, MethodType

from ...internals import tensorflow_private
from ...model.framework_records import HEADINGS, MARKS, Cause, TraceEntry, TraceLedger, trace_entry
from ...model.phrase import clipped, counted, listed
from ...safety.arguments import is_exactly, near, quote_value, real_isinstance, static_attribute
from ...safety.restoring import preserves_interpreter_state
from ..cpython.objects import called
from ..cpython.unwrapping import refuse_other_framework
from ..text.error import error_message, instead
from ..text.value import SCALARS, label, type_name

NO_LEAF = "both look the same, but their own equality test says that they differ"
KERAS = "keras.src.backend.tensorflow.trainer"
ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_EAGER = "run_functions_eagerly is on: Python ran, nothing was looked up"
WHEN = {"error": "no key", "trace": "raised while tracing"}
MOST_ITEMS, MOST_PARTS, MOST_TOLD, DEEPEST, LONGEST = 6, 20, 10, 6, 160
PYTHON = FunctionType, MethodType
SPEC = re.compile(r"\bTensorSpec\(shape=(.*?), dtype=tf\.(\w+), name=\w+\)")
ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
MOST_DIFFERENCES = 20  # counted between two keys; beyond that they are far apart anyway
MOST_KEYS = 200  # the newest, compared with; each trace asks again, so all would be quadratic
BRACKETS = {"List": "[]", "Tuple": "()", "Dict": "{}"}
KINDS = {"list", "tuple", "dict"}
LEAVES = {"TensorSpec": "tensor ", "Literal": "Python value "}
CONTEXTS = {
    "parent_graph": ("eager", "inside another graph"),
    "device_functions": ("no devices of a strategy", "devices of a strategy"),
    "colocation_stack": ("no colocation", "colocated with other ops"),
    "in_cross_replica_context": ("no cross-replica context", "cross-replica context"),
}


def watch(fn, **options) -> "Watched":
    """Return `fn`, to be called as before, with a ledger of its calls: hit or trace, and why.

    A plain function becomes `tf.function(fn, **options)` first; TypeError if it cannot be called.
    Watching does not change the counts of a tf.function. `.model.traces` counts retraces too,
    `.retraces` only them, and each of `.model.entries` has `arguments`, `verdict`, `causes` and
    `note`. Example: `step = watch_traces(step)`, then `step(x)` and `print(step)`
    """
    known = None if options else watched_of(fn)
    return known or Watched(as_function(fn, options))


@preserves_interpreter_state
def would_trace(fn, *args, **kwargs) -> TraceEntry:
    """Return the row that a call `fn(*args, **kwargs)` would add now, without making the call.

    `fn` is a tf.function or a watched one. Only an error in the body could still change that row.
    TypeError if `fn` cannot be called. Example: `would_trace(step, x).verdict == "hit"`
    """
    if type(fn) is MethodType and (known := watched_of(fn.__func__)):
        return known.forecast((fn.__self__, *args), kwargs)
    return (watched_of(fn) or Watched(as_function(fn, args=args))).forecast(args, kwargs)


def as_function(fn, options=(), args=()):
    """Return the tf.function that `fn` is, or becomes. TypeError if it can be neither."""
    refuse_other_framework(fn, args, "watch_traces", "TensorFlow")
    import tensorflow as tf

    kinds = tf.types.experimental
    fn = known.function if (known := watched_of(fn)) else fn
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
    made = as_tf_function(fn, **dict(options))
    tensorflow_private.omit_retracing_warning(made)  # the ledger says more, and names the cause
    return made


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

    autograph_info__ = {}  # AutoGraph rewrites callers, but no function with this name
    unit = "call"  # what a row is

    def __init__(self, function):
        self.function = function
        self._names, self._calls = Names(), []
        self._fits: dict = {}  # key -> words of its arguments, and how they fit the key that serves
        self.__wrapped__ = python = function.python_function
        inner = python.__func__ if type(python) is MethodType else python
        is_function = type(inner) is FunctionType
        self._space = inner.__globals__ if is_function else {}
        names = inner.__code__.co_names if is_function else ()
        found = ((name, self._space.get(name)) for name in names)
        self._before = {n: weakref.ref(value) for n, value in found if type(value) is FunctionType}
        if type(python) in (*PYTHON, BuiltinFunctionType):
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
        name = "get_concrete_function"
        return self._run(getattr(self.function, name), args, kwargs, f"{name}: ")

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
            fits = f"{'equal to' if held == key else 'matches'} the key {stored}"
            self._fits[key] = words, "" if stored == words else fits
            return trace_entry("next", words, "hit", self._fits[key][1])
        note, causes = _reason(known, key, self._names)
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
        """Record the outcome of a call that was predicted as `row`."""
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
            verdict, notes = "hit", [row.note * (verdict == "hit"), self._tell_renamed()]
        words, note = asked + row.arguments, "; ".join(filter(None, notes))
        self._calls.append(trace_entry("", words, verdict, note, traces=len(new), causes=causes))

    def _tell_renamed(self) -> str:
        """Say which names now lead to another function: a graph does not look them up again."""
        names = [n for n, before in self._before.items() if self._space.get(n) is not before()]
        told = f"now a different {listed(names, 3)}, which the graph does not check"
        return told if names else ""


class TracesSeen:
    """List the traces that TensorFlow makes in a `with` block, in any function.

    `.model` is as of `watch_traces`. A call that hits adds no row. Functions that were made before
    the block, as Keras does, and functions of other threads are included. A new tf.function is a
    retrace if its code was traced in the block, or by a tf.function that was alive at its start.
    Functions that tf.data traces are only counted. Errors in the block are raised. Example: `with
    watching_traces() as seen: train()`, then `assert not seen.model.retraces, str(seen)`
    """

    unit = "trace"  # what a row is

    def __init__(self):
        self._names, self._calls, self._of_data = Names(), [], 0
        self._made: dict[tuple, list] = {}  # what was traced; kept, so that each id stays its own

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Hear of each trace in the block; what is traced already counts as traced before."""
        for function in tensorflow_private.traced_functions():
            self._made |= _sources(parts_of(function.python_function))
        with tensorflow_private.hearing_lookups(self._hear):
            yield

    def _hear(self, python, key, known, error) -> None:
        module = str(getattr(python, "__module__", ""))
        if module.startswith("tensorflow.python.data."):
            self._of_data += 1
            return
        (context, kind), name, parts = key, called(python), parts_of(python)
        methods = [one for one in parts if type(one) is MethodType]
        inner = "".join(f" ({called(one)})" for one in methods[:1] if called(one) != name)
        subject = f"{len(self._calls) + 1}: {name}{inner}"
        alike = [one for one in known if one[0].scope_type == context.scope_type]
        note, causes = _reason(alike, key, self._names)
        source = _sources(parts)
        old, new = "an earlier one", "a new one of its code"
        if module == KERAS and not known:
            note = "first trace since compile()"
        if source and source.keys() <= self._made.keys() and not known:
            if module == KERAS and methods:
                made = called(methods[0]).partition("_")[0]  # of train_step, test_step, …
                note = f"compile() made a new {made} function: call compile() once"
                causes = (Cause(f"{made} function", "object", old, new),)
            elif not module.startswith("tensorflow."):
                note = "new tf.function of code traced before: make the tf.function once"
                causes = (Cause("tf.function", "object", old, new),)
        again = "second trace of the first call, which created variables: not a retrace"
        row, more = ("trace", again if known and not alike else note), {"traces": 1}
        if error:
            row, more, causes = ("error", f"{WHEN['trace']}: {error_message(error)}"), {}, ()
        self._made |= {} if error else source
        words = self._names.arguments(kind)
        self._calls.append(trace_entry(subject, words, *row, causes=causes, **more))

    @property
    def model(self) -> TraceLedger:
        """Return the ledger as it is now."""
        title = "Traced in the block"
        made = TraceLedger(title, "function", HEADINGS, (*self._calls,), marks=MARKS)
        note = f"{counted(made.traces, 'trace')}, {counted(made.retraces, 'retrace')} among them."
        data = f" tf.data traced {counted(self._of_data, 'function')} for datasets."
        return replace(made, note=note + data * bool(self._of_data))


def parts_of(python) -> list:
    """Return a callable, and the functions, methods and tf.functions that it wraps or closes on."""
    kinds, waiting, found = (*PYTHON, tensorflow_private.Function), [python], {}
    for one in waiting:
        if id(one) not in found and real_isinstance(one, *kinds) and len(found) < MOST_PARTS:
            found[id(one)] = one
            waiting += (getattr(one, name, None) for name in ("__wrapped__", "_python_function"))
            with suppress(ValueError):  # a cell without contents
                waiting += (cell.cell_contents for cell in getattr(one, "__closure__", None) or ())
    return [*found.values()]


def _sources(parts: list) -> dict[tuple, list]:
    """Return {ids of the code, and of the owners, of what a tf.function runs: code and owners}.

    TensorFlow wraps each function in code of its own, which all of them share.
    """
    python = [one for one in parts if real_isinstance(one, *PYTHON)]
    wraps = (str(one.__globals__.get("__name__")).startswith("tensorflow.") for one in python)
    code = [one.__code__ for one, theirs in zip(python, wraps, strict=True) if not theirs]
    owners = (one.__self__ for one in python if type(one) is MethodType)
    code += [weakref.ref(one) if type(one).__weakrefoffset__ else one for one in owners]
    return {tuple(map(id, code)): code} if code else {}


def _reason(known, key, names: "Names") -> tuple[str, tuple[Cause, ...]]:
    """Return why a key equals none of the known ones, in words, and as causes."""
    if not known:
        return "first trace", ()
    causes = nearest(known, key, names)
    more = f"; and {len(causes) - MOST_TOLD} more" if len(causes) > MOST_TOLD else ""
    return "; ".join(map(str, causes[:MOST_TOLD])) + more or NO_LEAF, causes


def _folded(calls: list[TraceEntry]) -> Iterator[TraceEntry]:
    """Yield the rows: calls in a row that are told alike, and trace nothing, are one."""
    told = lambda pair: (pair[1].verdicts, pair[1].note, pair[1].traces and pair[0])  # noqa: E731
    for _, run in groupby(enumerate(calls, 1), told):
        (first, entry), *more = run
        span = f"{first:,} – {first + len(more):,}" if more else f"{first:,}"
        yield replace(entry, subject=span, calls=1 + len(more))


# ------------------------------------------------------------------ two keys, in words


class Names:
    """Words for types. Objects are numbered in the order in which they were first named."""

    def __init__(self):
        self._known = {}
        self._used: dict[str, int] = {}

    def arguments(self, function_type) -> str:
        """Return the words of all arguments of a FunctionType, as in `x=float32 (2,), n=1`."""
        parameters = function_type.parameters.items()
        return _joined(f"{name}={self.of(p.type_constraint)}" for name, p in parameters)

    def values(self, args, kwargs) -> str:
        """Return the words of live values that fit no key."""
        named = (f"{name}={label(value)}" for name, value in kwargs.items())
        return _joined([*map(label, args), *named])

    def of(self, trace_type, depth: int = 0) -> str:
        """Return the words of one TraceType; a value is never asked for more than its repr."""
        kind, parts = _kind(trace_type), _parts_of(trace_type)
        if depth > DEEPEST:
            return "…"
        if kind == "Literal":
            return literal(trace_type.value)
        if kind == "Weakref":
            return self.thing(trace_type._ref)
        if kind in ("TensorSpec", "VariableSpec"):
            words = f"{trace_type.dtype.name} {shape_words(trace_type.shape)}"
            return words if kind == "TensorSpec" else f"Variable {words}"
        if parts is None:
            with suppress(Exception):  # a repr of somebody's own
                if not ADDRESS.search(words := repr(trace_type)):
                    return clipped(SPEC.sub(r"\2 \1", words), LONGEST)
            return type_name(trace_type)
        words = [self.of(part, depth + 1) for part in islice(parts.values(), MOST_ITEMS)]
        if kind == "Dict":
            words = [f"{literal(name)}: {one}" for name, one in zip(parts, words, strict=False)]
        words += [f"… {len(parts) - MOST_ITEMS:,} more"] * (len(parts) > MOST_ITEMS)
        start, end = BRACKETS[kind]
        return start + ", ".join(words) + "," * (kind == "Tuple" and len(parts) == 1) + end

    def thing(self, ref) -> str:
        """Return the words of the object of a weakref: its type, numbered; the same ever after."""
        if id(ref) not in self._known:
            value = ref()
            plain = "freed object" if value is None else label(value)
            if plain == type_name(value) and not is_exactly(value, *SCALARS):
                plain += " object"
            number = self._used[plain] = self._used.get(plain, 0) + 1
            shown = plain if number == 1 and plain.endswith("()") else f"{plain} {number}"
            self._known[id(ref)] = (ref, shown)  # the ref is kept, so that its id stays its own
        return self._known[id(ref)][1]


def _kind(trace_type) -> str:
    return type_name(trace_type) if type(trace_type).__module__.startswith("tensorflow.") else ""


def _parts_of(trace_type) -> dict | None:
    """Return key or index -> TraceType of what a list, tuple or dict holds; None of all else."""
    kind = _kind(trace_type)
    if kind == "Dict":
        return dict(trace_type.mapping)
    if kind == "List":
        trace_type = trace_type.components_tuple
    return dict(enumerate(trace_type.components)) if kind in BRACKETS else None


def _joined(words) -> str:
    return clipped(listed(words, MOST_ITEMS), LONGEST) or "(none)"


def shape_words(tensor_shape) -> str:
    """Return a TensorShape as a tuple is written; None means any size."""
    return "of any rank" if tensor_shape.rank is None else str(tuple(tensor_shape.as_list()))


def literal(value, exact: bool = False) -> str:
    """Return a value in words, a float in 6 digits unless `exact`; only built-in code is run."""
    if type(value) is object:  # what TensorFlow keeps for nan, so that it equals itself
        return "nan"
    value = float(f"{value:.6g}") if type(value) is float and not exact else value
    return repr(value) if type(value) is range else label(value)


def nearest(keys, wanted, names: Names) -> tuple[Cause, ...]:
    """Return how `wanted` differs from the nearest of `keys` (oldest first); () if there is none.

    The nearest differs in the fewest leaves, and rather not in a length, nor in whether an argument
    is a list, tuple or dict; of equals, it is the newest.
    """
    walks = (_walk_keys(names, key, wanted) for key in keys[-MOST_KEYS:])
    found = [tuple(islice(walk, MOST_DIFFERENCES)) for walk in walks]
    return min(reversed(found), key=_distance, default=())


def _distance(causes) -> tuple[int, int, int]:
    tops = (one for one in causes if one.kind == "type" and "[" not in one.where)
    others = sum(not KINDS.isdisjoint((one.before, one.after)) for one in tops)
    return others, sum(one.kind == "number of elements" for one in causes), len(causes)


def _walk_keys(names: Names, old, new) -> Iterator[Cause]:
    """Yield a Cause for each leaf in which two keys differ: arguments, and the graph around."""
    (old_context, old_type), (new_context, new_type) = old, new
    old, new = (
        {name: parameter.type_constraint for name, parameter in one.parameters.items()}
        for one in (old_type, new_type)
    )
    yield from _walk_parts(names, "call", "argument", old, new, str, "{1}")
    for name, words in CONTEXTS.items():
        pair = [getattr(one.context, name, None) for one in (old_context, new_context)]
        if pair[0] is not pair[1] and pair[0] != pair[1]:
            before, after = (words[bool(one)] for one in pair)
            same = ", but not the same" * (before == after)
            yield Cause("function context", "type", before, after + same)


def _walk_parts(names, where, kind, old: dict, new: dict, words, place) -> Iterator[Cause]:
    """Yield what only one of two dicts of TraceTypes has, and what differs in the others."""
    gone, added = (
        ", ".join(words(name) for name in one if name not in other) or "(none)"
        for one, other in ((old, new), (new, old))
    )
    if gone != added:
        yield Cause(where, kind, gone, added)
    for name in new:
        if name in old:
            yield from _walk_types(names, place.format(where, words(name)), old[name], new[name])


def _walk_types(names: Names, where: str, old, new) -> Iterator[Cause]:
    with suppress(Exception):  # an argument's own __eq__
        if old == new:
            return
    kind, parts = _kind(new), _parts_of(new)
    if type(old) is not type(new):
        kinds = [(_kind(side), side) for side in (old, new)]
        words = (k.lower() if k in BRACKETS else LEAVES.get(k, "") + names.of(s) for k, s in kinds)
        yield Cause(where, "type", *words)
    elif kind in ("List", "Tuple") and len(parts) != len(_parts_of(old)):
        yield Cause(where, "number of elements", str(len(_parts_of(old))), str(len(parts)))
    elif parts is not None:
        yield from _walk_parts(names, where, "dict key", _parts_of(old), parts, literal, "{}[{}]")
    elif kind == "Literal" and type(old.value) is not type(new.value):
        yield Cause(where, "Python type", type_name(old.value), type_name(new.value))
    elif kind == "Literal":
        exact = literal(old.value) == literal(new.value)
        yield _other(where, "Python value", *(literal(one.value, exact) for one in (old, new)))
    elif kind == "Weakref":
        freed = " (freed since)" if old._ref() is None else ""
        yield Cause(where, "object", names.thing(old._ref) + freed, names.thing(new._ref))
    else:
        is_tensor = hasattr(new, "dtype") and hasattr(new, "shape")
        causes = list(_tensor_causes(where, old, new)) if is_tensor else []
        yield from causes or [_other(where, "trace type", *map(names.of, (old, new)))]


def _tensor_causes(where: str, old, new) -> Iterator[Cause]:
    before, after = old.shape, new.shape
    if old.dtype != new.dtype:
        yield Cause(where, "dtype", old.dtype.name, new.dtype.name)
    if before.rank != after.rank:
        yield Cause(where, "rank", str(before.rank), str(after.rank))
    elif before.rank is not None and before.as_list() != after.as_list():
        pairs = zip(before.as_list(), after.as_list(), strict=True)
        at = [i for i, (one, other) in enumerate(pairs) if one != other]
        dimension = f", dimension {at[0]}" if len(at) == 1 and after.rank > 1 else ""
        yield Cause(where, "shape", shape_words(before), shape_words(after), dimension)
    elif old.dtype == new.dtype and _kind(new) == "VariableSpec":
        words = (f"number {side.alias_id + 1} of the call" for side in (old, new))
        yield Cause(where, "variable", *words)


def _other(where, kind: str, before: str, after: str) -> Cause:
    return Cause(where, kind, before, f"another {after}" if before == after else after)

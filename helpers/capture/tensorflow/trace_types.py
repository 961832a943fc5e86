"""The types that make the key of a tf.function -> words, and what differs between two keys.

A key is (FunctionContext, FunctionType). Both follow tensorflow/core/function/trace_type: every
kind of type there has its words here; the walk down two keys goes on where both sides are
containers of the same make, and names what differs where not.
"""

import math
import re
from itertools import islice

from helpers.capture.text.value import SCALARS, label, type_name
from helpers.internals import tensorflow_private
from helpers.model.phrase import clipped
from helpers.model.traces import Cause
from helpers.safety.arguments import is_exactly

MOST_ITEMS, DEEPEST, LONGEST = 6, 6, 160
ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
WEIGHTS = {"type": 4, "dict key": 3, "number of elements": 3, "argument": 3, "rank": 2}
MOST_DIFFERENCES = 20  # counted between two keys; beyond that they are far apart anyway
MOST_KEYS = 200  # keys compared with; each trace asks again, so all of them would be quadratic
CONTAINERS = {"List": "list", "Tuple": "tuple", "Dict": "dict", "NamedTuple": "namedtuple"}
LEAVES = {"TensorSpec": "tensor", "Literal": "Python value"}
CONTEXTS = {
    "parent_graph": ("eager", "inside another graph"),
    "device_functions": ("no devices of a strategy", "devices of a strategy"),
    "colocation_stack": ("no colocation", "colocated with other ops"),
    "in_cross_replica_context": ("no cross-replica context", "cross-replica context"),
    "variable_policy": ("not saving", "saving a model"),
    "xla_context_id": ("no XLA context", "inside an XLA context"),
}


class Names:
    """Words for types. Objects are numbered in the order in which they were first named."""

    def __init__(self):
        self._known = {}
        self._used: dict[str, int] = {}

    def arguments(self, function_type) -> str:
        """Return the words of all arguments of a FunctionType, as in `x=float32 (2,), n=1`."""
        parameters = function_type.parameters
        parts = [f"{name}={self.of(p.type_constraint)}" for name, p in _first(parameters.items())]
        return cut(", ".join(parts + _rest(len(parameters)))) or "(none)"

    def values(self, args, kwargs) -> str:
        """Return the words of live values that fit no key."""
        words = [self.value(value) for value in args[:MOST_ITEMS]]
        words += [f"{name}={self.value(value)}" for name, value in _first(kwargs.items())]
        more = len(args) + len(kwargs) - len(words)
        return cut(", ".join(words + [f"… {more} more"] * bool(more))) or "(none)"

    def value(self, value) -> str:
        """Return the words of a live value: of its TraceType if it has one, else its type."""
        try:
            return self.of(tensorflow_private.trace_type.from_value(value))
        except KeyboardInterrupt:
            raise
        except BaseException:  # the argument's own tracing protocol may raise anything
            return label(value)

    def of(self, trace_type, depth: int = 0) -> str:
        """Return the words of one TraceType; a value is never asked for more than its repr."""
        if depth > DEEPEST:
            return "…"
        describe = _method(self, trace_type)
        if describe is not None:
            return describe(trace_type, depth)
        if hasattr(type(trace_type), "_type_spec") or hasattr(trace_type, "_component_specs"):
            return _spec(trace_type)
        return _own_words(trace_type)

    def thing(self, ref) -> str:
        """Return the words of the object of a weakref: its type, numbered; the same ever after."""
        if id(ref) not in self._known:
            value = ref()
            plain = "freed object" if value is None else _noun(value)
            self._used[plain] = self._used.get(plain, 0) + 1
            number = self._used[plain]
            shown = plain if number == 1 and plain.endswith("()") else f"{plain} {number}"
            self._known[id(ref)] = (ref, shown)  # the ref is kept, so that its id stays its own
        return self._known[id(ref)][1]

    def _tensorspec(self, t, depth) -> str:
        return f"{t.dtype.name} {shape_words(t.shape)}"

    def _variablespec(self, t, depth) -> str:
        return f"Variable {t.dtype.name} {shape_words(t.shape)}"

    def _literal(self, t, depth) -> str:
        return literal(value_of(t))

    def _weakref(self, t, depth) -> str:
        return self.thing(t._ref)

    def _list(self, t, depth) -> str:
        return f"[{self._items(t.components_tuple.components, depth)}]"

    def _tuple(self, t, depth) -> str:
        comma = "," if len(t.components) == 1 else ""
        return f"({self._items(t.components, depth)}{comma})"

    def _dict(self, t, depth) -> str:
        shown = [f"{literal(k)}: {self.of(v, depth + 1)}" for k, v in _first(t.mapping.items())]
        return "{" + ", ".join(shown + _rest(len(t.mapping))) + "}"

    def _namedtuple(self, t, depth) -> str:
        pairs = _first(zip(t.attribute_names, t.attributes.components, strict=True))
        shown = [f"{name}={self.of(inner, depth + 1)}" for name, inner in pairs]
        return f"{t.type_name}({', '.join(shown + _rest(len(t.attribute_names)))})"

    def _attrs(self, t, depth) -> str:
        return self._namedtuple(t.named_attributes, depth)

    def _customnesttracetype(self, t, depth) -> str:
        return f"{t.value_type.__name__}({self._items(t.components, depth)})"

    def _items(self, types, depth) -> str:
        return ", ".join([self.of(t, depth + 1) for t in _first(types)] + _rest(len(types)))


def _method(owner, trace_type):
    """Return the method for a kind of TensorFlow's own TraceTypes; None of another one."""
    if not type(trace_type).__module__.startswith("tensorflow."):
        return None
    return getattr(owner, f"_{type_name(trace_type).lower()}", None)


def shape_words(tensor_shape) -> str:
    """Return a TensorShape as a tuple is written; None stands for any size."""
    return "of any rank" if tensor_shape.rank is None else str(tuple(tensor_shape.as_list()))


def value_of(t):
    """Return the value of a Literal; for nan TensorFlow keeps a marker, which equals itself."""
    return math.nan if type(t.value) is object else t.value


def literal(value) -> str:
    """Return a Python value in words; of a value that is no scalar, no line of code is run."""
    return repr(value) if type(value) is range else label(value)


def cut(words: str) -> str:
    """Return words of at most `LONGEST` characters."""
    return clipped(words, LONGEST)


def _spec(type_spec) -> str:
    """Return the words of a composite tensor's spec: its kind, then dtype and shape if any."""
    kind = type_name(type_spec).removesuffix("Spec")
    dtype, dimensions = (getattr(type_spec, name, None) for name in ("dtype", "shape"))
    if dtype is None or not hasattr(dimensions, "rank"):
        return kind
    return f"{kind} {dtype.name} {shape_words(dimensions)}"


def _own_words(trace_type) -> str:
    """Return what a type says of itself, without addresses; if that fails, the type's name."""
    try:
        words = repr(trace_type)
    except Exception:
        return type_name(trace_type)
    return type_name(trace_type) if ADDRESS.search(words) else cut(words)


def _noun(value) -> str:
    words = label(value)
    return words if words != type_name(value) or is_exactly(value, *SCALARS) else f"{words} object"


def _first(items):
    return islice(items, MOST_ITEMS)


def _rest(total: int) -> list[str]:
    return [f"… {total - MOST_ITEMS:,} more"] if total > MOST_ITEMS else []


# ------------------------------------------------------------------ two keys


def nearest(keys, wanted, names: Names) -> tuple[Cause, ...]:
    """Return how `wanted` differs from the nearest of `keys` (oldest first); () if there is none.

    The nearest differs in the fewest leaves; of equals, in the smallest way; of those, the newest.
    Of very many keys only the newest are asked.
    """
    walks = (_Walk(names).differences(key, wanted) for key in keys[-MOST_KEYS:])
    found = [tuple(islice(walk, MOST_DIFFERENCES)) for walk in walks]
    return min(reversed(found), key=_distance, default=())


def _distance(causes) -> tuple[int, int]:
    return len(causes), sum(WEIGHTS.get(cause.kind, 1) for cause in causes)


class _Walk:
    """One walk down two keys, side by side."""

    def __init__(self, names: Names):
        self.names = names

    def differences(self, old, new):
        """Yield a Cause for each leaf in which two keys differ: arguments, captures, context."""
        (old_context, old_type), (new_context, new_type) = old, new
        before, after = old_type.parameters, new_type.parameters
        gone, added = [n for n in before if n not in after], [n for n in after if n not in before]
        if gone or added:
            yield Cause("call", "argument", _listed(gone), _listed(added))
        for name in after:
            if name in before:
                sides = before[name].type_constraint, after[name].type_constraint
                yield from self.types(name, *sides)
        for name, wanted in new_type.captures.items():
            if name in old_type.captures:
                yield from self.types(f"captured {name}", old_type.captures[name], wanted)
        if old_context != new_context:
            yield from self._contexts(old_context, new_context)

    def _contexts(self, old, new):
        for field, (off, on) in CONTEXTS.items():
            before, after = (getattr(side.context, field, None) for side in (old, new))
            if before is not after and before != after:
                words = [on if side else off for side in (before, after)]
                words[1] += ", but not the same" * (words[0] == words[1])
                yield Cause("function context", "type", *words)
        if old.scope_type != new.scope_type:
            words = "may create variables", "may not create variables"
            yield Cause("function context", "type", *words)

    def types(self, where, old, new):
        """Yield the differences between two TraceTypes at the place `where`."""
        if _equal(old, new):
            return
        compare = _method(self, new)
        if type(old) is not type(new):
            yield Cause(where, "type", self._kind(old), self._kind(new))
        elif compare is not None:
            yield from compare(where, old, new)
        elif hasattr(new, "dtype") and hasattr(new, "shape"):
            yield from self._tensorspec(where, old, new)
        else:
            yield self._other(where, "trace type", *map(self.names.of, (old, new)))

    def _kind(self, side) -> str:
        """Return what kind of argument a TraceType stands for, and its words if it is a leaf."""
        kind = type_name(side)
        if kind in CONTAINERS:
            return CONTAINERS[kind]
        return f"{LEAVES.get(kind, '')} {self.names.of(side)}".strip()

    def _other(self, where, kind: str, before: str, after: str) -> Cause:
        return Cause(where, kind, before, f"another {after}" if before == after else after)

    def _tensorspec(self, where, old, new):
        if old.dtype != new.dtype:
            yield Cause(where, "dtype", old.dtype.name, new.dtype.name)
        if old.shape.rank != new.shape.rank:
            yield Cause(where, "rank", *(_rank(side.shape) for side in (old, new)))
        elif old.shape.rank is not None and old.shape.as_list() != new.shape.as_list():
            words = shape_words(old.shape), shape_words(new.shape)
            yield Cause(where, "shape", *words, _where_in(old, new))
        elif old.dtype == new.dtype:
            yield self._other(where, "trace type", *map(self.names.of, (old, new)))

    def _variablespec(self, where, old, new):
        if old.dtype == new.dtype and old.shape == new.shape and old.alias_id != new.alias_id:
            words = [f"number {side.alias_id + 1} of the call" for side in (old, new)]
            yield Cause(where, "variable", *words)
        else:
            yield from self._tensorspec(where, old, new)

    def _literal(self, where, old, new):
        old, new = value_of(old), value_of(new)
        if type(old) is not type(new):
            yield Cause(where, "Python type", *map(type_name, (old, new)))
        else:
            yield self._other(where, "Python value", literal(old), literal(new))

    def _weakref(self, where, old, new):
        before, after = self.names.thing(old._ref), self.names.thing(new._ref)
        freed = " (freed since)" if old._ref() is None else ""
        yield Cause(where, "object", f"{before}{freed}", after)

    def _list(self, where, old, new):
        yield from self._tuple(where, old.components_tuple, new.components_tuple)

    def _tuple(self, where, old, new):
        before, after = old.components, new.components
        if len(before) != len(after):
            yield Cause(where, "number of elements", str(len(before)), str(len(after)))
            return
        for i, sides in enumerate(zip(before, after, strict=True)):
            yield from self.types(f"{where}[{i}]", *sides)

    def _dict(self, where, old, new):
        gone = [literal(k) for k in old.mapping if k not in new.mapping]
        added = [literal(k) for k in new.mapping if k not in old.mapping]
        if gone or added:
            yield Cause(where, "dict key", _listed(gone), _listed(added))
        for key in new.mapping:
            if key in old.mapping:
                sides = old.mapping[key], new.mapping[key]
                yield from self.types(f"{where}[{literal(key)}]", *sides)

    def _namedtuple(self, where, old, new):
        if (old.type_name, old.attribute_names) != (new.type_name, new.attribute_names):
            yield Cause(where, "type", old.type_name, new.type_name)
            return
        sides = old.attributes.components, new.attributes.components
        for name, before, after in zip(old.attribute_names, *sides, strict=True):
            yield from self.types(f"{where}.{name}", before, after)

    def _attrs(self, where, old, new):
        yield from self._namedtuple(where, old.named_attributes, new.named_attributes)


def _equal(old, new) -> bool:
    try:
        return bool(old == new)
    except Exception:  # an argument's own __eq__
        return False


def _rank(dimensions) -> str:
    return "unknown" if dimensions.rank is None else str(dimensions.rank)


def _where_in(old, new) -> str:
    """Return which dimension it is, where that is one of several."""
    pairs = zip(old.shape.as_list(), new.shape.as_list(), strict=True)
    at = [i for i, (before, after) in enumerate(pairs) if before != after]
    return f", dimension {at[0]}" if len(at) == 1 and new.shape.rank > 1 else ""


def _listed(names) -> str:
    return ", ".join(map(str, names)) or "(none)"

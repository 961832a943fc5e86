"""The types that make the key of a tf.function -> words, and what differs between two keys.

A key is (FunctionContext, FunctionType), as in tensorflow/core/function/trace_type. The walk down
two keys goes on where both sides are containers of the same make, and names what differs where not.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from helpers.capture.text.value import SCALARS, label, type_name
from helpers.internals import tensorflow_private
from helpers.model.framework_records import Cause
from helpers.model.phrase import clipped, listed
from helpers.safety.arguments import is_exactly

MOST_ITEMS, DEEPEST, LONGEST = 6, 6, 160
ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
WEIGHTS = {"type": 4, "dict key": 3, "number of elements": 3, "argument": 3, "rank": 2}
MOST_DIFFERENCES = 20  # counted between two keys; beyond that they are far apart anyway
MOST_KEYS = 200  # the newest, compared with; each trace asks again, so all would be quadratic
BRACKETS = {"List": "[]", "Tuple": "()", "Dict": "{}"}
LEAVES = {"TensorSpec": "tensor ", "Literal": "Python value "}
GRAPHS = "eager", "inside another graph"


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
        words = []
        for name, value in (*(("", value) for value in args), *kwargs.items()):
            shown = label(value)
            with suppress(Exception):  # the argument's own tracing protocol may raise anything
                shown = self.of(tensorflow_private.trace_type.from_value(value))
            words.append(f"{name}={shown}" if name else shown)
        return _joined(words)

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
                    return clipped(words, LONGEST)
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
    """Return a TensorShape as a tuple is written; None stands for any size."""
    return "of any rank" if tensor_shape.rank is None else str(tuple(tensor_shape.as_list()))


def literal(value) -> str:
    """Return a Python value in words; of a value that is no scalar, no line of code is run."""
    if type(value) is object:  # what TensorFlow keeps for nan, so that it equals itself
        return "nan"
    return repr(value) if type(value) is range else label(value)


def nearest(keys, wanted, names: Names) -> tuple[Cause, ...]:
    """Return how `wanted` differs from the nearest of `keys` (oldest first); () if there is none.

    The nearest differs in the fewest leaves; of equals, in the smallest way; of those, the newest.
    """
    walks = (_walk_keys(names, key, wanted) for key in keys[-MOST_KEYS:])
    found = [tuple(islice(walk, MOST_DIFFERENCES)) for walk in walks]
    size = lambda causes: sum(WEIGHTS.get(cause.kind, 1) for cause in causes)  # noqa: E731
    return min(reversed(found), key=lambda causes: (len(causes), size(causes)), default=())


def _walk_keys(names: Names, old, new) -> Iterator[Cause]:
    """Yield a Cause for each leaf in which two keys differ: arguments, and the graph around."""
    (old_context, old_type), (new_context, new_type) = old, new
    old, new = (
        {name: parameter.type_constraint for name, parameter in one.parameters.items()}
        for one in (old_type, new_type)
    )
    yield from _walk_parts(names, "call", "argument", old, new, str, "{1}")
    contexts = old_context.context, new_context.context
    if contexts[0] != contexts[1]:
        before, after = (GRAPHS[one.parent_graph is not None] for one in contexts)
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
        yield _other(where, "Python value", literal(old.value), literal(new.value))
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

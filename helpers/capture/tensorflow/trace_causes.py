"""A call and the keys in a tf.function's cache -> the nearest key, and what does not fit it.

A key is (FunctionContext, FunctionType). A call fits a key if their contexts are equal and each
argument's type is a subtype of the key's (tensorflow/core/function/polymorphism/function_type.py,
FunctionType.is_supertype_of). So the walk asks TensorFlow's own `is_subtype_of` at each place, and
names the places where it says no. What fits, such as 5 rows where the key has None, is no cause.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from ...model.framework_records import Cause
from ..text.value import short_repr
from .trace_words import Container, Names, container_of, literal, own_kind, python_type, shape_words

MOST_TOLD = 10
MOST_MISFITS = 50  # counted for a key; beyond that it is far apart anyway
MOST_KEYS = 200  # the newest, compared with; each trace asks again, so all would be quadratic
LEAVES = {"TensorSpec": "tensor ", "Literal": "Python value "}
FIRST = "first trace"
AFTER_VARIABLES = "the trace that created the variables serves no later call: not a retrace"
IN_ITSELF = "inside a trace of the same function: not a retrace"
UNKNOWN = "unknown: each argument, each capture and the context fit a key, yet it was not used"
CONTEXTS = {
    "parent_graph": ("eager", "inside another graph"),
    "device_functions": ("no devices of a strategy", "devices of a strategy"),
    "colocation_stack": ("no colocation", "colocated with other ops"),
    "in_cross_replica_context": ("no cross-replica context", "cross-replica context"),
    "variable_policy": ("not while saving", "while saving a model"),
    "xla_context_id": ("no XLA context of its own", "an XLA context of its own"),
}
# How much a misfit sets two keys apart, the most first. A key with the same arguments, and the same
# containers, is nearer than one that lacks an argument, however many leaves are different.
CONTEXT, ARGUMENTS, CONTAINER, SIZE, KIND, LEAF = range(6)


class Misfit(NamedTuple):
    """A place in which a call does not fit a key. `weight`: how many names or items differ."""

    severity: int
    cause: Cause
    weight: int = 1


def explain(known: list, wanted, names: Names) -> tuple[str, tuple[Cause, ...], str]:
    """Return why a call fits none of the known keys: in words, as causes, and the nearest key.

    `known`: the keys in the cache, the oldest first. `wanted`: the key of the call. The nearest key
    is told by the words of its arguments, and is "" where there is none to compare with.
    """
    if not known:
        return FIRST, (), ""
    scope = wanted[0].scope_type  # with it, TensorFlow tells the trace that creates variables
    alike = [key for key in known if key[0].scope_type == scope]
    if not alike:
        return AFTER_VARIABLES, (), ""
    key, causes = nearest(alike, wanted, names)
    more = f"; and {len(causes) - MOST_TOLD} more" if len(causes) > MOST_TOLD else ""
    note = "; ".join(map(str, causes[:MOST_TOLD])) + more
    return note or UNKNOWN, causes, names.arguments(key[1])


def nearest(keys: list, wanted, names: Names) -> tuple[tuple, tuple[Cause, ...]]:
    """Return the key that a call fits best, and the causes for which it does not fit.

    Of keys that are equally near it is the newest. Because no key is nearer, each of the places
    that the causes name is needed: a call with only some of them changed fits no key.
    """
    found = []
    for key in keys[-MOST_KEYS:]:
        misfits = list(islice(_misfits(names, key, wanted), MOST_MISFITS))
        found.append((_distance(misfits), key))
    _, key = min(reversed(found), key=lambda candidate: candidate[0])
    return key, tuple(misfit.cause for misfit in _misfits(names, key, wanted))


def _distance(misfits: list[Misfit]) -> tuple[int, ...]:
    apart = Counter()
    for misfit in misfits:
        apart[misfit.severity] += misfit.weight
    structure = (apart[severity] for severity in (CONTEXT, ARGUMENTS, CONTAINER, SIZE))
    places = {misfit.cause.where for misfit in misfits}
    return *structure, len(places), apart[KIND], len(misfits)


def fits(call_type, key_type) -> bool:
    """Return whether TensorFlow accepts an argument of one TraceType where a key has the other."""
    try:
        return bool(call_type.is_subtype_of(key_type))
    except Exception:  # an argument's own `__eq__`
        return False


def _misfits(names: Names, key, wanted) -> Iterator[Misfit]:
    """Yield each place in which a call does not fit a key."""
    (old_context, old_type), (new_context, new_type) = key, wanted
    old, new = (
        Container("call", {n: p.type_constraint for n, p in one.parameters.items()}, "{}")
        for one in (old_type, new_type)
    )
    yield from _part_misfits(names, "call", "argument", ARGUMENTS, old, new)
    yield from _capture_misfits(names, old_type.captures, new_type.captures)
    yield from _context_misfits(old_context.context, new_context.context)


def _capture_misfits(names: Names, old, new) -> Iterator[Misfit]:
    """Yield what a call captures by reference, and a key does not; what else a key has is fine."""
    for name, capture in new.items():
        if name not in old:
            yield Misfit(LEAF, Cause("captured value", "type", "(none)", names.of(capture)))
        elif not fits(capture, old[name]):
            yield Misfit(LEAF, Cause("captured value", "type", *_sides(names, old[name], capture)))


def _context_misfits(old, new) -> Iterator[Misfit]:
    for field in getattr(new, "_fields", CONTEXTS):
        before, after = getattr(old, field, None), getattr(new, field, None)
        with suppress(Exception):  # a device function's own `__eq__`
            if before is after or before == after:
                continue
        words = CONTEXTS.get(field, (f"no {field}", field))
        told, now = words[bool(before)], words[bool(after)]
        same = ", but not the same" * (told == now)
        yield Misfit(CONTEXT, Cause("function context", "type", told, now + same))


def _part_misfits(names, where, kind, severity, old: Container, new: Container):
    """Yield what only one of two containers has, and what does not fit in the others."""
    words = str if kind == "argument" else literal
    gone, added = (
        ", ".join(words(name) for name in one if name not in other) or "(none)"
        for one, other in ((old.parts, new.parts), (new.parts, old.parts))
    )
    if gone != added:
        weight = len(old.parts.keys() ^ new.parts.keys())
        yield Misfit(severity, Cause(where, kind, gone, added), weight)
    for name, part in new.parts.items():
        if name in old.parts:
            inner = new.place.format(words(name) if new.place == "[{}]" else name)
            place = inner if where == "call" else where + inner
            yield from _type_misfits(names, place, old.parts[name], part)


def _type_misfits(names: Names, where: str, old, new) -> Iterator[Misfit]:
    """Yield the places in and below one argument in which it does not fit."""
    if fits(new, old):
        return
    before, after = container_of(old), container_of(new)
    if before is None and after is None:
        yield from _leaf_misfits(names, where, old, new)
    elif before is None or after is None or before.kind != after.kind:
        yield Misfit(CONTAINER, Cause(where, "type", *_sides(names, old, new)))
    elif before.kind in ("list", "tuple") and len(before.parts) != len(after.parts):
        sizes = len(before.parts), len(after.parts)
        cause = Cause(where, "number of elements", *map(str, sizes))
        yield Misfit(SIZE, cause, abs(sizes[0] - sizes[1]))
    else:
        kind = "dict key" if after.kind == "dict" else "attribute"
        inner = list(_part_misfits(names, where, kind, SIZE, before, after))
        inner += _metadata_misfits(where, old, new)
        yield from inner or [Misfit(CONTAINER, Cause(where, "type", *_sides(names, old, new)))]


def _metadata_misfits(where: str, old, new) -> Iterator[Misfit]:
    """Yield how two objects of one class differ beside their parts, by their `__tf_flatten__`."""
    sides = [getattr(side, "metadata", None) for side in (old, new)]
    with suppress(Exception):  # their own `__eq__`
        if sides[0] == sides[1]:
            return
    place = f"{where}.__tf_flatten__()[0]"
    yield Misfit(LEAF, _other(place, "metadata", *map(short_repr, sides)))


def _sides(names: Names, old, new) -> tuple[str, str]:
    containers = container_of(old), container_of(new)
    words = [
        container.kind if container else LEAVES.get(own_kind(side), "") + names.of(side)
        for container, side in zip(containers, (old, new), strict=True)
    ]
    return words[0], f"another {words[1]}" if words[0] == words[1] else words[1]


def _leaf_misfits(names: Names, where: str, old, new) -> Iterator[Misfit]:
    kind = own_kind(new)
    if type(old) is not type(new):
        yield Misfit(KIND, Cause(where, "type", *_sides(names, old, new)))
    elif kind == "Literal" and python_type(old.value) != python_type(new.value):
        types = python_type(old.value), python_type(new.value)
        yield Misfit(LEAF, Cause(where, "Python type", *types))
    elif kind == "Literal":
        exact = literal(old.value) == literal(new.value)
        words = literal(old.value, exact), literal(new.value, exact)
        yield Misfit(LEAF, _other(where, "Python value", *words))
    elif kind == "Weakref":
        freed = " (freed since)" if old._ref() is None else ""
        yield Misfit(
            LEAF, Cause(where, "object", names.thing(old._ref) + freed, names.thing(new._ref))
        )
    else:
        is_tensor = all(hasattr(side, "dtype") and hasattr(side, "shape") for side in (old, new))
        causes = list(_tensor_causes(where, old, new)) if is_tensor else []
        causes = causes or [_other(where, "trace type", names.of(old), names.of(new))]
        yield from (Misfit(LEAF, cause) for cause in causes)


def _tensor_causes(where: str, old, new) -> Iterator[Cause]:
    """Yield what of a tensor does not fit: its dtype, its rank, or the sizes that are fixed."""
    before, after = old.shape, new.shape
    if not fits(new.dtype, old.dtype):
        yield _other(where, "dtype", old.dtype.name, new.dtype.name)
    if not fits(after, before):
        yield _shape_cause(where, before, after)
    if fits(new.dtype, old.dtype) and fits(after, before):
        kind = own_kind(new)
        if kind == "VariableSpec" and old.alias_id != new.alias_id:
            yield Cause(where, "variable", *map(_variable_words, (old, new)))
        elif kind == "VariableSpec" and old.trainable != new.trainable:
            words = ("trainable" if side.trainable else "not trainable" for side in (old, new))
            yield Cause(where, "variable", *words)
        elif kind == "TensorSpec" and old.name != new.name:
            yield Cause(where, "name", *(literal(side.name) for side in (old, new)))


def _variable_words(spec) -> str:
    alias = spec.alias_id
    return f"number {alias + 1} of the call" if type(alias) is int else "of no number"


def _shape_cause(where: str, before, after) -> Cause:
    if before.rank != after.rank:
        ranks = ("any" if shape.rank is None else str(shape.rank) for shape in (before, after))
        return Cause(where, "rank", *ranks)
    pairs = enumerate(zip(before.as_list(), after.as_list(), strict=True))
    at = [axis for axis, (size, other) in pairs if size is not None and size != other]
    dimension = f", dimension {at[0]}" if len(at) == 1 and after.rank > 1 else ""
    return Cause(where, "shape", shape_words(before), shape_words(after), dimension)


def _other(where: str, kind: str, before: str, after: str) -> Cause:
    return Cause(where, kind, before, f"another {after}" if before == after else after)

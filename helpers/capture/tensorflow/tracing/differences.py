"""Two keys of a tf.function -> the leaves in which they differ, and which key is the nearest.

A key is (FunctionContext, FunctionType). The walk follows tensorflow/core/function/trace_type: it
goes down where both sides are containers of the same make, and names what differs where not.
"""

from itertools import islice

from helpers.capture.tensorflow.tracing.trace_type import Names, literal, shape, value_of
from helpers.capture.text.value import type_name
from helpers.model.traces import Cause

WEIGHTS = {"type": 4, "dict key": 3, "number of elements": 3, "argument": 3, "rank": 2}
MOST = 20  # differences counted between two keys; beyond that they are far apart anyway
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


def nearest(keys, wanted, names: Names) -> tuple[Cause, ...]:
    """Return how `wanted` differs from the nearest of `keys` (oldest first); () if there is none.

    The nearest differs in the fewest leaves; of equals, in the smallest way; of those, the newest.
    Of very many keys only the newest are asked.
    """
    found = [tuple(islice(differences(key, wanted, names), MOST)) for key in keys[-MOST_KEYS:]]
    return min(reversed(found), key=_distance, default=())


def _distance(causes) -> tuple[int, int]:
    return len(causes), sum(WEIGHTS.get(cause.kind, 1) for cause in causes)


def differences(old, new, names: Names):
    """Yield a Cause for each leaf in which two keys differ: arguments, captures, context."""
    (old_context, old_type), (new_context, new_type) = old, new
    yield from _parameters(old_type, new_type, names)
    for name, wanted in new_type.captures.items():
        if name in old_type.captures:
            yield from _Walk(names).types(f"captured {name}", old_type.captures[name], wanted)
    yield from _contexts(old_context, new_context)


def _parameters(old, new, names):
    before, after = old.parameters, new.parameters
    gone, added = [n for n in before if n not in after], [n for n in after if n not in before]
    if gone or added:
        yield Cause("call", "argument", _listed(gone), _listed(added))
    walk = _Walk(names)
    for name in after:
        if name in before:
            yield from walk.types(name, before[name].type_constraint, after[name].type_constraint)


def _contexts(old, new):
    if old == new:
        return
    for field, (off, on) in CONTEXTS.items():
        before, after = (getattr(side.context, field, None) for side in (old, new))
        if before is not after and before != after:
            words = [on if side else off for side in (before, after)]
            words[1] += ", but not the same" * (words[0] == words[1])
            yield Cause("function context", "type", *words)
    if old.scope_type != new.scope_type:
        yield Cause("function context", "type", "may create variables", "may not create variables")


class _Walk:
    """One walk down two TraceTypes, side by side."""

    def __init__(self, names: Names):
        self.names = names

    def types(self, where, old, new):
        """Yield the differences between two TraceTypes at the place `where`."""
        if _equal(old, new):
            return
        kind = type_name(new)
        compare = getattr(self, f"_{kind.lower()}", None)
        if type(old) is not type(new):
            yield self._made(where, old, new)
        elif compare is not None and type(new).__module__.startswith("tensorflow."):
            yield from compare(where, old, new)
        elif hasattr(new, "dtype") and hasattr(new, "shape"):
            yield from self._tensorspec(where, old, new)
        else:
            yield self._other(where, old, new)

    def _made(self, where, old, new) -> Cause:
        return Cause(where, "type", self._kind(old), self._kind(new))

    def _kind(self, side) -> str:
        """Return what kind of argument a TraceType stands for, and its words if it is a leaf."""
        kind = type_name(side)
        if kind in CONTAINERS:
            return CONTAINERS[kind]
        return f"{LEAVES.get(kind, '')} {self.names.of(side)}".strip()

    def _other(self, where, old, new) -> Cause:
        before, after = self.names.of(old), self.names.of(new)
        return Cause(where, "trace type", before, f"another {after}" if before == after else after)

    def _tensorspec(self, where, old, new):
        if old.dtype != new.dtype:
            yield Cause(where, "dtype", old.dtype.name, new.dtype.name)
        if old.shape.rank != new.shape.rank:
            yield Cause(where, "rank", *(_rank(side.shape) for side in (old, new)))
        elif old.shape.rank is not None and old.shape.as_list() != new.shape.as_list():
            yield Cause(where, "shape", shape(old.shape), shape(new.shape), _where_in(old, new))
        elif old.dtype == new.dtype:
            yield self._other(where, old, new)

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
            before, after = literal(old), literal(new)
            other = f"another {after}" if before == after else after
            yield Cause(where, "Python value", before, other)

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

    def _customnesttracetype(self, where, old, new):
        if old.value_type is not new.value_type or len(old.components) != len(new.components):
            yield self._other(where, old, new)
            return
        inner = list(self._tuple(where, old, new))
        yield from inner or [self._other(where, old, new)]


def _equal(old, new) -> bool:
    try:
        return bool(old == new)
    except KeyboardInterrupt:
        raise
    except BaseException:  # an argument's own __eq__
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

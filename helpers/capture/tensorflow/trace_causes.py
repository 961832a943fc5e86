"""A call and the keys of a tf.function's cache -> the nearest key, and why the call does not fit.

A key is a pair (FunctionContext, FunctionType). A call fits a key if both contexts are equal and
the type of each argument is a subtype of the one in the key
(tensorflow/core/function/polymorphism/function_type.py, `FunctionType.is_supertype_of`). The
comparison asks TensorFlow's own `is_subtype_of` at each argument and at each part of it, and names
the places where the answer is no. A part that fits is no cause, such as 5 rows where the key has
None.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice

from ...model.trace_records import Cause
from ..text.value import short_repr
from .trace_words import (
    BY_INDEX,
    Container,
    TypeNames,
    container_of,
    format_literal,
    format_shape,
    name_python_type,
    own_kind,
)

MOST_NAMED = 10  # causes in the sentence of a row
MOST_MISFITS = 50  # counted for each key: a key with more is far from the call anyway
MOST_KEYS = 200  # the newest; with all keys, the time of many traces would grow quadratically
FIRST = "first trace"
AFTER_VARIABLES = "the trace that created the variables serves no later call: not a retrace"
IN_ITSELF = "inside a trace of the same function: not a retrace"
UNKNOWN = "unknown: each argument, each capture and the context fit a key, yet it was not used"
LEAF_KINDS = {"TensorSpec": "tensor ", "Literal": "Python value "}
NO_PART = "(none)"
CALL = "call"  # the place of a cause that is about the whole call
# A field of TensorFlow's FunctionContext -> its text where the field is false, and where it is set.
CONTEXT_FIELDS = {
    "parent_graph": ("eager", "inside another graph"),
    "device_functions": ("no devices of a strategy", "devices of a strategy"),
    "colocation_stack": ("no colocation", "colocated with other ops"),
    "in_cross_replica_context": ("no cross-replica context", "cross-replica context"),
    "variable_policy": ("not while saving", "while saving a model"),
    "xla_context_id": ("no XLA context of its own", "an XLA context of its own"),
}


class Severity(IntEnum):
    """How far a misfit sets a call and a key apart, the largest distance first.

    A key with the same arguments and the same containers is nearer than one that lacks an argument,
    however many values in it are different.
    """

    CONTEXT = 0
    ARGUMENTS = 1
    CONTAINER = 2
    SIZE = 3
    LEAF_CLASS = 4
    LEAF = 5


@dataclass(frozen=True)
class Misfit:
    """A place in which a call does not fit a key."""

    #: how far the misfit sets the two apart
    severity: Severity
    #: the place and the difference, as a row of the ledger shows it
    cause: Cause
    #: how many names or items are different
    weight: int = 1


def explain_trace(keys: list, call_key, names: TypeNames) -> tuple[str, tuple[Cause, ...], str]:
    """Return why a call fits none of the keys in a cache, and the key to which it is nearest.

    `keys` are those of the cache, the oldest first, and `call_key` is the key of the call. The
    result is a sentence, the causes, and the arguments of the nearest key as text, which is "" if
    the cache has no key to compare with.
    """
    if not keys:
        return FIRST, (), ""

    # TensorFlow marks the trace that creates variables by its scope; no later call may use it.
    call_context, _ = call_key
    comparable = [key for key in keys if key[0].scope_type == call_context.scope_type]
    if not comparable:
        return AFTER_VARIABLES, (), ""

    nearest_key, causes = find_nearest_key(comparable, call_key, names)
    note = "; ".join([str(cause) for cause in causes[:MOST_NAMED]])
    if len(causes) > MOST_NAMED:
        note += f"; and {len(causes) - MOST_NAMED} more"
    _, nearest_type = nearest_key
    return note or UNKNOWN, causes, names.format_arguments(nearest_type)


def find_nearest_key(keys: list, call_key, names: TypeNames) -> tuple[tuple, tuple[Cause, ...]]:
    """Return the key that a call fits best, and the causes for which it does not fit.

    Of several keys that are equally near, it is the newest. Because no key is nearer, each place
    that the causes name is needed: a call in which only some of them changed fits no key.
    """
    distances = []
    for key in keys[-MOST_KEYS:]:
        misfits = list(islice(_find_misfits(names, key, call_key), MOST_MISFITS))
        distances.append((_measure_distance(misfits), key))

    # `min` returns the first of equal ones, so that the newest key has to come first.
    _, nearest_key = min(reversed(distances), key=lambda pair: pair[0])
    all_misfits = _find_misfits(names, nearest_key, call_key)
    return nearest_key, tuple(misfit.cause for misfit in all_misfits)


def _measure_distance(misfits: list[Misfit]) -> tuple[int, ...]:
    """Return numbers by which keys are ordered: the smallest tuple is that of the nearest key.

    Earlier numbers decide before later ones. Misfits of the context and of the arguments set a call
    and a key apart the most, and the number of misfits only decides between keys alike in the rest.
    """
    weights = Counter()
    for misfit in misfits:
        weights[misfit.severity] += misfit.weight
    places = {misfit.cause.where for misfit in misfits}
    return (
        weights[Severity.CONTEXT],
        weights[Severity.ARGUMENTS],
        weights[Severity.CONTAINER],
        weights[Severity.SIZE],
        len(places),
        weights[Severity.LEAF_CLASS],
        len(misfits),
    )


def is_subtype(call_type, key_type) -> bool:
    """Return whether TensorFlow accepts a TraceType of a call where a key has the other one."""
    try:
        return bool(call_type.is_subtype_of(key_type))
    except Exception:  # an argument's own `__eq__`
        return False


def _find_misfits(names: TypeNames, key, call_key) -> Iterator[Misfit]:
    """Yield each place in which a call does not fit a key; both are pairs as the module says."""
    key_context, key_type = key
    call_context, call_type = call_key
    yield from _compare_parts(
        names,
        place=CALL,
        kind="argument",
        severity=Severity.ARGUMENTS,
        key_container=_container_of_arguments(key_type),
        call_container=_container_of_arguments(call_type),
    )
    yield from _compare_captures(names, key_type.captures, call_type.captures)
    yield from _compare_contexts(key_context.context, call_context.context)


def _container_of_arguments(function_type) -> Container:
    """Return the arguments of a FunctionType as the parts of a container."""
    parameters = function_type.parameters.items()
    types = {name: parameter.type_constraint for name, parameter in parameters}
    return Container(CALL, types, "{}")


def _compare_captures(names: TypeNames, key_captures, call_captures) -> Iterator[Misfit]:
    """Yield the values that a call captures by reference and that do not fit a key.

    Values that only the key captures do no harm.
    """
    for name, call_type in call_captures.items():
        if name not in key_captures:
            cause = Cause("captured value", "type", NO_PART, names.format_type(call_type))
            yield Misfit(Severity.LEAF, cause)
        elif not is_subtype(call_type, key_captures[name]):
            before, after = _format_types(names, key_captures[name], call_type)
            yield Misfit(Severity.LEAF, Cause("captured value", "type", before, after))


def _compare_contexts(key_context, call_context) -> Iterator[Misfit]:
    """Yield the fields in which TensorFlow's FunctionContexts of a key and of a call differ."""
    for field in getattr(call_context, "_fields", CONTEXT_FIELDS):
        key_value = getattr(key_context, field, None)
        call_value = getattr(call_context, field, None)
        if _is_equal(key_value, call_value):
            continue

        texts = CONTEXT_FIELDS.get(field, (f"no {field}", field))
        before = texts[bool(key_value)]
        after = texts[bool(call_value)]
        if before == after:
            after += ", but not the same"
        yield Misfit(Severity.CONTEXT, Cause("function context", "type", before, after))


def _is_equal(value, other) -> bool:
    """Return whether two values are equal; False if a class's own `__eq__` raises."""
    try:
        return bool(value is other or value == other)
    except Exception:  # such as that of a device function, or of the metadata of a nest
        return False


def _compare_parts(
    names: TypeNames,
    place: str,
    kind: str,
    severity: Severity,
    key_container: Container,
    call_container: Container,
) -> Iterator[Misfit]:
    """Yield the parts that only one of two containers has, and those that do not fit.

    `place` names the containers in causes. `kind` is that of the parts: "argument", "dict key" or
    "attribute". A part that only one container has is a misfit of this `severity`.
    """
    format_key = str if kind == "argument" else format_literal
    key_parts = key_container.parts
    call_parts = call_container.parts

    removed = _list_keys((name for name in key_parts if name not in call_parts), format_key)
    added = _list_keys((name for name in call_parts if name not in key_parts), format_key)
    if removed != added:  # the texts: either both are NO_PART, or the keys are different
        weight = len(key_parts.keys() ^ call_parts.keys())
        yield Misfit(severity, Cause(place, kind, removed, added), weight)

    pattern = call_container.key_pattern
    for name, call_type in call_parts.items():
        if name in key_parts:  # else it is among the added ones above
            key_text = format_key(name) if pattern == BY_INDEX else name
            part_place = pattern.format(key_text)
            if place != CALL:
                part_place = place + part_place
            yield from _compare_types(names, part_place, key_parts[name], call_type)


def _list_keys(keys: Iterable, format_key) -> str:
    """Return the keys of parts as text; `format_key` makes the text of one."""
    return ", ".join(format_key(key) for key in keys) or NO_PART


def _compare_types(names: TypeNames, place: str, key_type, call_type) -> Iterator[Misfit]:
    """Yield the misfits in the TraceType of one argument, or of a part of it."""
    if is_subtype(call_type, key_type):
        return
    key_container = container_of(key_type)
    call_container = container_of(call_type)
    if key_container is None and call_container is None:
        yield from _compare_leaves(names, place, key_type, call_type)
        return

    # The parts are compared only where both are containers of one kind.
    misfits = []
    key_kind = None if key_container is None else key_container.kind
    if call_container is not None and key_kind == call_container.kind:
        misfits = list(
            _compare_containers(names, place, key_type, call_type, key_container, call_container)
        )
    # Where no part is different, TensorFlow still says that the types do not fit.
    yield from misfits or [_misfit_of_containers(names, place, key_type, call_type)]


def _misfit_of_containers(names: TypeNames, place: str, key_type, call_type) -> Misfit:
    """Return the misfit of two types, at least one a container, whose parts explain nothing."""
    before, after = _format_types(names, key_type, call_type)
    return Misfit(Severity.CONTAINER, Cause(place, "type", before, after))


def _compare_containers(
    names: TypeNames,
    place: str,
    key_type,
    call_type,
    key_container: Container,
    call_container: Container,
) -> Iterator[Misfit]:
    """Yield the misfits of two containers of the same kind, whose TraceTypes are given too."""
    key_size = len(key_container.parts)
    call_size = len(call_container.parts)
    if key_container.kind in ("list", "tuple") and key_size != call_size:
        cause = Cause(place, "number of elements", str(key_size), str(call_size))
        yield Misfit(Severity.SIZE, cause, abs(key_size - call_size))
        return
    kind = "dict key" if call_container.kind == "dict" else "attribute"
    yield from _compare_parts(names, place, kind, Severity.SIZE, key_container, call_container)
    yield from _compare_metadata(place, key_type, call_type)


def _compare_metadata(place: str, key_type, call_type) -> Iterator[Misfit]:
    """Yield the misfit of two objects whose `__tf_flatten__` returns different metadata."""
    key_metadata = getattr(key_type, "metadata", None)
    call_metadata = getattr(call_type, "metadata", None)
    if _is_equal(key_metadata, call_metadata):
        return
    metadata_place = f"{place}.__tf_flatten__()[0]"
    texts = short_repr(key_metadata), short_repr(call_metadata)
    yield Misfit(Severity.LEAF, _make_cause(metadata_place, "metadata", *texts))


def _format_types(names: TypeNames, key_type, call_type) -> tuple[str, str]:
    """Return the texts of two TraceTypes; "another …" if the second one has the same text."""
    before = _format_side(names, key_type)
    after = _format_side(names, call_type)
    if before == after:
        after = f"another {after}"
    return before, after


def _format_side(names: TypeNames, trace_type) -> str:
    """Return the kind of a container, or the text of another TraceType with its kind."""
    container = container_of(trace_type)
    if container is not None:
        return container.kind
    return LEAF_KINDS.get(own_kind(trace_type), "") + names.format_type(trace_type)


def _compare_leaves(names: TypeNames, place: str, key_type, call_type) -> Iterator[Misfit]:
    """Yield the misfits of two TraceTypes that contain no others."""
    kind = own_kind(call_type)
    if type(key_type) is not type(call_type):
        before, after = _format_types(names, key_type, call_type)
        yield Misfit(Severity.LEAF_CLASS, Cause(place, "type", before, after))
    elif kind == "Literal":
        yield Misfit(Severity.LEAF, _explain_literal(place, key_type.value, call_type.value))
    elif kind == "Weakref":
        yield Misfit(Severity.LEAF, _explain_referent(names, place, key_type._ref, call_type._ref))
    else:
        causes = []
        if _is_tensor_spec(key_type) and _is_tensor_spec(call_type):
            causes = list(_explain_tensor(place, key_type, call_type))
        if not causes:
            texts = names.format_type(key_type), names.format_type(call_type)
            causes = [_make_cause(place, "trace type", *texts)]
        for cause in causes:
            yield Misfit(Severity.LEAF, cause)


def _explain_literal(place: str, key_value, call_value) -> Cause:
    """Return the cause for two Python values: their types, or else the values."""
    if type(key_value) is not type(call_value):
        key_class = name_python_type(key_value)
        call_class = name_python_type(call_value)
        if key_class != call_class:  # nan is a float of another type
            return Cause(place, "Python type", key_class, call_class)
    # Two floats may be the same in six digits; then all their digits are shown.
    needs_digits = format_literal(key_value) == format_literal(call_value)
    before = format_literal(key_value, exact=needs_digits)
    after = format_literal(call_value, exact=needs_digits)
    return _make_cause(place, "Python value", before, after)


def _explain_referent(names: TypeNames, place: str, key_ref, call_ref) -> Cause:
    """Return the cause for two different objects; `key_ref` and `call_ref` refer weakly to them."""
    before = names.format_referent(key_ref)
    if key_ref() is None:
        before += " (freed since)"
    return Cause(place, "object", before, names.format_referent(call_ref))


def _is_tensor_spec(trace_type) -> bool:
    """Return whether a TraceType has a dtype and a shape."""
    return hasattr(trace_type, "dtype") and hasattr(trace_type, "shape")


def _explain_tensor(place: str, key_spec, call_spec) -> Iterator[Cause]:
    """Yield what of a tensor does not fit a key: its dtype, its rank, and its fixed sizes.

    Only where all of these fit, it is something else: which variable it is, or its name.
    """
    dtype_fits = is_subtype(call_spec.dtype, key_spec.dtype)
    shape_fits = is_subtype(call_spec.shape, key_spec.shape)
    if not dtype_fits:
        yield _make_cause(place, "dtype", key_spec.dtype.name, call_spec.dtype.name)
    if not shape_fits:
        yield _explain_shape(place, key_spec.shape, call_spec.shape)
    if not dtype_fits or not shape_fits:
        return

    kind = own_kind(call_spec)
    if kind == "VariableSpec" and key_spec.alias_id != call_spec.alias_id:
        texts = _format_alias(key_spec), _format_alias(call_spec)
        yield Cause(place, "variable", *texts)
    elif kind == "VariableSpec" and key_spec.trainable != call_spec.trainable:
        texts = _format_trainable(key_spec), _format_trainable(call_spec)
        yield Cause(place, "variable", *texts)
    elif kind == "TensorSpec" and key_spec.name != call_spec.name:
        yield Cause(place, "name", format_literal(key_spec.name), format_literal(call_spec.name))


def _format_alias(variable_spec) -> str:
    """Return which variable of a call this is: TensorFlow numbers them, and notes repetitions."""
    alias = variable_spec.alias_id
    return f"number {alias + 1} of the call" if type(alias) is int else "of no number"


def _format_trainable(variable_spec) -> str:
    return "trainable" if variable_spec.trainable else "not trainable"


def _explain_shape(place: str, key_shape, call_shape) -> Cause:
    """Return the cause for two TensorShapes, with the dimension if they differ in only one."""
    if key_shape.rank != call_shape.rank:
        return Cause(place, "rank", _format_rank(key_shape), _format_rank(call_shape))
    pairs = zip(key_shape.as_list(), call_shape.as_list(), strict=True)
    different_axes = [
        axis
        for axis, (key_size, call_size) in enumerate(pairs)
        if key_size is not None and key_size != call_size  # None accepts each size
    ]
    dimension = ""
    if len(different_axes) == 1 and call_shape.rank > 1:
        dimension = f", dimension {different_axes[0]}"
    return Cause(place, "shape", format_shape(key_shape), format_shape(call_shape), dimension)


def _format_rank(tensor_shape) -> str:
    return "any" if tensor_shape.rank is None else str(tensor_shape.rank)


def _make_cause(place: str, kind: str, before: str, after: str) -> Cause:
    """Return a cause whose second text is "another …" if both texts are the same."""
    if before == after:
        after = f"another {after}"
    return Cause(place, kind, before, after)

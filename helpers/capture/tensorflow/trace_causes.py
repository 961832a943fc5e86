"""A call and the keys of a tf.function's cache -> the nearest key, and why the call does not fit. A
tf.function has a cache of traces, and each trace has a *key*: a pair (FunctionContext,
FunctionType). A FunctionType has a TraceType for each argument, such as float32 (2,). A call *fits*
a key if both contexts are equal and the TraceType of each argument is a subtype of the one in the
key. A call that fits no key makes a new trace. A *misfit* is one place in which a call and a key do
not fit, such as "x: shape (2,) → (3,)".

TensorFlow's test is `FunctionType.is_supertype_of`
(tensorflow/core/function/polymorphism/function_type.py). The comparison here asks TensorFlow's own
`is_subtype_of` at each argument, and then at each part of an argument, such as an item of a list.
It names the places where the answer is no. A part that fits is no misfit, such as 5 rows where the
key has None.
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
    format_literal,
    format_shape,
    name_python_type,
    name_tensorflow_class,
    read_container,
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
# A field of TensorFlow's FunctionContext -> (its text if the value is false, its text if it is
# true).
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
    """Return (sentence, causes, arguments of the nearest key) for a call that fits no key.

    `keys` are those of the cache, the oldest first, and `call_key` is the key of the call. Each
    cause is a difference between the call and the nearest key. The arguments are text, which is ""
    if the cache has no key to compare with. `names` formats the types in all rows of the ledger.
    """
    if not keys:
        return FIRST, (), ""

    # A first trace may create variables, and its key has a scope of its own. No later call may use
    # that trace, so a difference from its key explains nothing.
    call_context, _ = call_key
    keys_of_scope = [key for key in keys if key[0].scope_type == call_context.scope_type]
    if not keys_of_scope:
        return AFTER_VARIABLES, (), ""

    nearest_key, causes = find_nearest_key(keys_of_scope, call_key, names)
    note = "; ".join([str(cause) for cause in causes[:MOST_NAMED]])
    if len(causes) > MOST_NAMED:
        note += f"; and {len(causes) - MOST_NAMED} more"
    _, nearest_type = nearest_key
    return note or UNKNOWN, causes, names.format_arguments(nearest_type)


def find_nearest_key(keys: list, call_key, names: TypeNames) -> tuple[tuple, tuple[Cause, ...]]:
    """Return the key that is nearest to a call, and the causes for which the call does not fit it.

    If several keys are equally near, the newest is returned. Only the newest MOST_KEYS are
    compared.
    """
    distances = []
    for key in keys[-MOST_KEYS:]:
        misfits = list(islice(_find_misfits(names, key, call_key), MOST_MISFITS))
        distances.append((_measure_distance(misfits), key))

    # `min` returns the first of equal items, so the newest key has to come first.
    _, nearest_key = min(reversed(distances), key=lambda pair: pair[0])
    all_misfits = _find_misfits(names, nearest_key, call_key)
    return nearest_key, tuple(misfit.cause for misfit in all_misfits)


def _measure_distance(misfits: list[Misfit]) -> tuple[int, ...]:
    """Return the distance of a key from a call, from its misfits. Smaller tuples are nearer.

    Python compares tuples item by item. So a difference in the context or in the arguments counts
    more than any difference of values, and the number of misfits only decides between keys that are
    equal in all earlier items.
    """
    weights = Counter()  # a Severity -> how many names or items are different in that way
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
    """Return whether TensorFlow accepts `call_type` in a call where a key has `key_type`.

    Both are TraceTypes. float32 (5,) is accepted where the key has float32 (None,).
    """
    try:
        return bool(call_type.is_subtype_of(key_type))
    except Exception:  # TensorFlow calls `__eq__` of the argument, which may raise
        return False


def _find_misfits(names: TypeNames, key, call_key) -> Iterator[Misfit]:
    """Yield each place in which a call does not fit a key.

    `key` and `call_key` are pairs (FunctionContext, FunctionType).
    """
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
    """Return the arguments of a FunctionType as a container, whose parts are the arguments.

    Then the arguments of two calls can be compared like the items of two dicts. The place of a part
    is the name of its parameter, without brackets, hence the pattern "{}".
    """
    parameters = function_type.parameters.items()
    types_by_name = {name: parameter.type_constraint for name, parameter in parameters}
    return Container(CALL, types_by_name, "{}")


def _compare_captures(names: TypeNames, key_captures, call_captures) -> Iterator[Misfit]:
    """Yield a misfit for each value that a call captures and that does not fit a key.

    A traced function *captures* a value that it uses and that is no argument. Both parameters map a
    name to a TraceType. A name that only the key has is no misfit, because TensorFlow ignores it.
    """
    for name, call_type in call_captures.items():
        if name not in key_captures:
            cause = Cause("captured value", "type", NO_PART, names.format_type(call_type))
            yield Misfit(Severity.LEAF, cause)
        elif not is_subtype(call_type, key_captures[name]):
            before, after = _format_types(names, key_captures[name], call_type)
            yield Misfit(Severity.LEAF, Cause("captured value", "type", before, after))


def _compare_contexts(key_context, call_context) -> Iterator[Misfit]:
    """Yield a misfit for each field in which the FunctionContexts of a key and of a call differ.

    A FunctionContext says in what state a trace is made, for example on which device.
    """
    for field in getattr(call_context, "_fields", CONTEXT_FIELDS):
        key_value = getattr(key_context, field, None)
        call_value = getattr(call_context, field, None)
        if _is_equal(key_value, call_value):
            continue

        texts = CONTEXT_FIELDS.get(field, (f"no {field}", field))
        before = texts[bool(key_value)]  # False is 0 and True is 1
        after = texts[bool(call_value)]
        if before == after:
            after += ", but not the same"
        yield Misfit(Severity.CONTEXT, Cause("function context", "type", before, after))


def _is_equal(value, other) -> bool:
    """Return whether two values are equal; False if a class's own `__eq__` raises."""
    try:
        return bool(value is other or value == other)
    except Exception:  # the class may be the user's, as that of a device function is
        return False


def _compare_parts(
    names: TypeNames,
    place: str,
    kind: str,
    severity: Severity,
    key_container: Container,
    call_container: Container,
) -> Iterator[Misfit]:
    """Yield the misfits of two containers of one kind: those of names, then those of parts.

    If some keys are only in one of the containers, that is one misfit with this `severity`. Parts
    with the same key are compared. `place` is how the containers are called in causes, such as "x",
    and `kind` says what their parts are: "argument", "dict key" or "attribute".
    """
    # The key of an argument is its name. Any other key is a Python value, such as 0 or "mean".
    format_key = str if kind == "argument" else format_literal
    key_parts = key_container.parts
    call_parts = call_container.parts

    removed = _list_keys((name for name in key_parts if name not in call_parts), format_key)
    added = _list_keys((name for name in call_parts if name not in key_parts), format_key)
    if removed != added:  # else both texts are NO_PART, because both containers have the same keys
        weight = len(key_parts.keys() ^ call_parts.keys())
        yield Misfit(severity, Cause(place, kind, removed, added), weight)

    pattern = call_container.key_pattern
    for name, call_type in call_parts.items():
        if name in key_parts:  # else it is among the added ones above
            key_text = format_key(name) if pattern == BY_INDEX else name
            part_place = pattern.format(key_text)
            if place != CALL:  # an argument is called "x", and an item of it "x[0]"
                part_place = place + part_place
            yield from _compare_types(names, part_place, key_parts[name], call_type)


def _list_keys(keys: Iterable, format_key) -> str:
    """Return keys as one text, each formatted by `format_key`, or "(none)" if there are none."""
    return ", ".join(format_key(key) for key in keys) or NO_PART


def _compare_types(names: TypeNames, place: str, key_type, call_type) -> Iterator[Misfit]:
    """Yield the misfits of two TraceTypes: of one argument, or of a part of an argument.

    If both are containers of one kind, such as two lists, the misfits are those of their parts.
    """
    if is_subtype(call_type, key_type):
        return
    key_container = read_container(key_type)
    call_container = read_container(call_type)
    if key_container is None and call_container is None:
        yield from _compare_leaves(names, place, key_type, call_type)
        return

    misfits = []
    key_kind = None if key_container is None else key_container.kind
    if call_container is not None and key_kind == call_container.kind:
        misfits = list(
            _compare_containers(names, place, key_type, call_type, key_container, call_container)
        )
    # If no part explains it, the two types as a whole are the misfit.
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
    """Yield the misfits of two containers of the same kind.

    `key_container` is what `read_container` returns for `key_type`, and the same for the call.
    """
    key_size = len(key_container.parts)
    call_size = len(call_container.parts)
    if key_container.kind in ("list", "tuple") and key_size != call_size:
        cause = Cause(place, "number of elements", str(key_size), str(call_size))
        yield Misfit(Severity.SIZE, cause, abs(key_size - call_size))
        return  # an item at the same index of the other list may be another item
    kind = "dict key" if call_container.kind == "dict" else "attribute"
    yield from _compare_parts(names, place, kind, Severity.SIZE, key_container, call_container)
    yield from _compare_metadata(place, key_type, call_type)


def _compare_metadata(place: str, key_type, call_type) -> Iterator[Misfit]:
    """Yield the misfit of two objects whose metadata differ.

    `__tf_flatten__` of a user's class returns (metadata, components). TensorFlow compares the
    metadata by `==`. Other types have none.
    """
    key_metadata = getattr(key_type, "metadata", None)
    call_metadata = getattr(call_type, "metadata", None)
    if _is_equal(key_metadata, call_metadata):
        return
    metadata_place = f"{place}.__tf_flatten__()[0]"
    texts = short_repr(key_metadata), short_repr(call_metadata)
    yield Misfit(Severity.LEAF, _make_cause(metadata_place, "metadata", *texts))


def _format_types(names: TypeNames, key_type, call_type) -> tuple[str, str]:
    """Return the texts of two TraceTypes that do not fit, as in ("tensor float32 (2,)", "list").

    If both texts are equal, the second one begins with "another".
    """
    before = _format_side(names, key_type)
    after = _format_side(names, call_type)
    if before == after:
        after = f"another {after}"
    return before, after


def _format_side(names: TypeNames, trace_type) -> str:
    """Return the text of one TraceType: "list" for a list, "Python value 3" for the number 3."""
    container = read_container(trace_type)
    if container is not None:
        return container.kind
    return LEAF_KINDS.get(name_tensorflow_class(trace_type), "") + names.format_type(trace_type)


def _compare_leaves(names: TypeNames, place: str, key_type, call_type) -> Iterator[Misfit]:
    """Yield the misfits of two TraceTypes that contain no others, such as those of two tensors.

    There are four cases: the types are of different classes, both stand for a Python value, both
    stand for an object that TensorFlow refers to weakly, or both have a dtype and a shape.
    """
    kind = name_tensorflow_class(call_type)
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
    """Return the cause for two different Python values: their types differ, or else the values."""
    if type(key_value) is not type(call_value):
        key_class = name_python_type(key_value)
        call_class = name_python_type(call_value)
        # TensorFlow replaces nan by an object of another type, but both are called float here.
        if key_class != call_class:
            return Cause(place, "Python type", key_class, call_class)
    # Two different floats may have the same six digits. Then all their digits are shown.
    needs_all_digits = format_literal(key_value) == format_literal(call_value)
    before = format_literal(key_value, exact=needs_all_digits)
    after = format_literal(call_value, exact=needs_all_digits)
    return _make_cause(place, "Python value", before, after)


def _explain_referent(names: TypeNames, place: str, key_ref, call_ref) -> Cause:
    """Return the cause for two different objects, to which `key_ref` and `call_ref` refer weakly.

    TensorFlow compares such objects by identity. The object of the key may be freed already.
    """
    before = names.format_referent(key_ref)
    if key_ref() is None:
        before += " (freed since)"
    return Cause(place, "object", before, names.format_referent(call_ref))


def _is_tensor_spec(trace_type) -> bool:
    """Return whether a TraceType has a dtype and a shape."""
    return hasattr(trace_type, "dtype") and hasattr(trace_type, "shape")


def _explain_tensor(place: str, key_spec, call_spec) -> Iterator[Cause]:
    """Yield the causes for which a tensor of a call does not fit that of a key.

    The dtype and the shape are compared first. If both fit, the cause is the variable, whether it
    is trainable, or the name of the tensor. Both specs are a TensorSpec or a VariableSpec.
    """
    dtype_fits = is_subtype(call_spec.dtype, key_spec.dtype)
    shape_fits = is_subtype(call_spec.shape, key_spec.shape)
    if not dtype_fits:
        yield _make_cause(place, "dtype", key_spec.dtype.name, call_spec.dtype.name)
    if not shape_fits:
        yield _explain_shape(place, key_spec.shape, call_spec.shape)
    if not dtype_fits or not shape_fits:
        return

    kind = name_tensorflow_class(call_spec)
    # TensorFlow numbers the variables of a call: f(v, v) is another call than f(v, w).
    if kind == "VariableSpec" and key_spec.alias_id != call_spec.alias_id:
        texts = _format_alias(key_spec), _format_alias(call_spec)
        yield Cause(place, "variable", *texts)
    elif kind == "VariableSpec" and key_spec.trainable != call_spec.trainable:
        texts = _format_trainable(key_spec), _format_trainable(call_spec)
        yield Cause(place, "variable", *texts)
    elif kind == "TensorSpec" and key_spec.name != call_spec.name:
        yield Cause(place, "name", format_literal(key_spec.name), format_literal(call_spec.name))


def _format_alias(variable_spec) -> str:
    """Return the number of a variable in its call, from 1, as in "number 2 of the call"."""
    alias = variable_spec.alias_id
    return f"number {alias + 1} of the call" if type(alias) is int else "of no number"


def _format_trainable(variable_spec) -> str:
    return "trainable" if variable_spec.trainable else "not trainable"


def _explain_shape(place: str, key_shape, call_shape) -> Cause:
    """Return the cause for two TensorShapes: another rank, or other sizes.

    If they differ in one dimension only, the cause names that dimension.
    """
    if key_shape.rank != call_shape.rank:
        return Cause(place, "rank", _format_rank(key_shape), _format_rank(call_shape))
    pairs = zip(key_shape.as_list(), call_shape.as_list(), strict=True)
    different_axes = [
        axis
        for axis, (key_size, call_size) in enumerate(pairs)
        if key_size is not None and key_size != call_size  # None in a key accepts each size
    ]
    dimension = ""
    if len(different_axes) == 1 and call_shape.rank > 1:  # else there is only one dimension
        dimension = f", dimension {different_axes[0]}"
    return Cause(place, "shape", format_shape(key_shape), format_shape(call_shape), dimension)


def _format_rank(tensor_shape) -> str:
    return "any" if tensor_shape.rank is None else str(tensor_shape.rank)


def _make_cause(place: str, kind: str, before: str, after: str) -> Cause:
    """Return a cause. If both texts are equal, the second one begins with "another"."""
    if before == after:
        after = f"another {after}"
    return Cause(place, kind, before, after)

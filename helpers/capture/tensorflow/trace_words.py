"""The types by which TensorFlow looks up a call, in words.

Mirrors tensorflow/core/function/trace_type/default_types.py: what a type contains, and of what kind
it is.
"""

import re
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from ...internals import tensorflow_private
from ...model.phrase import clipped, listed
from ...safety.arguments import is_exactly
from ..text.value import SCALARS, label, type_name

MOST_ITEMS, DEEPEST, LONGEST = 6, 6, 160
SPEC = re.compile(r"\bTensorSpec\(shape=(.*?), dtype=tf\.(\w+), name=\w+\)")
ADDRESS = re.compile(r"0x[0-9a-fA-F]+")


class Container(NamedTuple):
    """What a TraceType contains: `parts` by key, and how each key is written after the name."""

    kind: str  # "list", "tuple", "dict", or the name of the class
    parts: dict
    place: str = "[{}]"


def container_of(trace_type) -> Container | None:
    """Return what a list, tuple, dict, namedtuple, attrs class or nest contains; None of a leaf."""
    kind = own_kind(trace_type)
    if kind == "Dict":
        return Container("dict", dict(trace_type.mapping))
    if kind == "List":
        return Container("list", dict(enumerate(trace_type.components_tuple.components)))
    if kind == "Tuple":
        return Container("tuple", dict(enumerate(trace_type.components)))
    if kind == "NamedTuple":
        return _with_attributes(f"namedtuple {trace_type.type_name}", trace_type)
    if kind == "Attrs":
        fields = trace_type.named_attributes
        return _with_attributes(f"attrs class {fields.type_name}", fields)
    if kind == "CustomNestTraceType":
        parts = dict(enumerate(trace_type.components))
        return Container(
            f"class {trace_type.value_type.__name__}", parts, ".__tf_flatten__()[1][{}]"
        )
    return None


def _with_attributes(kind: str, named) -> Container:
    parts = dict(zip(named.attribute_names, named.attributes.components, strict=True))
    return Container(kind, parts, ".{}")


def own_kind(trace_type) -> str:
    """Return the name of a TraceType of TensorFlow's own, or "" for one of somebody else."""
    kind = type(trace_type)
    return type_name(trace_type) if kind.__module__.startswith("tensorflow.") else ""


def is_complete(trace_type) -> bool:
    """Return whether each part of a type has a type: one that TensorFlow widened may lack some."""
    container = container_of(trace_type)
    return trace_type is not None and all(
        map(is_complete, container.parts.values() if container else ())
    )


class Names:
    """Words for types. Objects are numbered in the order in which they were first named."""

    def __init__(self):
        self._known = {}
        self._used: dict[str, int] = {}

    def arguments(self, function_type) -> str:
        """Return the words of all arguments of a FunctionType, as in `x=float32 (2,), n=1`."""
        parameters = function_type.parameters.items()
        return _joined(f"{name}={self.of(p.type_constraint)}" for name, p in parameters)

    def values(self, function, args, kwargs) -> str:
        """Return the words of live values that fit no key of a tf.function, with their names."""
        words = [f"{name}={self.value(value)}" for name, value in _named(function, args, kwargs)]
        return _joined(word.removeprefix("=") for word in words)

    def value(self, value) -> str:
        """Return the words of a live value, as they are of its type if it has one."""
        try:
            return self.of(tensorflow_private.type_of(value))
        except Exception:  # it has none, which may be why there is no key
            return label(value)

    def of(self, trace_type, depth: int = 0) -> str:
        """Return the words of one TraceType; a value is never asked for more than its repr."""
        kind, container = own_kind(trace_type), container_of(trace_type)
        if depth > DEEPEST:
            return "…"
        if kind == "Literal":
            return literal(trace_type.value)
        if kind == "Weakref":
            return self.thing(trace_type._ref)
        if kind in ("TensorSpec", "VariableSpec"):
            words = f"{trace_type.dtype.name} {shape_words(trace_type.shape)}"
            return words if kind == "TensorSpec" else f"Variable {words}"
        if container is None:
            with suppress(Exception):  # a repr of somebody's own
                if not ADDRESS.search(words := repr(trace_type)):
                    return clipped(SPEC.sub(r"\2 \1", words), LONGEST)
            return type_name(trace_type)
        return self._contents(container, depth)

    def _contents(self, container: Container, depth: int) -> str:
        kind, parts = container.kind, container.parts
        words = [self.of(part, depth + 1) for part in islice(parts.values(), MOST_ITEMS)]
        if kind == "dict":
            words = [f"{literal(name)}: {item}" for name, item in zip(parts, words, strict=False)]
        elif container.place == ".{}":
            words = [f"{name}={item}" for name, item in zip(parts, words, strict=False)]
        words += [f"… {len(parts) - MOST_ITEMS:,} more"] * (len(parts) > MOST_ITEMS)
        inside = ", ".join(words) + "," * (kind == "tuple" and len(parts) == 1)
        brackets = {"list": "[]", "tuple": "()", "dict": "{}"}.get(kind)
        return (
            f"{brackets[0]}{inside}{brackets[1]}" if brackets else f"{kind.split()[-1]}({inside})"
        )

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


def _named(function, args, kwargs) -> list[tuple[str, object]]:
    """Return the arguments of a call with the names of their parameters; "" for one too many."""
    parameters = function.function_type.parameters.values()
    names = [one.name for one in parameters if one.kind <= one.POSITIONAL_OR_KEYWORD]
    names += [""] * len(args)
    return [*zip(names, args), *kwargs.items()]  # noqa: B905 - names may be left over


def _joined(words) -> str:
    return clipped(listed(words, MOST_ITEMS), LONGEST) or "(none)"


def shape_words(tensor_shape) -> str:
    """Return a TensorShape as a tuple is written; None means any size."""
    return "of any rank" if tensor_shape.rank is None else str(tuple(tensor_shape.as_list()))


def python_type(value) -> str:
    """Return the name of the type of a Python value in a key, also of nan."""
    return "float" if type(value) is object else type_name(value)


def literal(value, exact: bool = False) -> str:
    """Return a value in words, a float in 6 digits unless `exact`; only built-in code is run."""
    if type(value) is object:  # what TensorFlow keeps for nan, so that it equals itself
        return "nan"
    value = float(f"{value:.6g}") if type(value) is float and not exact else value
    return repr(value) if type(value) is range else label(value)

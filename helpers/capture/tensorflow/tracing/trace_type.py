"""TraceTypes (what tf.function makes of its arguments) -> short words, such as `float32 (2,)`.

Mirrors tensorflow/core/function/trace_type: every kind of type there is has its words here.
"""

import math
import re
from itertools import islice

from helpers.capture.text.value import SCALARS, label, type_name
from helpers.model.phrase import clipped
from helpers.safety.arguments import is_exactly

MOST_ITEMS = 6
DEEPEST = 6
LONGEST = 160
ADDRESS = re.compile(r"0x[0-9a-fA-F]+")


class Names:
    """Words for types. Objects are numbered in the order in which they were first named."""

    def __init__(self):
        self._known = {}
        self._used: dict[str, int] = {}

    def arguments(self, function_type) -> str:
        """Return the words of all arguments of a FunctionType, as in `x=float32 (2,), n=1`."""
        parts = [
            f"{name}={self.of(parameter.type_constraint)}"
            for name, parameter in islice(function_type.parameters.items(), MOST_ITEMS)
        ]
        more = len(function_type.parameters) - len(parts)
        return cut(", ".join(parts + [f"… {more} more"] * bool(more))) or "(none)"

    def of(self, trace_type, depth: int = 0) -> str:
        """Return the words of one TraceType; a value is never asked for more than its repr."""
        if depth > DEEPEST:
            return "…"
        kind = type_name(trace_type)
        describe = getattr(self, f"_{kind.lower()}", None)
        if describe is not None and type(trace_type).__module__.startswith("tensorflow."):
            return describe(trace_type, depth)
        if hasattr(type(trace_type), "_type_spec") or hasattr(trace_type, "_component_specs"):
            return spec(trace_type)
        return own_words(trace_type)

    def value(self, value) -> str:
        """Return the words of a live value: of its TraceType if it has one, else its type."""
        from tensorflow.core.function import trace_type

        try:
            return self.of(trace_type.from_value(value))
        except KeyboardInterrupt:
            raise
        except BaseException:  # the argument's own tracing protocol may raise anything
            return label(value)

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
        return f"{t.dtype.name} {shape(t.shape)}"

    def _variablespec(self, t, depth) -> str:
        return f"Variable {t.dtype.name} {shape(t.shape)}"

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
        return self._fields(t.type_name, t.attribute_names, t.attributes.components, depth)

    def _attrs(self, t, depth) -> str:
        return self._namedtuple(t.named_attributes, depth)

    def _customnesttracetype(self, t, depth) -> str:
        return f"{t.value_type.__name__}({self._items(t.components, depth)})"

    def _fields(self, name, names, types, depth) -> str:
        pairs = _first(zip(names, types, strict=True))
        shown = [f"{n}={self.of(t, depth + 1)}" for n, t in pairs]
        return f"{name}({', '.join(shown + _rest(len(names)))})"

    def _items(self, types, depth) -> str:
        return ", ".join([self.of(t, depth + 1) for t in _first(types)] + _rest(len(types)))


def shape(tensor_shape) -> str:
    """Return a TensorShape as a tuple is written; None stands for any size."""
    return "of any rank" if tensor_shape.rank is None else str(tuple(tensor_shape.as_list()))


def value_of(t):
    """Return the value of a Literal; for nan TensorFlow keeps a marker, which equals itself."""
    return math.nan if type(t.value) is object else t.value


def literal(value) -> str:
    """Return a Python value in words; of a value that is no scalar, no line of code is run."""
    return repr(value) if type(value) is range else label(value)


def spec(type_spec) -> str:
    """Return the words of a composite tensor's spec: its kind, then dtype and shape if any."""
    kind = type_name(type_spec).removesuffix("Spec")
    dtype, dimensions = (getattr(type_spec, name, None) for name in ("dtype", "shape"))
    if dtype is None or not hasattr(dimensions, "rank"):
        return kind
    return f"{kind} {dtype.name} {shape(dimensions)}"


def own_words(trace_type) -> str:
    """Return what a type says of itself, without addresses; if that fails, the type's name."""
    try:
        words = repr(trace_type)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return type_name(trace_type)
    return type_name(trace_type) if ADDRESS.search(words) else cut(words)


def cut(words: str, longest: int = LONGEST) -> str:
    """Return words of at most so many characters."""
    return clipped(words, longest)


def _noun(value) -> str:
    words = label(value)
    return words if words != type_name(value) or is_exactly(value, *SCALARS) else f"{words} object"


def _first(items):
    return islice(items, MOST_ITEMS)


def _rest(total: int) -> list[str]:
    return [f"… {total - MOST_ITEMS:,} more"] if total > MOST_ITEMS else []

"""TensorFlow's TraceTypes, by which it looks up a call, as short text.

A TraceType says what TensorFlow knows of one argument while it traces. The classes are those of
tensorflow/core/function/trace_type/default_types.py.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from ...internals import tensorflow_cache
from ...model.phrase import clip_text, format_names
from ...safety.arguments import is_exactly, real_type_name
from ..text.value import SCALARS, format_label

MOST_ITEMS = 6  # arguments of a call, and parts of a container, that are written out
DEEPEST = 6  # levels of containers that are written out
LONGEST = 160  # characters
SMALL_INT_BITS = 64
SPEC = re.compile(r"\bTensorSpec\(shape=(.*?), dtype=tf\.(\w+), name=\w+\)")
ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
BY_INDEX = "[{}]"
BY_ATTRIBUTE = ".{}"
BY_COMPONENT = ".__tf_flatten__()[1][{}]"


@dataclass(frozen=True)
class Container:
    """What the TraceType of a list, a tuple, a dict, a named tuple or a nest contains."""

    #: "list", "tuple", "dict", or words that end with the name of the class
    kind: str
    #: the TraceType of each part, by its index, its dict key or the name of its attribute
    parts: dict
    #: how the key of a part is written after the name of the container: one of the BY_… patterns
    key_pattern: str = BY_INDEX


def container_of(trace_type) -> Container | None:
    """Return what a TraceType of a list, tuple, dict, named tuple, attrs class or nest contains.

    Return None for any other TraceType.
    """
    kind = own_kind(trace_type)
    if kind == "Dict":
        return Container("dict", dict(trace_type.mapping))
    if kind == "List":
        return Container("list", dict(enumerate(trace_type.components_tuple.components)))
    if kind == "Tuple":
        return Container("tuple", dict(enumerate(trace_type.components)))
    if kind == "NamedTuple":
        return _container_by_attribute(f"namedtuple {trace_type.type_name}", trace_type)
    if kind == "Attrs":
        attributes = trace_type.named_attributes
        return _container_by_attribute(f"attrs class {attributes.type_name}", attributes)
    if kind == "CustomNestTraceType":
        parts = dict(enumerate(trace_type.components))
        return Container(f"class {trace_type.value_type.__name__}", parts, BY_COMPONENT)
    return None


def _container_by_attribute(kind: str, named_tuple_type) -> Container:
    """Return the container of TensorFlow's NamedTuple type, whose parts have attribute names."""
    names = named_tuple_type.attribute_names
    parts = dict(zip(names, named_tuple_type.attributes.components, strict=True))
    return Container(kind, parts, BY_ATTRIBUTE)


def own_kind(trace_type) -> str:
    """Return the class name of a TraceType that TensorFlow defines; "" if another library does."""
    kind = type(trace_type)
    return kind.__name__ if kind.__module__.startswith("tensorflow.") else ""


def is_complete(trace_type) -> bool:
    """Return whether each part of a TraceType has a TraceType.

    When TensorFlow widens a container for `reduce_retracing`, a part without a common type is None.
    """
    if trace_type is None:
        return False
    container = container_of(trace_type)
    if container is None:
        return True
    return all(is_complete(part) for part in container.parts.values())


class TypeNames:
    """Formats TraceTypes, and numbers the objects that they refer to.

    The first object of a class that is formatted is `Apple object 1`, the next `Apple object 2`.
    All rows of one ledger use the same TypeNames, so that an object has one number in all of them.
    """

    def __init__(self):
        """Start without any object."""
        # By the id of its weak reference: the reference, and the text. The reference is kept
        # because another one could get its id as soon as it is freed.
        self._texts_by_id: dict[int, tuple[object, str]] = {}
        self._counts_by_text: dict[str, int] = {}

    def format_arguments(self, function_type) -> str:
        """Return the text of all arguments of a FunctionType, as in `x=float32 (2,), n=1`."""
        texts = [
            f"{name}={self.format_type(parameter.type_constraint)}"
            for name, parameter in function_type.parameters.items()
        ]
        return _join_arguments(texts)

    def format_values(self, function, args, kwargs) -> str:
        """Return the text of the live arguments of a call for which TensorFlow has no key."""
        texts = []
        for name, value in _name_arguments(function, args, kwargs):
            text = self.format_value(value)
            texts.append(f"{name}={text}" if name else text)
        return _join_arguments(texts)

    def format_value(self, value) -> str:
        """Return the text of a live value: that of its TraceType, or a label if it has none."""
        try:
            return self.format_type(tensorflow_cache.type_of(value))
        except Exception:  # the missing type may be the reason why there is no key
            return format_label(value)

    def format_type(self, trace_type, depth: int = 0) -> str:
        """Return the text of one TraceType; `depth` is the number of containers around it.

        A value in a TraceType of another library is asked for no more than its `repr`.
        """
        kind = own_kind(trace_type)
        container = container_of(trace_type)
        if depth > DEEPEST:
            return "…"
        if kind == "Literal":
            return format_literal(trace_type.value)
        if kind == "Weakref":
            return self.format_referent(trace_type._ref)
        if kind == "TensorSpec":
            return _format_tensor(trace_type)
        if kind == "VariableSpec":
            return f"Variable {_format_tensor(trace_type)}"
        if container is None:
            return _format_by_repr(trace_type)
        return self._format_container(container, depth)

    def _format_container(self, container: Container, depth: int) -> str:
        """Return a container as Python writes it, with at most MOST_ITEMS of its parts."""
        kind = container.kind
        texts = []
        for key, part in islice(container.parts.items(), MOST_ITEMS):
            text = self.format_type(part, depth + 1)
            if kind == "dict":
                text = f"{format_literal(key)}: {text}"
            elif container.key_pattern == BY_ATTRIBUTE:
                text = f"{key}={text}"
            texts.append(text)

        left_out = len(container.parts) - MOST_ITEMS
        if left_out > 0:
            texts.append(f"… {left_out:,} more")
        joined = ", ".join(texts)

        if kind == "list":
            return f"[{joined}]"
        if kind == "dict":
            return f"{{{joined}}}"
        if kind == "tuple":
            comma = "," if len(container.parts) == 1 else ""
            return f"({joined}{comma})"
        class_name = kind.split()[-1]
        return f"{class_name}({joined})"

    def format_referent(self, ref) -> str:
        """Return the type and the number of the object of a weak reference.

        The text is the same at each later call, also after the object was freed.
        """
        if id(ref) not in self._texts_by_id:
            self._texts_by_id[id(ref)] = (ref, self._number_referent(ref()))
        _, text = self._texts_by_id[id(ref)]
        return text

    def _number_referent(self, referent) -> str:
        """Return the type of an object with the next free number; None stands for a freed one."""
        text = "freed object" if referent is None else format_label(referent)
        if text == real_type_name(referent) and not is_exactly(referent, *SCALARS):
            text += " object"
        number = self._counts_by_text.get(text, 0) + 1
        self._counts_by_text[text] = number

        # A function has a name of its own, so that only a second one of that name needs a number.
        if number == 1 and text.endswith("()"):
            return text
        return f"{text} {number}"


def _format_tensor(spec) -> str:
    """Return the dtype and the shape of a TensorSpec or VariableSpec."""
    return f"{spec.dtype.name} {format_shape(spec.shape)}"


def _format_by_repr(trace_type) -> str:
    """Return the `repr` of a TraceType, or its class if the `repr` raises or has an address."""
    try:
        text = repr(trace_type)
        if ADDRESS.search(text):
            return real_type_name(trace_type)
        return clip_text(SPEC.sub(r"\2 \1", text), LONGEST)
    except Exception:  # another library's `__repr__`
        return real_type_name(trace_type)


def _name_arguments(function, args, kwargs) -> Iterator[tuple[str, object]]:
    """Yield each argument of a call with the name of its parameter.

    The name is "" for a positional argument that the function has no parameter for.
    """
    parameters = function.function_type.parameters.values()
    # The kinds of parameters are ordered numbers; these two come first.
    names = [p.name for p in parameters if p.kind <= p.POSITIONAL_OR_KEYWORD]
    for index, value in enumerate(args):
        yield names[index] if index < len(names) else "", value
    yield from kwargs.items()


def _join_arguments(texts: list[str]) -> str:
    """Return the texts of arguments on one line that is not too long."""
    return clip_text(format_names(texts, MOST_ITEMS), LONGEST) or "(none)"


def format_shape(tensor_shape) -> str:
    """Return a TensorShape as Python writes a tuple; None means any size."""
    if tensor_shape.rank is None:
        return "of any rank"
    return str(tuple(tensor_shape.as_list()))


def name_python_type(value) -> str:
    """Return the name of the type of a Python value in a key."""
    # TensorFlow replaces nan by an `object()`, so that it equals itself.
    return "float" if type(value) is object else real_type_name(value)


def format_literal(value, exact: bool = False) -> str:
    """Return the text of a Python value in a key; only built-in code runs.

    A float has six digits, unless `exact` asks for all of them.
    """
    if type(value) is object:  # see `name_python_type`
        return "nan"
    if type(value) is int and value.bit_length() <= SMALL_INT_BITS:
        return repr(value)  # most values are such numbers, which need no limits
    if type(value) is float and not exact:
        value = float(f"{value:.6g}")
    return repr(value) if type(value) is range else format_label(value)

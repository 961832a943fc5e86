"""TensorFlow's TraceTypes, by which it looks up a call, as short text. A TraceType says what
TensorFlow knows of one argument while it traces. A tensor of two floats becomes "float32 (2,)", the
number 3 becomes "3", and a list of both "[float32 (2,), 3]". The classes are those of
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
# Patterns for the place of a part after the name of its container, as in "x[0]" and "x.mean".
BY_INDEX = "[{}]"
BY_ATTRIBUTE = ".{}"
BY_COMPONENT = ".__tf_flatten__()[1][{}]"


@dataclass(frozen=True)
class Container:
    """What the TraceType of a list, a tuple, a dict, a named tuple or a nest contains."""

    #: "list", "tuple", "dict", or text that ends with a class, such as "namedtuple Point"
    kind: str
    #: an index, a dict key or the name of an attribute -> the TraceType of that part
    parts: dict
    #: how the key of a part is written after the name of the container: one of the BY_… patterns
    key_pattern: str = BY_INDEX


def read_container(trace_type) -> Container | None:
    """Return the parts of the TraceType of a container; None for any other TraceType.

    Containers are lists, tuples, dicts, named tuples, attrs classes, and classes with
    `__tf_flatten__`. TensorFlow stores the parts of each in another attribute.
    """
    kind = name_tensorflow_class(trace_type)
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
    """Return the container of a type with named attributes, such as `namedtuple Point`.

    `named_tuple_type` is TensorFlow's NamedTuple: names in one attribute, types in another.
    """
    names = named_tuple_type.attribute_names
    parts = dict(zip(names, named_tuple_type.attributes.components, strict=True))
    return Container(kind, parts, BY_ATTRIBUTE)


def name_tensorflow_class(trace_type) -> str:
    """Return the name of a TraceType's class, such as "TensorSpec"; "" if it is not TensorFlow's.

    Another library may define a class of the same name, with other attributes.
    """
    kind = type(trace_type)
    return kind.__name__ if kind.__module__.startswith("tensorflow.") else ""


def is_complete(trace_type) -> bool:
    """Return whether no part of a TraceType is missing, at any depth.

    With `reduce_retracing`, TensorFlow makes a type that covers two calls. If two parts have
    nothing in common, the part of the result is None.
    """
    if trace_type is None:
        return False
    container = read_container(trace_type)
    if container is None:
        return True
    return all(is_complete(part) for part in container.parts.values())


class TypeNames:
    """Formats TraceTypes, and numbers the objects to which they refer.

    The first object of a class is formatted as "Apple object 1", the next as "Apple object 2". All
    rows of one ledger use the same TypeNames, so an object has the same number in each row.
    """

    def __init__(self):
        """Start without any object."""
        # The id of a weak reference -> (the weak reference, the text of its object). The reference
        # is stored because otherwise a new one could get the same id.
        self._texts_by_id: dict[int, tuple[object, str]] = {}
        # A text such as "Apple object" -> how many objects have it.
        self._counts_by_text: dict[str, int] = {}

    def format_arguments(self, function_type) -> str:
        """Return the text of all arguments of a FunctionType, as in "x=float32 (2,), n=1"."""
        texts = [
            f"{name}={self.format_type(parameter.type_constraint)}"
            for name, parameter in function_type.parameters.items()
        ]
        return _join_arguments(texts)

    def format_values(self, function, args, kwargs) -> str:
        """Return the text of the arguments of a call, as in "x=float32 (2,), 3".

        It is used if TensorFlow cannot make a key of the call, so there is no FunctionType.
        """
        texts = []
        for name, value in _name_arguments(function, args, kwargs):
            text = self.format_value(value)
            texts.append(f"{name}={text}" if name else text)
        return _join_arguments(texts)

    def format_value(self, value) -> str:
        """Return the text of a live value: that of its TraceType, or a label if it has none."""
        try:
            return self.format_type(tensorflow_cache.read_trace_type(value))
        except Exception:  # the missing type may be the reason why there is no key
            return format_label(value)

    def format_type(self, trace_type, depth: int = 0) -> str:
        """Return the text of one TraceType, as in "float32 (2,)", "3" or "[3, 4]".

        `depth` is the number of containers around it. Of another library's TraceType, only the
        `repr` is shown.
        """
        kind = name_tensorflow_class(trace_type)
        container = read_container(trace_type)
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
        """Return a container as Python writes it, as in "[3, 4]" or "Point(x=3, y=4)".

        At most MOST_ITEMS parts are written. `depth` is the number of containers around it.
        """
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
        class_name = kind.split()[-1]  # the kind is "namedtuple Point" or "attrs class Point"
        return f"{class_name}({joined})"

    def format_referent(self, ref) -> str:
        """Return the text of the object to which `ref` refers weakly, as in "Apple object 2".

        The text is the same at each later call, even if the object was freed meanwhile.
        """
        if id(ref) not in self._texts_by_id:
            self._texts_by_id[id(ref)] = (ref, self._number_referent(ref()))
        _, text = self._texts_by_id[id(ref)]
        return text

    def _number_referent(self, referent) -> str:
        """Return the text of an object with the next free number for that text.

        `referent` is None if the object was freed before it got a number.
        """
        text = "freed object" if referent is None else format_label(referent)
        # A label may be only the name of the type, "Apple", which could be read as the class.
        if text == real_type_name(referent) and not is_exactly(referent, *SCALARS):
            text += " object"
        number = self._counts_by_text.get(text, 0) + 1
        self._counts_by_text[text] = number

        # The text of a function is "name()". Only a second function of that name needs a number.
        if number == 1 and text.endswith("()"):
            return text
        return f"{text} {number}"


def _format_tensor(spec) -> str:
    """Return the dtype and the shape of a TensorSpec or VariableSpec."""
    return f"{spec.dtype.name} {format_shape(spec.shape)}"


def _format_by_repr(trace_type) -> str:
    """Return the `repr` of a TraceType, in which a TensorSpec is shortened to "float32 (2,)".

    Return the name of its class if the `repr` raises, or if it contains an address in memory.
    """
    try:
        text = repr(trace_type)
        if ADDRESS.search(text):  # it is another one in each run
            return real_type_name(trace_type)
        return clip_text(SPEC.sub(r"\2 \1", text), LONGEST)
    except Exception:  # another library's `__repr__`
        return real_type_name(trace_type)


def _name_arguments(function, args, kwargs) -> Iterator[tuple[str, object]]:
    """Yield each argument of a call with the name of its parameter.

    The name is "" for a positional argument that the function has no parameter for.
    """
    parameters = function.function_type.parameters.values()
    # The kinds of parameters are numbers. Those that accept a positional argument come first.
    names = [
        parameter.name
        for parameter in parameters
        if parameter.kind <= parameter.POSITIONAL_OR_KEYWORD
    ]
    for index, value in enumerate(args):
        name = names[index] if index < len(names) else ""
        yield name, value
    yield from kwargs.items()


def _join_arguments(texts: list[str]) -> str:
    """Return the texts of arguments as one text of at most LONGEST characters."""
    return clip_text(format_names(texts, MOST_ITEMS), LONGEST) or "(none)"


def format_shape(tensor_shape) -> str:
    """Return a TensorShape as Python writes a tuple, as in "(None, 3)", where None is any size."""
    if tensor_shape.rank is None:
        return "of any rank"
    return str(tuple(tensor_shape.as_list()))


def name_python_type(value) -> str:
    """Return the name of the type of a Python value in a key."""
    # In a key, TensorFlow replaces nan by an `object()`, because nan is not equal to itself.
    return "float" if type(value) is object else real_type_name(value)


def format_literal(value, exact: bool = False) -> str:
    """Return the text of a Python value in a key, without running code of the user's classes.

    A float is written with six digits, or with all of them if `exact`.
    """
    if type(value) is object:  # see `name_python_type`
        return "nan"
    if type(value) is int and value.bit_length() <= SMALL_INT_BITS:
        return repr(value)  # a quick way for the most frequent values, which are short
    if type(value) is float and not exact:
        value = float(f"{value:.6g}")
    return repr(value) if type(value) is range else format_label(value)

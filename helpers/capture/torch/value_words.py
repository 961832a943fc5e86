"""A value that a guard refuses -> a short text with what the guard looks at.

For a guard on a length, the text is `of length 3`. For one on a type, it is `of type float`.
"""

import re

from ...safety.arguments import real_type_name
from ..text import tensors
from ..text.value import short_repr
from .guard_words import LENGTH_KINDS, TENSOR_MATCH
from .lookup import MISSING, count_elements_left, read_length

# it has no key 'scale', it has the attribute forward of its own
HAS_OR_NOT = re.compile(r"it has (the|an?|no) (key|attribute) (.+)", re.DOTALL)


def describe_value(kind: str, value: object, checks: str = "") -> str:
    """Return a short text for what a guard looks at in a value, such as `of length 3`.

    The text says why the guard fails. It is "" if that cannot be read.

    Parameters
    ----------
    kind : str
        Torch's name for the kind of guard.
    value : object
        The value in this call.
    checks : str
        What must hold, in the words of `describe_guard`, such as `it has no key 'scale'`.
    """
    # For most kinds of guards `checks` tells what they look at, because one kind has several forms.
    if checks.startswith("its length is ") or kind in LENGTH_KINDS:
        return describe_length(value)
    if kind == TENSOR_MATCH and tensors.is_torch_tensor(value):
        return _describe_tensor(value)
    if kind in ("TYPE_MATCH", TENSOR_MATCH):
        return describe_type(value, checks)

    has_or_not = HAS_OR_NOT.match(checks)
    if has_or_not:
        article, noun, name = has_or_not.groups()
        preposition = "with" if article == "no" else "without"
        return f"{preposition} the {noun} {name}"
    if kind == "DIMENSION_DYNAMIC_MARKING_GUARD":
        return "marked dynamic or static"
    if checks.startswith("the number of items left in it is "):
        items_left = count_elements_left(value)
        return "" if items_left is MISSING else f"an iterator with {items_left} items left"
    if checks.startswith("as int, it equals "):
        return f"{int.__int__(value)} as int"  # of int itself: `int(value)` may run user code
    if kind == "ID_MATCH":
        return "another object"
    return short_repr(value)


def _describe_tensor(tensor) -> str:
    """Return a tensor in brief, such as `float32 [3]` or `float32 [3], requires grad`."""
    text = tensors.format_tensor(tensor) or real_type_name(tensor)
    if tensors.read_field(tensor, "requires_grad"):
        return f"{text}, requires grad"
    return text


def describe_length(value: object) -> str:
    """Return `of length 3` for a container, and a short repr of a value without a length."""
    length = read_length(value)
    if length is MISSING:
        return short_repr(value)
    return f"of length {length}"


def describe_type(value: object, checks: str) -> str:
    """Return the type of a value, such as `of type float`.

    `checks` is what the guard asks for, such as `its type is Point itself`. If the value's class
    has the same name and is another class, the text says that.
    """
    name = real_type_name(value)
    if checks == f"its type is {name} itself":
        return f"of type {name}, another class of the same name"
    return f"of type {name}"

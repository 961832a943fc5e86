"""A learner's answer in any form -> plain values, or why it cannot be judged."""

from collections.abc import Iterable, Mapping
from itertools import islice

from helpers.capture.text.value import short_repr


class NotAttempted(Exception):
    """The answer is still the stub, or the parts that the message names are."""


class InvalidAnswer(Exception):
    """The answer cannot be judged as it is. The message says what it must be."""


def require_attempt(value, part: str = ""):
    """Return the learner's value. Raise NotAttempted, with the name of the part, if it is `...`."""
    if value is ...:
        raise NotAttempted(part)
    return value


def require_attempts(values: Mapping) -> None:
    """Raise NotAttempted with the names of the values that are still `...`, if there are any."""
    stubs = [str(name) for name, value in values.items() if value is ...]
    if len(stubs) == len(values) and stubs:  # nothing is attempted, so no part is worth a name
        raise NotAttempted("")
    if stubs:
        raise NotAttempted(", ".join(stubs))


def require_named_values(answer, names: Iterable[str], what: str = "the guess") -> dict:
    """Return name -> value of an answer that is a dict with just these names.

    InvalidAnswer for any other answer; `what` is the answer in words. NotAttempted for stubs.
    """
    names = list(names)
    must = f"{what} must be a dict with the keys {', '.join(names)}"
    if not isinstance(answer, Mapping):
        raise InvalidAnswer(f"{must}, not {short_repr(answer)}")

    # One item more than allowed is enough to refuse a mapping that has no end.
    values = dict(islice(answer.items(), len(names) + 1))
    for name in names:
        if name not in values:
            raise InvalidAnswer(f"{must}. {name!r} is missing")
    for name in values:
        if name not in names:
            raise InvalidAnswer(f"{must}. {short_repr(name)} is not one of them")

    require_attempts(values)
    return {name: to_plain_text(values[name]) for name in names}


def require_items(answer, limit: int, what: str = "the answer") -> list:
    """Return the items of a list, tuple, array, tensor …, at most `limit` of them.

    InvalidAnswer for an answer without items or with more; `what` is the answer in words.
    """
    is_text_or_mapping = isinstance(answer, (str, bytes, Mapping))
    if is_text_or_mapping or not hasattr(type(answer), "__iter__"):
        raise InvalidAnswer(f"{what} must be a list, not {short_repr(answer)}")

    items = list(islice(iter(answer), limit + 1))  # an answer may yield items without end
    if len(items) > limit:
        raise InvalidAnswer(f"{what} has more than {limit:,} items, too many to be right")
    return items


def to_plain_text(value):
    """Return any kind of text, such as numpy's or an enum's, as a plain str, all else as is."""
    if isinstance(value, str):
        return str.__str__(value)
    return value

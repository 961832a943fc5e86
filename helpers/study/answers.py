"""Read a learner's answer to an exercise in any form, or say why it cannot be judged.
An *answer* is what the learner passes to a check. A *stub* is an answer that is still `...`, as the
notebook of the course has it.
"""

from collections.abc import Iterable, Mapping
from itertools import islice

from helpers.capture.text.value import short_repr


class NotAttempted(Exception):
    """The answer, or the parts of it that the message names, are still the stub `...`."""


class InvalidAnswer(Exception):
    """The answer cannot be judged as it is. The message says what it must be."""


def require_no_stub(value, part: str = ""):
    """Return `value`; raise NotAttempted if it is still `...`.

    `part` is the message of the error, the name of the part of the answer that `value` is.
    """
    if value is ...:
        raise NotAttempted(part)
    return value


def require_no_stubs(values: Mapping) -> None:
    """Raise NotAttempted if some values are still `...`. The message lists their names.

    `values` is name -> value. If all values are `...`, the message is "".
    """
    stubs = [str(name) for name, value in values.items() if value is ...]
    if len(stubs) == len(values) and stubs:
        raise NotAttempted("")
    if stubs:
        raise NotAttempted(", ".join(stubs))


def require_named_values(answer, names: Iterable[str], what: str = "the guess") -> dict:
    """Return an answer as a dict, name -> value, in the order of `names`.

    The answer must be a mapping whose keys are exactly `names`. Raise InvalidAnswer for any other
    answer, whose message calls the answer `what`, and NotAttempted if values are still `...`.
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

    require_no_stubs(values)
    return {name: to_plain_text(values[name]) for name in names}


def require_items(answer, limit: int, what: str = "the answer") -> list:
    """Return the items of an answer as a list. The answer may be a list, tuple, array or tensor.

    Raise InvalidAnswer for any other answer, or one with more than `limit` items. The message calls
    the answer `what`.
    """
    is_text_or_mapping = isinstance(answer, (str, bytes, Mapping))
    if is_text_or_mapping or not hasattr(type(answer), "__iter__"):
        raise InvalidAnswer(f"{what} must be a list, not {short_repr(answer)}")

    items = list(islice(iter(answer), limit + 1))  # an answer may yield items without end
    if len(items) > limit:
        raise InvalidAnswer(f"{what} has more than {limit:,} items, too many to be right")
    return items


def to_plain_text(value):
    """Return text of a subclass of str, such as numpy.str_, as a plain str.

    Any other value is returned unchanged.
    """
    if isinstance(value, str):
        return str.__str__(value)
    return value

"""An argument of a verb -> the same argument, known to be what it must be, or one sentence.

These functions look at the real type of a value, and not at its `__class__`, `__eq__`, `__bool__`
or `__getattr__`. An object that answers for itself, such as a proxy, a mock or an array, does no
harm.
"""

import inspect
from collections.abc import Iterable
from difflib import get_close_matches

LONGEST = 60  # characters of a name or a text that a sentence quotes

_CLOSE = 0.7  # how alike two words must be, from 0 to 1

# What reads `type.__name__` itself: a metaclass may have another property of that name.
_read_type_name = type.__dict__["__name__"].__get__


def real_isinstance(value: object, *kinds: type) -> bool:
    """Return whether the real type of `value` is one of these, or derived from one."""
    return issubclass(type(value), kinds)


def is_exactly(value: object, *kinds: type) -> bool:
    """Return whether the real type of `value` is one of these, and not only derived from one."""
    return any(type(value) is kind for kind in kinds)


def item_of_type(value: object, table: dict, default: object = None):
    """Return the item of a table of types for the real type of `value`, else `default`.

    The types are compared by identity, because a metaclass may define `__hash__` and `__eq__`.
    """
    for kind, item in table.items():
        if kind is type(value):
            return item
    return default


def real_type_name(value: object) -> str:
    """Return the name of the real type, printable and short."""
    return printable(_read_type_name(type(value)))


def printable(text: str, longest: int = LONGEST) -> str:
    """Return text of at most so many characters; what cannot be printed is spelled out."""
    text = str.__str__(text)  # a class derived from str may have methods of its own
    shortened = f"{text[: longest - 1]}…" if len(text) > longest else text
    if shortened.isprintable():
        return shortened
    return "".join(map(_escape, shortened))


def _escape(character: str) -> str:
    """Return a character that can be printed, or the escape sequence of another."""
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode()


def quote_value(value: object) -> str:
    """Return a value as a sentence may quote it: a plain scalar or a text itself, else its type."""
    if real_isinstance(value, str):
        return f"'{printable(value)}'"
    if not is_exactly(value, int, float, bool, type(None)):
        return real_type_name(value)
    if type(value) is int and value.bit_length() > 64:
        return "a very large int"
    return repr(value)


def static_attribute(value: object, name: str, default: object = None):
    """Return a stored attribute, else `default`; no code of the object is run, so no property."""
    attribute = inspect.getattr_static(value, name, default)
    return default if real_isinstance(attribute, property) else attribute


def require_str(value: object, what: str) -> str:
    """Return `value` as an exact str if it is text, else raise TypeError.

    `what` is what the error calls the value.
    """
    if real_isinstance(value, str):
        return str.__str__(value)
    raise TypeError(f"{what} must be text, not {real_type_name(value)}")


def require_int(value: object, what: str, most: int, least: int = 1) -> int:
    """Return `value` if it is an int from `least` to `most`, else raise TypeError or ValueError.

    `what` is what the error calls the value. True and False are no ints here.
    """
    if type(value) is not int:
        raise TypeError(f"{what} must be an int, not {real_type_name(value)}")
    if not least <= value <= most:
        raise ValueError(f"{what} must be from {least:,} to {most:,}, not {quote_value(value)}")
    return value


def require_bool(value: object, what: str) -> bool:
    """Return `value` if it is True or False, else raise TypeError, which calls it `what`."""
    if value is not True and value is not False:
        raise TypeError(f"{what} must be True or False, not {quote_value(value)}")
    return value


def require_function(value: object, what: str):
    """Return `value` if it can be called and is no class, else raise TypeError.

    `what` is what the error calls the value.
    """
    if real_isinstance(value, type) or not callable(value):
        raise TypeError(f"{what} must be a function, not {quote_value(value)}")
    return value


def require_dict(value: object, what: str, of: str, most: int) -> list[tuple[str, object]]:
    """Return the pairs of a dict that has text as keys, and from 1 to `most` items.

    Raise TypeError or ValueError for anything else. The sentence says that `what`, such as the name
    of a verb, needs a dict, and by `of` which: "name -> function".
    """
    requirement = f"{what} needs a dict: {of}"
    if not real_isinstance(value, dict):
        raise TypeError(f"{requirement}, not {real_type_name(value)}")
    if not value:
        raise TypeError(f"{requirement}; this one is empty")
    if len(value) > most:
        raise ValueError(f"{what} accepts {most:,} entries at a time, not {len(value):,}")
    for name in value:
        if not real_isinstance(name, str):
            raise TypeError(f"{requirement}; a name must be text, not {real_type_name(name)}")
    return [(require_str(name, "a name"), item) for name, item in value.items()]


def split_case(case) -> list:
    """Return a case, (function, *arguments), as a list; anything else is a function alone.

    An empty tuple is returned as the only item, so that the check of the function refuses it.
    """
    items = list(case) if real_isinstance(case, tuple) else []
    return items or [case]


def find_near_word(word: str, known_words: Iterable[str]) -> str:
    """Return the known word that somebody most likely meant by `word`; "" for none.

    Of the close ones, a word with the same letters in another order comes first.
    """
    close_words = get_close_matches(word, list(known_words), n=5, cutoff=_CLOSE)
    for close_word in close_words:
        if sorted(close_word) == sorted(word):
            return close_word
    return close_words[0] if close_words else ""

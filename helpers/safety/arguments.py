"""Check the arguments that a user passes to a verb, and quote them in error messages.
A *verb* is a public function of this package, such as `show_bytecode`. Each `require_…` function
returns a valid argument, and raises an error with one sentence for any other.

These functions look at the real type of a value. They never call the value's own `__class__`,
`__eq__`, `__bool__` or `__getattr__`, because those of a proxy, a mock or an array may raise, or
return something else than usual.
"""

import inspect
from collections.abc import Iterable
from difflib import get_close_matches

LONGEST = 60  # characters of a name or a text that a sentence quotes

_CLOSE = 0.7  # how alike two words must be, from 0 to 1

# What reads `type.__name__` itself: a metaclass may have another property of that name.
_read_type_name = type.__dict__["__name__"].__get__


def real_isinstance(value: object, *kinds: type) -> bool:
    """Return whether `type(value)` is one of `kinds`, or a subclass of one.

    Unlike `isinstance`, it ignores a `__class__` that `value` defines itself.
    """
    return issubclass(type(value), kinds)


def is_exactly(value: object, *kinds: type) -> bool:
    """Return whether `type(value)` is one of `kinds`. A subclass of one does not count."""
    return any(type(value) is kind for kind in kinds)


def item_of_type(value: object, table: dict, default: object = None):
    """Return `table[type(value)]`, or `default` if the table lacks that type.

    `table` is type -> item. The types are compared by identity and not looked up, because a
    metaclass may define `__hash__` and `__eq__`.
    """
    for kind, item in table.items():
        if kind is type(value):
            return item
    return default


def real_type_name(value: object) -> str:
    """Return the name of the real type, printable and short."""
    return printable(_read_type_name(type(value)))


def printable(text: str, longest: int = LONGEST) -> str:
    """Return text of at most `longest` characters, all of which can be printed.

    A longer text is cut and ends with "…". Any other character is replaced by its escape sequence,
    such as "\\n" by a backslash and an n.
    """
    text = str.__str__(text)  # a class derived from str may have methods of its own
    shortened = f"{text[: longest - 1]}…" if len(text) > longest else text
    if shortened.isprintable():
        return shortened
    return "".join(map(_escape, shortened))


def _escape(character: str) -> str:
    """Return a printable character as it is, and the escape sequence of any other."""
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode()


def quote_value(value: object) -> str:
    """Return a value as an error message quotes it.

    Text is quoted in part, a plain number, True, False and None as a whole. Any other value is
    named by its type, because its `repr` may be long or raise.
    """
    if real_isinstance(value, str):
        return f"'{printable(value)}'"
    if not is_exactly(value, int, float, bool, type(None)):
        return real_type_name(value)
    if type(value) is int and value.bit_length() > 64:  # its digits would fill the message
        return "a very large int"
    return repr(value)


def static_attribute(value: object, name: str, default: object = None):
    """Return an attribute that is stored in `value` or its class, else `default`.

    No code of the object is run. So the value of a property is not known, and is `default`, too.
    """
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
    """Return the pairs (key, item) of a dict with 1 to `most` items, all of whose keys are text.

    Raise TypeError or ValueError for anything else. `what` is who needs the dict, such as the name
    of a verb, and `of` says what the dict maps: "name -> function". Both are quoted in the message.
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
    """Return a case as the list [function, *arguments].

    A user writes a case as the tuple (function, *arguments), or as a function alone. An empty tuple
    has no function. It is returned as [()], so that the caller's `require_function` refuses `()`.
    """
    items = list(case) if real_isinstance(case, tuple) else []
    return items or [case]


def find_near_word(word: str, known_words: Iterable[str]) -> str:
    """Return the one of `known_words` that is most like the misspelt `word`; "" if none is.

    A word with the same letters in another order ("lable", "label") comes before all others.
    """
    close_words = get_close_matches(word, list(known_words), n=5, cutoff=_CLOSE)
    for close_word in close_words:
        if sorted(close_word) == sorted(word):
            return close_word
    return close_words[0] if close_words else ""

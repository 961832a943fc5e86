"""An argument of a verb -> the same argument, known to be what it must be, or one sentence.

What is asked is the real type of a thing, not its `__class__`, `__eq__`, `__bool__` or
`__getattr__`: an object that answers for itself, such as a proxy or an array, does no harm.
"""

import inspect

LONGEST = 60


def real_isinstance(value: object, *kinds: type) -> bool:
    """Return whether the real type of `value` is one of these, or derived from one."""
    return issubclass(type(value), kinds)


def is_exactly(value: object, *kinds: type) -> bool:
    """Return whether the real type of `value` is one of these."""
    return any(type(value) is kind for kind in kinds)


def real_type_name(value: object) -> str:
    """Return the name of the real type, printable and short."""
    return printable(type(value).__name__)


def printable(words: str, longest: int = LONGEST) -> str:
    """Return text of at most so many characters; what cannot be printed is spelled out."""
    cut = f"{words[: longest - 1]}…" if len(words) > longest else str(words)
    if cut.isprintable():
        return cut
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)


def quote_value(value: object) -> str:
    """Return a value as a sentence may quote it: a plain scalar or a text itself, else its type."""
    if real_isinstance(value, str):
        return f"'{printable(value)}'"
    if is_exactly(value, int, float, bool, type(None)):
        small = type(value) is not int or value.bit_length() <= 64
        return repr(value) if small else "a very large int"
    return real_type_name(value)


def static_attribute(value: object, name: str, default: object = None):
    """Return a stored attribute, else `default`; no code of the object is run, so no property."""
    found = inspect.getattr_static(value, name, default)
    return default if real_isinstance(found, property) else found


def require_str(value: object, what: str) -> str:
    """Return `value` if it is text, as an exact str. TypeError names `what` it should have been."""
    if real_isinstance(value, str):
        return str.__str__(value)
    raise TypeError(f"{what} must be text, not {real_type_name(value)}")


def require_int(value: object, what: str, most: int, least: int = 1) -> int:
    """Return `value` if it is an int from `least` to `most`; TypeError or ValueError if not."""
    if type(value) is not int:
        raise TypeError(f"{what} must be an int, not {real_type_name(value)}")
    if not least <= value <= most:
        raise ValueError(f"{what} must be from {least:,} to {most:,}, not {quote_value(value)}")
    return value


def table(value: object, what: str, of: str, most: int) -> list[tuple[str, object]]:
    """Return the pairs of a dict with names, 1 to `most`; TypeError or ValueError if it is none."""
    needed = f"{what} needs a dict: {of}"
    if not real_isinstance(value, dict):
        raise TypeError(f"{needed}, not {real_type_name(value)}")
    if not value:
        raise TypeError(f"{needed}; this one is empty")
    if len(value) > most:
        raise ValueError(f"{what} accepts {most:,} entries at a time, not {len(value):,}")
    if odd := [name for name in value if not real_isinstance(name, str)]:
        raise TypeError(f"{needed}; a name must be text, not {real_type_name(odd[0])}")
    return [(require_str(name, "a name"), item) for name, item in value.items()]


def require_bool(value: object, what: str) -> bool:
    """Return `value` if it is True or False; TypeError for anything else."""
    if value is not True and value is not False:
        raise TypeError(f"{what} must be True or False, not {quote_value(value)}")
    return value


def parts(case) -> list:
    """Return a case, (function, *arguments), as a list; without a tuple, a function."""
    return (list(case) if real_isinstance(case, tuple) else None) or [case]


def called(value: object, what: str):
    """Return `value` if it can be called, and is no class. TypeError names `what` it should be."""
    if real_isinstance(value, type) or not callable(value):
        raise TypeError(f"{what} must be a function, not {quote_value(value)}")
    return value

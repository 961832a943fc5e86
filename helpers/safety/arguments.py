"""An argument of a verb -> the same argument, known to be what it must be, or one sentence.

What is asked is the real type of a thing, not its `__class__`, `__eq__`, `__bool__` or
`__getattr__`: an object that answers for itself, such as a proxy or an array, does no harm.
"""

import inspect
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches

LONGEST = 60
_CLOSE = 0.7  # how alike two words must be, from 0 to 1
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_MISSING = re.compile(r"missing a required (?:positional-only |keyword-only )?argument: '(\w+)'")


def real_isinstance(value: object, *kinds: type) -> bool:
    """Return whether the real type of `value` is one of these, or derived from one."""
    return issubclass(type(value), kinds)


def is_exactly(value: object, *kinds: type) -> bool:
    """Return whether the real type of `value` is one of these."""
    return any(type(value) is kind for kind in kinds)


def item_of_type(value: object, table: dict, default: object = None):
    """Return the item of a table of types for the real type of `value`; no hash of it is asked."""
    return next((item for kind, item in table.items() if kind is type(value)), default)


_NAME_OF = type.__dict__["__name__"].__get__


def real_type_name(value: object) -> str:
    """Return the name of the real type, printable and short."""
    return printable(_NAME_OF(type(value)))


def printable(words: str, longest: int = LONGEST) -> str:
    """Return text of at most so many characters; what cannot be printed is spelled out."""
    words = str.__str__(words)  # of a class of somebody's own too, whose methods are not run
    cut = f"{words[: longest - 1]}…" if len(words) > longest else words
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


def bind_call(verb: Callable, args: tuple, kwargs: dict) -> None:
    """Raise TypeError, in one sentence, if `verb` does not take these arguments.

    Where a verb passes the words that it does not know to a function, a word close to one of the
    verb's own that the function does not take either is refused, too.
    """
    signature = inspect.signature(verb)
    named = [p for p in signature.parameters.values() if p.kind in _NAMED]
    of_self = sum(p.name == "self" for p in named)
    own, name = [p.name for p in named[of_self:]], _name_of(verb)
    passes_on = any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())
    unknown = [word for word in kwargs if word not in own]
    if passes_on:
        function = args[0] if args else next(iter(kwargs.values()), None)
        unknown = [word for word in unknown if near(word, own) and not _takes(function, word)]
    if unknown:
        given, words = unknown[0], f"{name} has no argument {printable(unknown[0])}="
        if close := near(given, own):
            raise TypeError(f"{words}; did you mean {close}=?")
        raise TypeError(f"{words}: the call is {_form(verb, signature)}")
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        words, form = str(error), _form(verb, signature)
        if words.startswith("too many"):
            by_position = [p for p in signature.parameters.values() if p.kind in _BY_POSITION]
            many = len(by_position) - of_self
            takes = "1 argument" if many == 1 else f"{many or 'no'} arguments"
            words = f"{form} takes {takes} by position, and you passed {len(args) - of_self}"
        elif found := _MISSING.match(words):
            words = f"{name} needs {found[1]}: the call is {form}"
        else:
            words = f"{name}: {words}"
        more = getattr(verb, "how_to_call", "")
        raise TypeError(f"{words}; {more}" if more else words) from None


def near(word: str, known: Iterable[str]) -> str:
    """Return the known word that somebody most likely meant; "" for none."""
    close = get_close_matches(word, list(known), 5, _CLOSE)
    same_letters = (one for one in close if sorted(one) == sorted(word))
    return next(same_letters, close[0] if close else "")


def _takes(function: object, word: str) -> bool:
    """Return whether a function may take an argument of this name; True if that is unknown."""
    try:
        parameters = inspect.signature(function).parameters
    except Exception:  # what an object says of itself may raise anything
        return True
    return word in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _form(verb: Callable, signature: inspect.Signature) -> str:
    """Return how a verb is called: its name, and the names of what it takes."""
    own = [p for p in signature.parameters.values() if p.name != "self"]
    plain = [p.replace(annotation=p.empty) for p in own]
    shown = signature.replace(parameters=plain, return_annotation=signature.empty)
    return f"{_name_of(verb)}{shown}"


def _name_of(verb: Callable) -> str:
    """Return what users call a verb: of a class, `__init__` has the name of that."""
    return getattr(verb, "users_name", verb.__name__)

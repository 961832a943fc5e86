"""What an exception says -> text, without running a method that a user wrote.

`str(error)` runs `__str__` of the class, and `__str__` or `__repr__` of what the error was made
with. Those of CPython and of libraries are run. In place of a user's own stand the type and
what is stored.
"""

from contextlib import suppress
from types import MemberDescriptorType

from ...safety.arguments import real_isinstance
from ...safety.error_parts import arguments_of
from .value import is_of_libraries, of_library, short_repr

NOT_RUN = "its own __str__ was not called"
_BUILT_IN = "builtins"


def message_of(error: BaseException) -> str:
    """Return what `str(error)` returns, or of a user's objects what is known without asking."""
    if real_isinstance(error, BaseExceptionGroup) and not has_own_words(error):
        message, members = (
            getattr(BaseExceptionGroup, name).__get__(error) for name in ("message", "exceptions")
        )
        return f"{str.__str__(message)} ({len(members)} sub-exception{'s' * (len(members) > 1)})"
    if not has_own_words(error) and all(map(is_of_libraries, _stored(error))):
        return str(error)
    if real_isinstance(error, OSError) and OSError.strerror.__get__(error) is not None:
        number, words, file = (
            getattr(OSError, name).__get__(error) for name in ("errno", "strerror", "filename")
        )
        return f"[Errno {_text(number)}] {_text(words)}" + f": {_text(file)}" * (file is not None)
    given = arguments_of(error)
    if len(given) == 1:
        return _text(given[0])
    return f"({', '.join(map(short_repr, given))})" if given else ""


def has_own_words(error: BaseException) -> bool:
    """Return whether a user's class says what the error says."""
    return not of_library(_teller(type(error)))


def note_text(note: object) -> str:
    """Return a note as text; of what is not text, its type or its value."""
    return _text(note)


def _teller(kind: type) -> type:
    """Return the class whose `__str__` is used."""
    return next(base for base in kind.__mro__ if "__str__" in vars(base))


def _text(value: object) -> str:
    return str.__str__(value) if real_isinstance(value, str) else short_repr(value)


def _stored(error: BaseException):
    """Yield what CPython stores of an error, such as its arguments and a file's name."""
    yield from arguments_of(error)
    for base in type(error).__mro__:
        if vars(base).get("__module__", _BUILT_IN) == _BUILT_IN:
            for slot in vars(base).values():
                if type(slot) is MemberDescriptorType:
                    with suppress(AttributeError):  # it is empty
                        yield slot.__get__(error)

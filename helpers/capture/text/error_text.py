"""An exception -> its message, without running a method that a user wrote.

`str(error)` runs `__str__` of the error's class, and `__str__` or `__repr__` of the arguments with
which the error was made. Here `str` is called only if all of these methods are CPython's or a
library's. Otherwise the message is put together from what CPython stores in the error: its
arguments, or the errno and the file of an OSError.
"""

from collections.abc import Iterator
from contextlib import suppress
from types import MemberDescriptorType

from ...safety.arguments import real_isinstance
from ...safety.error_parts import arguments_of
from .value import contains_only_library_values, is_library_class, short_repr

NOT_RUN = "its own __str__ was not called"
_BUILT_IN = "builtins"


def read_message(error: BaseException) -> str:
    """Return the message of an exception: `str(error)`, if that runs no method of the user's.

    Otherwise the message is built from the values that CPython stores in the error.
    """
    is_users_str = has_users_str(error)
    if real_isinstance(error, BaseExceptionGroup) and not is_users_str:
        return _format_group(error)
    if not is_users_str and all(map(contains_only_library_values, _list_stored_values(error))):
        return str(error)
    # An OSError with a `strerror` was made with a number, as in OSError(2, "No such file").
    if real_isinstance(error, OSError) and _read_slot(OSError, "strerror", error) is not None:
        return _format_os_error(error)

    arguments = arguments_of(error)
    if len(arguments) == 1:
        return format_note(arguments[0])
    return f"({', '.join(map(short_repr, arguments))})" if arguments else ""


def has_users_str(error: BaseException) -> bool:
    """Return whether `str(error)` would run a `__str__` that a user's class defines."""
    class_of_str = next(base for base in type(error).__mro__ if "__str__" in vars(base))
    return not is_library_class(class_of_str)


def format_note(note: object) -> str:
    """Return a note of an exception as text. A note that is no str is described in a few words."""
    # `str.__str__` is called, because a subclass of str may have a method of its own.
    return str.__str__(note) if real_isinstance(note, str) else short_repr(note)


def _format_group(group: BaseExceptionGroup) -> str:
    """Return the message of an ExceptionGroup, as in "two failures (2 sub-exceptions)"."""
    message = _read_slot(BaseExceptionGroup, "message", group)
    members = _read_slot(BaseExceptionGroup, "exceptions", group)
    plural = "s" if len(members) > 1 else ""
    return f"{str.__str__(message)} ({len(members)} sub-exception{plural})"


def _format_os_error(error: OSError) -> str:
    """Return the message of an OSError, as in "[Errno 2] No such file: data.txt"."""
    number = format_note(_read_slot(OSError, "errno", error))
    message = format_note(_read_slot(OSError, "strerror", error))
    file = _read_slot(OSError, "filename", error)
    text = f"[Errno {number}] {message}"
    return text if file is None else f"{text}: {format_note(file)}"


def _read_slot(owner: type, name: str, error: BaseException) -> object:
    """Return what an exception stores in a slot of CPython's class `owner`, such as `errno`.

    The slot is read through the class, because a derived class may define a property of that name.
    """
    return getattr(owner, name).__get__(error)


def _list_stored_values(error: BaseException) -> Iterator[object]:
    """Yield the values that CPython stores in an error, on which `str(error)` may call methods.

    These are its arguments, and the slots of built-in classes, such as the `filename` of OSError.
    """
    yield from arguments_of(error)
    for base in type(error).__mro__:
        if vars(base).get("__module__", _BUILT_IN) != _BUILT_IN:
            continue
        for slot in vars(base).values():
            if type(slot) is MemberDescriptorType:
                with suppress(AttributeError):  # the slot is empty
                    yield slot.__get__(error)

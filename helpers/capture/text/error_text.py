"""What an exception says -> text, without running a method that a user wrote.

`str(error)` runs `__str__` of the class, and `__str__` or `__repr__` of what the error was made
with. Those of CPython and of libraries are run. In place of a user's own stand the type and
what is stored.
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
    """Return what `str(error)` returns, or of a user's objects what is known without asking."""
    has_own = has_users_str(error)
    if real_isinstance(error, BaseExceptionGroup) and not has_own:
        return _format_group(error)
    if not has_own and all(map(contains_only_library_values, _list_stored_values(error))):
        return str(error)
    if real_isinstance(error, OSError) and _read_slot(OSError, "strerror", error) is not None:
        return _format_os_error(error)

    arguments = arguments_of(error)
    if len(arguments) == 1:
        return format_note(arguments[0])
    return f"({', '.join(map(short_repr, arguments))})" if arguments else ""


def has_users_str(error: BaseException) -> bool:
    """Return whether a user's class defines what `str(error)` returns."""
    class_of_str = next(base for base in type(error).__mro__ if "__str__" in vars(base))
    return not is_library_class(class_of_str)


def format_note(note: object) -> str:
    """Return a note as text; of a note that is no str, its type or its value."""
    # `str.__str__` is called, because a subclass of str may have a method of its own.
    return str.__str__(note) if real_isinstance(note, str) else short_repr(note)


def _format_group(group: BaseExceptionGroup) -> str:
    """Return the message of a group and how many errors are in it, as CPython writes both."""
    message = _read_slot(BaseExceptionGroup, "message", group)
    members = _read_slot(BaseExceptionGroup, "exceptions", group)
    plural = "s" if len(members) > 1 else ""
    return f"{str.__str__(message)} ({len(members)} sub-exception{plural})"


def _format_os_error(error: OSError) -> str:
    """Return the number, the message and the file of an error, as CPython writes them."""
    number = format_note(_read_slot(OSError, "errno", error))
    message = format_note(_read_slot(OSError, "strerror", error))
    file = _read_slot(OSError, "filename", error)
    text = f"[Errno {number}] {message}"
    return text if file is None else f"{text}: {format_note(file)}"


def _read_slot(owner: type, name: str, error: BaseException) -> object:
    """Return what CPython's class stores under a name, whatever the error's own class says."""
    return getattr(owner, name).__get__(error)


def _list_stored_values(error: BaseException) -> Iterator[object]:
    """Yield what CPython stores of an error, such as its arguments and a file's name."""
    yield from arguments_of(error)
    for base in type(error).__mro__:
        if vars(base).get("__module__", _BUILT_IN) != _BUILT_IN:
            continue
        for slot in vars(base).values():
            if type(slot) is MemberDescriptorType:
                with suppress(AttributeError):  # it is empty
                    yield slot.__get__(error)

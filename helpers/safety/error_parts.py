"""An exception -> what it is made of, as CPython stores it: no property of its own class is run."""

from types import TracebackType

from .arguments import real_isinstance


def cause_of(error: BaseException) -> BaseException | None:
    """Return the exception behind one that was raised `from` it."""
    return BaseException.__cause__.__get__(error)


def context_of(error: BaseException) -> BaseException | None:
    """Return the exception that was being handled when this one was raised."""
    return BaseException.__context__.__get__(error)


def hides_context(error: BaseException) -> bool:
    """Return whether it was raised with `from`, so that a traceback leaves out the context."""
    return BaseException.__suppress_context__.__get__(error)


def traceback_of(error: BaseException) -> TracebackType | None:
    """Return the first link of its traceback."""
    return BaseException.__traceback__.__get__(error)


def arguments_of(error: BaseException) -> tuple:
    """Return what it was made with."""
    return BaseException.args.__get__(error)


def members_of(error: BaseException) -> tuple[BaseException, ...]:
    """Return the exceptions in an ExceptionGroup; () of any other."""
    is_group = real_isinstance(error, BaseExceptionGroup)
    return BaseExceptionGroup.exceptions.__get__(error) if is_group else ()


def notes_of(error: BaseException) -> list:
    """Return what `add_note` has added; a program may have put anything there."""
    notes = BaseException.__dict__["__dict__"].__get__(error).get("__notes__")
    return [*notes] if type(notes) is list or type(notes) is tuple else []

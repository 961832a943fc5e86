"""Read the parts of an exception, such as its cause and its traceback, without running its code.
A class of exceptions may define a property of the same name, such as `args`. So each part is read
by the descriptor of the built-in class: `BaseException.args.__get__(error)`.
"""

from types import TracebackType

from .arguments import is_exactly, real_isinstance


def cause_of(error: BaseException) -> BaseException | None:
    """Return the exception behind one that was raised `from` it."""
    return BaseException.__cause__.__get__(error)


def context_of(error: BaseException) -> BaseException | None:
    """Return the exception that was being handled when this one was raised."""
    return BaseException.__context__.__get__(error)


def hides_context(error: BaseException) -> bool:
    """Return whether an exception was raised with `from`: a traceback leaves its context out."""
    return BaseException.__suppress_context__.__get__(error)


def traceback_of(error: BaseException) -> TracebackType | None:
    """Return the first link of an exception's traceback."""
    return BaseException.__traceback__.__get__(error)


def arguments_of(error: BaseException) -> tuple:
    """Return the arguments with which an exception was made."""
    return BaseException.args.__get__(error)


def members_of(error: BaseException) -> tuple[BaseException, ...]:
    """Return the exceptions in an ExceptionGroup; () of any other exception."""
    if not real_isinstance(error, BaseExceptionGroup):
        return ()
    return BaseExceptionGroup.exceptions.__get__(error)


def notes_of(error: BaseException) -> list:
    """Return the notes that `add_note` has added to an exception, as a list; [] if it has none.

    The notes are in the attribute `__notes__`, to which a program may assign anything. So an item
    need not be text, and a value that is no list or tuple counts as no notes.
    """
    notes = BaseException.__dict__["__dict__"].__get__(error).get("__notes__")
    return list(notes) if is_exactly(notes, list, tuple) else []

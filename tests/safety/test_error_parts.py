"""The parts of an exception are read although its class defines properties of the same names."""

from helpers.safety import error_parts


class Odd(Exception):
    """Raises at each attribute that is read in the usual way."""

    @property
    def args(self):
        raise RuntimeError("args were read")

    @property
    def __cause__(self):
        raise RuntimeError("the cause was read")

    @property
    def __notes__(self):
        raise RuntimeError("the notes were read")


def raised() -> Odd:
    try:
        try:
            raise KeyError("inner")
        except KeyError as inner:
            raise Odd("outer", 2) from inner
    except Odd as error:
        return error


def test_parts_are_those_that_cpython_stores():
    error = raised()
    cause = error_parts.cause_of(error)
    assert error_parts.arguments_of(error) == ("outer", 2)
    assert type(cause) is KeyError and error_parts.context_of(error) is cause
    assert error_parts.hides_context(error)
    assert error_parts.traceback_of(error).tb_frame.f_code is raised.__code__


def test_notes_and_members_are_empty_where_there_are_none():
    group = ExceptionGroup("two", [ValueError(1), KeyError(2)])
    group.add_note("a note")
    assert error_parts.notes_of(group) == ["a note"]
    assert error_parts.members_of(group) == group.exceptions
    assert error_parts.notes_of(raised()) == [] and error_parts.members_of(raised()) == ()
    group.__notes__ = 3
    assert error_parts.notes_of(group) == []

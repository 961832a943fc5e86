"""helpers/study/observations.py: a run gives its result, or a record of its error."""

import pytest

from helpers.study.answers import InvalidAnswer, NotAttempted
from helpers.study.observations import Raised, RaisedByCheck, observe


def raising(error):
    """Return a function of one argument that raises an error."""

    def run(answer):
        raise error

    return run


@pytest.mark.parametrize("result", [None, 0, [], NotImplemented])
def test_a_result_is_returned_itself(result):
    assert observe(lambda answer: answer, result) is result


def test_a_stub_as_the_result_is_not_attempted():
    with pytest.raises(NotAttempted):
        observe(lambda answer: answer, ...)


def test_an_error_becomes_a_record_with_its_type_and_the_error():
    error = KeyError("a")
    raised = observe(raising(error), None)
    assert raised.kind is KeyError
    assert raised.error is error


@pytest.mark.parametrize("kind", [NotAttempted, InvalidAnswer, KeyboardInterrupt, RaisedByCheck])
def test_an_error_that_is_no_result_passes_through(kind):
    error = kind("x")
    with pytest.raises(kind) as caught:
        observe(raising(error), None)
    assert caught.value is error


def test_records_are_equal_by_the_type_of_their_errors():
    record = Raised(ValueError, ValueError("a"))
    assert record == Raised(ValueError, ValueError("b"))
    assert record != Raised(UnicodeError, UnicodeError("a"))
    assert record != ValueError("a")


def test_a_record_names_its_error():
    record = Raised(ValueError, ValueError("seven"))
    assert str(record).startswith("raises ValueError: seven")
    assert "ValueError: seven" in record.sentence
    assert record.sentence != str(record)


def test_an_error_of_a_check_is_no_exception():
    assert not issubclass(RaisedByCheck, Exception)

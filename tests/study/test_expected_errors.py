"""helpers/study/expected_errors.py: an expected error is printed, and any other passes through."""

import pytest

from helpers.study.expected_errors import expect


@pytest.mark.parametrize("error", [ValueError("seven"), KeyError("seven"), UnicodeError("seven")])
def test_an_expected_error_is_printed_in_one_line(error, capsys):
    with expect(ValueError, KeyError):
        raise error

    output = capsys.readouterr().out
    assert output.startswith(type(error).__name__)
    assert "seven" in output
    assert output.count("\n") == 1


def test_another_error_passes_through_without_output(capsys):
    with pytest.raises(TypeError), expect(ValueError):
        raise TypeError

    assert capsys.readouterr().out == ""


def test_a_block_without_an_error_fails_and_names_what_was_expected():
    names = "ValueError or KeyError"
    with pytest.raises(AssertionError, match=names), expect(ValueError, KeyError):
        pass

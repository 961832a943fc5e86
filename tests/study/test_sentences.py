"""helpers/study/sentences.py: a sentence on a difference keeps its parts, and a result its text."""

import pytest

from helpers.model.question_records import Beside
from helpers.study.sentences import (
    LONGEST_RESULT,
    Mismatch,
    describe_difference,
    describe_raising_line,
    describe_result,
    prefix_reason,
)


class Unprintable:
    """An object without a repr."""

    def __repr__(self):
        raise RuntimeError


def raise_from(source, name):
    """Return the error that a text of code raises, as the file `name`."""
    with pytest.raises(ZeroDivisionError) as caught:
        exec(compile(source, name, "exec"), {})
    return caught.value


def test_a_difference_is_a_sentence_that_keeps_its_parts():
    sentence = describe_difference("for 3: ", "gives 2", "gives 4", "CPython", "; add them")

    assert isinstance(sentence, Mismatch)
    assert sentence == "for 3: yours gives 2, CPython gives 4; add them"
    assert sentence.beside == Beside("for 3: ", "gives 2", "gives 4", "CPython", "; add them")
    assert sentence.picture is None


def test_a_difference_ends_with_the_result_of_the_reference_by_default():
    assert describe_difference("", "is 2", "is 4", "torch") == "yours is 2, torch is 4"


def test_text_around_a_reason_leaves_it_text():
    reason = prefix_reason("in b: ", "it raises", "!")
    assert reason == "in b: it raises!"
    assert type(reason) is str
    assert prefix_reason("in b: ", "it raises") == "in b: it raises"


def test_text_around_a_difference_joins_its_parts_and_drops_its_picture():
    difference = describe_difference("for 3: ", "gives 2", "gives 4", "CPython", "; add them")
    difference.picture = object()
    reason = prefix_reason("in b, ", difference, " first")

    assert reason == f"in b, {difference} first"
    assert reason.beside == Beside(
        "in b, for 3: ", "gives 2", "gives 4", "CPython", "; add them first"
    )
    assert reason.picture is None


@pytest.mark.parametrize("result", [None, 1, "text", [1, (2, {"a": b"c"})], list(range(60)), {1}])
def test_a_short_literal_is_described_in_full(result):
    assert describe_result(result) == repr(result)


def test_a_literal_is_in_full_up_to_the_limit():
    longest = "a" * (LONGEST_RESULT - 2)
    assert describe_result(longest) == repr(longest)
    assert len(describe_result(longest + "a")) < LONGEST_RESULT


@pytest.mark.parametrize("result", [Unprintable(), object(), list(range(1000))], ids=type)
def test_any_other_result_is_described_shortly(result):
    text = describe_result(result)
    assert 0 < len(text) < LONGEST_RESULT


@pytest.mark.parametrize("name", ["<answer>", "folder/ipykernel_12/34.py"])
def test_the_raising_line_is_numbered_in_its_cell(name, monkeypatch):
    source = "def f():\n    return 1 / 0\n\nf()\n"
    monkeypatch.setattr(
        "helpers.study.sentences.read_file_lines", lambda file: source.splitlines() * (file == name)
    )
    text = describe_raising_line(raise_from(source, name))
    assert "line 2 " in text
    assert text.endswith(": return 1 / 0")


def test_the_innermost_line_of_a_cell_is_told_when_a_library_raises(monkeypatch):
    monkeypatch.setattr("helpers.study.sentences.read_file_lines", lambda file: ["", "divide()"])
    library = {}
    exec(compile("def divide(): 1 / 0", "library.py", "exec"), library)

    with pytest.raises(ZeroDivisionError) as caught:
        exec(compile("\ndivide()", "<answer>", "exec"), library)
    assert "line 2 " in describe_raising_line(caught.value)


def test_an_error_outside_of_cells_or_without_source_has_no_line(monkeypatch):
    assert describe_raising_line(ValueError()) == ""
    assert describe_raising_line(raise_from("1 / 0", "module.py")) == ""

    monkeypatch.setattr("helpers.study.sentences.read_file_lines", lambda file: [])
    assert describe_raising_line(raise_from("1 / 0", "<answer>")) == ""

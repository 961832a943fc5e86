"""helpers/model/phrase.py: counts, lists and long texts have one form each."""

import pytest

from helpers.model.phrase import clip_text, end_sentence, find_named, format_count, format_names
from helpers.model.reference_records import Binding, join_path


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 calls"), (1, "1 call"), (2, "2 calls"), (1000, "1,000 calls")]
)
def test_a_count_agrees_with_its_noun(number, text):
    assert format_count(number, "call") == text


def test_names_beyond_the_limit_are_counted():
    assert format_names(iter("abc"), 3) == "a, b, c"
    assert format_names("abcd", 3) == "a, b, c and 1 more"
    assert format_names(["abcdef", "b"], 3, longest=4) == "abc…, b"


@pytest.mark.parametrize(("limit", "text"), [(4, "abcd"), (3, "ab…")])
def test_a_clipped_text_has_at_most_the_limit(limit, text):
    assert clip_text("abcd", limit) == text


@pytest.mark.parametrize("text", ["Done", "Done.", "Done?", "Done…"])
def test_a_sentence_ends_once(text):
    assert end_sentence(text) == (text if text != "Done" else "Done.")


def test_a_record_is_found_by_any_attribute():
    binding = Binding("partial", "m", "f", scan=True, rebindable=False, reason="r", garbage=True)
    assert find_named([binding], "m", "owner") is binding
    with pytest.raises(KeyError, match="other"):
        find_named([binding], "other")


@pytest.mark.parametrize(
    ("name", "path"), [("f", "m.f"), ("[3]", "m[3]"), ("{key}", "m{key}"), ("", "m")]
)
def test_an_index_is_joined_without_a_dot(name, path):
    assert join_path("m", name) == path
    assert Binding("partial", "m", name, scan=True, rebindable=True).path == path

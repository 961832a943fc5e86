"""helpers/model/phrase.py: numbers, names and long words."""

from helpers.model.phrase import clipped, counted, ended, listed


def test_numbers_have_their_plural_and_their_commas():
    said = [counted(n, "resume function") for n in (0, 1, 2, 1000)]
    assert said[:2] == ["0 resume functions", "1 resume function"]
    assert said[2:] == ["2 resume functions", "1,000 resume functions"]


def test_words_are_cut_to_the_room_there_is():
    assert clipped("abcd", 4) == "abcd"
    assert clipped("abcde", 4) == "abc…"


def test_the_first_names_stand_for_all():
    assert listed([], 2) == ""
    assert listed(iter("ab"), 2) == "a, b"
    assert listed("abcd", 2) == "a, b and 2 more"
    assert listed(["abcde", "ab"], 2, longest=3) == "ab…, ab"


def test_a_sentence_ends_once():
    said = [ended(words) for words in ("It returned 5", "It returned 5.", "What?", "It raised E…")]
    assert said == ["It returned 5.", "It returned 5.", "What?", "It raised E…"]

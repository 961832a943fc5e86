"""Transcripts in text and HTML hold the same facts, and no value is markup."""

from helpers.model.transcript import Transcript, Transcripts
from helpers.view.source_views import transcript

NASTY = "<script>alert(1)</script>"
LIVED = Transcript("one", "print(1)", "1", "", 0)
DIED = Transcript("two", "", NASTY, f"ValueError: {NASTY}", -11)


def test_text_and_html_hold_every_fact():
    model = Transcripts("title", (LIVED, DIED), "note")
    for shown in (transcript.text(model), transcript.html(model)):
        for words in ("title", "one", "print(1)", "exit code 0", "killed: SIGSEGV", "note", "✕"):
            assert words in shown


def test_one_end_of_several_runs_is_said_once():
    for form in (transcript.text, transcript.html):
        assert form(Transcripts("t", (LIVED, LIVED))).count("exit code 0") == 1
        assert form(Transcripts("t", (LIVED,))).count("exit code 0") == 1


def test_many_runs_are_folded_and_few_are_not():
    assert "<details" not in transcript.html(Transcripts("t", (LIVED,) * 3))
    assert transcript.html(Transcripts("t", (LIVED,) * 4)).count("<details") == 4

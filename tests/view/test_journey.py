"""A journey: each station twice on the lines, once in the table; escaped, linked, in few words."""

from dataclasses import replace
from xml.etree import ElementTree

from helpers.model.framework_records import SHARES, Journey, Passage, Stop
from helpers.model.spine import SPINE
from helpers.view import spine_view
from helpers.view.markup import WIDEST, wrapped
from helpers.view.spine_view import journey


def passage(*passed: int, words="words", **more) -> Passage:
    stops = (Stop(n, n in passed, f"brief {n}", f"{words} {n}") for n in range(1, 7))
    return Passage(tuple(stops), (("lines", 2),), **more)


MODEL = Journey("The journey of f", passage(1, 2, 3), passage(2), note="a note")


def test_lines_are_lit_where_a_call_passed():
    first, again = journey.text(MODEL).splitlines()[1:3]
    assert first.startswith("first call") and first.endswith("answer")
    assert first.count(spine_view.LIT) == 3 and again.count(spine_view.LIT) == 1
    assert "○ 1 name ─ ● 2 cache key ─ ○ 3 frame" in again
    assert all(f"{s.number} {s.name}" in first for s in SPINE)


def test_both_forms_say_the_same_and_html_leads_to_each_chapter():
    call = passage(2, words="other", outcome="ValueError: x", printed="tracing")
    model = replace(MODEL, again=call, shares=tuple(zip(SHARES, (0.05, 0.6, 0.35), strict=True)))
    text, html = journey.text(model), journey.html(model)
    page = ElementTree.fromstring(f"<d>{html.replace('&nbsp;', ' ')}</d>")
    said = " ".join(page.itertext())
    for words in ("words 1", "other 6", "ValueError: x", "tracing", "60 %", "a note", *SHARES):
        assert words in text and words in said, words
    links = [link.get("href") for link in page.iter("a")]
    assert links == [f"{station.file}.ipynb" for station in SPINE]
    assert text.splitlines()[2].endswith("✕")
    assert said.count("not passed") == 3 + 5  # told in words, not by the circle alone


def test_hostile_words_are_escaped_and_lines_fit():
    bad = passage(1, words="<script>\x00" + "long " * 60, outcome="</td><b>", printed="&amp;")
    html = journey.html(replace(MODEL, first=bad, title="<i>"))
    assert "<script" not in html and "<b>" not in html.split("</thead>")[1] and "\\x00" in html
    text = wrapped(journey.text(replace(MODEL, first=bad)))
    assert max(map(len, text.splitlines())) <= WIDEST

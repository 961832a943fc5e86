"""A journey: each station twice on the lines, once in the table; escaped, linked, in few words."""

import re
from dataclasses import replace
from xml.etree import ElementTree

from helpers.model.journey_records import SHARES, Journey, Passage, Stop
from helpers.model.spine import SPINE
from helpers.view.journey_page import LIT, UNLIT
from helpers.view.plain_text import WIDEST, wrap_text
from helpers.view.spine_view import journey


def passage(*passed: int, words="words", **more) -> Passage:
    stops = (Stop(n, n in passed, f"brief {n}", f"{words} {n}") for n in range(1, 7))
    return Passage(tuple(stops), (("lines", 2),), **more)


MODEL = Journey("The journey of f", passage(1, 2, 3), passage(2), note="a note")


def test_lines_are_lit_where_a_call_passed():
    first, again = journey.text(MODEL).splitlines()[1:3]
    assert first.startswith("first call") and first.endswith("answer")
    assert first.count(LIT) == 3 and again.count(LIT) == 1
    stations = [f"{station.number} {station.name}" for station in SPINE]
    assert f"{UNLIT} {stations[0]} ─ {LIT} {stations[1]} ─ {UNLIT} {stations[2]}" in again
    assert all(station in first for station in stations)


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
    assert said.count("skipped") == 3 + 5  # told in words, not by the circle alone


def test_hostile_words_are_escaped_and_lines_fit():
    bad = passage(1, words="<script>\x00" + "long " * 60, outcome="</td><b>", printed="&amp;")
    html = journey.html(replace(MODEL, first=bad, title="<i>"))
    assert "<script" not in html and "<b>" not in html.split("</thead>")[1] and "\\x00" in html
    text = wrap_text(journey.text(replace(MODEL, first=bad)))
    assert max(map(len, text.splitlines())) <= WIDEST


def by_three_ways():
    plain = replace(MODEL, way="plain", source="def f(x):\n    return x")
    ran = replace(
        passage(2, 5, words="graph"), ran="None of your lines ran.", instead="A graph did."
    )
    graph = Journey("", passage(1, words="traced"), ran, way="tf.function")
    missing = Journey("", Passage(()), Passage(()), note="PyTorch is missing.", way="torch.compile")
    return replace(plain, others=(graph, missing))


def test_three_ways_are_switched_and_open_where_none_of_your_lines_ran():
    html = journey.html(by_three_ways())
    page = ElementTree.fromstring(f"<d>{html.replace('&nbsp;', ' ')}</d>")
    labels = list(page.iter("label"))
    chosen = ["".join(label.itertext()) for label in labels if "checked" in label[0].attrib]
    assert len(labels) == 5 and chosen == ["@tf.function", "called again"]
    shown = {
        one.get("class").split()[-1]
        for one in page.iter("div")
        if "who-one" in one.get("class", "")
    }
    assert shown == {"who-on00", "who-on01", "who-on10", "who-on11", "who-on2"}
    assert all(f".who-{name[4:]}" in html for name in shown)  # each has a rule that shows it


def test_without_style_or_scripts_every_way_is_told_and_nothing_can_be_pressed():
    text, html = journey.text(by_three_ways()), journey.html(by_three_ways())
    bare = re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)
    assert (
        "hidden" in bare[bare.index("<form") : bare.index("<input")] and "display:none" not in bare
    )
    for words in (
        "@tf.function",
        "None of your lines ran.",
        "graph 5",
        "traced 1",
        "PyTorch is missing.",
        "return x",
    ):
        assert words in text and words in bare, words
    assert "<script" not in html and "<style" not in journey.html(MODEL)

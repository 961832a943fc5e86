"""helpers/view/progress_page.py: each exercise has a mark, a word and a link."""

import re
from dataclasses import replace

from helpers.model.study_records import ChapterProgress, Task, build_progress
from helpers.view.progress_page import MARKS
from helpers.view.progress_view import progress as view

CHAPTERS = (
    ChapterProgress(1, "names", (Task("a", "01_names.ipynb#A"), Task("b", "01_names.ipynb#B"))),
    ChapterProgress(2, "keys", (Task("c", "02_keys.ipynb#C"),)),
)
EVENTS = (
    {"check": "a", "is": "passed"},
    {"check": "b", "is": "hint"},
    {"predict": "q", "said": "x", "was": "x", "chapter": 1},
)


def test_the_text_alone_says_how_far_and_what_next():
    model = build_progress(CHAPTERS, EVENTS)
    shown = view.text(model)
    assert re.search(r"1 of 3 (?s:.*)\n1 names +●a +▸◔b +1 of 2 +1 of 1\n", shown)
    assert model.left_off and model.left_off in shown
    for state, mark in MARKS.items():
        assert f"{mark} {state}" in shown


def test_the_page_says_each_state_in_words_and_leads_to_each_exercise():
    page = view.html(build_progress(CHAPTERS, EVENTS))
    for state, name, link in (
        ("passed", "a", "01_names.ipynb#A"),
        ("hint taken", "b", "01_names.ipynb#B"),
        ("not tried", "c", "02_keys.ipynb#C"),
    ):
        assert f'aria-label="{state}:"' in page and f'<a href="{link}">{name}</a>' in page
    assert page.count('title="next"') == 1 and page.count("<details open") == 1
    assert '<a href="01_names.ipynb#B"><b>b</b>' in page and "1 of 3 " in page
    assert page.lower().count("next: ") == 1


def test_who_shares_is_told_so_and_how_to_end_it():
    alone, shared = (
        build_progress(CHAPTERS, EVENTS),
        replace(build_progress(CHAPTERS, EVENTS), shared=True),
    )
    assert "stop_sharing" not in view.text(alone) and "stop_sharing" not in view.html(alone)
    assert "`stop_sharing()`" in view.text(shared)
    assert "<code>stop_sharing()</code>" in view.html(shared)

"""Lines typed into a switch, without JupyterLab: no key that would run a cell loses them."""

import pytest

from helpers.model.transcript import Transcript, Transcripts
from helpers.view.widgets.forms import rerun_widget
from tests.browser.widget_page import document

OF_B = {"says": "○ exit code 0", "shown": "<p>of b</p>", "number": 1, "of": "b"}


LOST = """window.lost = 0;
document.addEventListener("keydown", event => { if (event.key === "Enter") window.lost++; }, true);
"""


def page_of(answer=(), **state) -> str:
    """Return a page with two switches, in which a key that reaches the page counts as lost."""
    runs = tuple(Transcript(label, f"print({label!r})", "", "", 0) for label in "ab")
    made = rerun_widget(Transcripts("title", runs), lambda label, source: None)
    return f"<script>{LOST}</script>" + document(made, answer=dict(answer), **state)


@pytest.mark.parametrize("keys", ["Shift+Enter", "Control+Enter", "Alt+Enter"])
def test_a_key_that_runs_a_cell_runs_the_lines(page, keys):
    page.set_content(page_of())
    page.locator("textarea").fill("print(1)")
    page.locator("textarea").press("Enter")
    page.locator("textarea").press(keys)
    assert page.evaluate("window.sent") == [{"label": "a", "source": "print(1)\n"}]
    assert page.evaluate("window.lost") == 0


def test_typed_lines_stay_with_their_switch(page):
    page.set_content(page_of())
    page.locator("textarea").fill("mine")
    page.locator("select").select_option(index=1)
    assert page.locator("textarea").input_value() == "print('b')"
    page.locator("select").select_option(index=0)
    assert page.locator("textarea").input_value() == "mine"
    assert page.evaluate("window.saved.sources") == ["mine", "print('b')"]


def test_a_transcript_stands_under_its_own_switch_alone(page):
    page.set_content(page_of())
    page.evaluate("answer => window.told('answer', answer)", OF_B)
    assert page.get_by_role("region").inner_text() == page.get_by_role("status").inner_text() == ""
    page.locator("select").select_option(index=1)
    page.evaluate("answer => window.told('answer', answer)", OF_B)
    assert page.get_by_role("region").inner_text() == "of b"


def test_a_page_that_is_opened_again_shows_the_lines_that_were_typed_and_run(page):
    page.set_content(page_of(OF_B, sources=["typed, not run", "mine"]))
    assert page.locator("select").input_value() == "1"
    assert page.locator("textarea").input_value() == "mine"
    assert page.get_by_role("region").inner_text() == "of b"
    page.locator("select").select_option(index=0)
    assert page.locator("textarea").input_value() == "typed, not run"

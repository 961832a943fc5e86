"""A sandbox without JupyterLab: an answer stands under its own choices, and counts once."""

import pytest

from helpers.model.sandbox import Control, Sandbox
from helpers.view.widgets.forms import sandbox
from tests.browser.widget_page import document

MODEL = Sandbox(
    "title",
    "note",
    (Control("kind", ("one", "two")), Control("size", ("1", "2"), "kind", ("two",))),
    ("hit", "trace"),
    "s.run('hit')",
)
OF_ONE = {
    "says": "you said hit.",
    "right": False,
    "rows": "<p>a row</p>",
    "of": MODEL.start(),
    "call": "f(one)",
    "press": "1",
}


def page_of(answer=(), picked=()) -> str:
    made = sandbox.widget(MODEL, lambda picked: f"f({picked['kind']})", lambda picked, guess: {})
    return document(made, answer=dict(answer), picked={**made.picked, **dict(picked)})


def status(page) -> str:
    return page.get_by_role("status").inner_text()


@pytest.mark.parametrize(
    ("answer", "picked"),
    [(OF_ONE, {}), (OF_ONE, {"size": "2"}), ({**OF_ONE, "of": None}, {"kind": "two"})],
    ids=["as asked", "other in what does not count", "stored before it was told"],
)
def test_an_answer_is_the_status_of_its_choices(page, answer, picked):
    page.set_content(page_of(answer, picked))
    assert status(page) == "✗ Not this time: you said hit."
    assert "The last run" not in page.locator("main").inner_text()


def test_an_answer_of_other_choices_says_of_which(page):
    page.set_content(page_of(OF_ONE))
    page.get_by_label("kind").select_option("two")
    assert status(page) == ""
    words = page.locator("main").inner_text()
    assert "The last run was of\n\nf(one)\n" in words
    assert words.index("The last run") < words.index("you said hit") < words.index("a row")
    page.get_by_label("kind").select_option("one")
    assert "you said hit" in status(page)


def test_a_page_that_is_opened_again_says_of_which(page):
    page.set_content(page_of(OF_ONE, {"kind": "two"}))
    assert status(page) == "" and "The last run was of" in page.locator("main").inner_text()


def test_an_answer_that_comes_late_says_of_which(page):
    page.set_content(page_of())
    page.get_by_label("hit").check()
    page.get_by_role("button").click()
    assert status(page) == "Running…"
    page.get_by_label("kind").select_option("two")
    page.evaluate("answer => window.told('answer', answer)", OF_ONE)
    assert status(page) == "" and "The last run was of" in page.locator("main").inner_text()


def test_what_is_pressed_again_before_its_answer_is_one_press(page):
    page.set_content(page_of())
    for guess in ("hit", "hit", "trace"):
        page.get_by_label(guess).check()
        page.get_by_role("button").click()
    page.evaluate("answer => window.told('answer', answer)", OF_ONE)
    page.get_by_label("trace").check()
    page.get_by_role("button").click()
    one, again, other, later = (sent["press"] for sent in page.evaluate("window.sent"))
    assert one == again and len({one, other, later}) == 3

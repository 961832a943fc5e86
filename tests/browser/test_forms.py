"""Forms without JupyterLab: typed lines and answers stay where they belong; nothing is cut."""

import pytest
from playwright.sync_api import expect

from helpers.model.study_records import Choice, Control, Sandbox
from helpers.model.tables import Transcript, Transcripts
from helpers.view.call_view import call_tree
from helpers.view.widgets.forms import choice, rerun_widget, sandbox
from tests.browser.widget_page import document, find_serious
from tests.view import test_call_tree

LATE = "After a restart, run this cell again and answer there"


@pytest.mark.parametrize("keeps", [True, False])
def test_a_kernel_that_keeps_no_decision_is_told_of_and_a_page_without_one_waits_for_none(
    page, keeps
):
    page.clock.install()
    made = choice.widget(Choice("q?", ("a", "b"), "a", "so"))
    page.set_content(document(made, kernel=False, keeps=keeps))
    page.get_by_label("a", exact=True).check()
    page.get_by_role("button", name="Check").click()
    status = page.get_by_role("status")
    expect(status).to_contain_text("Right: it ran and gave a. so")
    expect(status).not_to_contain_text(LATE)
    page.clock.fast_forward(9000)
    assert (LATE in status.inner_text()) is keeps
    page.evaluate("window.told('kept', 1)")
    expect(status).not_to_contain_text(LATE)


@pytest.mark.parametrize("decide", ["Check", "Skip"])
def test_a_decision_opens_what_waits_for_it(page, decide):
    page.set_content(document(choice.widget(Choice("q?", ("a", "b"), "a", "so"))))
    page.locator("main").evaluate("""main => {
      const held = "<details class='course-held'><summary>first</summary><p>gone</p></details>";
      main.className = "book-cell";
      for (const words of [held, "<p>between</p>", held, `<h2>Next</h2>${held}`]) {
        main.parentNode.append(document.createElement("div"));
        Object.assign(main.parentNode.lastChild, {className: "book-cell", innerHTML: words});
      }
    }""")
    given = page.locator("p", has_text="gone")
    assert [one.is_visible() for one in given.all()] == [False, False, False]
    page.get_by_role("button", name="Check").click()  # nothing is chosen yet
    expect(page.get_by_role("status")).to_contain_text("Choose one first, or skip the question.")
    assert not given.first.is_visible()
    page.get_by_label("b", exact=True).check()
    page.get_by_role("button", name=decide).click()
    inner, outer = page.locator("label").last, page.locator("fieldset")
    assert inner.bounding_box()["x"] - outer.bounding_box()["x"] > 5
    said = "Not this time: you chose b" if decide == "Check" else "Skipped: it ran and gave a. so"
    expect(page.get_by_role("status")).to_contain_text(said)
    assert [one.is_visible() for one in given.all()] == [True, True, False]
    expect(page.get_by_role("button", name="Skip")).to_be_hidden()


def test_a_flame_says_a_line_about_a_block_and_gives_it_the_full_width(page):
    head = "<!doctype html><html lang=en><title>t</title>"
    page.set_content(head + call_tree.html(test_call_tree.MODEL))
    outer, side = (page.get_by_role("button", name=name) for name in ("outer · ", "1 call off"))
    line = page.locator(".who-says")
    expect(line).to_contain_text("Point at a block.")
    outer.focus()
    assert outer.evaluate("node => node.style.outlineOffset") == "-3px"  # a ring that is whole
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(line).to_contain_text("1 call off the path: mod.line")
    assert side.bounding_box()["width"] == outer.bounding_box()["width"]
    expect(page.get_by_role("button", name="door · ")).to_be_hidden()
    expect(page.get_by_text("mod.line").nth(1)).to_be_visible()
    page.keyboard.press("Escape")
    assert side.bounding_box()["width"] < outer.bounding_box()["width"] / 2
    assert not find_serious(page)


# -- lines to run ----------------------------------------------------------------------------------

OF_B = {"says": "○ exit code 0", "shown": "<p>of b</p>", "number": 1, "of": "b"}
LOST = """window.lost = 0;
document.addEventListener("keydown", event => { if (event.key === "Enter") window.lost++; }, true);
"""


def switches(answer=(), **state) -> str:
    """Return a page with two switches, in which a key that reaches the page counts as lost."""
    runs = tuple(Transcript(label, f"print({label!r})", "", "", 0) for label in "ab")
    made = rerun_widget(Transcripts("title", runs), lambda label, source: None)
    return f"<script>{LOST}</script>" + document(made, answer=dict(answer), **state)


@pytest.mark.parametrize("keys", ["Shift+Enter", "Control+Enter", "Alt+Enter"])
def test_a_key_that_runs_a_cell_runs_the_lines(page, keys):
    page.set_content(switches())
    page.locator("textarea").fill("print(1)")
    page.locator("textarea").press("Enter")
    page.locator("textarea").press(keys)
    assert page.evaluate("window.sent") == [{"label": "a", "source": "print(1)\n"}]
    assert page.evaluate("window.lost") == 0


def test_typed_lines_and_transcripts_stay_with_their_switch(page):
    page.set_content(switches())
    page.locator("textarea").fill("mine")
    page.evaluate("answer => window.told('answer', answer)", OF_B)
    assert page.get_by_role("region").inner_text() == page.get_by_role("status").inner_text() == ""
    page.locator("select").select_option(index=1)
    assert page.locator("textarea").input_value() == "print('b')"
    page.evaluate("answer => window.told('answer', answer)", OF_B)
    assert page.get_by_role("region").inner_text() == "of b"
    page.locator("select").select_option(index=0)
    assert page.locator("textarea").input_value() == "mine"
    assert page.evaluate("window.saved.sources") == ["mine", "print('b')"]


# -- a sandbox -------------------------------------------------------------------------------------

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


def form_of(answer=(), picked=()) -> str:
    made = sandbox.widget(MODEL, lambda picked: f"f({picked['kind']})", lambda picked, guess: {})
    return document(made, answer=dict(answer), picked={**made.picked, **dict(picked)})


def test_an_answer_is_the_status_of_its_choices_and_says_of_which_beside_others(page):
    page.set_content(form_of(OF_ONE))
    status = page.get_by_role("status")
    assert status.inner_text() == "✗ Not this time: you said hit."
    page.get_by_label("kind").select_option("two")
    assert status.inner_text() == ""
    words = page.locator("main").inner_text()
    assert "The last run was of\n\nf(one)\n" in words
    assert words.index("The last run") < words.index("you said hit") < words.index("a row")
    page.get_by_label("kind").select_option("one")
    assert "you said hit" in status.inner_text()
    assert status.get_attribute("data-is") == "wrong"
    rows = "<table><tbody><tr><td>1</td></tr><tr><td>2</td></tr></tbody></table>"
    page.evaluate("told('call', 'f(two)')")
    page.evaluate("rows => told('answer', {...model.get('answer'), call: 'f(two)', rows})", rows)
    assert page.locator("mark").all_inner_texts() == ["two"]  # what is not as in the run before
    assert page.locator(".course-fresh").inner_text() == "2"  # this call
    page.set_viewport_size({"width": 860, "height": 700})
    left = "nodes => nodes.map(node => node.getBoundingClientRect().left)"
    assert len(set(page.locator(".course-runs > *").evaluate_all(left))) == 1  # whole tables

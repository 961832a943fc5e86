"""Forms without JupyterLab: typed lines and answers stay where they belong; nothing is cut."""

import re

import pytest
from playwright.sync_api import expect

from helpers.model.question_records import Choice, Control, Sandbox
from helpers.model.transcripts import Transcript, Transcripts
from helpers.view.call_view import call_tree
from helpers.view.widgets.forms import choice, rerun_widget, sandbox
from tests.browser.widget_page import KERNELS, document, find_serious
from tests.view import test_call_tree

# -- a choice, and whether it is recorded ----------------------------------------------------------

GONE, LATE = "no kernel knows this question any more", "not recorded yet"
# State of the kernel -> what is said at once, and what after a while, where nothing answers.
SAID = {
    "known": ("", LATE),
    "busy": ("", LATE),
    "cannot be asked": ("", LATE),
    "restarted": (GONE, GONE),
    "ended while it was asked": (GONE, GONE),
    "closed": (GONE, GONE),
    "none": (GONE, GONE),
    "a page of the book": ("", ""),
}
GONE_AT_ONCE = [name for name, (soon, later) in SAID.items() if soon]
NEW_SANDBOX, NEW_SWITCHES = (
    re.compile(f"^No kernel knows this exhibit any more: .* to make {what}.$")
    for what in ("a new sandbox", "new switches")
)


def asked_in(page, kernel):
    """Show a question of a kernel in this state, and choose; return the line below it."""
    page.clock.install()
    made = choice.widget(Choice("q?", ("a", "b"), "a", "so"))
    keeps = kernel != "a page of the book"
    page.set_content(document(made, kernel=kernel, keeps=keeps))
    page.get_by_label("a", exact=True).check()
    page.get_by_role("button", name="Check").click()
    status = page.get_by_role("status")
    expect(status).to_contain_text("Right: it ran and gave a. so")
    return status


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_choice_is_recorded_or_the_page_says_that_it_is_not(page, kernel):
    status, (soon, later) = asked_in(page, kernel), SAID[kernel]
    page.clock.fast_forward(100)
    expect(status).to_contain_text(soon)
    assert ("recorded" in status.inner_text()) is bool(soon)
    page.clock.fast_forward(9000)
    expect(status).to_contain_text(later)
    assert ("recorded" in status.inner_text()) is bool(later)
    if later == LATE:
        [sent] = page.evaluate("window.sent")
        page.evaluate("press => told('told', {press: `not ${press}`, why: ''})", sent["press"])
        expect(status).to_contain_text(LATE)  # that was the answer to another choice
        page.evaluate("press => told('told', {press, why: ''})", sent["press"])
        expect(status).not_to_contain_text("recorded")
        page.evaluate("press => told('told', {press, why: 'The disk is full.'})", sent["press"])
        expect(status).to_contain_text("The disk is full.")


def test_a_choice_that_is_not_recorded_is_handed_on_by_the_next_run_and_only_once(page):
    status = asked_in(page, "restarted")
    page.clock.fast_forward(100)
    expect(status).to_contain_text(GONE)
    page.evaluate(f"() => {{ model.widget_manager = {KERNELS['known']}; run(); }}")
    expect(page.get_by_role("radio").first).to_be_checked()
    before, again = page.evaluate("window.sent")
    assert before["said"] == again["said"] == 0 and before["press"] != again["press"]
    page.evaluate("press => told('told', {press, why: ''})", again["press"])
    page.clock.fast_forward(9000)
    expect(status).to_contain_text("Right: it ran and gave a. so")
    assert "recorded" not in status.inner_text()
    page.evaluate("run()")
    expect(page.get_by_role("radio").first).not_to_be_checked()
    assert len(page.evaluate("window.sent")) == 2


def test_a_page_that_was_left_before_the_kernel_answered_claims_nothing_of_the_record(page):
    page.clock.install()
    made = choice.widget(Choice("q?", ("a", "b"), "a", "so"))
    left = {"keeps": True, "picked": 0, "checked": True, "press": "1", "told": {}}
    page.set_content(document(made, kernel="none", **left))
    expect(page.get_by_role("status")).to_contain_text("It is not known whether your choice was")
    page.set_content(document(made, kernel="none", **left | {"told": {"press": "1", "why": ""}}))
    page.clock.fast_forward(9000)
    assert "recorded" not in page.get_by_role("status").inner_text()


def test_try_again_takes_no_sentence_away(page):
    status = asked_in(page, "closed")
    expect(status).to_contain_text(GONE)
    page.get_by_role("button", name="Try again").click()
    expect(status).to_contain_text(GONE)


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


@pytest.mark.parametrize("kernel", GONE_AT_ONCE)
def test_lines_that_no_kernel_can_run_are_answered_with_what_to_do(page, kernel):
    page.set_content(switches(kernel=kernel))
    page.get_by_role("button").click()
    expect(page.get_by_role("status")).to_have_text(NEW_SWITCHES)


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


def form_of(answer=(), picked=(), **more) -> str:
    made = sandbox.widget(MODEL, lambda picked: f"f({picked['kind']})", lambda picked, guess: {})
    return document(made, answer=dict(answer), picked={**made.picked, **dict(picked)}, **more)


@pytest.mark.parametrize("kernel", GONE_AT_ONCE)
def test_a_call_that_no_kernel_can_run_is_answered_with_what_to_do(page, kernel):
    page.set_content(form_of(kernel=kernel))
    page.get_by_label("hit").check()
    page.get_by_role("button").click()
    expect(page.get_by_role("status")).to_have_text(NEW_SANDBOX)


@pytest.mark.parametrize("kernel", ["restarted", "ended while it was asked", "none"])
def test_a_call_of_which_no_kernel_says_the_code_shows_none_and_what_to_do(page, kernel):
    page.set_content(form_of(kernel=kernel))
    page.get_by_label("kind").select_option("two")
    expect(page.locator(".course-sandbox > code")).to_be_empty()  # it was of the other choice
    expect(page.get_by_role("status")).to_have_text(NEW_SANDBOX)


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

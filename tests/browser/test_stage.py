"""The stage in a page: nothing moves that should not, all is read, and every way in is a way."""

import pytest
from playwright.sync_api import expect

from helpers.view.widgets import stage
from tests.browser.stage_page import StagePage
from tests.browser.stage_programs import MODELS
from tests.browser.widget_page import document

pytestmark = pytest.mark.long

WIDE, HALF, NARROW = (1100, 720), (853, 480), (460, 900)  # HALF: 1280 × 720 at 150 %
TABLET = (740, 768)
# pixels of height; JupyterLab leaves 599 of a window of 720, and 647 of one of 768
MOST = {WIDE: 520, TABLET: 600}


@pytest.fixture(scope="module")
def page(browser):
    """One page for all: a context of its own for each test takes longer than the test."""
    page = browser.new_page()
    yield page
    page.close()


@pytest.fixture
def show(page):
    def shown(name, *given, **media):
        page.goto("about:blank")
        page.mouse.move(0, 0)
        media.setdefault("reduced_motion", "null")
        model = MODELS[name]() if isinstance(name, str) else name
        return StagePage(page, model, *given, **media)

    return shown


@pytest.mark.parametrize("size", [WIDE, HALF, TABLET, NARROW], ids=lambda size: f"{size[0]}px")
@pytest.mark.parametrize("name", MODELS)
def test_every_step_has_the_same_places_and_all_of_it_is_read(show, name, size):
    shown = show(name, "light", size, reduced_motion="reduce")
    steps = shown.walk()
    assert shown.errors == [] and shown.page.title() == "A page"
    assert {fact["places"] for fact in steps} == {steps[0]["places"]}
    assert [wrong for fact in steps for wrong in fact["wrong"]] == []
    assert steps[0]["height"] <= MOST.get(size, 1000)
    shown.root.evaluate("root => { root.querySelector('.stage-title').style.fontSize = '8px'; }")
    assert shown.facts()["wrong"]  # a sample that must be seen


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["caught", "generator", "shared", "frames", "names", "wide"])
def test_axe_finds_nothing_serious(show, name, theme):
    shown = show(name, theme, reduced_motion="reduce")  # no colour is half on its way
    for step in (0, shown.total // 2, shown.total - 1):
        shown.go(step)
        assert shown.violations() == []
    shown.go(0)
    for name in ("Predict", "Next", "Key to the signs"):
        button = shown.root.get_by_role("button", name=name, exact=True)
        if button.count():
            button.click()  # the mouse stays over it
            assert shown.violations() == []


def test_keys_step_through_from_wherever_the_focus_is(show):
    shown = show("loop")
    press = shown.page.keyboard.press
    shown.root.get_by_role("slider").focus()
    for key, step in (("ArrowUp", 1), ("ArrowLeft", 0), ("End", shown.total - 1), ("Home", 0)):
        press(key)
        assert shown.at() == step
    shown.root.get_by_role("button", name="Next", exact=True).focus()
    for key, step in (("Enter", 1), ("Space", 2), ("PageUp", 1)):
        press(key)
        assert shown.at() == step


def test_step_is_found_by_number_and_by_words(show):
    shown = show("loop")
    number = shown.root.get_by_role("spinbutton", name="Go to step")
    number.fill("9")
    number.press("Enter")
    assert shown.at() == 8
    search = shown.root.get_by_role("searchbox")
    search.fill("store_fast total")
    search.press("Enter")
    assert MODELS["loop"]().steps[shown.at()].instruction.endswith("STORE_FAST total")
    first = shown.at()
    search.press("Enter")
    assert shown.at() > first
    search.fill("no such words")
    search.press("Enter")
    expect(search).to_have_attribute("aria-invalid", "true")


def test_prediction_hides_what_comes_until_it_is_made(show):
    shown, steps = show("expression"), MODELS["expression"]().steps
    shown.go(3)
    shown.root.get_by_role("button", name="Predict").click()
    expect(shown.root.locator(".stage-tells")).to_be_hidden()
    asked = shown.root.get_by_role("group", name="Your prediction")
    expect(asked.locator(".stage-present")).to_contain_text(steps[3].stack[-1])
    answers = shown.root.locator(".stage-answer")
    words = answers.evaluate_all("nodes => nodes.map(node => node.dataset.words)")
    right = words.index("  |  ".join(steps[4].stack))
    answers.nth(1 - min(right, 1)).click()
    assert shown.at() == 3
    expect(asked).to_contain_text("✗ yours: it")
    expect(answers.nth(right)).to_contain_text("✓ this one")
    shown.root.get_by_role("button", name="See it").click()
    assert shown.at() == 4
    expect(asked).to_be_hidden()
    shown.page.set_viewport_size({"width": 390, "height": 900})
    lefts = "columns => columns.map(column => column.offsetLeft)"
    assert len(set(shown.root.locator(".stage-main > div").evaluate_all(lefts))) == 1


def test_words_of_the_text_above_light_the_stage_and_rows_of_tables(page):
    said = "<p><code>STORE_FAST</code>, <code>NO_SUCH_OP</code>, <strong>frame</strong></p>"
    table = "<table><tr><th>1</th><td>STORE_FAST</td></tr></table><div><b>frame</b></div>"
    shown = document(stage.stage_widget(MODELS["expression"]()))
    output = "class='jp-OutputArea-output'"
    whole = f"<div class='jp-Cell jp-MarkdownCell'>{said}</div><div class='jp-Cell jp-CodeCell'>"
    whole += f"<main {output}></main><div {output}>{table}</div></div>"
    page.set_content(shown.replace("<main></main>", whole))
    lit, words = page.locator(":is(.stage-row, tr).course-lit"), page.locator("[data-course-word]")
    expect(words).to_have_text(["STORE_FAST", "frame"])
    word = words.first
    for turn_on, turn_off in ((word.hover, lambda: page.mouse.move(0, 0)), (word.focus, word.blur)):
        turn_on()
        expect(lit).to_have_count(2)
        turn_off()
        expect(lit).to_have_count(0)

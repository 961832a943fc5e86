"""Slides in a browser without a network: nothing is cut off, and keys do what they say."""

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from helpers.course.book.runs import run
from helpers.course.slides import BELOW
from helpers.course.slides import page as slides_of
from tests.browser.lab_page import press, status
from tests.browser.slide_sizes import MEASURE, NOTEBOOKS, SIZE, slides

CHAPTERS = [NOTEBOOKS[3], NOTEBOOKS[6]]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slides")
    for path in CHAPTERS:
        (folder / f"{path.stem}.html").write_text(slides_of(path), "utf-8")
    return sorted(folder.iterdir())


@pytest.fixture
def page(browser):
    with browser.new_context(viewport=SIZE, color_scheme="light") as context:
        yield context.new_page()


@pytest.mark.parametrize("number", range(len(CHAPTERS)))
def test_nothing_is_cut_off_and_all_text_can_be_read(files, number, page):
    errors = []
    page.on("pageerror", lambda error: errors.append(error))
    seen = slides(page, files[number])
    assert len(seen) > 40 and [fault for one in seen for fault in one.faults] == []
    assert errors == []


@pytest.fixture
def opened(files, page):
    page.goto(files[0].as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    return page


def test_a_fault_would_be_found(opened):
    assert opened.evaluate(MEASURE)["cut"] == []
    opened.add_style_tag(content=".body { margin-top: 400px } h1 { font-size: 9px }")
    seen = opened.evaluate(MEASURE)
    assert seen["cut"] and seen["small"]


def test_keys_go_on_darken_and_scroll(opened):
    number = "Reveal.getSlidePastCount()"
    opened.keyboard.press("Space")
    assert opened.evaluate(number) == 1
    paper = "getComputedStyle(document.body).backgroundColor"
    light = opened.evaluate(paper)
    opened.keyboard.press("d")
    assert opened.evaluate(paper) != light
    opened.evaluate(
        "Reveal.slide(...Object.values(Reveal.getIndices("
        "document.querySelector('.scrolls').closest('section'))))"
    )
    part = opened.locator("section.present:not(.stack) .scrolls")
    part.focus()
    before = opened.evaluate(number)
    opened.keyboard.press("ArrowDown")
    assert part.evaluate("node => node.scrollTop") > 0 and opened.evaluate(number) == before


def test_everybody_can_read_a_slide_in_both_themes(opened):
    for _ in ("light", "dark"):
        opened.keyboard.press("Space")
        found = Axe().run(opened, "section.present:not(.stack)").response["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
        opened.keyboard.press("d")


LIVING = (
    "from helpers import predict, watch_stack\n\n\ndef f(x):\n    return [x, x + 1]",
    "watch_stack(f, 1)",
    'predict("2 + 2?", ["4", "22"], run=lambda: str(2 + 2))',
)


def test_exhibits_live_and_keep_their_keys_until_escape(tmp_path, page):
    cells = [nbformat.v4.new_code_cell(source) for source in LIVING]
    cells.insert(0, nbformat.v4.new_markdown_cell("# Living"))
    for cell in cells:
        cell.metadata["slideshow"] = {"slide_type": BELOW}
    path = tmp_path / "living.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    file = tmp_path / "living.html"
    file.write_text(slides_of(path, run(path)), "utf-8")
    assert [one.cut for one in slides(page, file) if one.cut] == []
    stage, form = page.get_by_role("group", name="f, instruction"), page.locator("form")
    number = "Reveal.getSlidePastCount()"
    page.evaluate(
        "Reveal.sync(); Reveal.slide(...Object.values(Reveal.getIndices("
        "document.querySelector('.course-stage').closest('section'))))"
    )
    at = page.evaluate(number)
    press(stage, "Next")
    for key in ("ArrowRight", "Space"):
        page.keyboard.press(key)
    expect(status(stage)).to_contain_text("Step 4 of")
    assert page.evaluate(number) == at
    page.keyboard.press("Escape")
    page.keyboard.press("Space")
    page.keyboard.press("Space")
    assert page.evaluate(number) > at
    form.get_by_label("22").check()
    press(form, "Check")
    expect(status(form)).to_contain_text("you chose 22; running it gave 4")


def test_notes_hold_what_is_left_out(opened):
    notes = opened.locator("aside.notes").first
    assert not notes.is_visible() and len(notes.text_content().split()) > 45


def test_what_is_unfolded_still_fits(opened):
    opened.evaluate("""Reveal.slide(...Object.values(Reveal.getIndices(
      document.querySelector('section details:not([open])').closest('section'))))""")
    opened.locator("section.present:not(.stack) details:not([open]) > summary").first.click()
    opened.wait_for_timeout(100)
    assert opened.evaluate(MEASURE)["cut"] == []

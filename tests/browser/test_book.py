"""The book in Chromium, opened as files: what lives, what is found, and how it looks."""

import nbformat
import pytest
from playwright.sync_api import expect

from helpers.course.book import site
from helpers.safety.folders import open_rebuildable_folder
from tests.browser import book_sample, exhibits
from tests.browser.lab_page import press, status
from tests.browser.lab_server import ROOT
from tests.browser.widget_page import find_serious

pytestmark = pytest.mark.long

SAMPLE, START = "sample", "00_start_here"
PHONE = {"width": 390, "height": 844}
STYLED = """<pre class="book-text book-said">said</pre><div class="book-output">
<div role="region"><table><tr><td style="padding-left:9px;text-indent:-9px">code"""
PAPER = {"width": 680, "height": 1000}  # A4, less its margins
OFF = """pages => {  // rows not as high as their arrows; code that lies on its number
  const main = document.querySelector('main'), px = parseFloat;
  main.insertAdjacentHTML('beforeend', `<div class=book-output>${pages.join('')}</div>`);
  const off = cell => cell.offsetHeight - cell.firstElementChild.getBoundingClientRect().height;
  const code = [...main.querySelectorAll('[style*="text-indent"]')].map(s => getComputedStyle(s));
  return [...[...main.querySelectorAll('td[rowspan]')].map(off).filter(x => Math.abs(x) > 2),
          ...code.map(s => px(s.paddingLeft) + px(s.textIndent)).filter(x => x < 0)];
}"""


@pytest.fixture(scope="module")
def book(tmp_path_factory, chromium):
    folder = tmp_path_factory.mktemp("book")
    nbformat.write(book_sample.build(), folder / f"{SAMPLE}.ipynb")
    notebooks = [ROOT / "notebooks" / f"{START}.ipynb", folder / f"{SAMPLE}.ipynb"]
    with open_rebuildable_folder(folder / "site") as home:
        site.write_pages(home, notebooks)
        yield home.path


@pytest.fixture
def opened(book, new_context):
    """Return a function that opens a page of the book; what goes wrong there fails the test."""
    wrong = []

    def opener(name, at="", **options):
        page = new_context(**options).new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        page.on("request", lambda asked: wrong.append(asked.url) if _leaves(asked.url) else None)
        page.goto((book / f"{name}.html").as_uri() + at)
        if options.get("java_script_enabled", True) and name != "index":
            page.wait_for_selector("html.book-lives", state="attached")
        return page

    yield opener
    assert wrong == []


def _leaves(address: str) -> bool:
    return not address.startswith(("file:", "blob:", "data:"))


def test_a_sandbox_plays_what_was_recorded(opened):
    form = opened(SAMPLE).locator("form", has_text="Which sign?")
    form.get_by_label("sign").select_option("-")
    form.get_by_label("size").select_option("2")
    expect(form).to_contain_text("f(-2)")
    form.get_by_label("negative").check()
    press(form, "Run the call")
    said = "✓ Right: you said negative, and it was negative. 1 of 1 right."
    expect(status(form)).to_have_text(said)
    expect(form).to_contain_text("a row of -2")
    form.get_by_label("sign").select_option("none")
    form.get_by_label("negative").check()
    press(form, "Run the call")
    expect(status(form)).to_contain_text(
        "✗ Not this time: you said negative, and it was positive. 1 of 2"
    )


def test_the_search_finds_a_section_of_another_chapter(opened):
    page = opened(START)
    page.keyboard.press("/")
    page.keyboard.type("zebra")
    expect(page.locator("#book-count")).to_have_text("1 section found.")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{SAMPLE}.html#*")
    page.wait_for_selector("html.book-lives", state="attached")  # until then it moves
    expect(page.get_by_role("heading", name="The last section")).to_be_in_viewport()


def test_a_word_of_the_glossary_explains_itself_and_is_found_first(opened):
    page = opened(START)
    word, meaning = page.locator("dfn#word-seam"), page.get_by_role("tooltip")
    for show in (word.hover, word.focus, word.click):
        show()
        expect(meaning).to_contain_text("someone else can get hold of your code")
        page.keyboard.press("Escape")
        expect(meaning).to_be_hidden()
    page.keyboard.press("/")
    page.keyboard.type("seam")
    expect(page.locator("#book-results a").first).to_have_text("seam")
    page = opened(START, java_script_enabled=False)
    assert "someone else" in page.locator("dfn#word-seam").get_attribute("title")


def test_paper_has_the_steps_of_a_stage(opened):
    page = opened(SAMPLE)
    stages, papers = page.locator(".course-stage"), page.locator(".book-paper")
    expect(papers.first).to_be_hidden()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert papers.count() == stages.count() > 0
    expect(papers.first).to_be_visible()
    expect(stages.first).to_be_hidden()
    steps = papers.locator("> details").evaluate_all("nodes => nodes.filter(node => node.open)")
    assert 0 < len(steps) <= 3 * papers.count()


@pytest.mark.parametrize("name", ["index", START, SAMPLE])
def test_on_a_phone_and_on_paper_only_exhibits_scroll_sideways(opened, name):
    page = opened(name, viewport=PHONE)
    wide = "document.documentElement.scrollWidth - innerWidth"
    assert page.evaluate(wide) == 0
    tables = [exhibits.EXHIBITS[kind]() for kind in ("bytecode", "side_by_side")]
    assert page.evaluate(OFF, tables) == []
    page.set_viewport_size(PAPER)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.evaluate(wide) == 0
    expect(page.locator(".book-top")).to_be_hidden()
    page.emulate_media(media="screen")
    page.set_viewport_size(PHONE)
    page.evaluate(f"document.querySelector('main').insertAdjacentHTML('beforeend', `{STYLED}`)")
    expect(page.locator("td").last).to_have_css("padding-left", "9px")  # off its line number
    expect(page.locator(".book-said").last).to_have_css("white-space", "pre-wrap")
    page.evaluate("document.querySelector('main').prepend(document.createElement('hr'))")
    page.locator("hr").evaluate("node => { node.style.width = '900px' }")
    assert page.evaluate(wide) > 0  # a sample that must be seen


def test_without_scripts_every_step_can_be_read(opened):
    page = opened(SAMPLE, java_script_enabled=False)
    expect(page.locator("main")).to_contain_text("pass 3 of the loop")
    assert not page.locator(".book-still").first.evaluate(
        "node => getComputedStyle(node).visibility === 'hidden'"
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(opened, scheme):
    page = opened(START, color_scheme=scheme)
    assert find_serious(page) == []
    page.evaluate("document.querySelector('main').prepend(document.createElement('button'))")
    assert [line.split(":")[0] for line in find_serious(page, "main > button")] == ["button-name"]

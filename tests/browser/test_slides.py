"""Slides in a browser without a network: nothing is cut off, and keys do what they say."""

import nbformat
import pytest
from playwright.sync_api import expect

from helpers.course.book.runs import run
from helpers.course.slides import BELOW
from helpers.course.slides import build_slides_page as slides_of
from tests.browser.lab_page import press, status
from tests.browser.lab_server import ROOT
from tests.browser.widget_page import find_serious
from tools.mark_slides import MOST, SAME

pytestmark = pytest.mark.long

SIZE = {"width": 1280, "height": 720}
SMALLEST = 9  # pixels of text
CHAPTERS = sorted((ROOT / "notebooks").glob("0*.ipynb"))[3:7:3]

# Of the slide that is shown. The size of text is that of its boxes, whatever scales them.
MEASURE = """() => {
  const slide = Reveal.getCurrentSlide(), body = slide.querySelector('.body');
  const pen = document.createElement('canvas').getContext('2d');
  const heights = {};
  const size = (node, height) => {
    const style = getComputedStyle(node);
    const font = `${style.fontStyle} ${style.fontWeight} 100px ${style.fontFamily}`;
    if (!(font in heights)) {
      pen.font = font;
      const box = pen.measureText('x');
      heights[font] = box.fontBoundingBoxAscent + box.fontBoundingBoxDescent;
    }
    return 100 * height / heights[font];
  };
  // In a stage and a large drawing one goes to what is further on; elsewhere nothing is hidden.
  const held = (node) => node.closest('.stage-pane, .course-picture-window');
  const found = { cut: [], small: [], words: 0 };
  const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode, node = text.parentElement;
    if (!text.data.trim() || !node.checkVisibility({ visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    for (const box of range.getClientRects()) {
      if (box.width < 1 || box.height < 1) continue;
      const px = size(node, box.height);
      found.words += 1;
      if (px < SMALLEST - 0.5 && !node.closest('.course-stage')) // boxes are whole pixels
        found.small.push(`${px.toFixed(1)}: ${text.data.trim().slice(0, 40)}`);
      const outside = box.left < -1 || box.top < -1 || box.right > 1281 || box.bottom > 721;
      const below = box.bottom > body.getBoundingClientRect().bottom + 2;
      if ((outside || below) && !held(node)) found.cut.push(text.data.trim().slice(0, 40));
    }
  }
  for (const picture of body.querySelectorAll('svg, img, table')) {
    const box = picture.getBoundingClientRect();
    const outside = box.right > 1281 || box.bottom > 721 || box.left < -1 || box.top < -1;
    if (outside && !held(picture)) found.cut.push(`<${picture.tagName}>`);
    if (picture.tagName !== 'IMG') continue;
    if (!picture.naturalWidth) found.cut.push('an image is missing');
    if (!picture.src.includes('svg+xml;base64,') || !picture.closest('.jp-OutputArea')) continue;
    const drawn = atob(picture.src.split('base64,')[1]);
    for (const [, named] of drawn.matchAll(/font[^;"'{}]*?([\\d.]+)px/g)) {
      const px = named * box.width / picture.naturalWidth;
      if (px < SMALLEST - 0.5) found.small.push(`${px.toFixed(1)}: in a picture`);
    }
  }
  return found;
}""".replace("SMALLEST", str(SMALLEST))


def find_faults(page, file) -> list[str]:
    """Return in words what is wrong with each slide; the page is opened without a network."""
    page.set_viewport_size(SIZE)
    page.context.set_offline(True)
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    found, total = [], page.evaluate("Reveal.getTotalSlides()")
    for number in range(1, total + 1):
        seen = page.evaluate(MEASURE)
        faults = [f"cut off: {words!r}" for words in seen["cut"][:1]]
        faults += [f"small: {words!r}" for words in seen["small"][:1]]
        faults += ["nothing is on it"] * (not seen["words"])
        found += [f"slide {number} of {total}: {what}" for what in faults]
        page.evaluate("Reveal.next()")
    return found


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
    assert find_faults(page, files[number]) == errors == []
    assert page.evaluate("Reveal.getTotalSlides()") == MOST


@pytest.fixture
def opened(files, page):
    page.goto(files[0].as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    return page


def test_keys_go_on_and_darken(opened):
    number = "Reveal.getSlidePastCount()"
    opened.keyboard.press("Space")
    assert opened.evaluate(number) == 1
    paper = "getComputedStyle(document.body).backgroundColor"
    light = opened.evaluate(paper)
    opened.keyboard.press("d")
    assert opened.evaluate(paper) != light


def test_everybody_can_read_a_slide_in_both_themes(opened):
    for _ in ("light", "dark"):
        opened.keyboard.press("Space")
        assert find_serious(opened, "section.present:not(.stack)") == []
        opened.keyboard.press("d")


LIVING = (
    "from helpers import predict, watch_stack\n\n\ndef f(x):\n    return [x, x + 1]",
    "watch_stack(f, 1)",
    'predict("2 + 2?", ["4", "22"], run=lambda: str(2 + 2))',
)


def test_exhibits_live_and_keep_their_keys_until_escape(tmp_path, page):
    cells = [nbformat.v4.new_code_cell(source) for source in LIVING]
    cells.insert(0, nbformat.v4.new_markdown_cell("# Living"))
    for cell, kind in zip(cells, (BELOW, SAME, SAME, BELOW), strict=True):
        cell.metadata["slideshow"] = {"slide_type": kind}
    path = tmp_path / "living.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    file = tmp_path / "living.html"
    file.write_text(slides_of(path, run(path)), "utf-8")
    find_faults(page, file)  # it opens the page; the chapters below are held to what it finds
    stage, form = page.get_by_role("group", name="f, instruction"), page.locator("form")
    number = "Reveal.getSlidePastCount()"
    page.evaluate(
        "Reveal.sync(); Reveal.slide(...Object.values(Reveal.getIndices("
        "document.querySelector('.course-stage').closest('section'))))"
    )
    at = page.evaluate(number)
    stage.get_by_role("button", name="Next", exact=True).click()  # and focus it
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

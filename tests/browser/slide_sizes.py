"""The slides of the chapters, one by one in Chromium at 1280 x 720 -> what each is like.

python -m tests.browser.slide_sizes        the table of docs/workshops.md, and every fault
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from helpers.course.book.runs import run
from helpers.course.slides import page as slides_of
from tests.browser.chromium import find_chromium

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("0*.ipynb"))
SIZE = {"width": 1280, "height": 720}
SMALLEST = 14  # pixels of text

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
  const scrolls = (node) => node && node !== slide && node.scrollHeight > node.clientHeight + 1 ||
    node.scrollWidth > node.clientWidth + 1;
  const held = (node) => {  // by something that scrolls, so that one can get at it
    for (let at = node; at && at !== body; at = at.parentElement)
      if (/auto|scroll/.test(getComputedStyle(at).overflow) && scrolls(at)) return true;
    return false;
  };
  const found = { cut: [], small: [], least: 1000, words: 0, scrolls: 0, wide: 0, told: true };
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
      found.least = Math.min(found.least, px);
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
      found.least = Math.min(found.least, px);
      if (px < SMALLEST - 0.5) found.small.push(`${px.toFixed(1)}: in a picture`);
    }
  }
  for (const part of body.querySelectorAll('.scrolls')) {
    const more = part.nextElementSibling;
    found.scrolls += scrolls(part);
    const says = more && more.classList.contains('more');
    const seen = says && more.getBoundingClientRect().bottom < 721;
    found.told = found.told && part.tabIndex === 0 && seen && part.clientHeight > 150;
  }
  found.wide = [...body.querySelectorAll('[role=region]')]
    .some((node) => node.scrollWidth > node.clientWidth + 1);
  return found;
}""".replace("SMALLEST", str(SMALLEST))


@dataclass(frozen=True)
class Slide:
    """A slide: what of it is cut off or too small, and whether parts of it scroll, and say so."""

    number: int
    cut: tuple[str, ...]
    small: tuple[str, ...]
    least: float
    empty: bool
    scrolls: bool
    wide: bool
    told: bool

    @property
    def faults(self) -> list[str]:
        """Return in words what is wrong with it."""
        found = [f"cut off, {len(self.cut)} times: {self.cut[0]!r}"] if self.cut else []
        found += [f"small, {len(self.small)} times: {self.small[0]!r}"] if self.small else []
        found += ["nothing is on it"] * self.empty
        found += ["it scrolls and does not say so"] * (not self.told)
        return [f"slide {self.number}: {what}" for what in found]


def slides(page: Page, file: Path) -> list[Slide]:
    """Return what each slide of a page is like; the page is opened without a network."""
    page.set_viewport_size(SIZE)
    page.context.set_offline(True)
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    found = []
    for number in range(page.evaluate("Reveal.getTotalSlides()")):
        if number:
            page.evaluate("Reveal.next()")
        seen = page.evaluate(MEASURE)
        empty = seen["words"] == 0
        rest = {name: seen[name] for name in ("least", "scrolls", "wide", "told")}
        found.append(
            Slide(number + 1, tuple(seen["cut"]), tuple(seen["small"]), empty=empty, **rest)
        )
    return found


def main() -> None:
    """Print a row for each chapter, and below the table what is wrong first."""
    faults = []
    print(
        "| chapter | slides | some scroll | smallest text, px | kB |", "| --- " * 5 + "|", sep="\n"
    )
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        launched = {"executable_path": find_chromium(), "args": ["--no-sandbox"]}
        with playwright.chromium.launch(**launched) as browser:
            for path in NOTEBOOKS:
                file = Path(folder) / f"{path.stem}.html"
                file.write_text(slides_of(path, run(path)), "utf-8")
                seen = slides(browser.new_page(), file)
                faults += [f"{path.stem} {fault}" for one in seen for fault in one.faults]
                least = min(one.least for one in seen)
                scrolled = sum(one.scrolls or one.wide for one in seen)
                size = file.stat().st_size // 1000
                print(
                    f"| {path.stem} | {len(seen)} | {scrolled} | {least:.1f} | {size} |", flush=True
                )
    print(f"{len(faults)} faults", *faults[:20], sep="\n")


if __name__ == "__main__":
    main()

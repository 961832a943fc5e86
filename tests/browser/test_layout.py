"""Every exhibit in both themes and at four widths: what its layout must keep, no pixel compared."""

import importlib
import pkgutil

import pytest

from helpers import view
from tests.browser import exhibits

pytestmark = pytest.mark.long

# A projector at 150 % shows 853 × 480 of its 1280 × 720 pixels.
SIZES = {"700": (700, 900), "1024": (1024, 768), "1280": (1280, 720), "150 %": (853, 480)}
SMALLEST = 10  # pixels of a letter

FACTS = """() => {
  const wrong = [];
  const name = node => node.closest('.jp-OutputArea-child').dataset.name;
  const outputs = [...document.querySelectorAll('.jp-OutputArea-child')];
  const meet = (a, b, by) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > by
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > by;
  const written = (root) => {
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), found = [];
    while (walk.nextNode()) if (walk.currentNode.data.trim()) found.push(walk.currentNode);
    return found.filter(t => !t.parentElement.closest('style, title'));
  };
  const place = node => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return range.getBoundingClientRect();
  };
  for (const output of outputs) {
    const box = output.getBoundingClientRect();
    if (box.height < 20) wrong.push(`${name(output)}: blank`);
    for (const text of written(output)) {
      const own = text.parentElement, at = place(text);
      if (!at.width) continue;
      const size = parseFloat(getComputedStyle(own).fontSize);
      if (size < SMALLEST) wrong.push(`${name(output)}: ${size}px: ${text.data}`);
      if (at.right > box.right + 1 && !own.closest('[role=region]'))
        wrong.push(`${name(output)}: outside: ${text.data}`);
    }
    for (const image of output.querySelectorAll('img'))
      wrong.push(`${name(output)}: no part of the page: ${image.alt}`);
    for (const host of output.querySelectorAll('.who-picture')) {
      const svg = host.shadowRoot.querySelector('svg'), all = svg.getBoundingClientRect();
      if (!all.width || !svg.querySelector('path, rect')) wrong.push(`${name(output)}: blank`);
      if (all.right > box.right + 1 && !host.closest('[role=region]'))
        wrong.push(`${name(output)}: a picture outside`);
      const scale = all.width / svg.viewBox.baseVal.width;
      const words = [...svg.querySelectorAll('text')].filter(
        t => t.getBoundingClientRect().width && t.textContent.trim());  // what is seen
      for (const text of words) {
        const size = parseFloat(getComputedStyle(text).fontSize) * scale;
        if (size < SMALLEST) wrong.push(`${name(output)}: ${size}px: ${text.textContent}`);
        const at = text.getBoundingClientRect();
        if (at.left < all.left - 1 || at.right > all.right + 1 || at.bottom > all.bottom + 1)
          wrong.push(`${name(output)}: cut off: ${text.textContent}`);
      }
      const boxes = [...svg.querySelectorAll('svg.box')];
      for (const kind of [words, boxes])
        for (const [n, one] of kind.entries())
          for (const other of kind.slice(0, n))
            if (meet(one.getBoundingClientRect(), other.getBoundingClientRect(), 2))
              wrong.push(`${name(output)}: overlap: ${one.textContent} / ${other.textContent}`);
    }
    for (const table of output.querySelectorAll('td[rowspan]')) {
      const rows = [...table.closest('tbody').rows], svg = table.querySelector('.who-picture');
      const high = svg.shadowRoot.querySelector('svg').getBoundingClientRect().height;
      const all = rows.at(-1).getBoundingClientRect().bottom - rows[0].getBoundingClientRect().top;
      if (Math.abs(all - high) > rows.length / 4) wrong.push(`${name(output)}: arcs beside rows`);
    }
  }
  if (document.documentElement.scrollWidth > innerWidth + 1) wrong.push('page: outside');
  return wrong;
}""".replace("SMALLEST", str(SMALLEST))
NAMED = """names => document.querySelectorAll('.jp-OutputArea-child').forEach(
  (node, n) => { node.dataset.name = names[n]; })"""


@pytest.fixture(scope="module")
def pages():
    return exhibits.pages()


def shown(page, tmp_path, theme, made):
    """Open a document with these pages; wait until every picture is a part of it."""
    path = tmp_path / f"{theme}.html"
    path.write_text(exhibits.document(theme, made), encoding="utf-8")
    page.route("http*://**", lambda route: route.abort())
    page.goto(path.as_uri(), wait_until="domcontentloaded")
    page.wait_for_function("() => [...document.images].every(i => i.complete && i.naturalWidth)")
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    page.evaluate(NAMED, list(made))


@pytest.mark.parametrize("theme", exhibits.THEMES)
def test_every_exhibit_fits_and_can_be_read(page, tmp_path, theme, pages):
    shown(page, tmp_path, theme, pages)
    page.wait_for_function("() => !document.querySelector('.jp-OutputArea img')")
    found = {}
    for words, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        found[words] = page.evaluate(FACTS)
    assert found == dict.fromkeys(SIZES, [])


def test_every_view_has_an_example():
    modules = pkgutil.walk_packages(view.__path__, "helpers.view.")
    names = [importlib.import_module(name) for _, name, _ in modules]
    drawn = {key for m in names for key, each in vars(m).items() if isinstance(each, view.View)}
    shown = {name.partition(":")[0] for name in exhibits.EXHIBITS}
    assert drawn - shown == {"progress"}  # of a learner, under its own name

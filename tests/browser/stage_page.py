"""A timeline -> its stage alone in a page, without JupyterLab, and the facts of its layout."""

from helpers.view.widgets import stage
from tests.browser.widget_page import document, find_serious

# What is measured at a step: places of the parts, and everything that is out of order.
FACTS = """root => {
  const box = root.getBoundingClientRect();
  const parts = [...root.querySelectorAll(
    '.stage-pane, .stage-main, .stage-says, .stage-strip-row, .stage-controls')];
  const wrong = [];
  const seen = n => getComputedStyle(n).visibility === 'visible' && n.getClientRects().length;
  for (const node of root.querySelectorAll('*')) {
    const words = [...node.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!words || !seen(node) || node.closest('.stage-unseen, .stage-flight')) continue;
    const size = parseFloat(getComputedStyle(node).fontSize);
    if (size < 10 && !node.closest('svg')) wrong.push(`${size}px: ${node.textContent}`);
    const place = node.getBoundingClientRect();
    const kept = node.closest(
      '.course-scrolls, .stage-over, .course-picture-window, .stage-blocks');
    if (place.right > box.right + 1 && !kept) wrong.push(`outside: ${node.textContent}`);
  }
  const panes = [...root.querySelectorAll('.stage-pane')].filter(seen);
  for (const a of panes) for (const b of panes) {
    if (a === b || a.contains(b) || b.contains(a)) continue;
    const [p, q] = [a.getBoundingClientRect(), b.getBoundingClientRect()];
    const across = Math.min(p.right, q.right) - Math.max(p.left, q.left);
    const down = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
    if (across > 1 && down > 1) wrong.push(`overlap: ${a.className} / ${b.className}`);
  }
  for (const part of root.querySelectorAll('.stage-row:has(:empty:last-child) :is(em, s)'))
    if (box.width > 800 && part.scrollWidth > part.clientWidth + 1 && part.innerText.length < 17)
      wrong.push(`cut: ${part.parentElement.innerText}`);
  const [tag, value, guard] = ['.stage-over-value > .stage-tag', '.stage-covered > span',
    '.stage-guard'].map(one => root.querySelector(one)), at = n => n.getBoundingClientRect();
  if (tag && at(value).right > at(tag).left) wrong.push('a value below a mark');
  if (guard && at(guard).bottom > at(guard.closest('.stage-middle')).bottom) wrong.push('guard');
  if (root.querySelector('.stage-raise') && !/✕ raises/.test(root.innerText)) wrong.push('✕?');
  const says = root.querySelector('.stage-says');
  if (says.scrollHeight > says.clientHeight + 1) wrong.push('the sentence is cut off');
  for (const column of root.querySelectorAll('.stage-main > div')) {
    const drawn = column.querySelector('[data-state], .stage-block, .stage-frame');
    if (!drawn && !column.innerText.trim()) wrong.push(`blank: ${column.className}`);
  }
  const top = node => Math.round(node.getBoundingClientRect().top - box.top);
  const high = node => Math.round(node.getBoundingClientRect().height);
  return {places: [high(root), ...parts.flatMap(n => [top(n), high(n)])].join(), wrong,
          height: box.height};
}"""

# All steps in one call: each call from here costs more than what it measures.
WALK = f"""async (root, total) => {{
  const facts = {FACTS}, walked = [];
  for (let step = 0; step < total; step++) {{
    window.model.set('index', step);
    await new Promise(done => requestAnimationFrame(() => done()));
    walked.push(facts(root));
  }}
  return walked;
}}"""


class StagePage:
    """A page with one stage on it."""

    def __init__(self, page, model, theme="light", size=(1100, 720), **media):
        self.page, self.total = page, len(model.steps)
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.emulate_media(**media)
        page.set_content(document(stage.stage_widget(model), theme=theme))
        self.root = page.locator(".course-stage")
        self.root.wait_for()

    def go(self, step: int) -> None:
        """Show a step, counted from 0."""
        self.page.evaluate("n => window.model.set('index', n)", step)

    def at(self) -> int:
        """Return the step on show."""
        return self.page.evaluate("window.model.get('index')")

    def facts(self) -> dict:
        """Return places, height and what is wrong."""
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => done()))")
        return self.root.evaluate(FACTS)

    def walk(self) -> list[dict]:
        """Return the facts of every step."""
        return self.root.evaluate(WALK, self.total)

    def violations(self) -> list[str]:
        """Return what axe finds serious or critical."""
        return find_serious(self.page, ".course-stage")

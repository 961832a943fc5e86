"""A browser page -> a notebook in JupyterLab, driven and judged as a learner would."""

import contextlib
import re

from playwright.sync_api import Page, TimeoutError, expect

from tests.browser.lab_server import ROOT, LabServer
from tests.browser.widget_page import find_serious

NOTEBOOKS = [path.name for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
GALLERY = "gallery.ipynb"
WIDE, NARROW = {"width": 1400, "height": 1000}, {"width": 820, "height": 1000}

OUTPUTS = ".jp-OutputArea-output"
# Pictures of a plot have no words of ours; what JupyterLab itself draws is not ours to mend.
EXHIBITS = {"include": [[OUTPUTS]], "exclude": [[".jp-RenderedImage"]]}
LOCAL = r"https?://127\.0\.0\.1[:/]|wss?://127\.0\.0\.1[:/]|data:|blob:|about:"
REPLACE_MS, OPEN_MS, RUN_MS = 45_000, 90_000, 300_000

_CELLS = """() => {
  const cells = jupyterapp.shell.currentWidget.content.widgets.filter(c => c.model.type === 'code');
  return cells.filter(c => c.model.sharedModel.source.trim()).map(c => ({
    count: c.model.executionCount,
    errors: c.model.outputs.toJSON().filter(o => o.output_type === 'error')
      .map(o => `${o.ename}: ${o.evalue}`),
  }));
}"""
_ENDED = f"""() => {{
  const cells = ({_CELLS})();
  const idle = jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle';
  return idle && (cells.every(c => c.count !== null) || cells.some(c => c.errors.length));
}}"""


# JupyterLab opens its launcher where nothing is left, so the new one is opened before.
_REPLACE = """path => {
  const old = [...jupyterapp.shell.widgets('main')];
  jupyterapp.commands.execute('docmanager:open', {path}).then(widget => {
    jupyterapp.shell.activateById(widget.id);
    old.forEach(one => one.dispose());
  });
}"""
_OPENED = """path => {
  const panel = jupyterapp.shell.currentWidget;
  return panel?.context?.path === path && panel.context.isReady && panel.sessionContext.isReady
    && [...jupyterapp.shell.widgets('main')].length === 1;
}"""
# The state of the widgets in the notebook's metadata: written when all of it has been collected.
_FORGET_STATE = "jupyterapp.shell.currentWidget.content.model.deleteMetadata('widgets')"
_STATE_IS_THERE = """() => {
  const model = jupyterapp.shell.currentWidget.content.model;
  const state = model.getMetadata('widgets')?.['application/vnd.jupyter.widget-state+json']?.state;
  const shown = [...model.cells].flatMap(cell => cell.outputs?.toJSON() ?? [])
    .map(output => output.data?.['application/vnd.jupyter.widget-view+json']?.model_id)
    .filter(id => id);
  return shown.every(id => state?.[id]);
}"""
# What is not judged costs axe nearly all its time: it asks of each letter what lies around it.
_ASIDE = "judged-aside"
_LAY_ASIDE = f"""judged => document.querySelectorAll(
  '.jp-Cell, .jp-Cell-inputWrapper, .jp-Cell-outputWrapper, #jp-top-panel, .jp-SideBar, '
  + '#jp-left-stack, #jp-right-stack'
).forEach(node => {{
  const holds = judged.some(one => node.querySelector(one) || node.closest(one));
  if (!holds) node.classList.add('{_ASIDE}');
}})"""
_BACK = f"""() => document.querySelectorAll('.{_ASIDE}').forEach(
  node => node.classList.remove('{_ASIDE}'))"""


class NotebookPage:
    """One notebook, open in JupyterLab. `outside` lists every request that tried to leave."""

    def __init__(self, page: Page, server: LabServer):
        self.page, self.server, self.name = page, server, ""
        self.outside: list[str] = []
        page.route(re.compile(rf"^(?!{LOCAL})"), self._refuse)
        page.on("websocket", self._note_socket)

    def open(self, name: str) -> "NotebookPage":
        """Open a notebook in place of what is open; wait until all is idle and drawn."""
        self.name = name
        if not self._replace_open(name):
            self.page.goto(self.server.url(name), timeout=OPEN_MS)
        self.page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=OPEN_MS)
        self.wait_idle()
        self.settle()
        return self

    def _replace_open(self, name: str) -> bool:
        """Open a notebook in a page that holds JupyterLab already; False: load the page anew."""
        if not self.page.url.startswith(f"{self.server.origin}/lab"):
            return False
        try:
            self.page.evaluate(_REPLACE, name)
            self.page.wait_for_function(_OPENED, arg=name, timeout=REPLACE_MS)
        except TimeoutError:  # a dialog of the last notebook, a kernel that hangs
            return False
        return True

    def wait_idle(self) -> None:
        """Wait for the kernel: Run All before that clears every output and runs nothing."""
        status = self.page.locator("#jp-main-statusbar").get_by_text("| Idle")
        status.wait_for(timeout=OPEN_MS)

    def run_all(self) -> None:
        """Choose Run › Run All Cells, and wait until every cell has run or one has failed."""
        self.page.evaluate("jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        self.page.wait_for_function(_ENDED, timeout=RUN_MS)
        self.settle()

    def settle(self) -> None:
        """Wait until every widget that was announced is drawn and every image is there."""
        self.page.wait_for_function(
            """() => [...document.querySelectorAll('.jp-OutputArea-output img')]
                .every(i => i.complete) && ![...document.querySelectorAll('.jp-OutputArea-output')]
                .some(o => o.innerText.trim() === 'Loading widget...')"""
        )

    def errors(self) -> list[str]:
        """Return the error outputs of all cells."""
        return [words for cell in self.page.evaluate(_CELLS) for words in cell["errors"]]

    def save(self) -> None:
        """Save the notebook, and once more: the first save begins to collect the widgets' state."""
        self.page.evaluate(_FORGET_STATE)
        self.page.evaluate("jupyterapp.commands.execute('docmanager:save')")
        self.page.wait_for_function(_STATE_IS_THERE, timeout=OPEN_MS)
        self.page.evaluate("jupyterapp.commands.execute('docmanager:save')")

    def active_cell(self) -> int:
        """Return the number of the cell that JupyterLab has selected."""
        return self.page.evaluate("jupyterapp.shell.currentWidget.content.activeCellIndex")

    def theme(self, scheme: str) -> None:
        """Let the reader's system ask for `light` or `dark`; JupyterLab follows it."""
        self.page.emulate_media(color_scheme=scheme)
        wanted = "true" if scheme == "light" else "false"
        expect(self.page.locator("body")).to_have_attribute("data-jp-theme-light", wanted)

    def violations(self, context=EXHIBITS) -> list[str]:
        """Return what axe finds serious or critical in the exhibits, one line each."""
        with self._all_in_view(context):
            return find_serious(self.page, context)

    @contextlib.contextmanager
    def _all_in_view(self, context):
        """Make the window as high as what is judged: axe says nothing of what is scrolled away."""
        size = self.page.viewport_size
        self.page.evaluate(_LAY_ASIDE, [one for chain in context["include"] for one in chain])
        style = self.page.add_style_tag(content=f".{_ASIDE} {{ display: none !important }}")
        panel = ".jp-WindowedPanel-outer"
        height = self.page.locator(panel).evaluate("n => n.scrollHeight")
        self.page.evaluate("document.body.style.minHeight = '100vh'")
        self.page.set_viewport_size({**size, "height": height + 400})
        self.page.locator(panel).evaluate("n => { n.scrollTop = 0; }")
        self.page.wait_for_function(
            f"""() => {{ const panel = document.querySelector('{panel}');
              return panel.scrollTop === 0 && panel.clientHeight >= {height}; }}"""
        )
        yield
        self.page.set_viewport_size(size)
        style.evaluate("node => node.remove()")
        self.page.evaluate(_BACK)

    def stages(self):
        """Return every stage that has steps as a locator."""
        return self.page.locator(".course-stage:has(.course-slider)").all()

    def questions(self):
        """Return every question with radio buttons as a locator."""
        return self.page.locator(".course-choice").all()

    def leave(self) -> None:
        """Close what is open and let the page be as it was found, for the next notebook."""
        self.page.evaluate("[...jupyterapp.shell.widgets('main')].forEach(one => one.dispose())")
        self.page.unroute_all()
        self.page.remove_listener("websocket", self._note_socket)
        self.page.set_viewport_size(WIDE)
        self.theme("light")

    def _refuse(self, route) -> None:
        self.outside.append(route.request.url)
        route.abort()

    def _note_socket(self, socket) -> None:
        if not re.match(LOCAL, socket.url):
            self.outside.append(socket.url)


def status(exhibit):
    """Return the live line of a stage or a question."""
    return exhibit.locator(".course-status")


def press(exhibit, name: str) -> None:
    """Press the exhibit's button with this name, also where it says that it is at an end."""
    # no click: JupyterLab may scroll between Playwright's own scroll and its click
    exhibit.get_by_role("button", name=name, exact=True).dispatch_event("click")

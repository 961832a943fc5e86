"""site/, as `course.py book` wrote it -> size, times, sideways scroll and faults of each page.

`python -m tests.browser.book_figures` prints the table of docs/book.md; it needs Chromium. Times
are medians over fresh pages, from a server on this machine.
"""

import functools
import threading
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from statistics import median

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright
from tabulate import tabulate

from helpers.course.book.site import SITE
from tests.browser.chromium import find_chromium

RUNS = 3
LOOKS = (("light", 390), ("dark", 1280))  # theme and width of a window
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
WIDER = "document.documentElement.scrollWidth - innerWidth"
HEADINGS = (
    "page",
    "KB",
    "widgets",
    "first view, ms",
    "all widgets live, ms",
    "wider than 390 px by",
)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *words):
        """Say nothing of a request."""


@contextmanager
def served():
    """Serve site/ on this machine; give the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def serious(page, part: str | None = None) -> list[str]:
    """Return what axe finds serious or critical in a page or a part of it, one line each."""
    found = Axe().run(page, context=part, options={"preload": False}).response["violations"]
    grave = [one for one in found if one["impact"] in ("serious", "critical")]
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in grave]


def measured(browser, address: str) -> tuple[float, float]:
    """Return milliseconds to the first view, and until everything lives, in a fresh page."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(address)
    if page.locator(".book-live").count():
        page.wait_for_selector("html.book-lives", state="attached")
    times = page.evaluate(PAINTED), page.evaluate("performance.now()")
    page.close()
    return times


def row(browser, address: str, name: str) -> tuple[list, list[str]]:
    """Return a page's row, and what axe finds in its looks."""
    first, live = zip(*(measured(browser, address) for _ in range(RUNS)), strict=True)
    faults, wider = [], 0
    for theme, width in LOOKS:
        window = {"width": width, "height": 900}
        page = browser.new_page(viewport=window, color_scheme=theme)
        page.goto(address)
        page.wait_for_selector("html.book-lives", state="attached") if name != "index" else None
        wider = max(wider, page.evaluate(WIDER))
        widgets = page.locator(".book-live").count()
        faults += [f"{name} {theme} {width}: {line}" for line in serious(page)]
        page.close()
    size = (SITE / f"{name}.html").stat().st_size / 1000
    return [name, round(size), widgets, round(median(first)), round(median(live)), wider], faults


def main() -> None:
    """Print the table, and the faults below it."""
    rows, faults = [], []
    with served() as place, sync_playwright() as play:
        arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = play.chromium.launch(executable_path=find_chromium(), args=arguments)
        for path in sorted(SITE.glob("*.html")):
            told, found = row(browser, f"{place}/{path.name}", path.stem)
            rows.append(told)
            faults += found
        browser.close()
    print(tabulate(rows, headers=HEADINGS, tablefmt="github"))
    print("\n".join(faults) or "axe: nothing serious in any page, light at 390 px, dark at 1280 px")


if __name__ == "__main__":
    main()

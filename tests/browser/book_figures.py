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


@contextmanager
def opened(browser, address: str, theme: str, width: int):
    """Give a page on which everything lives."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)
    page.goto(address)
    if page.locator(".book-live").count():
        page.wait_for_selector("html.book-lives", state="attached")
    yield page
    page.close()


def row(browser, address: str, name: str) -> list:
    """Return a page's row of the table."""
    first, live = zip(*(measured(browser, address) for _ in range(RUNS)), strict=True)
    with opened(browser, address, "light", 390) as page:
        wider, widgets = page.evaluate(WIDER), page.locator(".book-live").count()
    size = (SITE / f"{name}.html").stat().st_size / 1000
    return [name, round(size), widgets, round(median(first)), round(median(live)), wider]


def main() -> None:
    """Print the table, and then what axe finds, which takes minutes."""
    pages = sorted(SITE.glob("*.html"))
    with served() as place, sync_playwright() as play:
        arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = play.chromium.launch(executable_path=find_chromium(), args=arguments)
        rows = [row(browser, f"{place}/{path.name}", path.stem) for path in pages]
        print(tabulate(rows, headers=HEADINGS, tablefmt="github"), flush=True)
        for path in pages:
            for theme, width in LOOKS:
                with opened(browser, f"{place}/{path.name}", theme, width) as page:
                    faults = serious(page) or ["axe finds nothing serious"]
                print(f"{path.stem}, {theme}, {width} px: {'; '.join(faults)}", flush=True)
        browser.close()


if __name__ == "__main__":
    main()

"""The hero and the stage -> the pictures of README.md: `python -m tools.readme_pictures`.

The hero is the exhibit stored in chapter 0; the stage is drawn from a program that runs now.
"""

from pathlib import Path

from playwright.sync_api import sync_playwright

from helpers.capture.cpython.stack_run import record_stack_run
from helpers.view import ink
from tests.browser import exhibits, stage_programs
from tests.browser.chromium import find_chromium
from tests.browser.stage_page import StagePage
from tools.look import CHAPTER, hero

FOLDER = CHAPTER.parent / "images"
MIDDLE = 0.6  # of the way through a run: something stands on the stack
LEFT_OUT = ".who-ways details, .who-ways > p {display: none !important} .who-ways {padding: 14px}"


def draw(browser, theme: str, folder: Path = FOLDER) -> None:
    """Write both pictures in one theme."""
    page = browser.new_page(device_scale_factor=1.5)
    stage = StagePage(page, record_stack_run(stage_programs.expression, 3, 5), theme)
    stage.go(round(MIDDLE * stage.total))
    stage.facts()
    page.wait_for_timeout(600)  # what moves has arrived
    stage.root.screenshot(path=folder / f"stage-{theme}.png")
    page.route("http*://**", lambda route: route.abort())
    page.set_viewport_size({"width": 1060, "height": 700})
    page.set_content(exhibits.document(theme, {"hero": hero()}), wait_until="domcontentloaded")
    page.add_style_tag(content=ink.render_stylesheet() + LEFT_OUT)
    page.locator(".who-ways").screenshot(path=folder / f"hero-{theme}.png")
    page.close()


if __name__ == "__main__":
    with sync_playwright() as playwright:
        options = {"executable_path": find_chromium(), "args": ["--no-sandbox"]}
        chromium = playwright.chromium.launch(**options)
        for each in exhibits.THEMES:
            draw(chromium, each)
        chromium.close()

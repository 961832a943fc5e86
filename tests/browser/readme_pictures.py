"""The running exhibits -> the pictures of README.md: `python -m tests.browser.readme_pictures`.

Each is drawn from a program that runs here and now, by the exhibit that a chapter shows.
"""

import tempfile
from functools import partial
from pathlib import Path

from playwright.sync_api import sync_playwright

import helpers
from helpers.capture.cpython.stack_run import stack_run
from tests.browser import exhibits, stage_programs
from tests.browser.chromium import find_chromium
from tests.browser.stage_page import StagePage

FOLDER = Path(__file__).parents[2] / "notebooks" / "images"
MIDDLE = 0.6  # of the way through a run: something stands on the stack


def names() -> str:
    """Return the page of a map of names that all lead to one function."""

    def op(x):
        return x + 1

    class Layer:
        activation = staticmethod(op)

    table, alias, partly = {"op": op}, op, partial(op, 1)
    assert table and alias and partly and Layer
    return exhibits.page_of(helpers.show_names("op", "alias", "table", "partly", "Layer"))


def training() -> str:
    """Return the page of the ops of a training step, forward and backward."""
    import torch

    x, w = torch.tensor([[1.0, 2.0]]), torch.tensor([[0.5], [0.25]], requires_grad=True)

    def step():
        w.grad = None
        ((x @ w) ** 2).sum().backward()
        with torch.no_grad():
            w.sub_(0.1 * w.grad)

    drawn = helpers.show_op_graph("One training step, op by op", step=helpers.watch_ops(step))
    return exhibits.page_of(drawn)


def draw(browser, folder: Path = FOLDER) -> None:
    """Write the three pictures to a folder."""
    page = browser.new_page(device_scale_factor=1.5)
    stage = StagePage(page, stack_run(stage_programs.expression, 3, 5))
    stage.go(round(MIDDLE * stage.total))
    stage.facts()
    page.wait_for_timeout(600)  # what moves has arrived
    stage.root.screenshot(path=folder / "stage.png")
    page.close()
    for name, made in (("names", names), ("training", training)):
        page = browser.new_page(viewport={"width": 900, "height": 800}, device_scale_factor=1.5)
        page.route("http*://**", lambda route: route.abort())
        with tempfile.TemporaryDirectory() as kept:
            path = Path(kept) / "page.html"
            path.write_text(exhibits.document("light", {name: made()}), encoding="utf-8")
            page.goto(path.as_uri(), wait_until="domcontentloaded")
        page.locator(".who-picture svg").first.screenshot(path=folder / f"{name}.png")
        page.close()


if __name__ == "__main__":
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=find_chromium(), args=["--no-sandbox"]
        )
        draw(chromium)
        chromium.close()

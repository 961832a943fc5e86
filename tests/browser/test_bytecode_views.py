"""The code widget and the stage's play and jump, in a page of JupyterLab."""

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.lab_page import OUTPUTS, status

CELLS = (
    "from helpers import show_bytecode, show_code, watch_stack",
    'def poly(x, y):\n    z = [x, "<img src=x>"]\n    return abs(x - y) + len(z)',
    "show_code(poly)",
    "watch_stack(poly, 3, 10)",
    "show_bytecode(poly)",
)


@pytest.fixture(scope="module")
def ran(open_copy, tmp_path_factory):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    notebook.metadata["kernelspec"] = kernel  # without it JupyterLab asks which one
    path = tmp_path_factory.mktemp("views") / "views.ipynb"
    nbformat.write(notebook, path)
    page = open_copy(path, "views")
    page.run_all()
    return page


def test_bytes_and_source_select_each_other(ran):
    code = ran.page.get_by_role("group", name="Code object poly")
    code.locator(".course-bytes button").nth(2).click()
    expect(code.locator("mark")).to_have_count(1)
    piece = code.locator(".course-text span[role=button]", has_text="abs").first
    piece.click()
    expect(code.locator(".course-said")).to_contain_text("abs")
    assert not ran.page.locator(f"{OUTPUTS} img[src='x']").count()


def test_bytes_are_walked_with_the_arrow_keys(ran):
    code = ran.page.get_by_role("group", name="Code object poly")
    code.locator(".course-bytes button").first.click()
    ran.page.keyboard.press("ArrowRight")
    pressed = code.locator(".course-bytes [aria-pressed=true]")
    expect(pressed).to_be_focused()
    assert pressed.get_attribute("aria-label").startswith("2 ")


def test_line_number_goes_to_the_next_step_of_that_line(ran):
    stage = ran.page.get_by_role("group", name="poly, instruction by instruction")
    stage.get_by_role("button", name="Go to the next step on line 3").click()
    expect(stage.locator("[aria-current=step]")).to_contain_text("return abs")


def test_play_goes_on_by_itself_and_pauses(ran):
    stage = ran.page.get_by_role("group", name="poly, instruction by instruction")
    stage.get_by_role("button", name="First").click()
    stage.get_by_role("button", name="Play").click()
    expect(status(stage)).to_contain_text("Step 3 of")
    stage.get_by_role("button", name="Pause").click()
    expect(stage.get_by_role("button", name="Play")).to_have_count(1)

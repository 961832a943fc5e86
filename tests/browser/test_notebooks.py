"""Every notebook of the course, and the gallery, as a learner meets it in JupyterLab."""

import pytest
from playwright.sync_api import expect

from tests.browser.lab_page import GALLERY, NOTEBOOKS, OUTPUTS, press, status

pytestmark = pytest.mark.long

BROKEN = "Error displaying widget"
# ipywidgets' manager.ts: where the kernel is connected before its session is ready, what the kernel
# has is taken for all there is, and the state in the file is read too late for the views.
TOO_SOON = "Error displaying widget: model not found"
PARTS = f"{OUTPUTS} table, {OUTPUTS} img"
LOST = """selector => [...document.querySelectorAll(selector)].filter(node =>
  node.style.display !== 'none' && (node.tagName === 'IMG' && !node.naturalWidth
  || !node.closest('details:not([open])')
     && !(node.checkVisibility({visibilityProperty: true}) && node.getBoundingClientRect().height))
).map(node => node.outerHTML.slice(0, 200))"""


@pytest.fixture(scope="module", params=[*NOTEBOOKS, GALLERY])
def name(request):
    return request.param


@pytest.fixture(scope="module")
def stored(name, copied, tabs):
    """The notebook as stored, neither run nor trusted."""
    with tabs.tab(run=False) as notebook:
        yield notebook.open(copied(name, "untrusted", change=without_widget_state))


@pytest.fixture(scope="module")
def ran(name, copied, tabs, lab):
    """The notebook after Run All in a fresh kernel."""
    with tabs.tab(run=True) as notebook:
        notebook.open(copied(name, "ran", change=without_outputs)).run_all()
        yield notebook
    lab.end_kernels()


@pytest.fixture(scope="module")
def reopened(ran, lab, tabs):
    """The notebook the next day: stepped, saved, kernel gone, opened anew and nothing run."""
    for stage in ran.stages():
        press(stage, "First")
        press(stage, "Next")
    ran.save()
    lab.end_kernels()
    with tabs.tab(run=False) as notebook:
        for _ in range(5):
            if not notebook.open(ran.name).page.locator(OUTPUTS).filter(has_text=TOO_SOON).count():
                break
            notebook.page.goto("about:blank")  # or JupyterLab would show what is open already
        yield notebook


def without_outputs(notebook):
    without_widget_state(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None


def without_widget_state(notebook):
    notebook.metadata.pop("widgets", None)


def test_notebook_that_was_not_run_shows_html_and_no_broken_widget(stored):
    """If it does: run tools/strip_views.py on it, for it stores views without their state."""
    assert not stored.page.locator(OUTPUTS).filter(has_text=BROKEN).count()
    assert stored.page.locator(PARTS).count()
    assert stored.page.evaluate(LOST, PARTS) == []
    assert stored.outside == []


def test_run_all_ends_without_error_outputs(ran):
    assert ran.errors() == []
    assert not ran.page.locator(OUTPUTS).filter(has_text=BROKEN).count()


def test_stages_answer_the_keyboard(ran):
    keyboard = ran.page.keyboard
    for stage in ran.stages():
        slider = stage.locator(".course-slider")
        total = int(slider.get_attribute("aria-valuemax"))
        stage.get_by_role("button", name="Next", exact=True).focus()
        before = ran.active_cell()
        keys = (("Home", 1), ("Enter", 2), ("ArrowLeft", 1), ("Space", 2), ("ArrowRight", 3))
        for key, step in (*keys, ("End", total), ("ArrowRight", total), ("Home", 1)):
            keyboard.press(key)
            expect(status(stage)).to_contain_text(f"Step {min(step, total)} of {total}:")
        slider.focus()
        for key, step in (("ArrowUp", 2), ("ArrowLeft", 1), ("End", total), ("Home", 1)):
            keyboard.press(key)
            words = f"Step {min(step, total)} of {total}:"
            expect(slider).to_have_attribute("aria-valuetext", status(stage).text_content())
            expect(status(stage)).to_contain_text(words)
        assert ran.active_cell() == before


def test_questions_answer_the_keyboard(ran):
    keyboard = ran.page.keyboard
    for question in ran.questions():
        radios = question.get_by_role("radio")
        radios.first.focus()
        before = ran.active_cell()
        keyboard.press("Space")
        keyboard.press("ArrowDown")
        expect(radios.nth(1)).to_be_checked()
        keyboard.press("Tab")
        keyboard.press("Enter")
        expect(status(question)).to_contain_text("running it" if wrong(question) else "it ran and")
        assert ran.active_cell() == before


def test_sandboxes_run_a_call_in_the_kernel(ran):
    for sandbox in ran.page.locator(".course-sandbox").all():
        status, run = sandbox.get_by_role("status"), sandbox.get_by_role("button")
        run.press("Enter")
        expect(status).to_contain_text("Predict first")
        sandbox.get_by_role("radio", name="trace").press("Space")
        run.press("Enter")
        expect(status).to_contain_text("Right:")
        expect(sandbox.locator(".course-rows table")).to_contain_text("first trace")
        sandbox.get_by_label("dtype").select_option("int32")
        sandbox.get_by_role("radio", name="hit").check()
        run.click()
        expect(status).to_contain_text("Not this time:")
        expect(sandbox.locator(".course-rows table")).to_contain_text("dtype float32 → int32")


def test_switches_run_what_is_written_in_a_fresh_interpreter(ran):
    for switches in ran.page.locator(".course-switches").all():
        code, shown = switches.get_by_label("Lines to run"), switches.get_by_role("region")
        switches.get_by_label("Switch", exact=True).select_option(index=1)
        expect(code).not_to_have_value("")
        code.fill("print(6 *")
        before = ran.active_cell()
        code.press("End")
        code.press("Enter")
        code.press_sequentially("7)")
        expect(code).to_have_value("print(6 *\n7)")
        switches.get_by_role("button").press("Enter")
        expect(switches.get_by_role("status")).to_have_text("○ exit code 0", timeout=90_000)
        expect(shown).to_contain_text("42")
        assert ran.active_cell() == before
        switches.get_by_label("Switch", exact=True).select_option(index=0)
        expect(shown).to_be_empty()


def wrong(question):
    return "Not this time" in status(question).inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(ran, scheme):
    ran.theme(scheme)
    assert ran.violations() == []


def test_reopened_notebook_shows_widgets_where_they_were(ran, reopened):
    assert reopened.page.locator(OUTPUTS).filter(has_text=BROKEN).all_inner_texts() == []
    assert len(reopened.stages()) == len(ran.stages())
    assert len(reopened.questions()) == len(ran.questions())
    for before, after in zip(ran.stages(), reopened.stages(), strict=True):
        expect(status(after)).to_have_text(status(before).inner_text())
        press(after, "First")
        expect(status(after)).to_contain_text("Step 1 of")


def test_nothing_leaves_the_machine(ran, reopened):
    assert ran.outside == reopened.outside == []

"""Every notebook of the course, and the gallery, as a learner meets it in JupyterLab."""

import os
from typing import NamedTuple

import pytest
from playwright.sync_api import expect

from tests.browser.lab_page import (
    GALLERY,
    NARROW,
    NOTEBOOKS,
    OUTPUTS,
    WIDE,
    press,
    status,
)

BROKEN = "Error displaying widget"
# ipywidgets' manager.ts: where the kernel is connected before its session is ready, what the kernel
# has is taken for all there is, and the state in the file is read too late for the views.
TOO_SOON = "Error displaying widget: model not found"
SCREENSHOTS = os.environ.get("COURSE_SCREENSHOTS")
PARTS = f"{OUTPUTS} table, {OUTPUTS} img"
LOST = """selector => [...document.querySelectorAll(selector)].filter(node =>
  node.tagName === 'IMG' && !node.naturalWidth
  || !node.closest('details:not([open])')
     && !(node.checkVisibility({visibilityProperty: true}) && node.getBoundingClientRect().height)
).map(node => node.outerHTML.slice(0, 200))"""


@pytest.fixture(scope="module", params=[*NOTEBOOKS, GALLERY])
def name(request):
    return request.param


class Read(NamedTuple):
    """What a notebook shows that is opened and not run, and each request that tried to leave."""

    broken: int
    widgets: int
    parts: int
    lost: list[str]
    outside: list[str]


@pytest.fixture(scope="module")
def untrusted(name, copied, tabs):
    """The notebook as stored, before anything is run or trusted."""
    return read(tabs, copied(name, "untrusted", change=without_widget_state), shots=True)


@pytest.fixture(scope="module")
def trusted(name, copied, tabs):
    """The notebook as stored and trusted, before anything is run."""
    return read(tabs, copied(name, "trusted", trusted=True))


def read(tabs, copy, shots=False) -> Read:
    with tabs.tab(run=False) as notebook:
        outputs = notebook.open(copy).page.locator(OUTPUTS)
        if SCREENSHOTS and shots:
            notebook.shoot(SCREENSHOTS, "untrusted")
        return Read(
            outputs.filter(has_text=BROKEN).count(),
            len(notebook.stages() + notebook.questions()),
            notebook.page.locator(PARTS).count(),
            notebook.page.evaluate(LOST, PARTS),
            notebook.outside,
        )


@pytest.fixture(scope="module")
def ran(name, copied, tabs, lab):
    """The notebook after Run All in a fresh kernel."""
    with tabs.tab(run=True) as notebook:
        notebook.open(copied(name, "ran", change=without_outputs)).run_all()
        yield notebook
        if SCREENSHOTS:
            shoot_all(notebook)
    lab.end_kernels()


@pytest.fixture(scope="module")
def violations(ran):
    """What axe finds in it, by theme."""
    return ran.violations_by_theme()


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


def shoot_all(notebook):
    for scheme in ("light", "dark"):
        notebook.theme(scheme)
        for label, size in (("wide", WIDE), ("narrow", NARROW)):
            notebook.page.set_viewport_size(size)
            notebook.shoot(SCREENSHOTS, f"{scheme}-{label}")


def test_untrusted_notebook_shows_html(untrusted):
    assert (untrusted.broken, untrusted.widgets, untrusted.lost) == (0, 0, [])
    assert untrusted.parts


def test_run_all_ends_without_error_outputs(ran):
    assert ran.errors() == []
    assert not ran.page.locator(OUTPUTS).filter(has_text=BROKEN).count()


def test_stages_answer_the_mouse(ran):
    for stage in ran.stages():
        total = int(stage.locator(".course-slider").get_attribute("aria-valuemax"))
        for button, step in (("Last", total), ("First", 1), ("Next", min(2, total)), ("Back", 1)):
            press(stage, button)
            expect(status(stage)).to_contain_text(f"Step {step} of {total}:")


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
        expect(sandbox.locator("table")).to_contain_text("first trace")
        sandbox.get_by_label("dtype").select_option("int32")
        sandbox.get_by_role("radio", name="hit").check()
        run.click()
        expect(status).to_contain_text("Not this time:")
        expect(sandbox.locator("table")).to_contain_text("dtype float32 → int32")


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


def test_what_ifs_run_a_program_in_the_kernel(ran):
    for what_if in ran.page.locator(".course-what-if").all():
        status, run = what_if.get_by_role("status"), what_if.get_by_role("button")
        run.press("Enter")
        expect(status).to_contain_text("Predict first")
        what_if.get_by_role("radio", name="11", exact=True).press("Space")
        run.press("Enter")
        expect(status).to_contain_text("Right:")
        expect(what_if.get_by_role("img", name="with a RefVariable")).to_be_visible()
        what_if.locator("select").first.select_option("ResourceVariable")
        what_if.get_by_role("radio", name="11", exact=True).check()
        run.click()
        expect(status).to_contain_text("Not this time: you said 11, and it is 10")


def wrong(question):
    return "Not this time" in status(question).inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(violations, scheme):
    assert violations[scheme] == []


def test_every_stage_has_a_name_of_its_own(ran):
    names = [stage.get_attribute("aria-label") for stage in ran.stages()]
    assert len(set(names)) == len(names)


def test_reopened_notebook_shows_widgets_where_they_were(ran, reopened):
    assert reopened.page.locator(OUTPUTS).filter(has_text=BROKEN).all_inner_texts() == []
    assert len(reopened.stages()) == len(ran.stages())
    assert len(reopened.questions()) == len(ran.questions())
    for before, after in zip(ran.stages(), reopened.stages(), strict=True):
        expect(status(after)).to_have_text(status(before).inner_text())
        press(after, "First")
        expect(status(after)).to_contain_text("Step 1 of")


def test_trusted_copy_that_was_not_run_shows_html_and_no_broken_widget(name, trusted):
    assert trusted.broken == 0, (
        f"{name} stores widget views without their state; run tests/strip_views.py on it"
    )
    assert trusted.parts


def test_nothing_leaves_the_machine(untrusted, trusted, ran, reopened):
    assert [one.outside for one in (untrusted, trusted, ran, reopened)] == [[]] * 4

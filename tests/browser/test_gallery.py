"""Each kind of exhibit in JupyterLab: what it does, and what it withstands."""

import re

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser import gallery
from tests.browser.lab_page import GALLERY, NARROW, OUTPUTS, WIDE, press, status


@pytest.fixture(scope="module")
def ran(open_copy):
    notebook = open_copy(GALLERY, "exhibits")
    notebook.run_all()
    return notebook


@pytest.fixture
def loop(ran):
    stage = ran.page.get_by_role("group", name=gallery.STAGE, exact=True)
    press(stage, "First")
    return stage


@pytest.fixture
def question(ran):
    return ran.questions()[0]


def top_and_left(locator):
    box = locator.bounding_box()
    return round(box["y"]), round(box["x"])


def test_hostile_strings_are_shown_and_do_nothing(ran, loop):
    press(loop, "Last")
    expect(status(loop)).to_contain_text(gallery.HOSTILE[0])
    assert "owned" not in ran.page.title()
    assert not ran.page.locator(f"{OUTPUTS} img[src='x'], {OUTPUTS} h1, {OUTPUTS} script").count()
    assert ran.page.locator(OUTPUTS).filter(has_text=gallery.HOSTILE[1]).count()


def test_stepping_moves_nothing_on_the_page(loop):
    panels = loop.locator(".stage-panel")
    places = set()
    for _ in range(5):
        places.add((*map(top_and_left, panels.all()), loop.bounding_box()["height"]))
        press(loop, "Next")
    assert len(places) == 1


def test_stage_marks_the_line_that_is_next(loop):
    line = loop.locator("[aria-current=step]")
    expect(line).to_contain_text("2▶")
    press(loop, "Last")
    expect(line).to_have_count(1)
    expect(line).to_contain_text("5▶")


def test_picture_of_all_steps_says_what_it_shows(loop):
    drawing = loop.locator(".course-picture svg")
    expect(drawing).to_have_attribute("aria-label", re.compile("^holders: .*then"))


def test_panels_stand_beside_the_source_or_below_it(ran, loop):
    source, panels = loop.locator(".stage-source"), loop.locator(".stage-panels")
    ran.page.set_viewport_size(WIDE)
    assert top_and_left(panels)[1] > top_and_left(source)[1]
    ran.page.set_viewport_size(NARROW)
    assert top_and_left(panels)[0] > top_and_left(source)[0]
    ran.page.set_viewport_size(WIDE)


def test_two_stages_with_one_title_have_two_names(ran):
    names = [stage.get_attribute("aria-label") for stage in ran.stages()]
    assert names[:2] == [gallery.STAGE, f"{gallery.STAGE} (2)"]


def test_three_thousand_steps_are_not_all_in_the_page(ran):
    stage = ran.page.get_by_role("group", name="Three thousand steps")
    press(stage, "Last")
    expect(status(stage)).to_have_text("Step 3000 of 3000: line 60")
    expect(stage.locator("[aria-current=step]")).to_be_in_viewport()
    assert stage.locator("*").count() < 1000


def test_timeline_without_steps_is_a_sentence(ran):
    empty = ran.page.get_by_role("group", name="A run that never began")
    expect(empty).to_contain_text("No steps were recorded")
    assert not empty.get_by_role("button").count()


def test_question_keeps_its_answer_back_until_it_is_checked(question):
    expect(question).not_to_contain_text("Both are numbers")
    press(question, "Check")
    expect(status(question)).to_have_text("Choose one first.")
    question.get_by_label("22", exact=True).check()
    press(question, "Check")
    said = "✗ Not this time: you chose 22; running it gave 4. Both are numbers, so + adds. "
    expect(status(question)).to_have_text(said + gallery.HOSTILE[1])
    expect(question.locator(".course-right")).to_have_text("4✓ right")
    expect(question.locator(".course-wrong")).to_have_text("22✗ your choice")


def test_question_can_be_tried_again(question):
    question.get_by_label("3", exact=True).check()
    press(question, "Check")
    press(question, "Try again")
    expect(status(question)).to_have_text("")
    expect(question.locator(".course-right, .course-wrong")).to_have_count(0)
    expect(question.get_by_role("radio").first).to_be_focused()
    assert not question.locator("input:checked").count()
    question.get_by_label("4", exact=True).check()
    press(question, "Check")
    expect(status(question)).to_contain_text("✓ Right: it ran and gave 4. Both are numbers")
    expect(question.locator(".course-right")).to_have_text("4✓ your choice, and right")


def test_everything_works_on_when_the_kernel_is_gone(ran, loop, question, lab):
    lab.end_kernels()
    press(loop, "Last")
    expect(status(loop)).to_contain_text("Step 5 of 5")
    question.get_by_label("3", exact=True).check()
    press(question, "Check")
    expect(status(question)).to_contain_text("Not this time")


# A check that cannot fail checks nothing: each has a sample here that it must report.


@pytest.fixture(scope="module")
def broken(open_copy):
    return open_copy(GALLERY, "broken", trusted=True, change=break_it)


def break_it(notebook):
    notebook.metadata.pop("widgets", None)
    notebook.cells.insert(0, nbformat.v4.new_code_cell("raise KeyError('a sample')"))


def test_sample_trusted_without_widget_state_shows_an_error(broken):
    assert broken.page.locator(OUTPUTS).filter(has_text="Error displaying widget").count()


def test_sample_error_output_is_reported(broken):
    assert broken.errors() == []
    broken.run_all()
    # a busy machine may send later cells after the kernel has dropped those that wait
    assert broken.errors()[0] == "KeyError: 'a sample'"


@pytest.mark.parametrize(
    ("request_", "address"),
    [
        ("fetch('https://example.invalid/a').catch(() => 0)", "https://example.invalid/a"),
        ("{ new Image().src = 'http://example.invalid/b'; }", "http://example.invalid/b"),
        ("{ new WebSocket('wss://example.invalid/c'); }", "wss://example.invalid/c"),
    ],
)
def test_sample_request_to_the_outside_is_reported(broken, request_, address):
    broken.page.evaluate(f"() => {request_}")
    for _ in range(50):
        if address in broken.outside:
            break
        broken.page.wait_for_timeout(100)
    assert address in broken.outside


PALE = '<img src="data:,"><p style="color:#777;background:#888">pale</p><button></button>'
FAULTS = {"image-alt", "color-contrast", "button-name"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_sample_of_what_axe_must_find_is_reported(broken, scheme):
    broken.theme(scheme)
    for _ in range(3):  # JupyterLab may draw an output anew and wipe the sample away
        broken.page.locator(OUTPUTS).last.evaluate(f"node => {{ node.innerHTML = `{PALE}` }}")
        found = {line.split(":")[0] for line in broken.violations()}
        if found >= FAULTS:
            break
    assert found >= FAULTS

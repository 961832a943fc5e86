"""Each kind of exhibit in JupyterLab: what it does, and what it withstands."""

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser import gallery
from tests.browser.lab_page import GALLERY, OUTPUTS, press, status

pytestmark = pytest.mark.long


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


def test_hostile_strings_are_shown_and_do_nothing(ran, loop):
    press(loop, "Last")
    expect(status(loop)).to_contain_text(gallery.HOSTILE[0])
    assert "owned" not in ran.page.title()
    assert not ran.page.locator(f"{OUTPUTS} img[src='x'], {OUTPUTS} h1, {OUTPUTS} script").count()
    assert ran.page.locator(OUTPUTS).filter(has_text=gallery.HOSTILE[1]).count()


def test_question_keeps_its_answer_back_until_it_is_checked(question):
    expect(question).not_to_contain_text("Both are numbers")
    press(question, "Check")
    expect(status(question)).to_have_text("Choose one first, or skip the question.")
    question.get_by_label("22", exact=True).check()
    press(question, "Check")
    said = "✗ Not this time: you chose 22; running it gave 4. Both are numbers, so + adds. "
    expect(status(question)).to_have_text(said + gallery.HOSTILE[1])
    expect(question.locator(".course-right")).to_have_text("4✓ right")
    expect(question.locator(".course-wrong")).to_have_text("22✗ your choice")


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

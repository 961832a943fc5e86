"""A learner's choice in JupyterLab: a line in the record, or a sentence on the page; no third."""

import shutil

import nbformat
import pytest
from playwright.sync_api import expect

from helpers.safety.learner_record import ELSEWHERE, NAME, read_record
from tests.browser.book_sample import SANDBOX
from tests.browser.lab_page import NotebookPage, press, status
from tests.browser.lab_server import ROOT, LabServer

pytestmark = pytest.mark.long

PATIENCE_MS = 60_000
NOTEBOOK = "asked.ipynb"
QUESTION = "What does `2 + 2` give?"
ASKS = f"""
from helpers import predict
predict({QUESTION!r}, ["3", "4"], run=lambda: 2 + 2)
"""


@pytest.fixture(scope="module")
def course(chromium, tmp_path_factory):
    """A JupyterLab that serves a copy of the course, in whose work/ a kernel records."""
    server = LabServer(tmp_path_factory.mktemp("recording") / "home")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "helpers", server.folder / "helpers", ignore=ignored)
    (server.folder / "course.py").touch()
    (server.folder / "work").mkdir()
    server.env["PYTHONPATH"] = str(server.folder)
    server.env.pop("COURSE_RECORD", None)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def asked(course, browser):
    """A notebook in work/ that has asked its question in a new kernel, with an empty record."""
    shutil.rmtree(course.folder / "work")
    (course.folder / "work").mkdir()
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": spec})
    for source in (ASKS, SANDBOX):
        notebook.cells.append(nbformat.v4.new_code_cell(source.strip()))
    nbformat.write(notebook, course.folder / "work" / NOTEBOOK)
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    shown = NotebookPage(page, course).open(f"work/{NOTEBOOK}")
    shown.run_all()
    yield shown
    course.end_kernels()
    page.close()


GONE = "Your choice is not recorded, because no kernel knows this question any more."
SESSION = "jupyterapp.shell.currentWidget.sessionContext"
UNKNOWN = "It is not known whether your choice was recorded, because no kernel knows"
LATE = "Your choice is not recorded yet: a busy kernel records it later"
WAITS = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.05)"


def answer(question, choice: str) -> None:
    """Choose and press Check, as a learner does."""
    question.get_by_label(choice, exact=True).check()
    press(question, "Check")
    expect(status(question)).to_contain_text("running it" if choice == "3" else "it ran")


def said(course) -> list[str]:
    """Return the choices that the record has."""
    return [event["said"] for event in read_record(course.folder / "work" / NAME).events]


def wait_for_record(asked, course, choices) -> None:
    """Wait until the record has these choices."""
    for _ in range(300):
        if said(course) == choices:
            return
        asked.page.wait_for_timeout(100)
    assert said(course) == choices


def execute(asked, code: str) -> None:
    """Run code in the kernel as a cell does; do not wait for its end."""
    asked.page.evaluate(f"code => {SESSION}.session.kernel.requestExecute({{code}}) && 0", code)


def restart(asked):
    asked.page.evaluate(f"{SESSION}.session.kernel.restart()")
    asked.wait_idle()


def restart_elsewhere(asked):
    """Restart it as another page or program would: this page learns of it by nothing."""
    kernel = asked.page.evaluate(f"{SESSION}.session.kernel.id")
    asked.server._ask(f"/api/kernels/{kernel}/restart", "POST")


def kill(asked):
    """Kill the process; the server starts another one."""
    execute(asked, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    asked.page.get_by_role("dialog", name="Kernel Restarting").get_by_role("button").click()


def shut_down(asked):
    asked.page.evaluate(f"{SESSION}.shutdown()")
    asked.page.wait_for_function(f"!{SESSION}.session")


ENDS = (restart, restart_elsewhere, kill, shut_down)


def test_a_choice_gives_a_line_and_no_words(asked, course):
    [question] = asked.questions()
    for n, choice in enumerate("343", 1):
        answer(question, choice)
        wait_for_record(asked, course, list("343"[:n]))
        expect(question).not_to_contain_text("not recorded")
        press(question, "Try again")


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_where_the_kernel_ended_the_page_says_so_and_the_next_run_records_it(asked, course, end):
    end(asked)
    [question] = asked.questions()
    answer(question, "3")
    expect(status(question)).to_contain_text(GONE, timeout=PATIENCE_MS)
    assert said(course) == []
    if end is shut_down:
        asked.page.evaluate(f"{SESSION}.startKernel()")
    asked.wait_idle()
    asked.run_all()
    [question] = asked.questions()
    wait_for_record(asked, course, ["3"])
    expect(status(question)).to_contain_text("you chose 3; running it gave 4")
    expect(question).not_to_contain_text("not recorded")


def test_a_busy_kernel_records_later_and_no_sentence_is_false(asked, course):
    [question] = asked.questions()
    execute(asked, WAITS)
    answer(question, "3")
    expect(status(question)).to_contain_text(LATE, timeout=PATIENCE_MS)
    assert said(course) == []
    (course.folder / "work" / "go").touch()
    wait_for_record(asked, course, ["3"])
    expect(question).not_to_contain_text("not recorded")


@pytest.mark.parametrize("late", [False, True], ids=["at once", "after a while"])
def test_a_busy_kernel_that_is_restarted_has_lost_it(asked, course, late):
    [question] = asked.questions()
    execute(asked, WAITS)
    answer(question, "3")
    if late:
        expect(status(question)).to_contain_text(LATE, timeout=PATIENCE_MS)
    restart(asked)
    expect(status(question)).to_contain_text(GONE, timeout=PATIENCE_MS)
    assert said(course) == []


def test_a_page_that_is_opened_without_its_kernel_says_it_and_a_run_records_it(asked, course):
    execute(asked, WAITS)
    answer(asked.questions()[0], "3")
    asked.save()
    course.end_kernels()
    asked.page.goto("about:blank")
    asked.open(asked.name)
    [question] = asked.questions()
    expect(status(question)).to_contain_text(UNKNOWN, timeout=PATIENCE_MS)
    press(question, "Try again")
    answer(question, "4")
    expect(status(question)).to_contain_text(GONE, timeout=PATIENCE_MS)
    assert said(course) == []
    asked.run_all()
    wait_for_record(asked, course, ["4"])
    expect(asked.questions()[0]).not_to_contain_text("not recorded")


def test_a_record_that_cannot_be_written_is_said(asked, course):
    (course.folder / "work" / NAME).mkdir()
    [question] = asked.questions()
    answer(question, "3")
    expect(status(question)).to_contain_text(f"work/{NAME} cannot be used")


def test_outside_of_work_that_is_said(asked, course):
    execute(asked, "import os; os.chdir('..')")
    [question] = asked.questions()
    answer(question, "3")
    expect(status(question)).to_contain_text(ELSEWHERE)
    assert said(course) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_the_sentence(asked, scheme):
    restart(asked)
    asked.theme(scheme)
    [question] = asked.questions()
    answer(question, "3")
    expect(status(question)).to_contain_text(GONE, timeout=PATIENCE_MS)
    assert asked.violations() == []


@pytest.mark.parametrize("does", ["runs", "picks"])
def test_a_sandbox_says_that_no_kernel_knows_it(asked, does):
    sandbox = asked.page.locator(".course-sandbox")
    restart(asked)
    if does == "runs":
        sandbox.get_by_label("positive").check()
        press(sandbox, "Run the call")
    else:
        sandbox.get_by_label("sign").select_option("-")
    expect(sandbox.get_by_role("status")).to_contain_text("No kernel knows this exhibit any more")
    asked.run_all()
    sandbox.get_by_label("positive").check()
    press(sandbox, "Run the call")
    expect(sandbox.get_by_role("status")).to_contain_text("Right:")

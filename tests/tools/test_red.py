"""A red run of `course.py test` ends in plain words, and its report says the same."""

import os
import sys

import nbformat
import pytest
from nbformat import v4

from helpers.safety.missing_parts import CURE
from tests.own_process import BARE
from tests.pythons import ROOT, finished
from tools.reports import red
from tools.reports.plugin import NO_SKIPS
from tools.reports.records import FAILED, PASSED, Record, plain, read

BROKEN = """
import pytest

def test_what_is_held_is_told():
    assert {"a": 1} == {"a": 2}, "the row of a"

@pytest.fixture
def broken():
    raise RuntimeError("no set-up")

def test_with_a_fixture(broken):
    pass

@pytest.mark.skip(reason="needs a lamp")
def test_skipped():
    pass

def test_passes():
    pass
"""


# An exhibit whose HTML differs from the stored one in its first tag.
SHOWN = """# an exhibit
class Shown:
    def _repr_mimebundle_(self, **options):
        return {"text/html": "<i>one</i> <b>two new</b>", "text/plain": "one\\ntwo new"}
Shown()"""
STORED = {"text/html": "<b>one</b> <b>two old</b>", "text/plain": "one\ntwo old"}


def code(source, *printed):
    outputs = [v4.new_output("stream", text=text) for text in printed]
    return v4.new_code_cell(source, outputs=outputs, execution_count=1)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The end of what a red run printed, and its report; of a folder with the house's plugin."""
    folder = tmp_path_factory.mktemp("red")
    (folder / "notebooks").mkdir()
    (folder / "tests").mkdir()
    (folder / "tests/test_broken.py").write_text(BROKEN, encoding="utf-8")
    cells = [
        v4.new_markdown_cell("# A title\n\n## 1 · Prints"),
        code("print('as ever')", "as ever\n"),
        code("print('a new one')", "the old one\n"),
        v4.new_markdown_cell("## 2 · Raises\n\nHere is `it`:"),
        code("# first\nnobody_knows", "5\n"),
        code("import sys\nprint('cannot write here', file=sys.stderr)"),
        v4.new_code_cell(SHOWN, outputs=[v4.new_output("display_data", STORED)], execution_count=1),
    ]
    nbformat.write(v4.new_notebook(cells=cells), folder / "notebooks/01_book.ipynb")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    words = "-m pytest -p tools.reports.plugin --nbval --nbval-current-env --color=yes"
    command = [sys.executable, *words.split(), "-p", "no:cacheprovider", "--junitxml=report.xml"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    env = {name: value for name, value in env.items() if not name.startswith(("PYTEST_", NO_SKIPS))}
    done = finished(command, cwd=folder, env=env)
    assert done.returncode == 1, done.stdout + done.stderr
    return folder, plain(done.stdout), read(folder / "report.xml")


SKIPPING = """
import pytest

@pytest.mark.parametrize("n", [1, 2])
def test_skipped(n):
    pytest.skip("needs a lamp")

@pytest.mark.skip(reason="comes by the network")
def test_far_away(): ...

def test_passes(): ...
"""
NEEDY = "import pytest; pytest.importorskip('no_such_package')"
NOT_HERE = "has a test that was skipped, which is not allowed here"
LAMP = f"- test_skipping.py {NOT_HERE} (Skipped: needs a lamp)"
FAR = f"- test_skipping.py {NOT_HERE} (Skipped: comes by the network)"


@pytest.mark.parametrize(
    ("setting", "code", "told"),
    [("", 0, set()), ("offline", 1, {LAMP}), ("all", 1, {LAMP, FAR})],
)
def test_a_run_in_which_no_test_may_be_skipped_fails(tmp_path, setting, code, told):
    (tmp_path / "test_skipping.py").write_text(SKIPPING, "utf-8")
    (tmp_path / "test_needy.py").write_text(NEEDY, "utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "tools.reports.plugin", *BARE]
    command += ["-p", "xdist.plugin", "-n", "1"] if setting == "all" else []
    env = {**os.environ, "PYTHONPATH": str(ROOT), NO_SKIPS: setting}
    done = finished(command, cwd=tmp_path, env=env)
    said = {line for line in done.stdout.splitlines() if line.startswith("- test_skipping")}
    assert (done.returncode, said) == (code, told), done.stdout
    assert (f"- test_needy.py {NOT_HERE}" in done.stdout) == bool(code)


BOOK = "notebooks/01_book.ipynb"
TOLD = [
    f"{BOOK}::Cell 1, \"1 · Prints\" (print('a new one')) shows another output than the stored "
    'one: "the old one" is stored, "a new one" came',
    f"{BOOK}::Cell 2, \"2 · Raises\" (# first) raised NameError: name 'nobody_knows' is not "
    "defined",
    f'{BOOK}::Cell 3, "2 · Raises" (import sys) shows stderr, and none is stored: '
    '"cannot write here"',
    f'{BOOK}::Cell 4, "2 · Raises" (# an exhibit) shows another output than the stored one: '
    '"two old" is stored, "two new" came',
    "tests/test_broken.py: `what is held is told` failed: AssertionError: the row of a",
    "tests/test_broken.py: `with a fixture` could not start or end: RuntimeError: no set-up",
    f"One file again: python3 course.py test {BOOK}",
]


@pytest.mark.long
def test_a_red_run_ends_with_plain_words_and_its_report_says_the_same(run):
    end = run[1].partition("what failed, in plain words")[2].splitlines()
    assert [line[2:] for line in end if line.startswith("- ")] == TOLD
    assert sorted(red.sentences(run[2].records, run[0])) == sorted(TOLD)
    assert run[2].where["python"] == f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert run[2].where["notebooks"] == "compared" and run[2].where["system"]


def test_a_run_that_wrote_no_report_is_told(tmp_path, capsys):
    assert red.main([str(tmp_path / "none.xml")]) == 0
    assert "pytest did not come to its end" in capsys.readouterr().out


LATE = "Cell 0: Timeout of 8 seconds exceeded"
HTML = "Cell outputs differ\n mismatch 'text/html'\n  - {}\n  + {}"
NEW = "Cell outputs differ\nUnexpected output fields from running code: {'text/plain'}"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (LATE, "did not end in 8 seconds"),
        (f"{LATE}. Failed to interrupt kernel", "in 8 seconds and its kernel does not answer"),
        ("Cell 0: something new", "): Cell 0: something new"),
        (NEW, "shows text/plain, and none is stored"),
        (HTML.format('p;">now</td>', 'p;">once</td>'), '"once" is stored, "now" came'),
        (
            HTML.format("<b>it</b>", "<i>it</i>"),
            "it reads the same, and its HTML or a picture differs",
        ),
        (HTML.format("iVBO" * 40, "<i>it</i>"), '"it" is stored, nothing more came'),
    ],
)
def test_a_cell_that_ends_otherwise_is_told(words, told):
    [said, _] = red.sentences([Record("notebooks/no.ipynb", "Cell 0", FAILED, words)])
    assert said.endswith(told)


def test_a_cell_has_the_name_by_which_pytest_runs_it(run):
    summary = [line for line in run[1].splitlines() if line.startswith(("FAILED", "ERROR"))]
    names = {line.split(" - ")[0].partition(" ")[2] for line in summary if "::Cell" in line}
    assert names == {told.partition(",")[0] for told in TOLD if "::Cell" in told}


@pytest.mark.parametrize(("python", "lines"), [("3.11", 2), ("3.13", 3)])
def test_on_another_python_the_way_to_run_without_comparing_is_told(python, lines):
    cell = Record("notebooks/no.ipynb", "Cell 0", FAILED, NEW)
    said = list(red.sentences([cell], where={"python": python}))
    assert len(said) == lines
    assert said[0].startswith("The stored outputs are those of Python 3.11") == (lines == 3)
    assert lines == 2 or said[0].endswith(
        "this is Python 3.13: `--nbval-lax` runs the cells without comparing"
    )
    raised = Record("notebooks/no.ipynb", "Cell 0", FAILED, "Cell 0: something new")
    assert len(list(red.sentences([raised], where={"python": python}))) == 2


def test_there_is_one_python_whose_outputs_are_stored():
    from helpers.course.tests import REFERENCE

    assert ".".join(map(str, REFERENCE)) == red.REFERENCE


def test_a_file_that_cannot_be_read_is_told(tmp_path):
    error = "<error>E   ImportError: no x</error>"
    case = f'<testcase classname="" name="tests.test_x">{error}</testcase>'
    (tmp_path / "report.xml").write_text(f"<testsuites><testsuite>{case}</testsuite></testsuites>")
    [said, _] = red.sentences(read(tmp_path / "report.xml").records)
    assert said == "tests/test_x.py cannot be read as tests: ImportError: no x"


def test_cases_of_one_test_are_told_by_one_of_them_and_many_in_part():
    cases = [Record("tests/test_x.py", f"test_y[{n}]", FAILED, f"E   {n}") for n in range(9)]
    told = [*cases, Record("tests/test_x.py", "test_z", FAILED, "E   z")]
    assert list(red.sentences(told))[:2] == [
        "tests/test_x.py: `y [0]` and 8 more of its cases failed: 0",
        "tests/test_x.py: `z` failed: z",
    ]
    many = [Record("tests/test_x.py", f"test_{n}", FAILED, f"E   {n}") for n in range(99)]
    assert f"and {99 - red.MOST} more" in list(red.sentences(many))
    assert list(red.sentences([Record("tests/test_x.py", "test_y", PASSED)])) == []


def test_tests_that_one_name_breaks_are_told_together_without_the_learners_cure():
    assert f": {CURE}".startswith(red.FOR_LEARNERS)
    lost = f"E   MissingPart: torch lacks x: {CURE}"
    behind = f"E   Failed: it raised:\n{lost}"
    words = [lost] * (red.NAMED + 2) + [behind]
    broken = [Record("tests/test_x.py", f"test_{n}", FAILED, w) for n, w in enumerate(words)]
    assert list(red.sentences(broken))[:-1] == [
        "tests/test_x.py: `0`, `1`, `2`, `3`, `4`, and 2 more failed: MissingPart: torch lacks x",
        "tests/test_x.py: `7` failed: Failed: it raised: MissingPart: torch lacks x",
    ]

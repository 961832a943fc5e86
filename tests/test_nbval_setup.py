"""The settings that make a notebook a test, tried on small notebooks in a copy of the set-up."""

import ctypes
import os
import re
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from nbformat import v4

from tests import needs, own_folders
from tests.measured import TAG
from tests.pythons import ROOT, finished
from tools.reports.records import NOT_COMPARED

REPO = Path(__file__).parents[1]


def cell(source, stdout="", stderr="", result=None, tags=()):
    """Return an executed cell with these outputs stored."""
    streams = [("stdout", stdout), ("stderr", stderr)]
    outputs = [v4.new_output("stream", name=name, text=text) for name, text in streams if text]
    if result:
        data = {"text/plain": result}
        outputs.append(v4.new_output("execute_result", data=data, execution_count=1))
    metadata = {"tags": list(tags)} if tags else {}
    return v4.new_code_cell(source, outputs=outputs, execution_count=1, metadata=metadata)


# A thread of the kernel reads the descriptors; on a busy machine it may come after the cell's end.
PAUSE = "time.sleep(1)"
VARIABLES = ("TF_CPP_MIN_LOG_LEVEL", "TF_ENABLE_ONEDNN_OPTS", "PYTHONHASHSEED")
NOTEBOOKS = {
    # what C code and child processes print, which Python's sys.stderr never sees
    "descriptors": [
        cell(f"import os, time\n_ = os.write(2, b'from C\\n')\n{PAUSE}", stderr="from C\n"),
        cell(f"_ = os.system('echo from a child')\n{PAUSE}", stdout="from a child\n"),
    ],
    "descriptors_changed": [
        cell(f"import os, time\n_ = os.write(2, b'from C\\n')\n{PAUSE}", stderr="of old\n")
    ],
    "descriptors_gone": [cell("pass", stderr="from C\n")],
    "variables": [
        cell(f"import os\nprint(*[os.environ[name] for name in {VARIABLES}])", stdout="3 0 0\n")
    ],
    # each cell needs the one before: they must run on one worker
    "in_order": [cell("n = 0")] + [cell("n += 1\nn", result=str(n)) for n in range(1, 7)],
    "address": [
        cell("object()", result="<object at 0x7f0123456789>"),
        cell("(lambda: 0).__code__.co_filename", result="'/elsewhere/ipykernel_1/2345.py'"),
    ],
    "number_changed": [cell("6 * 7", result="41")],
    "raises": [cell("1 / 0")],
}
# Cells whose numbers are measured: stored here, and what the cell shows today.
SHOWN = """class Shown:
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/plain": "about 3 calls", "text/html": "<p>about 3 calls</p>"}


Shown()"""


def shown(text, page):
    data = {"text/plain": text, "text/html": page}
    output = v4.new_output("execute_result", data=data, execution_count=1)
    metadata = {"tags": [TAG]}
    return v4.new_code_cell(SHOWN, outputs=[output], execution_count=1, metadata=metadata)


MEASURED = {
    "other_numbers": [
        shown("about 14 calls", "<p>about 0.5 calls</p>"),
        shown("too noisy to compare calls", "<p>too noisy to compare calls</p>"),
    ],
    "other_words": [shown("about 3 runs", "<p>about 3 calls</p>")],
    "other_words_in_the_page": [shown("about 3 calls", "<p>about 3 runs</p>")],
    "other_tags": [shown("about 3 calls", "<b>about 3 calls</b>")],
    "no_page": [cell(SHOWN, result="about 3 calls", tags=[TAG])],
    "nothing_stored": [cell(SHOWN, tags=[TAG])],
}
# What a kernel does that has folders to write in; matplotlib warns on stderr where it has none.
WRITES = """import os, tempfile
import matplotlib
from tests.own_folders import FOLDERS, is_usable
matplotlib.get_configdir(), matplotlib.get_cachedir()
print(all(is_usable(os.environ.get(name) or "~") for name in FOLDERS))
print(is_usable("."), os.path.expanduser("~") == os.environ["HOME"])"""
AT_HOME = {
    "answer": [
        cell("6 * 7", result="42"),
        cell("import os; os.path.basename(os.getcwd())", result="'notebooks'"),
    ],
    "writes": [cell(WRITES, stdout="True\nFalse True\n")],
}
LACKING = {
    "lacking": [
        cell("6 * 7", result="41", tags=["needs-c-compiler"]),
        cell("6 * 7", result="41", tags=["after-deciding", "needs-cxx-compiler"]),
        cell("6 * 7", result="40", tags=["needs-cxx-compiler"]),
        cell("6 * 7", result="42"),
    ]
}


def make_project(root, notebooks):
    """Write the set-up and these notebooks into a folder, and a test that is none; return it."""
    (root / "tests").mkdir(parents=True)
    (root / "notebooks").mkdir()
    for name in ("pyproject.toml", "conftest.py", "tests/nbval_sanitize.cfg"):
        shutil.copyfile(REPO / name, root / name)
    (root / "tests" / "test_plain.py").write_text("def test_plain(): ...\n")
    for name, cells in notebooks.items():
        nbformat.write(v4.new_notebook(cells=cells), root / "notebooks" / f"{name}.ipynb")
    return root


# A browser and an event loop take as long to import as a small notebook to run.
ALONE = ["-p", "no:cacheprovider", "--disable-plugin-autoload", "-p", "nbval.plugin"]
ALONE += ["-p", "xdist.plugin"]
ASTRAY = ("PYTEST_", "TF_", "COV_", "FORCE_COLOR", "PY_COLORS", "COURSE_NO_SKIPS")


def run(folder, *words, preexec=None, **changed):
    """Run a plain pytest in a folder, with these variables changed; return the ended process."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(ASTRAY)}
    environ |= {"PYTHONPATH": str(ROOT), **changed}
    command = [sys.executable, "-m", "pytest", "-rA", *ALONE, *words]
    return finished(command, cwd=folder, env=environ, preexec_fn=preexec)


def outcomes(done):
    """Return the passed and the failed notebooks or tests of an ended pytest."""
    found = re.findall(r"^(PASSED|FAILED|ERROR) (?:.*/)?(\w+)\.", done.stdout, re.MULTILINE)
    failed = {name for outcome, name in found if outcome != "PASSED"}
    assert found, done.stdout + done.stderr
    return {name for _, name in found} - failed, failed


STABLE = {"descriptors", "variables", "in_order", "address"}
CHANGED = {"descriptors_changed", "descriptors_gone", "number_changed", "raises"}


@pytest.mark.long
def test_stored_outputs_are_compared_and_cells_of_a_notebook_stay_together(tmp_path):
    done = run(make_project(tmp_path / "project", NOTEBOOKS), "-n", "2")
    assert outcomes(done) == (STABLE | {"test_plain"}, CHANGED)
    assert "ZeroDivisionError" in done.stdout
    assert "\x1b" not in done.stdout  # no terminal, no colours


# -- where nobody has been


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course in a folder whose name has spaces and umlauts."""
    return make_project(tmp_path_factory.mktemp("somewhere") / "Kurs für alle", AT_HOME)


TYPED = {  # where somebody stands, and what they type behind `pytest --nbval`
    "at the root": (".", []),
    "at the root, the notebooks": (".", ["notebooks"]),
    "in the notebooks": ("notebooks", []),
    "elsewhere": ("..", ["Kurs für alle"]),
    "elsewhere, one notebook": ("/", ["{course}/notebooks/answer.ipynb"]),
}


EVERY_DAY = ("in the notebooks", "elsewhere")


@pytest.mark.parametrize(
    "typed",
    [pytest.param(name, marks=[] if name in EVERY_DAY else pytest.mark.long) for name in TYPED],
)
def test_nbval_works_wherever_it_is_typed(course, typed):
    place, words = TYPED[typed]
    words = [word.format(course=course) for word in words]
    passed, failed = outcomes(run(course / place, "--nbval", "-k", "answer or plain", *words))
    whole = typed in ("at the root", "elsewhere")
    assert (passed, failed) == ({"answer"} | ({"test_plain"} if whole else set()), set())


def give_up_roots_rights():
    """Let the rights of files count for root, too: PR_CAPBSET_DROP of CAP_DAC_OVERRIDE."""
    if os.getuid() == 0:
        ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)


@pytest.mark.skipif(os.name != "posix", reason="read-only folders of POSIX")
def test_a_reader_without_a_home_folder_gets_the_stored_outputs(course, tmp_path):
    folders = [course, *(path for path in course.rglob("*") if path.is_dir())]
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    (tmp_path / "a file").touch()
    home = str(tmp_path / "a file" / "home")
    gone = {"HOME": home, "MPLCONFIGDIR": f"{home}/m", "TMPDIR": str(temporary)}
    for folder in folders:
        folder.chmod(0o555)
    try:
        words = "--nbval", "notebooks", "-p", "cacheprovider"
        done = run(course, *words, preexec=give_up_roots_rights, **gone)
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert outcomes(done) == ({"answer", "writes"}, set()), done.stdout
    assert "PytestCacheWarning" not in done.stdout
    assert not list(temporary.glob("course-*"))


def test_a_users_own_folders_are_left_alone(tmp_path, monkeypatch):
    for name in own_folders.FOLDERS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert list(own_folders.unusable()) == []
    (tmp_path / ".ipython").touch()  # a file where a folder should be
    (tmp_path / ".config").symlink_to(tmp_path / "nowhere")
    monkeypatch.setenv("KERAS_HOME", "relative")
    assert list(own_folders.unusable()) == ["MPLCONFIGDIR", "IPYTHONDIR", "KERAS_HOME"]


# -- what differs between runs


def test_of_measured_cells_the_words_and_the_tags_are_compared(tmp_path):
    """False 25: nbval saw no difference in a cell with the tag nbval-ignore-output."""
    done = run(make_project(tmp_path / "project", MEASURED), "--nbval", "notebooks")
    assert outcomes(done) == ({"other_numbers"}, MEASURED.keys() - {"other_numbers"}), done.stdout


# -- what differs between machines


def test_without_a_compiler_such_cells_only_run_and_the_end_says_so(tmp_path):
    root = make_project(tmp_path / "project", LACKING)
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = run(root, "--nbval", "notebooks", "-n", "1", PATH="/nowhere", CC="", CXX="", **home)
    assert outcomes(done) == ({"lacking"}, set()), done.stdout
    end = done.stdout.partition("what was not compared")[2].splitlines()
    book, run_only = "notebooks/lacking.ipynb", "were run, their outputs were not compared"
    assert [line for line in end if line.startswith("- ")] == [
        f"- 1 cell of {book} needs a C compiler, and none works here: "
        "it was run, its output was not compared",
        f"- 2 cells of {book} need a C++ compiler, and none works here: they {run_only}",
    ]


@pytest.mark.parametrize("works", [True, False])
@pytest.mark.parametrize("compared", [True, False])
def test_a_cell_is_compared_where_what_it_needs_works(works, compared, monkeypatch):
    monkeypatch.setitem(needs.NEEDS, "needs-a-lamp", needs.Need("a lamp", lambda: works))
    tagged, plain = ({"tags": ["x", "needs-a-lamp"]}, {})
    items = [
        SimpleNamespace(
            cell=v4.new_code_cell(metadata=metadata),
            options={"check": compared},
            user_properties=[],
        )
        for metadata in (tagged, plain)
    ]
    needs.pytest_collection_modifyitems([*items, SimpleNamespace(name="a test")])
    assert [item.options["check"] for item in items] == [compared and works, compared]
    written = [(NOT_COMPARED, "needs-a-lamp")] if compared and not works else []
    assert [item.user_properties for item in items] == [written, []]


@pytest.mark.parametrize("compiler", ["false", "/nowhere/compiler"])
def test_a_compiler_that_does_not_compile_does_not_count(compiler, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("CC", "CXX"):
        monkeypatch.setenv(name, compiler)
    assert not needs.c_compiler_works() and not needs.cxx_compiler_works()


NEEDY = """
import pytest

@pytest.mark.needs("c-compiler")
def test_needs_c(): assert False

@pytest.mark.needs("cxx-compiler", "c-compiler")
def test_needs_both(): assert False

def test_needs_nothing(): ...
"""


def test_a_test_is_skipped_where_what_it_needs_does_not_work(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_needy.py").write_text(NEEDY)
    changed = {"PATH": "/nowhere", "CC": "", "CXX": "", "XDG_CACHE_HOME": str(tmp_path)}
    done = run(tmp_path, "-p", "tests.needs", "--strict-markers", **changed)
    assert done.returncode == 0, done.stdout
    for words in ("a C compiler", "a C++ compiler"):
        assert f"needs {words}, and none works here" in done.stdout

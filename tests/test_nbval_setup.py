"""The settings that make a notebook a test, tried on small notebooks in a copy of the set-up."""

import os
import re
import shutil
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from tests.pythons import finished

pytestmark = pytest.mark.long

REPO = Path(__file__).parents[1]


def cell(source, stdout="", stderr="", result=None):
    """Return an executed cell with these outputs stored."""
    streams = [("stdout", stdout), ("stderr", stderr)]
    outputs = [v4.new_output("stream", name=name, text=text) for name, text in streams if text]
    if result:
        data = {"text/plain": result}
        outputs.append(v4.new_output("execute_result", data=data, execution_count=1))
    return v4.new_code_cell(source, outputs=outputs, execution_count=1)


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
}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """The set-up and the notebooks, and a test that is none."""
    root = tmp_path_factory.mktemp("project")
    (root / "tests").mkdir()
    (root / "notebooks").mkdir()
    for name in ("pyproject.toml", "conftest.py", "tests/nbval_sanitize.cfg"):
        shutil.copyfile(REPO / name, root / name)
    (root / "tests" / "test_plain.py").write_text("def test_plain(): ...\n")
    for name, cells in NOTEBOOKS.items():
        nbformat.write(v4.new_notebook(cells=cells), root / "notebooks" / f"{name}.ipynb")
    return root


# A browser and an event loop take as long to import as a small notebook to run.
ALONE = ["-p", "no:cacheprovider", "--disable-plugin-autoload", "-p", "nbval.plugin"]
ALONE += ["-p", "xdist.plugin"]


def outcomes(folder, *words):
    """Run a plain pytest in a folder; return the passed and the failed notebooks or tests."""
    astray = ("PYTEST_", "TF_", "COV_")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(astray)}
    command = [sys.executable, "-m", "pytest", "-rA", *ALONE, *words]
    done = finished(command, cwd=folder, env=environ)
    found = re.findall(r"^(PASSED|FAILED|ERROR) (?:\S*/)?(\w+)\.", done.stdout, re.MULTILINE)
    failed = {name for outcome, name in found if outcome != "PASSED"}
    assert found, done.stdout + done.stderr
    return {name for _, name in found} - failed, failed


STABLE = {"descriptors", "variables", "in_order", "address"}
CHANGED = {"descriptors_changed", "descriptors_gone", "number_changed"}


def test_stored_outputs_are_compared_and_cells_of_a_notebook_stay_together(project):
    assert outcomes(project, "-n", "2") == (STABLE | {"test_plain"}, CHANGED)

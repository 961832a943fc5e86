"""A notebook that runs for a page may be stopped, or its kernel may end, without a traceback."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

REPO = Path(__file__).parents[2]
RUN = """
import sys
sys.path.insert(0, {repo!r})
from pathlib import Path
from helpers.course import terminal
from helpers.course.book import runs
sys.exit(terminal.run_guarded(lambda words: runs.run(Path(words[0])), [{path!r}]))
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("number", "moment"),
    [(signal.SIGINT, "begun"), (signal.SIGTERM, "begun"), (signal.SIGINT, "early")],
)
def test_a_run_is_stopped_in_one_sentence_and_leaves_no_kernel(tmp_path, number, moment):
    begun = tmp_path / "begun"
    endless = f"import os, time\nopen({str(begun)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)"
    path = tmp_path / "endless.ipynb"
    nbformat.write(v4.new_notebook(cells=[v4.new_code_cell(endless, id="one")]), path)
    code = RUN.format(repo=str(REPO), path=str(path))
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as process:
        assert process.stdout.readline() == "Running endless\n"
        while moment == "begun" and not (begun.exists() and begun.read_text()):
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(number)
        said, failed = process.communicate(timeout=120)
    assert (process.returncode, failed) == (130, ""), failed
    assert "Stopped." in said
    if begun.exists():
        with pytest.raises(ProcessLookupError):
            os.kill(int(begun.read_text()), 0)


DIES_AT_ITS_START = """
import sys
sys.path.insert(0, {repo!r})
import nbformat
from nbclient import NotebookClient
from helpers.course.book import runs
client = NotebookClient(nbformat.v4.new_notebook(), kernel_name="python3")
try:
    runs.execute(client, {{"PYTHONHOME": "nowhere"}})
except RuntimeError as error:
    print(error)
"""


def test_a_kernel_that_dies_while_it_starts_leaves_nothing_for_the_exit():
    code = DIES_AT_ITS_START.format(repo=str(REPO))
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert "Kernel died" in run.stdout
    assert "Traceback" not in run.stderr

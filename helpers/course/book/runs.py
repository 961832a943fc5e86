"""A notebook -> the same, run: its outputs, the state of its widgets, and what pages play of it."""

import atexit
import json
import os
import signal
import subprocess
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from helpers.course import checkout, terminal
from helpers.course.terminal import CommandRefused, say
from helpers.model.study_records import find_exercise_cells

SECONDS = 600  # that a cell may take
KEY = "book"  # of the notebook's metadata, with `recorded` and `hints`
# What the kernel is asked at last: exhibits that can say what each of their choices comes to, and
# the hints of each check. A name of the notebook's own may hide one of the course's: none is used.
ASKED = """
def _told():
    import json
    from helpers import check
    shown = [*globals().values(), *globals().get("Out", {{}}).values()]
    kinds = {{id(one): one for one in shown if hasattr(type(one), "recorded")}}
    recorded = [{{"title": one.model.title, **one.recorded()}} for one in kinds.values()]
    return json.dumps([recorded, {{name: getattr(check, name).hints for name in {names!r}}}])
__import__("builtins").print(_told())
"""


def run(path: Path) -> nbformat.NotebookNode:
    """Return the notebook with fresh outputs; raise CommandRefused if one of its cells raises.

    Its metadata has under `KEY` what its exhibits recorded, and the hints of its exercises.
    """
    say(f"Running {path.stem}")
    notebook = nbformat.read(path, as_version=4)
    checks = [exercise.name for exercise in find_exercise_cells(notebook.cells)]
    last = nbformat.v4.new_code_cell(ASKED.format(names=checks))
    notebook.cells.append(last)
    resources = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(notebook, timeout=SECONDS, kernel_name="python3", resources=resources)
    env = {**checkout.start_environment(), "PYTHONPATH": str(checkout.ROOT), "COURSE_RECORD": "off"}
    try:
        execute(client, env)
    except CellExecutionError as error:
        reason = f"a cell raises {error.ename}: {error.evalue}"
        raise CommandRefused(f"{path.name} cannot be run to its end, {reason}") from error
    notebook.cells.remove(last)
    printed = [output.text for output in last.outputs if output.output_type == "stream"]
    recorded, hints = json.loads(printed[-1])  # `_told` prints last
    notebook.metadata[KEY] = {"recorded": recorded, "hints": hints}
    return notebook


def execute(client: NotebookClient, env: dict[str, str]) -> None:
    """Run the cells in a thread, where nbclient leaves signals alone; Ctrl-C ends the kernel."""
    with terminal.stopping_signals(), ThreadPoolExecutor(1) as pool:
        # nbclient reports a kernel that dies; nobody needs its other messages.
        running = pool.submit(client.execute, env=env, stderr=subprocess.DEVNULL)
        try:
            running.result()
        except KeyboardInterrupt:
            end_kernel(client, running)
            raise
        finally:
            # If a kernel ends while it starts, nbclient has cleaned up already, and tries it again
            # when Python ends, with nothing left to clean: a traceback.
            atexit.unregister(client._cleanup_kernel)


def end_kernel(client: NotebookClient, running: Future) -> None:
    """Kill the kernel as soon as there is one, and wait until `running`, the run, has ended."""
    while not wait([running], timeout=0.2).done:
        number = getattr(getattr(client.km, "provisioner", None), "pid", None)
        if number:
            with suppress(ProcessLookupError):
                os.kill(number, getattr(signal, "SIGKILL", signal.SIGTERM))

"""A notebook file -> the notebook after a run: with outputs, widget states, and what a page needs.
A page of the book has no kernel. So the kernel of the run reports at its end what it would answer
to the widgets, and the hints of each exercise.
"""

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

CELL_SECONDS = 600  # that a cell may take
# The key of the notebook's metadata that has `recorded`, the answers of exhibits, and `hints`.
KEY = "book"
# The source of the last cell. It prints [recorded, hints]: for each exhibit that has `recorded()`,
# its title and what each of its choices leads to, and for each check in `{names}` its hints. It
# uses none of the notebook's names, because a name in a cell may hide one of the course's.
REPORT_SOURCE = """
def _report():
    import json
    from helpers import check
    values = [*globals().values(), *globals().get("Out", {{}}).values()]
    exhibits = {{id(value): value for value in values if hasattr(type(value), "recorded")}}
    recorded = [{{"title": each.model.title, **each.recorded()}} for each in exhibits.values()]
    hints = {{name: getattr(check, name).hints for name in {names!r}}}
    return json.dumps([recorded, hints])
__import__("builtins").print(_report())
"""


def run(path: Path) -> nbformat.NotebookNode:
    """Return the notebook with fresh outputs; raise CommandRefused if one of its cells raises.

    Its metadata has under `KEY` a dict: `recorded`, what its exhibits would answer in a page, and
    `hints`, name of an exercise -> its hints.
    """
    say(f"Running {path.stem}")
    notebook = nbformat.read(path, as_version=4)
    check_names = [exercise.name for exercise in find_exercise_cells(notebook.cells)]
    report_cell = nbformat.v4.new_code_cell(REPORT_SOURCE.format(names=check_names))
    notebook.cells.append(report_cell)
    resources = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(
        notebook, timeout=CELL_SECONDS, kernel_name="python3", resources=resources
    )
    env = {**checkout.start_environment(), "PYTHONPATH": str(checkout.ROOT), "COURSE_RECORD": "off"}
    try:
        execute(client, env)
    except CellExecutionError as error:
        reason = f"a cell raises {error.ename}: {error.evalue}"
        raise CommandRefused(f"{path.name} cannot be run to its end, {reason}") from error
    notebook.cells.remove(report_cell)
    printed = [output.text for output in report_cell.outputs if output.output_type == "stream"]
    recorded, hints = json.loads(printed[-1])  # the report is printed last
    notebook.metadata[KEY] = {"recorded": recorded, "hints": hints}
    return notebook


def execute(client: NotebookClient, env: dict[str, str]) -> None:
    """Run the cells of a notebook; Ctrl-C ends the kernel and raises KeyboardInterrupt.

    nbclient runs in a thread, because in the main thread it would install signal handlers. `env`
    are the environment variables of the kernel.
    """
    with terminal.stopping_signals(), ThreadPoolExecutor(1) as pool:
        # nbclient reports a kernel that dies; nobody needs its other messages.
        running = pool.submit(client.execute, env=env, stderr=subprocess.DEVNULL)
        try:
            running.result()
        except KeyboardInterrupt:
            end_kernel(client, running)
            raise
        finally:
            # If a kernel ends while it starts, nbclient has cleaned up already. It would try again
            # when Python ends, find nothing to clean, and print a traceback.
            atexit.unregister(client._cleanup_kernel)


def end_kernel(client: NotebookClient, running: Future) -> None:
    """Kill the kernel as soon as its process exists, and wait until the run has ended.

    `running` is the run in its thread, which ends by itself once its kernel is gone.
    """
    while not wait([running], timeout=0.2).done:
        process_id = getattr(getattr(client.km, "provisioner", None), "pid", None)
        if process_id:
            with suppress(ProcessLookupError):  # the kernel has ended meanwhile
                # Windows has no SIGKILL.
                os.kill(process_id, getattr(signal, "SIGKILL", signal.SIGTERM))

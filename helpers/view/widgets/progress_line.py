"""A kernel -> the same, in whose page a line says so while a cell takes more than two seconds.

The line is a widget's model without a view, so a cell has no output of it.
"""

import sys
from contextlib import suppress
from threading import Lock
from uuid import uuid4

from ...safety import progress
from . import read_script, read_widget_file

FIRST_WAIT_SECONDS = 2.0  # that a cell takes in silence
STEP_SECONDS = 0.5  # between two looks at what is done
MANY_MODULES = 30  # so many new modules are an import of something large


class Waiting:
    """One cell at a time, from `start` to `end`; `opened`: makes a channel to a page."""

    def __init__(self, loop, opened, after: float = FIRST_WAIT_SECONDS):
        self._loop = loop
        self._open_channel = opened
        self._wait_seconds = after
        self._lock = Lock()
        self._cell_number = 0
        self._channel = None
        self._text = ""
        self._module_count = 0

    def start(self, info=None) -> None:
        """Wait for the cell that begins now; a line that was left is taken away."""
        self.end()
        with self._lock:
            cell_number = self._cell_number
            self._module_count = len(sys.modules)
        wait = self._loop.call_later
        self._loop.add_callback(wait, self._wait_seconds, self._look, cell_number)

    def end(self, result=None) -> None:
        """Remove the line; its task is over."""
        with self._lock:
            self._cell_number += 1
            channel = self._channel
            self._channel = None
            if channel is not None:
                channel.close()
        progress.say("")

    def _look(self, cell_number: int) -> None:
        """Show what the cell does now, and look again after a while; nothing once it has ended."""
        with self._lock:
            if cell_number != self._cell_number:
                return
            text = self._describe_cell()
            with suppress(Exception):  # a page that cannot be reached is no reason to stop
                self._show(text)
        self._loop.call_later(STEP_SECONDS, self._look, cell_number)

    def _describe_cell(self) -> str:
        action = progress.said()
        new_count = len(sys.modules) - self._module_count
        if not action and new_count > MANY_MODULES:
            action = f"importing, {new_count:,} modules so far"
        return f"Still running: {action}" if action else "Still running"

    def _show(self, text: str) -> None:
        if self._channel is None:
            self._channel = self._open_channel({"words": text, "since": self._wait_seconds})
        elif text != self._text:
            update = {"method": "update", "state": {"words": text}, "buffer_paths": []}
            self._channel.send(update)
        self._text = text


def switch_on() -> None:
    """Show the line in the page of this process's kernel, from this cell on, if it is one."""
    shell = sys.modules["IPython"].get_ipython()
    kernel = getattr(shell, "kernel", None)
    thread = getattr(kernel, "iopub_thread", None)
    if thread is not None:
        waiting = Waiting(thread.io_loop, _open_channel)
        shell.events.register("pre_run_cell", waiting.start)
        shell.events.register("post_run_cell", waiting.end)
        waiting.start()


def _open_channel(state: dict):
    """Return a channel to a new model in the page, as ipywidgets opens one; nothing is imported."""
    from comm import create_comm

    name = uuid4().hex  # the page checks by it whether the line is still there
    whole_state = {
        "_model_module": "anywidget",
        "_model_module_version": "*",
        "_model_name": "AnyModel",
        "_view_module": "anywidget",
        "_view_module_version": "*",
        "_view_name": "AnyView",
        "_anywidget_id": __name__,
        "own": name,
        "_esm": read_script("progress_line"),
        "_css": read_widget_file("progress_line.css"),
        **state,
    }
    return create_comm(
        target_name="jupyter.widget",
        comm_id=name,
        data={"state": whole_state, "buffer_paths": []},
        metadata={"version": "2.1.0"},
    )

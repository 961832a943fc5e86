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
    """The line of the cell that runs, which appears in the page if the cell takes long.

    IPython calls `start` before each cell and `end` after it, in the main thread. The line is
    updated in the thread of the kernel's event loop, which runs while the cell keeps the other
    thread busy.
    """

    def __init__(self, loop, opened, after: float = FIRST_WAIT_SECONDS):
        """Set up the line, which no cell has yet.

        Parameters
        ----------
        loop : tornado.ioloop.IOLoop
            The event loop of the thread that sends messages to the page.
        opened : callable
            Returns a channel to a new line in the page, from the state that it shows.
        after : float
            How many seconds a cell runs before it gets a line.
        """
        self._loop = loop
        self._open_channel = opened
        self._wait_seconds = after
        self._lock = Lock()
        self._cell_number = 0  # another one at each start and each end
        self._channel = None  # to the line in the page; None while there is no line
        self._text = ""  # what the line says now
        self._module_count = 0  # of modules that were imported when the cell began

    def start(self, info=None) -> None:
        """Begin to wait for the cell that runs now; remove a line that is left of another cell."""
        self.end()
        with self._lock:
            cell_number = self._cell_number
            self._module_count = len(sys.modules)
        # Only `add_callback` may be called in another thread than the loop's own.
        call_later = self._loop.call_later
        self._loop.add_callback(call_later, self._wait_seconds, self._update_line, cell_number)

    def end(self, result=None) -> None:
        """Remove the line, because the cell has ended."""
        with self._lock:
            self._cell_number += 1  # an update that is still to come is for an older number
            channel = self._channel
            self._channel = None
            if channel is not None:
                channel.close()
        progress.say("")

    def _update_line(self, cell_number: int) -> None:
        """Show what the cell of this number does now, and again after a while until it ends."""
        with self._lock:
            if cell_number != self._cell_number:  # the cell has ended
                return
            text = self._describe_cell()
            with suppress(Exception):  # a page that cannot be reached is no reason to stop
                self._show(text)
        self._loop.call_later(STEP_SECONDS, self._update_line, cell_number)

    def _describe_cell(self) -> str:
        """Return what the line says: what a verb told `progress`, or that much is imported."""
        action = progress.said()
        new_count = len(sys.modules) - self._module_count
        if not action and new_count > MANY_MODULES:
            action = f"importing, {new_count:,} modules so far"
        return f"Still running: {action}" if action else "Still running"

    def _show(self, text: str) -> None:
        """Open the line with this text, or change the text of the line that is open."""
        if self._channel is None:
            self._channel = self._open_channel({"words": text, "since": self._wait_seconds})
        elif text != self._text:
            update = {"method": "update", "state": {"words": text}, "buffer_paths": []}
            self._channel.send(update)
        self._text = text


def switch_on() -> None:
    """Show the line from this cell on, if this process is a kernel; otherwise do nothing."""
    shell = sys.modules["IPython"].get_ipython()
    kernel = getattr(shell, "kernel", None)
    thread = getattr(kernel, "iopub_thread", None)
    if thread is not None:
        waiting = Waiting(thread.io_loop, _open_channel)
        shell.events.register("pre_run_cell", waiting.start)
        shell.events.register("post_run_cell", waiting.end)
        waiting.start()


def _open_channel(state: dict):
    """Return a channel to a new widget's model in the page, with a state that has its text.

    The message is what ipywidgets would send. ipywidgets itself is not imported, because that would
    take as long as what the line is about.
    """
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

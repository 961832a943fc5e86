"""A kernel -> a line in its page that says what a cell does, if it takes more than two seconds.
The line belongs to a widget without a view, so no cell has an output of it.
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
    """The line that says what the running cell does; it appears if the cell takes long.

    IPython calls `start` before each cell and `end` after it, in the main thread. The line is
    updated in the thread of the kernel's event loop, which runs while the cell keeps the other
    thread busy.
    """

    def __init__(self, loop, open_channel, wait_seconds: float = FIRST_WAIT_SECONDS):
        """Set up the line, which no cell has yet.

        Parameters
        ----------
        loop : tornado.ioloop.IOLoop
            The event loop of the thread that sends messages to the page.
        open_channel : callable
            Takes the state of a new line, opens the line in the page, and returns a channel to it.
        wait_seconds : float
            How many seconds a cell runs before it gets a line.
        """
        self._loop = loop
        self._open_channel = open_channel
        self._wait_seconds = wait_seconds
        self._lock = Lock()
        self._cell_number = 0  # it changes at each start and each end of a cell
        self._channel = None  # to the line in the page; None while there is no line
        self._text = ""  # what the line says now
        self._module_count = 0  # of modules that were imported when the cell began

    def start(self, info=None) -> None:
        """Begin to wait for the cell that runs now; remove the line of an earlier cell."""
        self.end()
        with self._lock:
            cell_number = self._cell_number
            self._module_count = len(sys.modules)
        # Of all methods of the loop, only `add_callback` may be called in another thread.
        call_later = self._loop.call_later
        self._loop.add_callback(call_later, self._wait_seconds, self._update_line, cell_number)

    def end(self, result=None) -> None:
        """Remove the line, because the cell has ended."""
        with self._lock:
            self._cell_number += 1  # so that an update which is still to come does nothing
            channel = self._channel
            self._channel = None
            if channel is not None:
                channel.close()
        progress.set_activity("")  # forget what a verb has reported in this cell

    def _update_line(self, cell_number: int) -> None:
        """Show what the cell of this number does now, and call this again until the cell ends."""
        with self._lock:
            if cell_number != self._cell_number:  # the cell has ended
                return
            text = self._describe_cell()
            with suppress(Exception):  # a page that cannot be reached is no reason to stop
                self._show(text)
        self._loop.call_later(STEP_SECONDS, self._update_line, cell_number)

    def _describe_cell(self) -> str:
        """Return what the line says, such as "Still running: compiling".

        A verb is a function of this package, such as `watch_compile`. It may report what it does.
        Without a report, many new modules in `sys.modules` show that the cell is importing.
        """
        action = progress.read_activity()  # "" if no verb reported anything
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


def show_progress_of_cells() -> None:
    """Show the line for this cell and all later ones; do nothing if this process is no kernel."""
    shell = sys.modules["IPython"].get_ipython()
    kernel = getattr(shell, "kernel", None)
    thread = getattr(kernel, "iopub_thread", None)
    if thread is not None:
        waiting = Waiting(thread.io_loop, _open_channel)
        shell.events.register("pre_run_cell", waiting.start)
        shell.events.register("post_run_cell", waiting.end)
        waiting.start()


def _open_channel(state: dict):
    """Open a new line in the page, and return a channel to it; `state` has the text of the line.

    The message is the one by which ipywidgets would create a widget. ipywidgets itself is not
    imported, because its import would take as long as the work that the line reports.
    """
    from comm import create_comm

    name = uuid4().hex  # with this name, the page asks whether the kernel still has the line
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

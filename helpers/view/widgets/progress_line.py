"""A kernel -> the same, in whose page a line says so while a cell takes more than two seconds.

The line is a widget's model without a view, so a cell has no output of it.
"""

import sys
from contextlib import suppress
from threading import Lock
from uuid import uuid4

from ...safety import progress
from . import read, read_script

AFTER, STEP = 2.0, 0.5  # seconds that a cell takes in silence; between two looks at what is done
MANY = 30  # so many new modules are an import of something large


class Waiting:
    """One cell at a time, from `start` to `end`; `opened`: makes a channel to a page."""

    def __init__(self, loop, opened, after: float = AFTER):
        self._loop, self._opened, self._after = loop, opened, after
        self._lock, self._cell, self._line = Lock(), 0, None
        self._words, self._modules = "", 0

    def start(self, info=None) -> None:
        """Wait for the cell that begins now; a line that was left is taken away."""
        self.end()
        with self._lock:
            cell, self._modules = self._cell, len(sys.modules)
        self._loop.add_callback(self._loop.call_later, self._after, self._look, cell)

    def end(self, result=None) -> None:
        """Remove the line; its task is over."""
        with self._lock:
            self._cell += 1
            line, self._line = self._line, None
            if line is not None:
                line.close()
        progress.say("")

    def _look(self, cell: int) -> None:
        with self._lock:
            if cell != self._cell:
                return
            new = len(sys.modules) - self._modules
            what = progress.said() or (f"importing, {new:,} modules so far" if new > MANY else "")
            words = f"Still running: {what}" if what else "Still running"
            with suppress(Exception):  # a page that cannot be reached is no reason to stop
                if self._line is None:
                    self._line = self._opened({"words": words, "since": self._after})
                elif words != self._words:
                    state = {"method": "update", "state": {"words": words}, "buffer_paths": []}
                    self._line.send(state)
                self._words = words
        self._loop.call_later(STEP, self._look, cell)


def switch_on() -> None:
    """Show the line in the page of this process's kernel, from this cell on, if it is one."""
    shell = sys.modules["IPython"].get_ipython()
    thread = getattr(getattr(shell, "kernel", None), "iopub_thread", None)
    if thread is not None:
        waiting = Waiting(thread.io_loop, _open_channel)
        shell.events.register("pre_run_cell", waiting.start)
        shell.events.register("post_run_cell", waiting.end)
        waiting.start()


def _open_channel(state: dict):
    """Return a channel to a new model in the page, as ipywidgets opens one; nothing is imported."""
    from comm import create_comm

    module = {"_model_module": "anywidget", "_model_module_version": "*", "_model_name": "AnyModel"}
    view = {"_view_module": "anywidget", "_view_module_version": "*", "_view_name": "AnyView"}
    script = {"_esm": read_script("progress_line"), "_css": read("progress_line.css")}
    name = uuid4().hex  # the page checks by it whether the line is still there
    own = {"_anywidget_id": __name__, "own": name, **script}
    return create_comm(
        target_name="jupyter.widget",
        comm_id=name,
        data={"state": {**module, **view, **own, **state}, "buffer_paths": []},
        metadata={"version": "2.1.0"},
    )

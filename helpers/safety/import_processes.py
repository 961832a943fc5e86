"""Import distributions in child processes, and collect why some of them cannot be imported.
A package that ends Python when it is imported ends only a child. Another child then imports the
remaining distributions.
"""

import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

CHILD = Path(__file__).resolve().with_name("import_child.py")
AT_ONCE = 2  # how many children run at the same time
POLL_SECONDS = 0.2  # longest wait for a report, after which hanging children are looked for
GRACE_SECONDS = 5  # how long a child that has closed its output may take to end by itself
# Two frameworks are never imported in one process. All other distributions share one process.
# distribution -> group of distributions that share a process
FRAMEWORK_OF = {
    "keras": "tensorflow",
    "tensorflow": "tensorflow",
    "tensorflow-cpu": "tensorflow",
    "torch": "torch",
}
GROUPS = ("tensorflow", "torch", "others")


class ImportFailure(NamedTuple):
    """What is wrong with an import."""

    #: The fault as a clause, such as "does not import: ImportError: …".
    fault: str
    #: The modules whose code ran when the import failed, and the module that was not found.
    modules: Iterable[str]

    def is_in(self, entry: dict) -> bool:
        """Return whether a module of a certain distribution may be the cause of this failure.

        `entry` is what `package_files.py` found out about the distribution. `entry["modules"]` has
        the names of its modules, such as "numpy".
        """
        for name in self.modules:
            # With a dot at the end, so that `numpy.linalg` is in `numpy`, and `numpy_x` is not.
            if any(f"{name}.".startswith(f"{top}.") for top in entry["modules"]):
                return True
        return False


class _Child:
    """A process that runs `import_child.py`: it imports distributions, one after the other.

    It writes one report, a line of JSON, before each import and one after it.
    """

    def __init__(self, python, variables, events: queue.Queue, parts: dict[str, list[str]]):
        """Start the process.

        Parameters
        ----------
        python
            The path of the Python to run.
        variables
            Its environment.
        events
            Gets a pair (this object, line) for each line that the process writes, and a pair
            (this object, None) when its output ends.
        parts
            Distribution -> modules to import.
        """
        self.parts = parts  # distribution -> modules; those that have been tried are removed
        self.current = ""  # the distribution whose import has begun and not ended; "" for none
        self.since = time.monotonic()  # when the process wrote its last line
        self.process = subprocess.Popen(
            [os.fspath(python), str(CHILD), json.dumps(parts)],
            stdin=subprocess.PIPE,  # the child ends when this pipe is closed
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=variables,
        )
        threading.Thread(target=self._read_lines, args=(events,), daemon=True).start()

    def _read_lines(self, events: queue.Queue) -> None:
        """Put each line of the process into `events`, then None. Runs in a thread."""
        for line in self.process.stdout:
            if line.endswith(b"\n"):  # half a line is from a child that ended while it wrote
                events.put((self, line))
        events.put((self, None))

    def end(self, grace: float = 0) -> int:
        """Wait at most `grace` seconds for the process to end, then kill it; return its exit code.

        The exit code of a process that a signal has ended is the negative number of that signal.
        """
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(grace)
        self.process.kill()  # does nothing if the process has ended
        self.process.stdin.close()
        return self.process.wait()


class ImportTrial:
    """Imports distributions in child processes, at most `AT_ONCE` at the same time.

    If a package ends its child, or hangs, a new child imports the rest of that child's list.
    """

    def __init__(self, python, variables, timeout: float, done: Callable[[str], None]):
        """Prepare imports by the Python at the path `python`, in the environment `variables`.

        `timeout` is how many seconds the import of one distribution may take. `done` is called with
        the name of a distribution when its import has ended, well or not.
        """
        self.python = python
        self.variables = variables
        self.timeout = timeout
        self.done = done
        self.events: queue.Queue = queue.Queue()  # (child, line) and (child, None)
        # Work that no child has begun with. Each dict is distribution -> modules, for one child.
        self.waiting: list[dict[str, list[str]]] = []
        self.running: list[_Child] = []
        self.failures: dict[str, ImportFailure] = {}  # by distribution

    def run(self, modules: dict[str, list[str]]) -> dict[str, ImportFailure]:
        """Import distributions; return distribution -> failure, for those that cannot be imported.

        `modules` is distribution -> the modules to import.
        """
        for group in GROUPS:
            names = [name for name in modules if FRAMEWORK_OF.get(name, "others") == group]
            if names:
                self.waiting.append({name: modules[name] for name in names})
        try:
            while self.waiting or self.running:
                self._start_children()
                self._handle_event()
                self._end_hanging()
        finally:
            for child in self.running:
                child.end()
        return self.failures

    def _start_children(self) -> None:
        """Start a child for each waiting dict, as long as there are fewer than `AT_ONCE`."""
        while self.waiting and len(self.running) < AT_ONCE:
            parts = self.waiting.pop(0)
            self.running.append(_Child(self.python, self.variables, self.events, parts))

    def _handle_event(self) -> None:
        """Wait a moment for the next event, and handle it: a report of a child, or its end."""
        try:
            child, line = self.events.get(timeout=POLL_SECONDS)
        except queue.Empty:
            return
        if child not in self.running:  # `_end_hanging` has ended this child
            return
        if line is None:  # the output of the child has ended
            self._remove(child)
        else:
            self._handle_report(child, json.loads(line))

    def _end_hanging(self) -> None:
        """End each child whose import has taken longer than the timeout."""
        for child in list(self.running):
            if time.monotonic() - child.since > self.timeout:
                self._remove(child, f"did not import within {self.timeout:,} s")

    def _handle_report(self, child: _Child, report: dict) -> None:
        """Store what a child has reported about the distribution `report["name"]`.

        A report without the key "fault" says that the import begins. With it, the report says that
        the import has ended; the fault is "" if nothing is wrong.
        """
        child.since = time.monotonic()
        child.current = report["name"]
        if "fault" in report:
            self._finish(child, report["fault"], report["modules"])

    def _finish(self, child: _Child, fault: str, modules: Iterable[str] = ()) -> None:
        """Store the result for the distribution that a child imports, and take it off the list.

        `fault` is "" if the import succeeded. `modules` are those to which the fault may be due.
        """
        # A child that ended before its first report is blamed on its first distribution. Otherwise
        # new children would try the same list for ever.
        name = child.current or next(iter(child.parts))
        del child.parts[name]
        child.current = ""
        if fault:
            self.failures[name] = ImportFailure(fault, modules)
        self.done(name)

    def _remove(self, child: _Child, fault: str = "") -> None:
        """End a child, and put the rest of its list back for another child.

        `fault` is why this process ends the child, such as a timeout; "" if the child has ended by
        itself.
        """
        self.running.remove(child)
        code = child.end(grace=0 if fault else GRACE_SECONDS)
        if child.parts:  # its list is not finished, so the current distribution is to blame
            self._finish(child, fault or _describe_end(code))
        if child.parts:  # asked again, because `_finish` has removed one
            self.waiting.insert(0, child.parts)


def _describe_end(code: int) -> str:
    """Return a clause on a package whose import ended its process with this exit code."""
    if code >= 0:
        return f"ends Python when it is imported (exit code {code})"
    names = {int(number): number.name for number in signal.Signals}
    name = names.get(-code, f"signal {-code}")
    return f"ends Python when it is imported ({name})"

"""Distributions -> why they do not import: in children, so that none can end this process.

A child that a package has ended is started again for the rest.
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
AT_ONCE = 2  # children that import
POLL_SECONDS = 0.2  # that one wait for a child's line takes, before hanging ones are looked for
GRACE_SECONDS = 5  # in which a child whose output has ended should end by itself
# Never two frameworks in one process; all other distributions share one.
FRAMEWORK_OF = {
    "keras": "tensorflow",
    "tensorflow": "tensorflow",
    "tensorflow-cpu": "tensorflow",
    "torch": "torch",
}
GROUPS = ("tensorflow", "torch", "others")


class ImportFailure(NamedTuple):
    """What is wrong with an import."""

    #: The fault in words.
    fault: str
    #: The modules through which it went, or that it missed.
    modules: Iterable[str]

    def is_in(self, entry: dict) -> bool:
        """Return whether the import went through, or missed, a module of a distribution.

        `entry` is what `package_files.py` says of it, whose "modules" are names such as "numpy".
        """
        for name in self.modules:
            # With a dot at the end, so that `numpy_x` is no part of `numpy`.
            if any(f"{name}.".startswith(f"{top}.") for top in entry["modules"]):
                return True
        return False


class _Child:
    """A process that runs `import_child.py`: it imports distributions, one after the other.

    It writes a line of JSON before and after each one.
    """

    def __init__(self, python, variables, events: queue.Queue, parts: dict[str, list[str]]):
        """Start the process.

        `python` is the path of the Python to run, `variables` its environment, and `parts`
        distribution -> modules to import. Into `events` go pairs of this object and a line, at last
        one of this object and None.
        """
        self.parts = parts  # those that have not been tried yet
        self.current = ""  # the distribution that it has begun with
        self.since = time.monotonic()  # when it wrote its last line
        self.process = subprocess.Popen(
            [os.fspath(python), str(CHILD), json.dumps(parts)],
            stdin=subprocess.PIPE,  # its end tells the child that its starter is gone
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=variables,
        )
        threading.Thread(target=self._pass_on, args=(events,), daemon=True).start()

    def _pass_on(self, events: queue.Queue) -> None:
        """Put each line of the process into `events`, then None. Runs in a thread."""
        for line in self.process.stdout:
            if line.endswith(b"\n"):  # else the child ended while it wrote
                events.put((self, line))
        events.put((self, None))

    def end(self, grace: float = 0) -> int:
        """Kill the process unless it ends within `grace` seconds; return its exit code.

        The code of a killed process is the number of the signal, below 0.
        """
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(grace)
        self.process.kill()  # does nothing if the process has ended
        self.process.stdin.close()
        return self.process.wait()


class ImportTrial:
    """Imports distributions in children, and restarts a child after a package that ended it."""

    def __init__(self, python, variables, timeout: float, done: Callable[[str], None]):
        """Prepare imports with the Python at a path, and the environment `variables`.

        `timeout` is in seconds for one distribution, and `done` is called with the name of each.
        """
        self.python = python
        self.variables = variables
        self.timeout = timeout
        self.done = done
        self.events: queue.Queue = queue.Queue()
        # What no child has begun with: each dict, distribution -> modules, is for one child.
        self.waiting: list[dict[str, list[str]]] = []
        self.running: list[_Child] = []
        self.failures: dict[str, ImportFailure] = {}

    def run(self, modules: dict[str, list[str]]) -> dict[str, ImportFailure]:
        """Import distributions; return distribution -> why it does not import, of those that fail.

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
        """Wait a moment for a line or the end of a child, and note it."""
        try:
            child, line = self.events.get(timeout=POLL_SECONDS)
        except queue.Empty:
            return
        if child not in self.running:  # it was hanging, and has been ended
            return
        if line is None:
            self._remove(child)
        else:
            self._note(child, json.loads(line))

    def _end_hanging(self) -> None:
        """End each child whose import has taken longer than the timeout."""
        for child in list(self.running):
            if time.monotonic() - child.since > self.timeout:
                self._remove(child, f"did not import within {self.timeout:,} s")

    def _note(self, child: _Child, report: dict) -> None:
        """Note what a child has written: that an import begins, or with "fault" that it ended.

        The fault is "" if nothing is wrong.
        """
        child.since = time.monotonic()
        child.current = report["name"]
        if "fault" in report:
            self._finish(child, report["fault"], report["modules"])

    def _finish(self, child: _Child, fault: str, modules: Iterable[str] = ()) -> None:
        """Note that the distribution that a child has begun with was tried; `fault` may be ""."""
        name = child.current or next(iter(child.parts))  # it ended before its first line
        del child.parts[name]
        child.current = ""
        if fault:
            self.failures[name] = ImportFailure(fault, modules)
        self.done(name)

    def _remove(self, child: _Child, fault: str = "") -> None:
        """End a child; let another one go on with what it has not tried.

        `fault` says what is wrong with its current distribution, "" if the child has ended itself.
        """
        self.running.remove(child)
        code = child.end(grace=0 if fault else GRACE_SECONDS)
        if child.parts:  # it did not come to its end, so its current distribution is to blame
            self._finish(child, fault or _describe_end(code))
        if child.parts:  # `_finish` has removed that one
            self.waiting.insert(0, child.parts)


def _describe_end(code: int) -> str:
    """Return what to say of a package whose import ended its process with this code."""
    if code >= 0:
        return f"ends Python when it is imported (exit code {code})"
    names = {int(number): number.name for number in signal.Signals}
    name = names.get(-code, f"signal {-code}")
    return f"ends Python when it is imported ({name})"

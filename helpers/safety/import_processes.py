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
POLL_SECONDS = 0.2
GRACE_SECONDS = 5  # for a child that has said its last line
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
        """Tell whether it went through a module of this distribution."""
        for name in self.modules:
            if any(f"{name}.".startswith(f"{top}.") for top in entry["modules"]):
                return True
        return False


class _Child:
    """A process that imports distributions, one after the other, and says which."""

    def __init__(self, python, variables, events: queue.Queue, parts: dict[str, list[str]]):
        self.parts = parts
        self.current = ""
        self.since = time.monotonic()
        self.process = subprocess.Popen(
            [os.fspath(python), str(CHILD), json.dumps(parts)],
            stdin=subprocess.PIPE,  # its end tells the child that its starter is gone
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=variables,
        )
        threading.Thread(target=self._pass_on, args=(events,), daemon=True).start()

    def _pass_on(self, events: queue.Queue) -> None:
        for line in self.process.stdout:
            if line.endswith(b"\n"):  # else the child ended while it wrote
                events.put((self, line))
        events.put((self, None))

    def end(self, grace: float = 0) -> int:
        """Kill it, if it does not end by itself; return its exit code."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(grace)
        self.process.kill()
        self.process.stdin.close()
        return self.process.wait()


class ImportTrial:
    """Imports distributions in children, and restarts a child after a package that ended it."""

    def __init__(self, python, variables, timeout: float, done: Callable[[str], None]):
        self.python = python
        self.variables = variables
        self.timeout = timeout
        self.done = done
        self.events: queue.Queue = queue.Queue()
        self.waiting: list[dict[str, list[str]]] = []
        self.running: list[_Child] = []
        self.failures: dict[str, ImportFailure] = {}

    def run(self, modules: dict[str, list[str]]) -> dict[str, ImportFailure]:
        """Return distribution -> why it does not import, of those that do not."""
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
        while self.waiting and len(self.running) < AT_ONCE:
            parts = self.waiting.pop(0)
            self.running.append(_Child(self.python, self.variables, self.events, parts))

    def _handle_event(self) -> None:
        try:
            child, line = self.events.get(timeout=POLL_SECONDS)
        except queue.Empty:
            return
        if child not in self.running:
            return
        if line is None:
            self._remove(child)
        else:
            self._note(child, json.loads(line))

    def _end_hanging(self) -> None:
        for child in list(self.running):
            if time.monotonic() - child.since > self.timeout:
                self._remove(child, f"did not import within {self.timeout:,} s")

    def _note(self, child: _Child, report: dict) -> None:
        """Note a line of a child: it begins with a distribution, or has ended it."""
        child.since = time.monotonic()
        child.current = report["name"]
        if "fault" in report:
            self._finish(child, report["fault"], report["modules"])

    def _finish(self, child: _Child, fault: str, modules: Iterable[str] = ()) -> None:
        """Note the end of the distribution that a child has begun with."""
        name = child.current or next(iter(child.parts))
        del child.parts[name]
        child.current = ""
        if fault:
            self.failures[name] = ImportFailure(fault, modules)
        self.done(name)

    def _remove(self, child: _Child, fault: str = "") -> None:
        """End a child; let another one go on with what it has not tried."""
        self.running.remove(child)
        code = child.end(grace=0 if fault else GRACE_SECONDS)
        if child.parts:
            self._finish(child, fault or _describe_end(code))
        if child.parts:
            self.waiting.insert(0, child.parts)


def _describe_end(code: int) -> str:
    """Return what to say of a package whose import ended its process with this code."""
    if code >= 0:
        return f"ends Python when it is imported (exit code {code})"
    names = {int(number): number.name for number in signal.Signals}
    name = names.get(-code, f"signal {-code}")
    return f"ends Python when it is imported ({name})"

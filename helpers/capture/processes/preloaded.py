"""Source -> what came of it in a child that was forked from a process with TensorFlow in it.

That process is started once for what it imports, and ends with the kernel. Every child has channels
of its own, so an answer that comes late, or never, is nobody else's.
"""

import json
import os
import secrets
import socket
import subprocess
import sys
import threading
from pathlib import Path

from helpers.capture.processes.interpreter import ROOT, Reply, folder_of, lost_home, told_in
from helpers.safety import missing_parts
from helpers.safety.interrupts import uninterrupted
from helpers.safety.processes import GRACE, TOKEN, Ended, channels, follow, sweep

DRIVER = Path(__file__).with_name("fork_server.py")
CAN_FORK = sys.platform == "linux"
READY = "{imports}\n__import__('helpers.mini.eager')\n"
_LOCK = threading.Lock()
_PARENTS: dict[str, "Parent"] = {}  # by what they import


def ask(imports: str, source: str, seconds: float) -> Reply:
    """Run source in a forked child. RuntimeError, in a sentence, where nothing can be forked."""
    reply = _ask(imports, source, seconds)
    if not reply.ended.started:  # the parent was killed before: nothing has run yet
        reply = _ask(imports, source, seconds)
    if not reply.ended.started:
        needed = "the process that forks children ended before it could fork one"
        raise RuntimeError(f"{needed}{lost_home()}")
    return reply


def _ask(imports: str, source: str, seconds: float) -> Reply:
    with uninterrupted() as hold, folder_of({}) as home, channels() as pipes:
        parent = _parent(imports)
        request = {"source": source, "seconds": seconds, "home": home.passport}
        if not parent.send(request, pipes.theirs):
            _end(parent)
            return Reply(Ended(lost=True, started=False), ())
        pipes.hand_over()
        try:
            ended = follow(pipes, seconds, hold, parent.alive)
            parent.forks = parent.forks or ended.started
        except RuntimeError as error:
            _end(parent)
            if words := missing_parts.of_line(str(error)):
                raise missing_parts.MissingPart(words) from None
            raise RuntimeError(f"no child can be forked: {error}") from None
        finally:
            left = not parent.forks or pipes.see_out()  # one that imports still takes its time
        if ended.lost or not left:
            _end(parent)  # with all that its children have left
        return Reply(ended, told_in(home))


def _parent(imports: str) -> "Parent":
    with _LOCK:
        parent = _PARENTS.get(imports)
        if parent is None or not parent.serves():
            parent = _PARENTS[imports] = Parent(imports)
        return parent


def _end(parent: "Parent") -> None:
    with _LOCK:
        for imports in [name for name, one in _PARENTS.items() if one is parent]:
            del _PARENTS[imports]
    parent.end()


class Parent:
    """The process that has imported TensorFlow and forks."""

    def __init__(self, imports: str):
        self._owner, self.forks = os.getpid(), False
        self._token, self._sending = secrets.token_hex(16), threading.Lock()
        self._door, theirs = socket.socketpair()
        words = [str(theirs.fileno()), READY.format(imports=imports)]
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", str(DRIVER), *words],
                cwd=ROOT,
                env={**os.environ, TOKEN: self._token},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # an interrupted kernel leaves it alone
            )

    def serves(self) -> bool:
        """Return whether it lives, and is this process's own, not its parent's."""
        return self._owner == os.getpid() and self.alive()

    def alive(self) -> bool:
        """Return whether it may still fork."""
        return self.process.poll() is None

    def send(self, request: dict, handles: list[int]) -> bool:
        """Hand over a request with a child's channels; return whether it took them."""
        data = json.dumps(request).encode() + b"\n"
        try:
            with self._sending:
                sent = socket.send_fds(self._door, [data], handles)
                self._door.sendall(data[sent:])
        except OSError:
            return False
        return True

    def end(self) -> None:
        """End it, and whatever its children have left."""
        self._door.close()
        if self._owner == os.getpid():
            try:
                self.process.wait(GRACE if self.process.poll() is None else 0)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            sweep(self._token)

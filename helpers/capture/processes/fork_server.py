"""Run as a script: requests on a socket -> one forked child each, watched by a keeper of its own.

The script imports what its argument names, once. Each child is then a copy of an interpreter right
after that import: as good as a fresh one, and there at once. A request comes with the child's own
channels, so no answer can be mistaken for another's. It ends when the socket closes, so it cannot
outlive the kernel that started it.
"""

import atexit
import contextlib
import json
import os
import signal
import socket
import sys
import threading

ROOT = os.path.abspath(__file__).rpartition(os.path.join("", "helpers", "capture", ""))[0]


def serve(door: socket.socket, ready: str) -> None:
    """Import, then fork for every request until the socket closes."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # keepers that have ended are gone at once
    space, failed = {"__name__": "__main__"}, ""
    try:
        with contextlib.suppress(ImportError):
            import triton  # noqa: F401  its LLVM before TensorFlow's: the other order kills
        exec(ready, space)
        import helpers.safety.child_keeper
        import helpers.safety.child_main
        import helpers.safety.removal  # noqa: F401  before a child is forked
    except BaseException as error:
        failed = f"{type(error).__name__}: {error}"
    while request := receive(door):
        words, handles = request
        if failed:
            refuse(handles[3], failed)
        elif os.fork() == 0:
            door.close()
            watch(words, handles, space)
        for handle in handles:
            os.close(handle)


def receive(door: socket.socket) -> tuple[dict, list[int]] | None:
    """Return a request and the child's output, errors, life and status; None at the end."""
    line, handles, _, _ = socket.recv_fds(door, 65536, 4)
    while line and not line.endswith(b"\n"):
        part = door.recv(65536)
        line = part and line + part  # who asks may end in the middle of a request
    for handle in handles:
        os.set_inheritable(handle, False)
    return (json.loads(line), handles) if line else None


def refuse(status: int, failed: str) -> None:
    """Tell that there will be no child, and why."""
    with contextlib.suppress(OSError):
        os.write(status, json.dumps({"failed": failed}).encode() + b"\n")


def watch(words: dict, handles: list[int], space: dict) -> None:
    """Be the keeper of one child; this does not return."""
    from helpers.safety.child_keeper import keep
    from helpers.safety.child_main import run_source, settle
    from helpers.safety.removal import remove_folder

    try:
        out, err, life, status = handles
        for handle, number in ((out, 1), (err, 2)):
            os.dup2(handle, number)
            os.close(handle)

        def start(status: int) -> None:
            os.close(status)
            atexit._clear()  # what was imported before registered things for the server's end
            code = run_source(words["source"], space, settle(words["home"][0]))
            end_as_python_does()
            os._exit(code)

        path, *known = words["home"]
        keep(start, life, status, words["seconds"], lambda: remove_folder(path, tuple(known)))
    finally:
        os._exit(1)


def end_as_python_does() -> None:
    """Wait for the threads that are no daemons, call what atexit has; a fork does neither."""
    with contextlib.suppress(BaseException):
        threading._shutdown()
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


def main() -> None:
    """Serve on the inherited socket."""
    sys.path.insert(0, ROOT)
    ready = sys.argv[2]
    door = socket.socket(fileno=int(sys.argv[1]))
    door.set_inheritable(False)
    sys.argv[:] = ["-c"]
    serve(door, ready)


if __name__ == "__main__":
    main()

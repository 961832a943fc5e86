"""Run as a script: requests on stdin -> one forked child each, and how it ended, on stdout.

The script imports what its first line names, once. Each child is then a copy of an interpreter
right after that import: as good as a fresh one, and there at once. Requests and answers are JSON,
one a line. It ends when its stdin does, so it cannot outlive the kernel that started it.
"""

import json
import os
import signal
import sys
import tempfile
import traceback

MOST = 20_000  # characters of what a child printed


def serve() -> None:
    """Answer requests until there are no more."""
    with os.fdopen(os.dup(1), "w") as replies:
        os.dup2(2, 1)  # what an import prints is no answer
        space = {"__name__": "__main__"}
        exec(json.loads(sys.stdin.readline()), space)
        for line in sys.stdin:
            replies.write(json.dumps(answer(json.loads(line), space)) + "\n")
            replies.flush()


def answer(request: dict, space: dict) -> dict:
    """Run `request["source"]` in a child of its own; return printed, error and exit code."""
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as error:
        child = os.fork()
        if child == 0:
            run(request, space, printed.fileno(), error.fileno())
        _, status = os.waitpid(child, 0)
        return {
            "printed": read(printed),
            "error": read(error),
            "code": os.waitstatus_to_exitcode(status),
        }


def run(request: dict, space: dict, printed: int, error: int) -> None:
    """Be the child: run, write down an exception, and leave without the parent's clean-up."""
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(printed, 1)
    os.dup2(os.open(os.devnull, os.O_RDWR), 2)
    signal.alarm(request["seconds"])
    code = 0
    try:
        exec(compile(request["source"], "<child>", "exec"), space)
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException as raised:
        os.write(error, "".join(traceback.format_exception_only(raised)).encode())
        code = 1
    sys.stdout.flush()
    os._exit(code)


def read(file) -> str:
    """Return what was written; of a flood, how it began and how it ended."""
    file.seek(0)
    words = file.read().decode(errors="replace")
    if len(words) <= MOST:
        return words
    return f"{words[: MOST // 2]}\n…\n{words[-MOST // 2 :]}"


if __name__ == "__main__":
    serve()

"""Run the source code of a request in a child process, and report the result to the parent.
The parent runs `children.py`, which starts the child; it is called the *starter* here. The child
writes its reports into a file, one JSON object a line. So nothing that the source prints can be
mistaken for a report.
"""

import atexit
import json
import multiprocessing
import os
import sys
import tempfile
import threading
import traceback
from contextlib import suppress
from types import ModuleType, NoneType

POSIX = os.name == "posix"
# The starter makes a folder for each child. These are names in that folder: the file of the
# child's reports, its working folder, its folder for temporary files, and its home folder.
TOLD = "told"
WORK = "work"
TEMPORARY = "temporary"
HOME = "home"
# File descriptor of stdout or stderr -> the file in that folder to which it is redirected.
PRINTED = {1: "out", 2: "err"}

_this_child: list = []  # [process ID of this child, path of its folder], set by `be_a_child`


def tell_starter(**items) -> None:
    """Append one report to the file that the starter reads: `items` as a line of JSON.

    A process that the child itself has forked reports nothing.
    """
    process_id, folder = _this_child
    if os.getpid() == process_id:
        with open(os.path.join(folder, TOLD), "ab") as file:
            file.write(json.dumps(items).encode() + b"\n")


def be_a_child(request: dict, folder: str) -> None:
    """Run a request in this child process, then end the process; this function never returns.

    `multiprocessing` calls it when the child has started.

    Parameters
    ----------
    request
        `source` is the text of a program, and `imports` that of a program to run first. With
        `name` and `args`, the function of that name in `source` is called.
    folder
        The path of the folder that the starter has made for this child.
    """
    _redirect_streams(folder)
    if POSIX:
        os.setsid()  # a group of its own, which the starter ends as a whole
    threading.Thread(target=_end_with_starter, daemon=True).start()
    _move_into_folder(folder)
    sys.argv[:] = ["-c"]
    _this_child[:] = os.getpid(), folder
    # Modules that were imported before the fork have registered functions for the end of the fork
    # server, the process from which this child was forked. They are not to run here.
    atexit._clear()
    code = _run_request(request)
    if "name" in request:
        os._exit(code)  # only the function's result counts; threads that it left running do not
    # A whole program ends as Python ends one: it waits for its threads, then calls `atexit`.
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.exit(code)


def _redirect_streams(folder: str) -> None:
    """Redirect stdout and stderr of this process, and of what it starts, to files in `folder`."""
    for descriptor, name in PRINTED.items():
        os.dup2(os.open(os.path.join(folder, name), os.O_WRONLY | os.O_APPEND), descriptor)
    # New stream objects, not `reconfigure`: those of a forked child belong to the parent's files.
    options = {"encoding": "utf-8", "errors": "backslashreplace", "closefd": False}
    sys.stdout = open(1, "w", **options)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, **options)  # noqa: SIM115


def _move_into_folder(folder: str) -> None:
    """Give this process a working folder, a home and a place for temporary files in the folder."""
    os.chdir(os.path.join(folder, WORK))
    # Caches stay in the user's own home, or each child would fill them again.
    os.environ.setdefault("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    os.environ["HOME" if POSIX else "USERPROFILE"] = os.path.join(folder, HOME)
    for name in ("TMPDIR", "TEMP", "TMP"):
        os.environ[name] = os.path.join(folder, TEMPORARY)
    tempfile.tempdir = None  # forget the folder that the parent process looked up before the fork


def _end_with_starter() -> None:
    """End this process as soon as the starter ends. Runs in a thread."""
    multiprocessing.parent_process().join()
    os._exit(1)


def _run_request(request: dict) -> int:
    """Run a request as the program `__main__`, and return its exit code, from 0 to 255.

    The last report to the starter says which error ended the program, as the last lines of a
    traceback. The report is called `failed` if the imports raised the error, else `error`. Its text
    is "" if the program ran to its end or called `sys.exit`.
    """
    program = ModuleType("__main__")
    sys.modules["__main__"] = program
    code = 0
    error = ""
    error_name = "failed"
    try:
        exec(compile(request.get("imports", ""), "<imports>", "exec"), vars(program))
        error_name = "error"
        exec(compile(request["source"], "<child>", "exec"), vars(program))
        if "name" in request:
            function = vars(program)[request["name"]]
            _tell_result(function(*request["args"]))
    except SystemExit as exit_request:
        code = _read_exit_code(exit_request)
    except BaseException as program_error:
        code = 1
        error = "".join(traceback.format_exception_only(program_error)).strip()
    with suppress(Exception):  # the program may have closed the stream
        sys.stdout.flush()
    tell_starter(**{error_name: error})
    return code & 0xFF


def _read_exit_code(exit_request: SystemExit) -> int:
    """Return the exit code with which Python would end after this SystemExit."""
    if isinstance(exit_request.code, int):
        return exit_request.code
    if exit_request.code is None:  # `sys.exit()`
        return 0
    return 1  # `sys.exit("a message")`


def _tell_result(result: object) -> None:
    """Report the result of a function as `result`, or as `fault` why JSON cannot represent it."""
    fault = why_not_json(result)
    if fault:
        tell_starter(fault=fault)
    else:
        tell_starter(result=result)


def why_not_json(value: object) -> str:
    """Return which part of a value JSON cannot represent, such as "a value of type set".

    Return "" if the value consists of str, int, float, bool and None, and of lists, tuples and
    dicts with text keys that contain such values.
    """
    if type(value) in (str, int, float, bool, NoneType):
        return ""
    if type(value) is dict:
        for key in value:
            if type(key) is not str:
                return f"a dict with a key of type {type(key).__name__}"
        items = list(value.values())
    elif type(value) in (list, tuple):
        items = value
    else:
        return f"a value of type {type(value).__name__}"
    for item in items:
        reason = why_not_json(item)
        if reason:
            return reason
    return ""

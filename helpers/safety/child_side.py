"""What runs in a child process: it runs the source of a request, and tells its starter the result.

`children.py` starts the child. The child tells results in a file of its own, so nothing that the
source prints is taken for one.
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
# Names in the folder that the starter has made for the child: the file in which the child tells
# results, its working folder, its folder for temporary files, and its home folder.
TOLD = "told"
WORK = "work"
TEMPORARY = "temporary"
HOME = "home"
# The number of a stream of the operating system -> the file in that folder to which it is printed.
PRINTED = {1: "out", 2: "err"}

_this_child: list = []  # the number of this child's process, and its folder


def tell_starter(**items) -> None:
    """Add a line to what this child tells, with these names and values, as JSON.

    A process that the child has forked is silent.
    """
    process, folder = _this_child
    if os.getpid() == process:
        with open(os.path.join(folder, TOLD), "ab") as file:
            file.write(json.dumps(items).encode() + b"\n")


def be_a_child(request: dict, folder: str) -> None:
    """Run a request in this process, and end the process. `multiprocessing` calls this function.

    Parameters
    ----------
    request
        `source` is the text of a program, and `imports` that of a program to run first. With
        `name` and `args`, the function of that name in `source` is called.
    folder
        The folder that the starter has made.
    """
    _print_to_files(folder)
    if POSIX:
        os.setsid()  # a group of its own, which the starter ends as a whole
    threading.Thread(target=_end_with_starter, daemon=True).start()
    _move_into_folder(folder)
    sys.argv[:] = ["-c"]
    _this_child[:] = os.getpid(), folder
    atexit._clear()  # what was imported before registered things for the server's end
    code = _run_request(request)
    if "name" in request:
        os._exit(code)  # only the function's result counts, and not what it left running
    threading._shutdown()  # waits for the threads that are no daemons
    atexit._run_exitfuncs()
    sys.exit(code)


def _print_to_files(folder: str) -> None:
    """Have this process, and what it starts, print to the files of the folder."""
    for number, name in PRINTED.items():
        os.dup2(os.open(os.path.join(folder, name), os.O_WRONLY | os.O_APPEND), number)
    # Not `reconfigure`: in a forked child these streams were made for another file.
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
    tempfile.tempdir = None  # or it would be the folder that the server has looked up


def _end_with_starter() -> None:
    """Wait for the end of the process that has started this one, and end this one then."""
    multiprocessing.parent_process().join()
    os._exit(1)


def _run_request(request: dict) -> int:
    """Run a request as the program `__main__`; return the exit code that Python gives for it.

    The starter is told at last what ended the program: as `failed` what ended its imports, else as
    `error` the last lines of a traceback, "" if the program came to its end or asked to exit.
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
    except SystemExit as leaving:
        is_number = isinstance(leaving.code, int)
        # As Python does: no code is 0, and a text, which it prints, is 1.
        code = leaving.code if is_number else int(leaving.code is not None)
    except BaseException as raised:
        code = 1
        error = "".join(traceback.format_exception_only(raised)).strip()
    with suppress(Exception):  # the program may have closed the stream
        sys.stdout.flush()
    tell_starter(**{error_name: error})
    return code & 0xFF


def _tell_result(result: object) -> None:
    """Tell the starter the result of a function, or as `fault` why it cannot be told."""
    fault = why_not_json(result)
    if fault:
        tell_starter(fault=fault)
    else:
        tell_starter(result=result)


def why_not_json(value: object) -> str:
    """Return why a value does not come through JSON as it is, in words; "" if it does."""
    if type(value) in (str, int, float, bool, NoneType):
        return ""
    if type(value) is dict:
        for key in value:
            if type(key) is not str:
                return f"a dict with a key of type {type(key).__name__}"
        value = list(value.values())
    if type(value) not in (list, tuple):
        return f"a value of type {type(value).__name__}"
    for item in value:
        reason = why_not_json(item)
        if reason:
            return reason
    return ""

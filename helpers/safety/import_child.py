"""Try in a child process whether installed distributions can be imported, and report each result.

This file imports only the standard library, so that any CPython from 3.11 on can run it by its
path. The command line has distribution -> modules to import, as JSON:

    python import_child.py '{"numpy": ["numpy"]}'

prints `{"name": "numpy"}` before the import, and after it `{"name": "numpy", "fault": "", …}`. The
process that started this one keeps the other end of its standard input open. When that end is
closed, this process ends.
"""

import importlib
import json
import os
import sys
import threading
from contextlib import suppress
from traceback import walk_tb

LONGEST_REASON = 300  # characters


def import_parts(parts: dict[str, list[str]]) -> None:
    """Import distributions one after the other; report before and after each, then end the process.

    `parts` is distribution -> the modules to import, in this order.
    """
    # The reports go to a copy of standard output. Standard output itself is redirected, so that
    # what a package prints does not get between the reports.
    channel = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    # On Windows, a thread that reads standard input blocks the loading of libraries.
    if os.name == "posix":
        threading.Thread(target=_end_with_the_starter, daemon=True).start()
    for name, modules in parts.items():
        # If the import ends this process, the starter knows by this line which import did.
        _write_line(channel, {"name": name})
        fault, passed_modules = find_fault(modules)
        _write_line(channel, {"name": name, "fault": fault, "modules": passed_modules})
    os._exit(0)


def _write_line(channel: int, values: dict) -> None:
    """Write values as a line of JSON to a file descriptor."""
    os.write(channel, json.dumps(values).encode() + b"\n")


def _end_with_the_starter() -> None:
    """Wait until the starter's end of standard input is closed, then end this process."""
    with suppress(OSError):
        os.read(0, 1)
    os._exit(1)


def find_fault(modules: list[str]) -> tuple[str, list[str]]:
    """Import modules, and run one op of each framework among them; return (fault, blamed modules).

    The fault is a clause on what went wrong, "" if nothing did. The blamed modules are those whose
    code was running when an import failed, and the module that was not found. There are none if an
    op computed a wrong result.
    """
    try:
        for module in modules:
            importlib.import_module(module)
            fault = OPS[module]() if module in OPS else ""
            if fault:
                return fault, []
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # not only Exception, because a package may call sys.exit
        reason = str(error).strip().partition("\n")[0][:LONGEST_REASON]
        fault = f"does not import: {type(error).__name__}: {reason}".removesuffix(": ")
        names = [frame.f_globals.get("__name__") for frame, _ in walk_tb(error.__traceback__)]
        names.append(getattr(error, "name", None))  # of an ImportError: the module not found
        return fault, [name for name in names if isinstance(name, str)]
    return "", []


def _add_in_torch() -> str:
    """Run an op of torch's; return what is wrong with its result, or ""."""
    torch = importlib.import_module("torch")
    answer = (torch.ones(2) + 1).tolist()
    return "" if answer == [2.0, 2.0] else f"computes ones(2) + 1 as {answer}"


def _add_in_tensorflow() -> str:
    """Run an op of TensorFlow's; return what is wrong with its result, or ""."""
    tensorflow = importlib.import_module("tensorflow")
    answer = (tensorflow.constant([1.0, 1.0]) + 1).numpy().tolist()
    return "" if answer == [2.0, 2.0] else f"computes constant([1, 1]) + 1 as {answer}"


# module -> the function that runs one op of that framework, and returns what is wrong, or ""
OPS = {"torch": _add_in_torch, "tensorflow": _add_in_tensorflow}


def main() -> None:
    """Import the distributions that the command line names."""
    # Python adds the folder of a script to `sys.path`. The modules there could hide packages.
    own_folder = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [folder for folder in sys.path if os.path.realpath(folder) != own_folder]
    import_parts(json.loads(sys.argv[1]))


if __name__ == "__main__":
    main()

"""Distributions -> which of them do not import, or do not compute: in the child that tries them.

Standard library alone, and nothing of this folder, so that any CPython from 3.11 on can run this
file by its path:

    python import_child.py '{"numpy": ["numpy"]}'

prints a line before and after each distribution, a JSON object each. It ends with its starter, who
holds the other end of its standard input.
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
    """Import distributions by their modules; print a line before and after each."""
    # The lines go to the starter by another number; what a package prints to 1 goes nowhere.
    channel = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    if os.name == "posix":  # on Windows a read of a standard stream blocks the loading of libraries
        threading.Thread(target=_end_with_the_starter, daemon=True).start()
    for name, modules in parts.items():
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
    """Return why modules do not import or compute, and through which modules the import went.

    Both are empty if nothing is wrong.
    """
    try:
        for module in modules:
            importlib.import_module(module)
            fault = OPS[module]() if module in OPS else ""
            if fault:
                return fault, []
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a package may call sys.exit, too
        reason = str(error).strip().partition("\n")[0][:LONGEST_REASON]
        fault = f"does not import: {type(error).__name__}: {reason}".removesuffix(": ")
        names = [frame.f_globals.get("__name__") for frame, _ in walk_tb(error.__traceback__)]
        names.append(getattr(error, "name", None))  # the module that was missed
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


# A module -> what runs one of its ops.
OPS = {"torch": _add_in_torch, "tensorflow": _add_in_tensorflow}


def main() -> None:
    """Import what the command line names."""
    # The folder of this file has modules of its own, whose names must not hide packages.
    here = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [folder for folder in sys.path if os.path.realpath(folder) != here]
    import_parts(json.loads(sys.argv[1]))


if __name__ == "__main__":
    main()

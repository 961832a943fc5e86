"""The installed `whoruns` without the course: its import changes nothing, and every verb works.

A program: `python at_work.py`, with instrument_examples.py beside it, runs the example of each
verb as a cell and says which failed. Words name the verbs to run; without any it runs all.
"""

import atexit
import builtins
import gc
import logging
import os
import signal
import sys
import threading
import warnings


def state() -> dict:
    """Return what of this process an import could change for others."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    callbacks = {n: [*c] for n, c in shell.events.callbacks.items()} if shell else {}
    kernel = callbacks, getattr(shell, "custom_exceptions", ())
    return {
        "environment": dict(os.environ),
        "kernel": kernel,
        "flags": (sys.flags, sys.getrecursionlimit(), sys.getswitchinterval(), os.getcwd()),
        "imports": ([*sys.path], [*sys.meta_path], [*sys.path_hooks], builtins.__import__),
        "hooks": (sys.excepthook, sys.displayhook, sys.unraisablehook, threading.excepthook),
        "tracers": (sys.gettrace(), sys.getprofile(), sys.stdout, sys.stderr),
        "collector": (gc.isenabled(), gc.get_threshold(), [*gc.callbacks]),
        "warnings": [*warnings.filters],
        "logging": (logging.root.level, [*logging.root.handlers], logging.raiseExceptions),
        "threads": threading.enumerate(),
        "signals": [signal.getsignal(one) for one in signal.valid_signals()],
        "at the end": atexit._ncallbacks(),
        "builtins": set(vars(builtins)) - {"_"},
    }


def changed(before: dict) -> list[str]:
    """Return what is not as it was."""
    return [name for name, value in state().items() if value != before[name]]


def main(words: list[str]) -> int:
    """Print a line for each verb; return how many failed."""
    before = state()
    import whoruns

    bad = changed(before)
    whoruns.show_bytecode(main)
    bad += changed(before)
    print("changed by the import, or a verb:", ", ".join(bad) or "nothing")
    from instrument_examples import EXAMPLE, SECTIONS, SETUP
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    shell = InteractiveShell.instance(colors="nocolor")
    cells = {"set-up": SETUP.replace("helpers", whoruns.__name__), "example": EXAMPLE}
    for examples in SECTIONS.values():
        cells |= {name: examples[name] for name in examples if name in words or not words}
    for name, source in cells.items():
        with capture_output() as shown:
            failed = not shell.run_cell(source).success
        bad += [name] if failed else []
        print(f"{name}: FAILED\n{shown.stdout}" if failed else f"{name}: fine", flush=True)
    return len(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

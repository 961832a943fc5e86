"""Prepare a Jupyter kernel for the course's notebooks. `import helpers` does this in a kernel.

TensorFlow writes no log, does not warn of retracing, and computes alike on all CPUs. An error about
a missing package is shown as one sentence, and a line of progress appears while a cell takes long.
"""

import logging
import os
import sys
from contextlib import suppress

from helpers.safety.missing_parts import describe_missing_part
from helpers.view.widgets import progress_line


def switch_on() -> None:
    """Prepare this process; do nothing if no IPython runs in it."""
    shell = sys.modules["IPython"].get_ipython()
    if shell is None:
        return
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # TensorFlow reads both at its import
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    logging.getLogger("tensorflow").addFilter(_is_no_retracing)  # the chapters show the cause
    logging.getLogger("torch._dynamo.variables.ctx_manager").addFilter(_is_no_profiler)
    if not shell.custom_exceptions:  # another extension of IPython may show errors
        shell.set_custom_exc((Exception,), _show_error)
    progress_line.show_progress_of_cells()


def _is_no_retracing(record: logging.LogRecord) -> bool:
    """Return whether a log record is anything but TensorFlow's warning of frequent retracing."""
    return "triggered tf.function retracing" not in str(record.msg)


def _is_no_profiler(record: logging.LogRecord) -> bool:
    """Return whether a log record is anything but Dynamo's warning about a profiler's function.

    `Optimizer.step` causes that warning. It has a clock time, which would differ in each output.
    """
    return "Profiler record function" not in str(record.msg)


def _show_error(shell, kind, error, trace, tb_offset=None) -> None:
    """Show the error of a cell. IPython calls this function.

    An error about a missing package is shown as a sentence, without a traceback.
    """
    with suppress(Exception):  # an error may refuse new attributes, and is shown as usual then
        text = describe_missing_part(error)
        if text:
            error._render_traceback_ = lambda: [text]
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset, running_compiled_code=True)

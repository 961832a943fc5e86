"""A kernel of the course -> the same, as the notebooks need it; the front door starts this.

TensorFlow is set to write no log, not to warn of retracing, and to use the same kernels on every
CPU. An error about what is missing becomes one sentence, and a line says that a cell takes long.
"""

import logging
import os
import sys
from contextlib import suppress

from helpers.safety.missing_parts import sentence
from helpers.view.widgets import progress_line


def switch_on() -> None:
    """Prepare this process, unless no IPython runs in it."""
    shell = sys.modules["IPython"].get_ipython()
    if shell is None:
        return
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # TensorFlow reads both at its import
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    logging.getLogger("tensorflow").addFilter(_is_no_retracing)  # the chapters show the cause
    logging.getLogger("torch._dynamo.variables.ctx_manager").addFilter(_is_no_profiler)
    if not shell.custom_exceptions:  # or it has somebody for its errors
        shell.set_custom_exc((Exception,), _show_error)
    progress_line.switch_on()


def _is_no_retracing(record: logging.LogRecord) -> bool:
    """Return whether TensorFlow says something else than that a function traces often."""
    return "triggered tf.function retracing" not in str(record.msg)


def _is_no_profiler(record: logging.LogRecord) -> bool:
    """Return whether Dynamo says something else than that it leaves out a profiler's mark.

    `Optimizer.step` has one, and the line that says so has the time of the day.
    """
    return "Profiler record function" not in str(record.msg)


def _show_error(shell, kind, error, trace, tb_offset=None) -> None:
    """Show what a cell raised: without its frames where a sentence says it all."""
    with suppress(Exception):  # a slot for what IPython shows, where the error has one
        text = sentence(error)
        if text:
            error._render_traceback_ = lambda: [text]
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset, running_compiled_code=True)

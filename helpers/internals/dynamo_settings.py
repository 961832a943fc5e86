"""Read the settings of torch's Dynamo, and change or restore them in a `with` block.

A stance is what `torch.compiler.set_stance` sets: whether Dynamo may compile, and compile again.
"""

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from ..safety import restoring
from ..safety.restoring import patched
from . import torch_private

# The stances (`torch.compiler.set_stance`) in which Dynamo compiles nothing new: `force_eager` runs
# plain Python only, and the others run what was compiled before.
_STANCES_OFF = ("force_eager", "eager_on_recompile", "fail_on_recompile")
_COMPILE_MARK = "_is_torch_compile"  # attribute that `torch.compile` gives a module


def read_global_state() -> str:
    """Return torch's settings that each cache entry guards, as JSON that torch writes."""
    return torch_private.GlobalStateGuard().__getstate__()


def read_stance() -> str:
    """Return the name of the stance that `torch.compiler.set_stance` has set."""
    return torch_private.eval_frame._stance.stance


def find_setting_off() -> str:
    """Return the setting that keeps Dynamo from compiling anything new now; "" if there is none.

    The setting is returned as code, such as `torch.compiler.set_stance("force_eager")`.
    """
    if torch_private.config.disable:
        return "torch._dynamo.config.disable"
    stance = read_stance()
    if stance in _STANCES_OFF:
        return f'torch.compiler.set_stance("{stance}")'
    return ""


@contextmanager
def restore_config() -> Iterator[None]:
    """Restore after the block the items of `torch._dynamo.config` that the block has changed."""
    config = torch_private.config
    earlier_values = config.get_config_copy()
    try:
        yield
    finally:
        for name, value in config.get_config_copy().items():
            if name in earlier_values and value != earlier_values[name]:
                setattr(config, name, earlier_values[name])


def run_compiled_functions_eagerly() -> AbstractContextManager[None]:
    """Return a block in which compiled functions run as plain Python.

    What Dynamo has compiled is used again after the block.
    """
    eval_frame = torch_private.eval_frame
    # `torch.compiler.set_stance` raises an error in a compiled function.
    eager_stance = type(eval_frame._stance)("force_eager")
    return patched(eval_frame, _stance=eager_stance)


def start_no_bar_monitor() -> AbstractContextManager[None]:
    """Return a block in which a progress bar of tqdm starts no monitor thread.

    Torch's interpreter of FX graphs shows such bars (torch/fx/interpreter.py). tqdm starts its
    monitor thread for the first bar of a process, and the thread would outlive the block.
    """
    tqdm = getattr(restoring.find_loaded_module("tqdm"), "tqdm", None)
    if tqdm is None:  # it is not loaded
        return nullcontext()
    return patched(tqdm, monitor_interval=0)  # 0 turns the monitor off


@contextmanager
def remove_compile_mark(module) -> Iterator[None]:
    """Remove after the block the attribute that `torch.compile` sets on `module` in the block.

    A module that had the attribute before the block keeps it.
    """
    attributes = getattr(module, "__dict__", {})  # without a `__dict__`, torch sets no attribute
    was_marked = _COMPILE_MARK in attributes
    try:
        yield
    finally:
        if not was_marked:
            attributes.pop(_COMPILE_MARK, None)


def count_unsupported_messages() -> Counter[str]:
    """Return message -> count for what Dynamo could not compile since the process began."""
    return Counter(torch_private.dynamo_utils.counters["unimplemented"])


@contextmanager
def collect_torch_logs() -> Iterator[list[str]]:
    """Collect the messages that torch logs in the block; none of them is printed.

    The block gets the list, which grows.
    """
    messages: list[str] = []

    def add_message(record: logging.LogRecord) -> None:
        messages.append(record.getMessage())

    collector = logging.Handler()
    collector.emit = add_message

    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] == "torch"]
    loggers = [logging.getLogger(name) for name in names]
    # A logger without handlers passes its messages to a parent that has some. So only the loggers
    # with handlers are changed.
    handlers_by_logger = {logger: logger.handlers for logger in loggers if logger.handlers}
    try:
        for logger in handlers_by_logger:
            logger.handlers = [collector]
        yield messages
    finally:
        for logger, earlier_handlers in handlers_by_logger.items():
            logger.handlers = earlier_handlers

"""Python's own settings of a process: folder, locale, signals, logging, decimal numbers, …"""

import gc
import locale
import logging
import os
import signal
import sys
from types import ModuleType

from helpers.safety.interrupts import in_main_thread
from helpers.safety.original_builtins import BUILTINS
from helpers.safety.settings.setting import UNREAD, Same, Setting, of_module

__builtins__ = BUILTINS

_DECIMALS = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")


def _folder():
    try:
        return os.getcwd()
    except OSError:  # it is gone
        return UNREAD


def _file_mask():
    """Return the mask of new files; read where reading does not set it for a moment (Linux)."""
    try:
        with open("/proc/self/status", "rb") as status:
            return next((int(line[6:], 8) for line in status if line.startswith(b"Umask:")), UNREAD)
    except OSError:
        return UNREAD


def _frozen() -> bool:
    return gc.get_freeze_count() > 0


def _put_frozen(before: bool) -> None:
    (gc.freeze if before else gc.unfreeze)()


def _decimals(decimal: ModuleType) -> tuple:
    """Return the context and its fields; the flags are results, and stay."""
    context = decimal.getcontext()
    fields = {name: getattr(context, name) for name in _DECIMALS}
    return Same(context), fields, dict(context.traps)


def _put_decimals(decimal: ModuleType, before: tuple) -> None:
    same, fields, traps = before
    for name, value in fields.items():
        setattr(same.value, name, value)
    same.value.traps.update(traps)
    decimal.setcontext(same.value)


def _root_logger() -> tuple:
    return logging.root.level, [Same(each) for each in logging.root.handlers]


def _put_root_logger(before: tuple) -> None:
    logging.root.setLevel(before[0])
    logging.root.handlers[:] = [each.value for each in before[1]]


class _Alarm:
    """Whether the alarm was set. One that has rung meanwhile is the same; a new one is not."""

    def __init__(self):
        self.is_set = any(signal.getitimer(signal.ITIMER_REAL))

    def __eq__(self, before):
        return type(before) is _Alarm and self.is_set <= before.is_set

    __hash__ = None


def _signals():
    """Return each signal's handler but Ctrl-C's, what is blocked, and the alarm."""
    if not in_main_thread():
        return UNREAD  # only the main thread may set them
    numbers = sorted(signal.valid_signals() - {signal.SIGINT})
    handlers = {number: Same(signal.getsignal(number)) for number in numbers}
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        return handlers, None, None
    return handlers, signal.pthread_sigmask(signal.SIG_BLOCK, []), _Alarm()


def _put_signals(before: tuple) -> None:
    handlers, blocked, alarm = before
    if blocked is not None:
        if not alarm.is_set:
            signal.setitimer(signal.ITIMER_REAL, 0)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    for number, was in handlers.items():
        if was.value is not None and signal.getsignal(number) is not was.value:
            signal.signal(number, was.value)


PYTHON = (
    Setting(
        "the locale",
        lambda: locale.setlocale(locale.LC_ALL),
        lambda before: locale.setlocale(locale.LC_ALL, before),
    ),
    Setting("the working folder", _folder, os.chdir),
    Setting("the rights of new files", _file_mask, os.umask),
    Setting("what the collector leaves alone", _frozen, _put_frozen),
    Setting(
        "how many digits an int may have as text",
        sys.get_int_max_str_digits,
        sys.set_int_max_str_digits,
    ),
    Setting("what logging passes on", lambda: logging.root.manager.disable, logging.disable),
    of_module("the decimal context", "decimal", _decimals, _put_decimals),
    of_module(
        "how long sockets wait",
        "socket",
        lambda socket: (socket.getdefaulttimeout(),),
        lambda socket, before: socket.setdefaulttimeout(*before),
    ),
    Setting("the root logger", _root_logger, _put_root_logger),
    Setting("how signals are handled", _signals, _put_signals),
)

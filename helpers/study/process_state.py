"""What an answer can set in this process -> as it was before, once the answer is judged.

`PARTS` is the one table: the name of a part, how it is read, and how it is restored. A part of a
library is read only if somebody has imported that library: nothing is imported here.
"""

import builtins
import gc
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from helpers.safety import PACKAGE
from helpers.safety.restoring import KEPT, frame_evaluator, module
from helpers.study.framework_state import TENSORFLOW, TORCH, draw_from_another_generator
from helpers.study.learner_names import find_namespaces, read_globals, restore_globals
from helpers.study.state_parts import Part, attribute, dict_items, list_items, pair, switch

FRAMEWORKS = ("torch", "tensorflow", "keras")
HOOKS = f"{PACKAGE}.mini.frame_hook.hooks"


def _set_collector(is_enabled: bool) -> None:
    (gc.enable if is_enabled else gc.disable)()


def _set_thresholds(thresholds: tuple) -> None:
    gc.set_threshold(*thresholds)


def _read_handlers() -> dict:
    """Return the handler of each signal. Only the main thread can set one."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    return {number: signal.getsignal(number) for number in signal.valid_signals()}


def _set_handlers(before: dict) -> None:
    for number, handler in before.items():
        if handler is not None and signal.getsignal(number) is not handler:
            signal.signal(number, handler)


def _is_alarm_set() -> bool:
    """Return whether a timer runs that will send a signal. Windows has none."""
    return hasattr(signal, "getitimer") and any(signal.getitimer(signal.ITIMER_REAL))


def _stop_new_alarm(was_set: bool) -> None:
    if not was_set:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _read_environment() -> dict:
    return dict(os.environ)


def _set_environment(before: dict) -> None:
    for name in [name for name in os.environ if name not in before]:
        del os.environ[name]
    for name, value in before.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def _read_tools() -> list:
    """Return the names of the tools that use sys.monitoring. Python 3.12 has it."""
    monitoring = getattr(sys, "monitoring", None)
    return [monitoring.get_tool(number) for number in range(6)] if monitoring else []


def _free_new_tools(before: list) -> None:
    for number, name in enumerate(before):
        if name is None and sys.monitoring.get_tool(number) is not None:
            sys.monitoring.free_tool_id(number)


def _read_loggers(logging) -> dict:
    """Return what each logger has been set to. A framework that is imported later sets its own."""
    loggers = [logging.root]
    for name, logger in logging.root.manager.loggerDict.items():
        home = name.partition(".")[0]
        if isinstance(logger, logging.Logger) and (home not in FRAMEWORKS or module(home)):
            loggers.append(logger)
    return {each: (each.level, [*each.handlers], each.disabled, each.propagate) for each in loggers}


def _set_loggers(logging, before: dict) -> None:
    for logger, (level, handlers, is_disabled, propagates) in before.items():
        if logger.level != level:
            logger.setLevel(level)  # which also empties logging's caches
        if logger.handlers != handlers:
            logger.handlers[:] = handlers
        logger.disabled, logger.propagate = is_disabled, propagates


def _read_settings(matplotlib) -> dict:
    return dict.copy(matplotlib.rcParams)


def _set_settings(matplotlib, before: dict) -> None:
    dict.update(matplotlib.rcParams, before)


def _close_new_figures(pyplot, before: list) -> None:
    for number in pyplot.get_fignums():
        if number not in before:
            pyplot.close(number)


def _read_filters(warnings) -> list:
    return list(warnings.filters)


def _set_filters(warnings, before: list) -> None:
    warnings.filters[:] = before
    with warnings.catch_warnings():  # tells the part of warnings that is written in C
        pass


def _read_decimal(decimal) -> tuple:
    """Return the decimal context, and what it has been set to."""
    context = decimal.getcontext()
    names = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")
    values = {name: getattr(context, name) for name in names}
    return context, values | {"flags": {**context.flags}, "traps": {**context.traps}}


def _set_decimal(decimal, before: tuple) -> None:
    context, values = before
    decimal.setcontext(context)
    for name, value in values.items():
        setattr(context, name, value)


def _read_evaluator() -> int:
    return frame_evaluator("Get")


def _leave_hooks(before: int) -> None:
    """Leave the frame hooks that code has entered only."""
    door = module(HOOKS).find_hook()[0]
    for each in gc.get_objects():
        if type(each) is module(HOOKS).watching and door and door.is_on(each):
            with suppress(Exception):  # what its callback raised
                each.__exit__(None, None, None)


PYTHON = (
    Part("frame hooks", _read_evaluator, _leave_hooks, HOOKS),  # before the slot itself
    *(Part(kept.name, kept.read, kept.put) for kept in KEPT),  # a tracer first: it sees the rest
    Part("the collector", gc.isenabled, _set_collector),
    Part("the collector's thresholds", gc.get_threshold, _set_thresholds),
    Part("the collector's flags", gc.get_debug, gc.set_debug),
    list_items("the collector's callbacks", lambda: gc.callbacks),
    Part("threading.settrace", threading.gettrace, threading.settrace),
    Part("threading.setprofile", threading.getprofile, threading.setprofile),
    attribute("threading", "excepthook"),
    Part("sys.monitoring", _read_tools, _free_new_tools),
    Part("the recursion limit", sys.getrecursionlimit, sys.setrecursionlimit),
    Part("the switch interval", sys.getswitchinterval, sys.setswitchinterval),
    Part("the digits of an int", sys.get_int_max_str_digits, sys.set_int_max_str_digits),
    Part("signal handlers", _read_handlers, _set_handlers),
    Part("an alarm", _is_alarm_set, _stop_new_alarm),
    Part("the environment", _read_environment, _set_environment),
    Part("the working folder", os.getcwd, os.chdir),
    attribute("sys", "path"),
    list_items("the items of sys.path", lambda: sys.path),
    *(attribute("sys", name) for name in ("stdin", "displayhook", "excepthook")),
    *(attribute("sys", name) for name in ("unraisablehook", "breakpointhook")),
    dict_items("sys.modules", lambda: sys.modules, adds=False),
    dict_items("builtins", lambda: vars(builtins)),
    switch("warnings", "warnings.filters", _read_filters, _set_filters),
    attribute("warnings", "showwarning"),
    switch("decimal", "the decimal context", _read_decimal, _set_decimal),
    pair("random", "getstate", "setstate"),
    switch("logging", "loggers", _read_loggers, _set_loggers),
    switch(
        "locale",
        "the locale",
        lambda locale: locale.setlocale(locale.LC_ALL),
        lambda locale, before: locale.setlocale(locale.LC_ALL, before),
    ),
    switch("matplotlib", "matplotlib.rcParams", _read_settings, _set_settings),
    switch("matplotlib.pyplot", "figures", lambda p: p.get_fignums(), _close_new_figures),
    switch("numpy", "numpy.seterr", lambda np: np.geterr(), lambda np, was: np.seterr(**was)),
    pair("numpy", "geterrcall", "seterrcall"),
    switch(
        "numpy",
        "numpy.set_printoptions",
        lambda numpy: numpy.get_printoptions(),
        lambda numpy, before: numpy.set_printoptions(**before),
    ),
    pair("numpy", "random.get_state", "random.set_state"),
)

PARTS = (*PYTHON, *TORCH, *TENSORFLOW)


@contextmanager
def unchanged(answers: Iterable = ()) -> Iterator[None]:
    """Restore, when the block ends, each of `PARTS`, and the global names of the answers' modules.

    Args:
        answers: The functions, classes, and containers of them that the block runs.

    Example:
        >>> with unchanged():
        ...     gc.disable()
        >>> gc.isenabled()
        True
    """
    before = [pair for pair in map(_read, PARTS) if pair]
    spaces = [read_globals(space) for space in find_namespaces(answers)]
    draw_from_another_generator()
    try:
        yield
    finally:
        for part, value in before:
            _restore(part, value)
        for space in spaces:
            restore_globals(*space)


def _read(part: Part) -> tuple | None:
    """Return a part and its value now, or None where it cannot be read: a folder that is gone."""
    with suppress(Exception):
        return (part, part.read()) if module(part.needs) else None
    return None


def _restore(part: Part, before) -> None:
    with suppress(Exception):  # a folder that is gone, a library that refuses: the rest goes on
        if not _is_same(part.read(), before):
            part.restore(before)


def _is_same(now, before) -> bool:
    try:
        return now is before or bool(now == before)
    except (ValueError, TypeError, RuntimeError):  # arrays: an answer for each item
        return False

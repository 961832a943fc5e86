"""Restore what a learner's answer may change in this process, such as `sys.path`, after a check.
`PARTS` lists the settings, each with its name and two functions, which read it and restore it. The
settings of a library are read only if the library has been imported already.
"""

import builtins
import gc
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from helpers.internals.framework_state import TENSORFLOW, TORCH, draw_from_another_generator
from helpers.safety import PACKAGE
from helpers.safety.learner_names import find_namespaces, read_globals, restore_globals
from helpers.safety.restoring import RESTORED_PARTS, find_loaded_module, frame_evaluator
from helpers.safety.state_parts import (
    StatePart,
    accessor_part,
    attribute_part,
    dict_part,
    list_part,
    switch_part,
)

FRAMEWORKS = ("torch", "tensorflow", "keras")
#: The module of the course's own frame hooks. It is loaded only if a learner uses them.
HOOKS = f"{PACKAGE}.mini.frame_hook.hooks"


# Pairs of functions, which read a setting and restore it. The table PYTHON lists them.


def _set_collector(is_enabled: bool) -> None:
    if is_enabled:
        gc.enable()
    else:
        gc.disable()


def _set_thresholds(thresholds: tuple) -> None:
    gc.set_threshold(*thresholds)


def _read_handlers() -> dict:
    """Return signal number -> handler; {} in another thread than the main one.

    Only the main thread can set handlers.
    """
    if threading.current_thread() is not threading.main_thread():
        return {}
    return {number: signal.getsignal(number) for number in signal.valid_signals()}


def _set_handlers(before: dict) -> None:
    """Set the signal handlers that have changed."""
    for number, handler in before.items():
        # None stands for a handler that C code installed, which Python cannot set.
        if handler is not None and signal.getsignal(number) is not handler:
            signal.signal(number, handler)


def _is_alarm_set() -> bool:
    """Return whether a timer runs that will send SIGALRM. Windows has no such timer."""
    return hasattr(signal, "getitimer") and any(signal.getitimer(signal.ITIMER_REAL))


def _stop_new_alarm(was_set: bool) -> None:
    """Stop the timer if none ran before. A timer of the learner's own goes on."""
    if not was_set:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _read_environment() -> dict:
    return dict(os.environ)


def _set_environment(before: dict) -> None:
    """Remove new variables, and set those that have changed or are gone."""
    for name in [name for name in os.environ if name not in before]:
        del os.environ[name]
    for name, value in before.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def _read_tools() -> list:
    """Return, for each of the six tool numbers of sys.monitoring, the tool's name or None.

    Return [] before Python 3.12, which has no sys.monitoring.
    """
    monitoring = getattr(sys, "monitoring", None)
    return [monitoring.get_tool(number) for number in range(6)] if monitoring else []


def _free_new_tools(before: list) -> None:
    """Free the numbers of sys.monitoring that no tool used before."""
    for number, name in enumerate(before):
        if name is None and sys.monitoring.get_tool(number) is not None:
            sys.monitoring.free_tool_id(number)


def _read_loggers(logging) -> dict:
    """Return logger -> (level, handlers, whether it is disabled, whether it propagates).

    Loggers of a framework that is not imported yet are left out. If the answer imports the
    framework, its settings of its loggers must stay.
    """
    loggers = [logging.root]
    for name, logger in logging.root.manager.loggerDict.items():
        package = name.partition(".")[0]
        is_loaded = package not in FRAMEWORKS or find_loaded_module(package)
        # `loggerDict` also has placeholders, which are no loggers.
        if isinstance(logger, logging.Logger) and is_loaded:
            loggers.append(logger)

    settings = {}
    for logger in loggers:
        handlers = list(logger.handlers)
        settings[logger] = (logger.level, handlers, logger.disabled, logger.propagate)
    return settings


def _set_loggers(_logging, before: dict) -> None:
    """Set each logger to its earlier settings. `switch_part` passes the module `logging`, too."""
    for logger, (level, handlers, is_disabled, propagates) in before.items():
        if logger.level != level:
            logger.setLevel(level)  # which also empties logging's caches
        if logger.handlers != handlers:
            logger.handlers[:] = handlers
        logger.disabled = is_disabled
        logger.propagate = propagates


def _read_settings(matplotlib) -> dict:
    # `RcParams.copy` would choose a backend, and warn of old names. `dict.copy` does neither.
    return dict.copy(matplotlib.rcParams)


def _set_settings(matplotlib, before: dict) -> None:
    dict.update(matplotlib.rcParams, before)


def _close_new_figures(pyplot, before: list) -> None:
    """Close the figures whose numbers were not in use before."""
    for number in pyplot.get_fignums():
        if number not in before:
            pyplot.close(number)


def _read_filters(warnings) -> list:
    return list(warnings.filters)


def _set_filters(warnings, before: list) -> None:
    """Restore the items of the list `warnings.filters`."""
    warnings.filters[:] = before
    # The C code of `warnings` caches which filter applies to a warning. Leaving this block empties
    # the cache.
    with warnings.catch_warnings():
        pass


def _read_decimal(decimal) -> tuple:
    """Return (decimal context of this thread, name of an attribute -> its value)."""
    context = decimal.getcontext()
    names = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")
    values = {name: getattr(context, name) for name in names}
    values["flags"] = dict(context.flags)
    values["traps"] = dict(context.traps)
    return context, values


def _set_decimal(decimal, before: tuple) -> None:
    """Make the earlier context current, and set its attributes to their earlier values."""
    context, values = before
    decimal.setcontext(context)
    for name, value in values.items():
        setattr(context, name, value)


def _read_evaluator() -> int:
    return frame_evaluator("Get")


def _leave_hooks(earlier_evaluator: int) -> None:
    """Leave the `with` blocks of frame hooks that the answer has entered and not left.

    The argument is not used, because a hook itself restores the frame evaluator that it found.
    """
    hooks = find_loaded_module(HOOKS)
    hook, *_ = hooks.find_hook()
    if not hook:  # no hook is installed
        return
    # The answer may have dropped the object of its block. So all objects are searched.
    for obj in gc.get_objects():
        if type(obj) is hooks.watching and hook.is_on(obj):
            with suppress(Exception):  # leaving raises an error of the hook's callback again
                obj.__exit__(None, None, None)


PYTHON = (
    # Hooks are left before KEPT restores the frame evaluator, which a hook has set.
    StatePart("frame hooks", _read_evaluator, _leave_hooks, HOOKS),
    # KEPT begins with the tracer. Otherwise the tracer would report how the rest is restored.
    *(StatePart(part.name, part.read, part.put) for part in RESTORED_PARTS),
    StatePart("the collector", gc.isenabled, _set_collector),
    StatePart("the collector's thresholds", gc.get_threshold, _set_thresholds),
    StatePart("the collector's flags", gc.get_debug, gc.set_debug),
    list_part("the collector's callbacks", lambda: gc.callbacks),
    StatePart("threading.settrace", threading.gettrace, threading.settrace),
    StatePart("threading.setprofile", threading.getprofile, threading.setprofile),
    attribute_part("threading", "excepthook"),
    StatePart("sys.monitoring", _read_tools, _free_new_tools),
    StatePart("the recursion limit", sys.getrecursionlimit, sys.setrecursionlimit),
    StatePart("the switch interval", sys.getswitchinterval, sys.setswitchinterval),
    StatePart("the digits of an int", sys.get_int_max_str_digits, sys.set_int_max_str_digits),
    StatePart("signal handlers", _read_handlers, _set_handlers),
    StatePart("an alarm", _is_alarm_set, _stop_new_alarm),
    StatePart("the environment", _read_environment, _set_environment),
    StatePart("the working folder", os.getcwd, os.chdir),
    attribute_part("sys", "path"),
    list_part("the items of sys.path", lambda: sys.path),
    *(attribute_part("sys", name) for name in ("stdin", "displayhook", "excepthook")),
    *(attribute_part("sys", name) for name in ("unraisablehook", "breakpointhook")),
    dict_part("sys.modules", lambda: sys.modules, removes_new=False),
    dict_part("builtins", lambda: vars(builtins)),
    switch_part("warnings", "warnings.filters", _read_filters, _set_filters),
    attribute_part("warnings", "showwarning"),
    switch_part("decimal", "the decimal context", _read_decimal, _set_decimal),
    accessor_part("random", "getstate", "setstate"),
    switch_part("logging", "loggers", _read_loggers, _set_loggers),
    switch_part(
        "locale",
        "the locale",
        lambda locale: locale.setlocale(locale.LC_ALL),
        lambda locale, before: locale.setlocale(locale.LC_ALL, before),
    ),
    switch_part("matplotlib", "matplotlib.rcParams", _read_settings, _set_settings),
    switch_part("matplotlib.pyplot", "figures", lambda p: p.get_fignums(), _close_new_figures),
    switch_part("numpy", "numpy.seterr", lambda np: np.geterr(), lambda np, was: np.seterr(**was)),
    accessor_part("numpy", "geterrcall", "seterrcall"),
    switch_part(
        "numpy",
        "numpy.set_printoptions",
        lambda numpy: numpy.get_printoptions(),
        lambda numpy, before: numpy.set_printoptions(**before),
    ),
    accessor_part("numpy", "random.get_state", "random.set_state"),
)

PARTS = (*PYTHON, *TORCH, *TENSORFLOW)


@contextmanager
def restore_process_state(answers: Iterable = ()) -> Iterator[None]:
    """Restore the settings in `PARTS` after a `with` block, and the answers' global names.

    Parameters
    ----------
    answers
        The functions and classes that the block runs, or lists and dicts of them. The global names
        of the modules in which they are defined are restored.

    Examples
    --------
    >>> with unchanged():
    ...     gc.disable()
    >>> gc.isenabled()
    True
    """
    before = [(part, value) for part, value in map(_read_part, PARTS) if part]
    namespaces = [read_globals(space) for space in find_namespaces(answers)]
    draw_from_another_generator()  # so that random ops of the answer use up none of the learner's
    try:
        yield
    finally:
        for part, value in before:
            _restore_part(part, value)
        for space, names in namespaces:
            restore_globals(space, names)


def _read_part(part: StatePart) -> tuple[StatePart | None, object]:
    """Return (part, its present value), or (None, None) if the part cannot be read.

    A part cannot be read if its library is not imported. Reading may also raise: the working folder
    may be gone.
    """
    if not find_loaded_module(part.needs):
        return None, None
    try:
        return part, part.read()
    except Exception:
        return None, None


def _restore_part(part: StatePart, before: object) -> None:
    """Restore a part to the value `before`, if its value has changed."""
    # If that fails, because a folder is gone or a library refuses, other parts are still restored.
    with suppress(Exception):
        if not _is_same_value(part.read(), before):
            part.restore(before)


def _is_same_value(now: object, before: object) -> bool:
    """Return whether two values of a part are identical or equal; False if that is not clear."""
    try:
        return now is before or bool(now == before)
    except (ValueError, TypeError, RuntimeError):  # `==` of arrays gives an array
        return False

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

from helpers.internals.framework_state import TENSORFLOW, TORCH, draw_from_another_generator
from helpers.safety import PACKAGE
from helpers.safety.learner_names import find_namespaces, read_globals, restore_globals
from helpers.safety.restoring import KEPT, frame_evaluator, module
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


# Each pair of functions reads a part and restores it; PYTHON lists the pairs.


def _set_collector(is_enabled: bool) -> None:
    if is_enabled:
        gc.enable()
    else:
        gc.disable()


def _set_thresholds(thresholds: tuple) -> None:
    gc.set_threshold(*thresholds)


def _read_handlers() -> dict:
    """Return signal -> its handler. Empty off the main thread, which alone can set handlers."""
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
    """Return whether a timer runs that will send a signal. Windows has none."""
    return hasattr(signal, "getitimer") and any(signal.getitimer(signal.ITIMER_REAL))


def _stop_new_alarm(was_set: bool) -> None:
    """Stop the timer, unless there was one before: then it may go on."""
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
    """Return the name of the tool, or None, for each number of sys.monitoring; [] before 3.12."""
    monitoring = getattr(sys, "monitoring", None)
    return [monitoring.get_tool(number) for number in range(6)] if monitoring else []


def _free_new_tools(before: list) -> None:
    """Free the numbers of sys.monitoring that no tool used before."""
    for number, name in enumerate(before):
        if name is None and sys.monitoring.get_tool(number) is not None:
            sys.monitoring.free_tool_id(number)


def _read_loggers(logging) -> dict:
    """Return logger -> its level, handlers and two flags.

    Loggers of a framework that is not imported yet are left out, because its import sets them.
    """
    loggers = [logging.root]
    for name, logger in logging.root.manager.loggerDict.items():
        home = name.partition(".")[0]
        is_loaded = home not in FRAMEWORKS or module(home)
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
    # The methods of dict, because those of RcParams resolve the backend, and warn of old names.
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
    """Restore the list of filters in place."""
    warnings.filters[:] = before
    # The C part of warnings caches which filters applied. Leaving this block empties the cache.
    with warnings.catch_warnings():
        pass


def _read_decimal(decimal) -> tuple:
    """Return the decimal context of this thread, and what it has been set to, by attribute."""
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
    """Leave the frame hooks that code has entered and not left.

    The argument is not used: leaving a hook restores the evaluator that it found.
    """
    hooks = module(HOOKS)
    hook, *_ = hooks.find_hook()
    if not hook:
        return
    for obj in gc.get_objects():
        if type(obj) is hooks.watching and hook.is_on(obj):
            with suppress(Exception):  # what its callback raised
                obj.__exit__(None, None, None)


PYTHON = (
    # Before the slot of the frame evaluator itself, which is one of KEPT.
    StatePart("frame hooks", _read_evaluator, _leave_hooks, HOOKS),
    # KEPT begins with the tracer, because a tracer would see how the rest is restored.
    *(StatePart(kept.name, kept.read, kept.put) for kept in KEPT),
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
def unchanged(answers: Iterable = ()) -> Iterator[None]:
    """Restore, when the block ends, each of `PARTS`, and the global names of the answers' modules.

    Parameters
    ----------
    answers
        The functions, classes, and containers of them that the block runs.

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
    """Return a part and its value now, or (None, None) if it cannot be read.

    That is so if its library is not loaded, or if reading it raises: a working folder may be gone.
    """
    if not module(part.needs):
        return None, None
    try:
        return part, part.read()
    except Exception:
        return None, None


def _restore_part(part: StatePart, before: object) -> None:
    """Restore a part if its value has changed, whatever that raises."""
    with suppress(Exception):  # a folder that is gone, a library that refuses: the rest goes on
        if not _is_same_value(part.read(), before):
            part.restore(before)


def _is_same_value(now: object, before: object) -> bool:
    """Return whether two values of a part are identical or equal; False if `==` gives no answer."""
    try:
        return now is before or bool(now == before)
    except (ValueError, TypeError, RuntimeError):  # arrays: an answer for each item
        return False

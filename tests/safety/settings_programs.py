"""Programs of test_settings_of_a_call.py: each sets something of its process, or asks for it."""

import asyncio
import atexit
import builtins
import contextvars
import decimal
import faulthandler
import gc
import io
import json
import locale
import logging
import os
import random
import resource
import signal
import socket
import sys
import threading
import tracemalloc
import warnings
from collections import deque
from contextlib import nullcontext

import helpers

try:
    import numpy
except ImportError:
    numpy = None

VARIABLE = contextvars.ContextVar("VARIABLE", default="unset")
SIGNALS = signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGALRM
HOOKS = "excepthook", "displayhook", "unraisablehook", "breakpointhook"
BUILTINS = "print", "open", "__import__", "input"
HEARING = "a partial"  # by which a recorder of calls hears the collector while it is at work
SEEN: deque[dict] = deque()  # what stood while a call ran; no verb puts back what is in a deque


def mine(*args, **kwargs):
    """Stand for a hook, a handler or a tracer of a program."""


class Tee:
    """A stream of a program."""

    def __init__(self, stream):
        self.stream = stream

    def write(self, text):
        return len(text)

    def flush(self):
        self.stream.flush()


class Policy(asyncio.DefaultEventLoopPolicy):
    """An asyncio policy of a program."""


def words(value) -> str:
    """Return what a setting is, without an address."""
    return getattr(value, "__qualname__", None) or f"a {value.__class__.__qualname__}"


def standing() -> dict:
    """Return what a program can set, as it is now."""
    streams = {name: getattr(sys, name) for name in ("stdin", "stdout", "stderr")}
    found = {f"sys.{name}": words(stream) for name, stream in streams.items()}
    found |= {f"handler of {n.name}": words_of_handler(signal.getsignal(n)) for n in SIGNALS}
    found |= {f"sys.{name}": words(getattr(sys, name)) for name in HOOKS}
    found |= {f"builtins.{name}": words(getattr(builtins, name)) for name in BUILTINS}
    tracers = sys.gettrace(), sys.getprofile(), threading.gettrace(), threading.getprofile()
    root = logging.getLogger()
    collected = [words(one) for one in gc.callbacks if words(one) != HEARING]
    return found | {
        "tracers": [words(one) for one in tracers],
        "mask": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
        "wakeup": signal.set_wakeup_fd(-1),
        "timer": bool(signal.getitimer(signal.ITIMER_VIRTUAL)[0]),
        "collector": [gc.isenabled(), gc.get_threshold(), gc.get_debug(), collected],
        "frozen": gc.get_freeze_count() > 0,
        "limits": [sys.getrecursionlimit(), sys.getswitchinterval(), sys.getdlopenflags()],
        "digits": sys.get_int_max_str_digits(),
        "generators": [words(one) for one in sys.get_asyncgen_hooks()],
        "coroutines": sys.get_coroutine_origin_tracking_depth(),
        "filters": [[str(part) for part in one] for one in warnings.filters],
        "warnings": words(warnings.showwarning),
        "logging": [root.level, root.disabled, [words(one) for one in root.handlers]],
        "logging is off": logging.root.manager.disable,
        "random": hash(random.getstate()),
        "decimal": [decimal.getcontext().prec, decimal.getcontext().rounding],
        "locale": locale.setlocale(locale.LC_NUMERIC),
        "numpy": numpy and numpy.geterr(),
        "folder": os.getcwd(),
        "mask of files": mask_of_files(),
        "environment": {name: os.environ[name] for name in os.environ if "PYTEST" not in name},
        "variable": VARIABLE.get(),
        "policy": words(asyncio.get_event_loop_policy()),
        "path": list(sys.path),
        "modules": "a_module_of_mine" in sys.modules,
        "finders": [words(one) for one in (*sys.meta_path, *sys.path_hooks)],
        "bytecode": sys.dont_write_bytecode,
        "thread hook": words(threading.excepthook),
        "stack of threads": threading.stack_size(),
        "socket": socket.getdefaulttimeout(),
        "files": resource.getrlimit(resource.RLIMIT_NOFILE),
        "allocations": tracemalloc.is_tracing(),
        "faults": faulthandler.is_enabled(),
        "at exit": atexit._ncallbacks(),
    }


def mask_of_files() -> int:
    """Return what only a change of it tells."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def words_of_handler(handler) -> str:
    """Return what hears a signal."""
    return handler.name if isinstance(handler, signal.Handlers) else words(handler)


def sets_its_tracers():
    sys.settrace(None)
    threading.settrace(mine)


def sets_a_logger():
    logging.basicConfig(level=5, stream=sys.stdout, force=True)


def ends_a_stream():
    sys.stdout = Tee(sys.stdout)


def asks_for_a_collection():
    gc.collect()
    gc.enable()


SETTINGS = {
    "a handler of SIGINT": lambda: signal.signal(signal.SIGINT, mine),
    "no handler of SIGINT": lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    "a handler of SIGALRM": lambda: signal.signal(signal.SIGALRM, mine),
    "the handler of before": lambda: signal.signal(signal.SIGUSR1, signal.getsignal(signal.SIGINT)),
    "what is blocked": lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]),
    "no collection": gc.disable,
    "a collection": asks_for_a_collection,
    "the collector's limits": lambda: gc.set_threshold(123, 7, 5),
    "a callback of the collector": lambda: mine in gc.callbacks or gc.callbacks.append(mine),
    "no tracer": lambda: sys.settrace(None),
    "a tracer": lambda: sys.settrace(mine),
    "tracers of threads": sets_its_tracers,
    "a profiler": lambda: sys.setprofile(mine),
    "a profiler of threads": lambda: threading.setprofile(mine),
    "the recursion limit": lambda: sys.setrecursionlimit(1717),
    "the switch interval": lambda: sys.setswitchinterval(0.25),
    "stdout": lambda: setattr(sys, "stdout", io.StringIO()),
    "stdout around stdout": ends_a_stream,
    "stderr": lambda: setattr(sys, "stderr", io.StringIO()),
    "filters": lambda: warnings.simplefilter("error"),
    "showwarning": lambda: setattr(warnings, "showwarning", mine),
    "logging": sets_a_logger,
    "no logging": lambda: logging.disable(50),
    "random numbers": lambda: random.seed(3),
    "decimal and locale": lambda: (
        setattr(decimal.getcontext(), "prec", 7),
        locale.setlocale(locale.LC_NUMERIC, "C.UTF-8"),
    ),
    "the folder": lambda: os.chdir("/"),
    "the mask of files": lambda: os.umask(0o027),
    "the environment": lambda: os.environ.update(OF_MINE="1"),
    "a context variable": lambda: VARIABLE.set("mine"),
    "hooks": lambda: [setattr(sys, name, mine) for name in HOOKS],
    "a builtin": lambda: setattr(builtins, "print", mine),
    "an asyncio policy": lambda: asyncio.set_event_loop_policy(Policy()),
    "paths and modules": lambda: (
        "/mine" in sys.path or sys.path.append("/mine"),
        sys.modules.update(a_module_of_mine=sys),
    ),
    "limits of threads": lambda: (
        setattr(threading, "excepthook", mine),
        threading.stack_size(1 << 20),
        socket.setdefaulttimeout(3),
        sys.set_int_max_str_digits(1000),
    ),
    "tracemalloc": tracemalloc.start,
    "numpy": lambda: numpy and numpy.seterr(all="ignore"),
}


# What is set in one run: settings that leave each other alone. A tracer of the program's ends
# most records, so these come last or alone.
TOGETHER = (
    ("a handler of SIGINT", "a handler of SIGALRM", "what is blocked", "a collection"),
    ("no handler of SIGINT", "the handler of before", "no collection", "stderr", "random numbers"),
    (
        *("the collector's limits", "a callback of the collector", "the recursion limit"),
        *("the switch interval", "filters", "showwarning", "no logging", "decimal and locale"),
        *("the folder", "the mask of files", "the environment", "a context variable", "hooks"),
        *("an asyncio policy", "paths and modules", "limits of threads", "tracemalloc", "numpy"),
    ),
    ("stdout", "a builtin"),
    ("stdout around stdout", "logging"),
    ("no tracer", "a profiler of threads"),
    ("tracers of threads",),
    ("a tracer",),
    ("a profiler",),
)


def calls(name: str):
    return lambda fn: getattr(helpers, name)(fn)


def in_block(fn):
    with helpers.watching_ops() as seen:
        fn()
    return seen


def watch_costs(fn):
    return helpers.watch_costs(idle, {"a": fn})


def idle():
    return 1


OF_ONE_CALL = """
    watch_names watch_frames watch_stack watch_call watch_ops show_journey watch_hooked
"""
VERBS = {name: calls(name) for name in OF_ONE_CALL.split()}
VERBS |= {
    "watch_calls": lambda fn: helpers.watch_calls({"a": fn}),
    "watch_callers": lambda fn: helpers.watch_callers(
        {"r": fn}, lambda route: str(route()), {"i": nullcontext}
    ),
    "watching_ops": in_block,
    "watch_mutations": lambda fn: helpers.watch_mutations(
        {"a": fn}, ways={"plain": lambda run: run}
    ),
}
VERBS |= {"watch_costs": watch_costs, "watch_tracers": calls("watch_tracers")}


def in_fork(run) -> object:
    """Return what `run` returns in a fork."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            found = run()
        except BaseException as error:
            found = f"{type(error).__name__}: {error}"
        with os.fdopen(writing, "w") as out:
            json.dump(found, out, default=str)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as said:
        words = said.read()
    os.waitpid(child, 0)
    return json.loads(words or '"died"')


def set_all(settings) -> None:
    for name in settings:
        SETTINGS[name]()

"""Run by test_settings_of_a_call.py: programs that set something of their process, or ask for it.

`python -m tests.safety.settings_programs` prints a line of JSON for each program and verb: what
stood in the call and after it, in a plain run and in a watched one. Each run has its own fork.
"""

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

import helpers

VARIABLE = contextvars.ContextVar("VARIABLE", default="unset")
SIGNALS = signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGALRM
HOOKS = "excepthook displayhook unraisablehook breakpointhook".split()
BUILTINS = "print open __import__ input".split()
HEARING = "a partial"  # by which a recorder of calls hears the collector while it is at work
SEEN: deque[dict] = deque()  # what stood while a call ran


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
        "folder": os.getcwd(),
        "environment": dict(os.environ),
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
    "the handler of before": lambda: signal.signal(
        signal.SIGUSR1, signal.signal(signal.SIGUSR1, mine)
    ),
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
    "decimal": lambda: setattr(decimal.getcontext(), "prec", 7),
    "the folder": lambda: os.chdir("/"),
    "the environment": lambda: os.environ.update(OF_MINE="1"),
    "a context variable": lambda: VARIABLE.set("mine"),
    "hooks": lambda: [setattr(sys, name, mine) for name in HOOKS],
    "a builtin": lambda: setattr(builtins, "print", mine),
    "an asyncio policy": lambda: asyncio.set_event_loop_policy(Policy()),
    "paths and modules": lambda: (
        sys.path.append("/mine"),
        sys.modules.update(a_module_of_mine=sys),
    ),
    "limits of threads": lambda: (
        setattr(threading, "excepthook", mine),
        threading.stack_size(1 << 20),
        socket.setdefaulttimeout(3),
        sys.set_int_max_str_digits(1000),
    ),
    "tracemalloc": tracemalloc.start,
}


def calls(name: str):
    return lambda fn: getattr(helpers, name)(fn)


def in_block(fn):
    with helpers.watching_ops():
        fn()


def watch_costs(fn):
    helpers.watch_costs(idle, {"a": fn})


def idle():
    return 1


VERBS = {name: calls(name) for name in "watch_names watch_frames watch_stack".split()}
VERBS |= {name: calls(name) for name in "watch_call watch_ops show_journey".split()}
VERBS |= {
    "watch_calls": lambda fn: helpers.watch_calls({"a": idle, "b": fn}),
    "watch_callers": lambda fn: helpers.watch_callers(
        {"r": fn}, lambda route: str(route()), {"i": lambda: __import__("contextlib").nullcontext()}
    ),
    "watching_ops": in_block,
    "watch_hooked": calls("watch_hooked"),
    "watch_mutations": lambda fn: helpers.watch_mutations(
        {"a": fn}, ways={"plain": lambda run: run}
    ),
}
COSTLY = {"watch_costs": watch_costs, "watch_tracers": calls("watch_tracers")}


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


def observed(act, setting, is_before: bool) -> dict:
    """Return what stands in and after a call whose body sets this, or before which it was set."""

    def body():
        SEEN.append(standing())
        if not is_before:
            setting()
            SEEN.append(standing())

    random.seed(0)
    sys.stdout = os.fdopen(os.dup(1), "w")
    if is_before:
        setting()
    raised = ""
    try:
        act(body)
    except BaseException as error:
        raised = f"{type(error).__name__}: {error}"
    after = standing()
    return {"raised": raised, "in it": SEEN[0], "set": SEEN[not is_before], "after": after}


def cases(names):
    for verb, act in (VERBS | COSTLY).items():
        if names and verb not in names:
            continue
        for setting in SETTINGS:
            for is_before in (False, True):
                yield verb, act, setting, is_before


def main(*names: str) -> None:
    plain = {}
    for verb in VERBS | COSTLY:
        getattr(helpers, verb)
    helpers.watch_hooked(lambda: 1)
    null = os.open(os.devnull, os.O_WRONLY)
    out = os.fdopen(os.dup(1), "w")
    os.dup2(null, 1)
    for verb, act, setting, is_before in cases(names):
        sets = SETTINGS[setting]
        if (setting, is_before) not in plain:
            plain[setting, is_before] = in_fork(lambda: observed(lambda fn: fn(), sets, is_before))
        watched = in_fork(lambda: observed(act, sets, is_before))
        case = {"verb": verb, "setting": setting, "is before": is_before}
        print(
            json.dumps({**case, "plain": plain[setting, is_before], "watched": watched}), file=out
        )
        out.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])

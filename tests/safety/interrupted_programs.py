"""Run by test_interrupts.py: verbs watch programs that never end, and SIGINT comes at a moment.

A program: `python -m tests.safety.interrupted_programs GROUP`. It prints a line of JSON for each
case: what was drawn, what was raised, and what of the interpreter is another than before.
"""

import contextlib
import gc
import io
import itertools
import json
import math
import os
import signal
import sys
import threading
import time
import traceback

import helpers
from helpers.capture.cpython.costs import ROUND
from helpers.capture.frameworks import call_interceptions
from helpers.safety.restoring import RESTORED_PARTS

MOMENTS = (0.0, 0.003, 0.05, 0.31)  # seconds after the program has begun
EVERY = "COURSE_SAMPLES" in os.environ  # each program at each moment, else at one of them
BEGUN = threading.Event()
ONE = {"i": contextlib.nullcontext}


def loop():
    n = 0
    BEGUN.set()
    while True:
        n += 1


def calls_of_compiled_code():
    x = 2.0
    BEGUN.set()
    while True:
        x = math.sqrt(x) + 1


def short_sleeps():
    BEGUN.set()
    while True:
        time.sleep(0.001)


def long_sleeps():
    BEGUN.set()
    while True:  # a signal that comes just before a sleep is heard after it, in a plain run, too
        time.sleep(5)


def endless_numbers():
    n = 0
    while True:
        n += 1
        yield n


def generator():
    BEGUN.set()
    for each in endless_numbers():
        each + 1


class Slow:
    """An object whose repr is code of a user, and takes long."""

    def __repr__(self):
        return str(sum(range(20_000)))


def slow_values():
    BEGUN.set()
    while True:
        value = Slow()
        str(value)


def many_calls():
    BEGUN.set()
    while True:
        for each in range(3):
            abs(each)
        inner(1)


def inner(n):
    return [n, (n, {"n": n})]


PROGRAMS = (
    *(loop, calls_of_compiled_code, short_sleeps, long_sleeps, generator, slow_values),
    many_calls,
)


def fine(*args):
    return 1


def then(endless, after: int = 1, first=fine):
    """Return a function whose first calls end, and no later one."""
    left = iter(range(after))  # which no verb sets back

    def ends_at_first(*args):
        if next(left, None) is None:
            endless()
        return first(*args)

    return ends_at_first


def on_a_machine() -> dict:
    from helpers.mini import vm

    return {"watch_stack": lambda fn: helpers.watch_stack(vm.Machine().run, fn)}


def routes(endless):
    run = then(endless)
    return helpers.watch_routes(fine, loop, {"r": run}, {"r": lambda: fine}, ONE)


IN_PYTHON = {
    "watch_names": helpers.watch_names,
    "watch_frames": helpers.watch_frames,
    "watch_stack": helpers.watch_stack,
    "watch_hooked": helpers.watch_hooked,
    "watch_callers": lambda fn: helpers.watch_callers({"r": then(fn)}, lambda r: str(r()), ONE),
    "watch_routes": routes,
    "watch_specialising": lambda fn: helpers.watch_specialising(
        lambda run: run(), {"a": (fine,), "b": (then(fn, 3),)}, times=8
    ),
    "watch_costs": lambda fn: helpers.watch_costs(fine, {"a": after_rounds(fn)}),
    "watch_tracers": lambda fn: helpers.watch_tracers(after_rounds(fn, 13)),
    "show_journey": helpers.show_journey,
}


def after_rounds(endless, rounds: int = 2):
    """Return an action that takes as long as a round of `watch_costs`; the last never ends."""
    run = then(endless, rounds, lambda: time.sleep(ROUND * 1.1))
    return lambda: run()


def in_torch() -> dict:
    import torch
    import torch._dynamo

    x = torch.ones(2)

    def first_an_op(fn):
        def runs(*args):
            torch.nn.functional.relu(x) + 1
            fn()

        return runs

    def broken(fn):
        def runs(x):
            x = x + 1
            print("a graph break")
            torch._dynamo.graph_break()
            torch.compiler.disable(fn)()
            return x + 1

        return runs

    def in_block(name, run):
        with getattr(helpers, name)():
            run()

    def block_of_compiles(fn, name):
        in_block(name, lambda: torch.compile(broken(fn), backend="eager")(x))

    def last_a_call(fn):
        run = then(fn)

        def runs():
            run()
            torch.nn.functional.relu(x)

        return runs

    def calls_it(fn):
        def runs():
            torch.nn.functional.relu(x)
            fn()

        return runs

    def live(fn):
        step = helpers.watch_recompiles(broken(fn), backend="eager")
        step(x)

    def guards(fn):
        run = then(fn, 2)
        accepts = lambda x: bool(run()) or True  # noqa: E731
        return helpers.watch_guard_sets(lambda x: x + 1, x, guard_sets={"mine": accepts})

    def fixes(fn):
        good = lambda x: x + 1  # noqa: E731
        return helpers.watch_fixes({"a": (good, good), "b": (broken(fn), broken(fn))}, x)

    return {
        "watch_ops": lambda fn: helpers.watch_ops(first_an_op(fn)),
        "watch_call": lambda fn: helpers.watch_call(calls_it(fn)),
        "watch_calls": lambda fn: helpers.watch_calls({"a": fine, "b": then(fn)}),
        "show_journey": lambda fn: helpers.show_journey(first_an_op(fn)),
        "watch_compile": lambda fn: helpers.watch_compile(broken(fn), x),
        "watch_breaks": lambda fn: helpers.watch_breaks(broken(fn), x),
        "watch_rewriting": lambda fn: helpers.watch_rewriting(broken(fn), x),
        "watch_fixes": fixes,
        "watch_guard_sets": guards,
        "watch_recompiles": live,
        "watching_ops": lambda fn: in_block("watching_ops", first_an_op(fn)),
        "watching_breaks": lambda fn: block_of_compiles(fn, "watching_breaks"),
        "watching_recompiles": lambda fn: block_of_compiles(fn, "watching_recompiles"),
    }


def in_tensorflow() -> dict:
    import tensorflow as tf

    x = tf.constant(1.0)

    def first_an_op(fn):
        def runs(*args):
            tf.negative(x)
            fn()

        return runs

    def in_block(name, run):
        with getattr(helpers, name)():
            run()

    def traces(fn):
        tf.function(lambda x: x + 1)(x)
        tf.function(lambda x: fn(), autograph=False)(x)

    def live(fn):
        step = helpers.watch_traces(then(fn), autograph=False)
        step(1)
        step(2)

    def race(fn):
        def program(v, one):
            BEGUN.set()
            return v + one

        return helpers.watch_race(program, runs=100_000)

    def variables(fn):
        programs = {"a": lambda v, one: v + one, "b": lambda v, one: fn()}
        return helpers.watch_variables(programs, runs=2)

    return {
        "watch_ops": lambda fn: helpers.watch_ops(first_an_op(fn)),
        "watch_call": lambda fn: helpers.watch_call(then_calls(tf, x, fn)),
        "watch_mutations": lambda fn: helpers.watch_mutations({"a": fine, "b": then(fn)}),
        "watch_race": race,
        "watch_variables": variables,
        "watch_traces": live,
        "watching_ops": lambda fn: in_block("watching_ops", first_an_op(fn)),
        "watching_traces": lambda fn: in_block("watching_traces", lambda: traces(fn)),
    }


def then_calls(tf, x, endless):
    """Return a function that calls TensorFlow, and then never ends."""

    def runs():
        tf.negative(x)
        endless()

    return runs


GROUPS = {
    "python": lambda: IN_PYTHON,
    "machine": on_a_machine,
    "torch": in_torch,
    "tensorflow": in_tensorflow,
}


def press(moment: float) -> None:
    BEGUN.wait()
    time.sleep(moment)
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


def state() -> list:
    """Return what a verb must leave as it was."""
    taken = call_interceptions.find_in_frameworks()  # the names in all modules take long
    kept = [repr(one.read()) for one in RESTORED_PARTS if "std" not in one.name]
    handler = signal.getsignal(signal.SIGINT)
    return [taken, kept, repr(handler), gc.isenabled(), threading.active_count()]


def interrupted(verb, program, moment: float) -> dict:
    """Return what came of one case."""
    BEGUN.clear()
    before, drawn, out = state(), io.StringIO(), sys.stdout
    thread = threading.Thread(target=press, args=(moment,))
    thread.start()
    sys.stdout = drawn
    raised, frames = "nothing", []
    try:
        verb(program)
    except BaseException as error:
        raised = type(error).__name__
        if raised != "KeyboardInterrupt":
            raised = traceback.format_exc()
        frames = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    is_same_stream, sys.stdout = sys.stdout is drawn, out
    thread.join()
    after = state()
    changed = [f"{a} -> {b}" for a, b in zip(before, after, strict=True) if a != b]
    return {"raised": raised, "frames": frames, "drawn": drawn.getvalue(), "changed": changed} | {
        "stream": is_same_stream
    }


def cases(group: str):
    """Yield (name of a verb, verb, program, moment) of a group, its frameworks loaded."""
    verbs = GROUPS[group]()
    programs = {"python": PROGRAMS, "machine": (long_sleeps,)}
    programs = programs.get(group, (loop, long_sleeps, many_calls))
    pairs = itertools.cycle(itertools.product(programs, MOMENTS))
    shares = len(programs) if group == "python" else 1
    for name, verb in verbs.items():
        some = itertools.product(programs, MOMENTS) if EVERY else itertools.islice(pairs, shares)
        for program, moment in some:
            yield name, verb, program, moment


def main(group: str, *names: str) -> None:
    """Print what came of the cases of a group, or of some of its verbs."""
    for name, verb, program, moment in cases(group):
        if not names or name in names:
            found = interrupted(verb, program, moment)
            case = {"verb": name, "program": program.__name__, "moment": moment}
            print(json.dumps(case | found), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

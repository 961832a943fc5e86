"""Any builtin can be rebound and comes back, with none of our own names patched."""

import builtins
import signal
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import pytest

from helpers.capture.references.holder_search import find_holders
from helpers.capture.references.rebind import code_swapped, rebind_everywhere
from helpers.safety.with_blocks import Gate

# The whole heap is looked through: here it is that of a fresh interpreter, without frameworks.
pytestmark = pytest.mark.own_process(sharing="a_small_heap")

CHILD = """
import builtins, contextlib, dataclasses, dis, fnmatch, functools, gc, inspect, operator, random
import re, signal, sys, threading, types, warnings, weakref, _signal, _thread

from helpers.capture.references.rebind import rebind_everywhere
from helpers.capture.references.holder_search import find_holders

class Stop(Exception): pass
def raising(*args, **kwargs): raise Stop
def nonsense(*args, **kwargs): return "nonsense"
def victim(): return 1
def other(): return 2

FUNCTIONS = (types.BuiltinFunctionType, types.FunctionType)
MODULES = (builtins, gc, operator, functools, contextlib, dataclasses, inspect, re, fnmatch, dis)
MODULES += (signal, _signal, sys, threading, _thread, weakref, warnings)
known = [
    (f"{m.__name__}.{n}", f) for m in MODULES for n, f in vars(m).items() if type(f) in FUNCTIONS
]
mine = [pair for pair in known if pair[0].startswith("builtins.")]
mine += random.Random(7).sample(known, 25)
gc.collect()
gc.freeze()
space, wrong = dict(vars(builtins)), []
write = sys.stdout.write
for name, old in mine:
    for new in (raising, nonsense):
        before = len(find_holders(old))
        try:
            with rebind_everywhere(old, new) as outer:
                with rebind_everywhere(victim, other):
                    inside = victim()
        except BaseException as error:
            wrong.append((name, repr(error)))
            continue
        after = len(find_holders(old))
        if inside != 2 or victim() != 1 or after != before or outer.leftover:
            wrong.append((name, before, after))
        if any(vars(builtins).get(key) is not value for key, value in space.items() if key != "_"):
            wrong.append((name, "builtins"))
write(f"{len(mine)} {wrong}")
"""


def test_each_builtin_and_many_others_come_back_from_a_replacement_that_raises():
    child = subprocess.run(
        [sys.executable, "-c", CHILD],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    count, _, wrong = child.stdout.partition(" ")
    assert wrong == "[]", child.stdout + child.stderr[-2000:]
    assert int(count) > 60


def bad(*args):
    return 1 / 0


def op():
    return "old"


def new():
    return "new"


def blocks():
    with rebind_everywhere(len, bad), code_swapped(op, new):
        total = 0
        for n in (1,) * 200:
            total += n
        with rebind_everywhere(isinstance, bad):
            total += 1
    return total


@pytest.mark.usefixtures("small_heap")
@pytest.mark.parametrize("seed", range(2))
def test_interrupts_at_random_moments_leave_everything_as_it_was(seed):
    import random

    dice, main = random.Random(seed), threading.main_thread().ident
    handler, real = signal.getsignal(signal.SIGINT), (len, isinstance)
    blocks()
    start = time.perf_counter()
    blocks()
    whole = time.perf_counter() - start
    for _ in range(50):
        shot = threading.Thread(target=shoot, args=(main, dice.random() * 1.1 * whole))
        try:
            shot.start()
            blocks()
            shot.join()
            time.sleep(0.001)
        except KeyboardInterrupt:
            shot.join()
        assert (builtins.len, builtins.isinstance) == real
        assert op() == "old"
        assert signal.getsignal(signal.SIGINT) is handler


def shoot(main, seconds, sleep=time.sleep, kill=signal.pthread_kill, number=signal.SIGINT):
    sleep(seconds)
    kill(main, int(number))


def test_a_handler_that_does_not_raise_lets_the_block_go_on(monkeypatch):
    came = []
    before = signal.signal(signal.SIGINT, lambda *_: came.append(1))
    try:
        with code_swapped(op, new):
            signal.raise_signal(signal.SIGINT)
            assert op() == "new"
    finally:
        assert type(signal.getsignal(signal.SIGINT)) is types.FunctionType
        signal.signal(signal.SIGINT, before)
    assert came == [1]


def test_blocks_left_in_the_wrong_order_leave_no_handler_behind():
    before = signal.getsignal(signal.SIGINT)
    one, other = code_swapped(op, new), code_swapped(bad, new)
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert type(signal.getsignal(signal.SIGINT)) is Gate
    other.__exit__(None, None, None)
    assert signal.getsignal(signal.SIGINT) is before
    assert op() == "old"


@pytest.mark.parametrize("ending", [SystemExit, GeneratorExit, KeyboardInterrupt])
def test_a_setter_that_ends_the_run_does_not_keep_the_others_from_coming_back(ending, monkeypatch):
    class Leaving(types.ModuleType):
        def __setattr__(self, name, value):
            if value is stage.op:
                raise ending
            super().__setattr__(name, value)

    stage, leaving = types.ModuleType("stage"), Leaving("zz_leaving")
    exec("def op(): pass\ndef new(): pass", vars(stage))
    vars(leaving)["go"], stage.alias, old = stage.op, stage.op, stage.op
    monkeypatch.setitem(sys.modules, "stage", stage)
    monkeypatch.setitem(sys.modules, "zz_leaving", leaving)
    with pytest.raises(ending), rebind_everywhere(old, stage.new, search="scan"):
        pass
    assert stage.op is stage.alias is old


def test_what_puts_everything_back_cannot_be_rebound_itself():
    from helpers.capture.references import heap

    with pytest.raises(ValueError, match="is a part of what puts everything back"):
        rebind_everywhere(heap.is_a, bad)
    with pytest.raises(ValueError, match="is a part of what puts the code back"):
        code_swapped(heap.is_a, bad)


def test_names_of_our_own_are_told_and_left(small_heap):
    from operator import is_

    with rebind_everywhere(is_, bad) as rebinding:
        ours = [
            row for row in rebinding.left if row.owner == "helpers.capture.references.holder_search"
        ]
    assert ours and {row.reason for row in ours} == {"what puts everything back relies on it"}
    assert "what puts everything back relies on it" in repr(rebinding)


def test_no_crowd_is_too_large_to_be_rebound(monkeypatch):
    stage = types.ModuleType("stage")
    exec("def op(): pass\ndef new(): pass\ncrowd = [[op] for _ in range(3000)]", vars(stage))
    monkeypatch.setitem(sys.modules, "stage", stage)
    old = stage.op
    with rebind_everywhere(old, stage.new) as rebinding:
        assert all(held[0] is stage.new for held in stage.crowd)
    assert len(rebinding.changed) == 3001 and rebinding.left == ()
    assert all(held[0] is old for held in stage.crowd)
    assert len(find_holders(old)) == 3001


def test_a_thread_that_holds_it_and_a_generator_that_waits_go_on_with_what_they_began():
    def source():
        yield "old"
        yield "old"

    def donor():
        yield "new"

    waiting = source()
    next(waiting)
    with code_swapped(source, donor):
        assert next(waiting) == "old" and next(source()) == "new"
    seen, go = [], threading.Event()

    def work(held=op):
        go.wait()
        seen.append(held())

    thread = threading.Thread(target=work)
    thread.start()
    with rebind_everywhere(op, new, search="scan"):
        go.set()
        thread.join()
    assert seen == ["old"]


@pytest.mark.parametrize(
    ("path", "pattern", "fits"),
    [
        ("a.b[0]", "a.*", True),
        ("a.b[0]", "a.b[0]", True),
        ("a.b", "a.?", True),
        ("a.b", "*", True),
        ("a.b", "b*", False),
        ("aXbXc", "a*b*c", True),
        ("aXbXc", "a*c*b", False),
        ("", "", True),
        ("a", "", False),
        ("", "**", True),
    ],
)
def test_patterns_of_paths(path, pattern, fits):
    from helpers.capture.references import refusals

    assert refusals.fits(path, pattern) is fits


@pytest.mark.parametrize("asked", [3, None, [3], {"a": 1}, object(), [["a"]]])
@pytest.mark.parametrize("name", ["keep", "only"])
def test_what_is_no_path_is_refused(name, asked):
    with pytest.raises(TypeError, match=f"{name} is a path such as"):
        rebind_everywhere(op, new, **{name: asked})


@pytest.fixture(autouse=True)
def _quiet(monkeypatch):
    """Keep pytest's own hook out: it calls builtins, and these tests replace them."""
    monkeypatch.setattr(sys, "unraisablehook", lambda *_: None)

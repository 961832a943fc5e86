"""Frames seen through the hook, the evaluator in one picture, and what kills a child."""

import importlib
import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from helpers import show_evaluator, watch_hooked, watch_specialising
from helpers.capture.cpython.hooked_frames import OF_TRACERS, record_hooked_frames
from helpers.capture.cpython.unseen_frames import STARTERS
from helpers.mini import frame_hook

pytestmark = pytest.mark.own_process


def square(n):
    return n * n


def total(n):
    return sum(square(i) for i in range(n))


def fall(n):
    return 0 if n == 0 else 1 + fall(n - 1)


def grow(items, settings):
    items.append(len(items))
    settings["k"] = 1


def boom(n):
    raise ValueError("on purpose")


def calls(n):
    for i in range(n):
        square(i)


@pytest.mark.needs("c-compiler")
def test_frames_are_told_in_order_with_depth_and_count():
    seen = watch_hooked(total, 3).model
    squares = [("square", 2, n) for n in (1, 2, 3)]
    found = [(row.name, row.depth, row.nth) for row in seen.rows]
    assert found == [("total", 0, 1), ("<genexpr>", 1, 1), *squares]
    assert seen.rows[-1].arguments == "n=2"
    assert seen.count("square") == 3 and seen.count("nobody") == 0


def follow(frame, event, argument):
    square(0)
    return follow_lines


def follow_lines(frame, event, argument):
    square(0)
    return follow_lines


class Follower:
    """A tracer that is an object."""

    def __call__(self, frame, event, argument):
        square(0)
        return self.lines

    def lines(self, frame, event, argument):
        square(0)
        return self.lines


TRACERS = {
    "a function": (sys.settrace, follow),
    "an object": (sys.settrace, Follower()),
    "a method": (sys.settrace, Follower().lines),
    "a partial": (sys.settrace, partial(follow)),
    "a profiler": (sys.setprofile, follow),
}


@pytest.mark.needs("c-compiler")
@pytest.mark.parametrize(("switch", "tracer"), TRACERS.values(), ids=TRACERS)
def test_frames_of_a_tracer_of_the_program_are_no_frames_of_the_call(switch, tracer):
    def rows_of(**options):
        before = sys.gettrace()
        switch(tracer)
        try:
            return record_hooked_frames(total, 3, **options)
        finally:
            switch(None)
            sys.settrace(before)

    alone, followed, asked = record_hooked_frames(total, 3), rows_of(), rows_of(only=square)
    assert (followed.rows, followed.counts) == (alone.rows, alone.counts)
    assert OF_TRACERS in followed.note and OF_TRACERS not in alone.note + asked.note
    assert asked.count("square") > 3


@pytest.mark.needs("c-compiler")
def test_only_what_was_asked_is_told(refused):
    seen = watch_hooked(total, 3, only=square).model
    assert {row.name for row in seen.rows} == {"square"} and seen.rows[0].depth == 2
    refused(TypeError, r"only of watch_hooked .*len\(\)", watch_hooked, total, 3, only=[len])


def test_arguments_are_told_as_they_were_before_the_call():
    told = record_hooked_frames(grow, [], settings={})
    assert "grow([], settings={})" in told.title


def test_what_the_run_raises_is_told():
    assert "ValueError: on purpose" in record_hooked_frames(boom, 1).note
    deep = record_hooked_frames(fall, 10**6)
    assert "RecursionError" in deep.note and deep.count("fall") > 300
    with pytest.raises(KeyboardInterrupt):
        watch_hooked(lambda: (_ for _ in ()).throw(KeyboardInterrupt))


@pytest.mark.parametrize("thing", [len, 3, None])
def test_what_has_no_frame_is_refused(thing, refused):
    for verb in (watch_hooked, show_evaluator):
        refused(TypeError, f"^{verb.__name__} ", verb, thing)


@pytest.mark.needs("c-compiler")
def test_evaluator_is_told_from_the_interpreter():
    before = show_evaluator(total).model
    with frame_hook.watching(lambda code, arguments: None):
        during = show_evaluator(total).model
    after = show_evaluator(total).model
    assert before == after and before.node("evaluator 0").label == "_PyEval_EvalFrameDefault"
    assert during.node("evaluator 0").label == "evaluate"
    assert during.targets("evaluator 0") == ("evaluator 1",)
    assert during.node("evaluator 1").label == "_PyEval_EvalFrameDefault"


def test_specialised_calls_fall_back_under_a_hook_and_return():
    stages = {"alone": (9,), "hooked": (9,), "alone again": (9,)}
    hook = {"hooked": lambda: frame_hook.watching(lambda code, arguments: None, only=[total])}
    rows = watch_specialising(calls, stages, inside=hook).model.rows
    call = next(row for row in rows if "CALL_PY_" in row.stage_1)
    assert call.stage_2 and "CALL_PY_" not in call.stage_2 and call.stage_3 == call.stage_1
    told = watch_specialising(calls, stages, inside=hook, changed=True).model
    assert call.offset in [row.offset for row in told.rows] and len(told.rows) < len(rows)
    assert "cache entries" not in [column.heading for column in told.columns]
    with pytest.raises(KeyError, match="inside .*nowhere"):
        watch_specialising(calls, stages, inside={"nowhere": lambda: None})


def test_beside_an_earlier_picture_what_has_come_since_is_marked():
    before = show_evaluator(square)
    quiet = show_evaluator(square, before=before)
    assert not [node for node in quiet.model.nodes if "new" in node.kind]
    with frame_hook.watching(lambda code, values: None, only=[square]):
        during = show_evaluator(square, before=before)
    new = [node.label for node in during.model.nodes if "new" in node.kind]
    assert len(new) == 1 and new[0].startswith("+ ")
    old = [node for node in during.model.nodes if node.key.startswith("before|")]
    assert len(old) == len(before.model.nodes) + 1


def in_a_thread(n):
    thread = threading.Thread(target=square, args=(n,))
    thread.start(), thread.join()
    return square(n)


def in_a_pool(n):
    with ThreadPoolExecutor(1) as pool:
        return [*pool.map(square, range(n))]


def beside_an_error(n):
    threading.Thread(target=square, args=(n,)).start()
    raise ValueError("on purpose")


def compiled(x):
    import torch

    return torch.compile(square, backend="eager")(x)


def traced(x):
    import tensorflow as tf

    return tf.function(branching)(tf.constant(x))


def branching(x):
    return x if x > 0 else square(x)


# Function -> how many threads it starts, whose frames the hook does not see.
STARTED = {total: 0, in_a_thread: 1, in_a_pool: 1, beside_an_error: 1}


@pytest.mark.needs("c-compiler")
@pytest.mark.parametrize("fn", STARTED, ids=lambda fn: fn.__name__)
def test_what_the_hook_does_not_see_is_told_where_it_happened(fn):
    before = {name: vars(threading)[name] for name in STARTERS if hasattr(threading, name)}
    told = record_hooked_frames(fn, 2)
    assert re.findall(r"(\d+) thread", told.note) == ["1"] * STARTED[fn]
    assert before == {name: vars(threading)[name] for name in before}


@pytest.mark.needs("c-compiler")
def test_code_that_torch_makes_is_told_not_to_be_seen():
    torch = pytest.importorskip("torch")
    importlib.import_module("torch._dynamo")
    told = watch_hooked(compiled, torch.ones(2)).model
    assert told.count("square") == 0
    assert "torch.compile" in told.note and "1 call" in told.note


@pytest.mark.needs("c-compiler")
def test_copies_by_autograph_are_told_not_to_be_seen():
    pytest.importorskip("tensorflow")
    told = watch_hooked(traced, 1.0).model
    assert told.count("branching") == 0
    assert "AutoGraph" in told.note


@pytest.mark.needs("c-compiler")
def test_what_the_run_puts_in_place_of_a_starter_stays(monkeypatch):
    name = next(name for name in STARTERS if hasattr(threading, name))
    real = vars(threading)[name]
    mine = lambda *args, **kwargs: real(*args, **kwargs)  # noqa: E731
    monkeypatch.setattr(threading, name, real)
    watch_hooked(lambda: setattr(threading, name, mine))
    assert vars(threading)[name] is mine

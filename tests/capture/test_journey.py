"""What a journey counts is what others count of the same call, for each kind of function."""

import functools
import io
import logging
import random
import re
import sys
import textwrap
from cProfile import Profile

import numpy as np
import pytest
import torch
import torch._dynamo
from torch._dynamo.utils import counters

from helpers import show_journey, would_trace
from helpers.capture.frameworks import journey_hooks, journey_recorder
from helpers.capture.frameworks.call_tree import record_call_tree
from helpers.capture.frameworks.executed_ops import record_ops
from helpers.capture.frameworks.journey import (
    FAULT,
    NO_TIME,
    ONLY_A_GENERATOR,
    build_journey,
)
from helpers.mini import frame_hook
from tests import pythons

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")
RATE = 2.0
A, T = tf.ones((2, 2)), torch.ones(2, 2)


def total(n):
    found = 0
    for i in range(n):
        found += scaled(i)
    return found


def scaled(i):
    return i * RATE


def in_numpy(x):
    return np.tanh(x @ x) + RATE


def in_tf(x):
    return tf.nn.relu(tf.matmul(x, x)) + RATE


def in_torch(x):
    return torch.relu(torch.nn.functional.linear(x, x)) + RATE


def both(fn, *args, **kwargs):
    model = show_journey(fn, *args, **kwargs).model
    return model.first, model.again


def different_lines(passage):
    """Return how many different lines ran, which only the sentence of a passage says."""
    return int(re.match(r"(\d+) of your lines\b|", passage.ran)[1] or 0)


def entered(fn, *args) -> dict[str, int]:
    """Return name -> frames of the functions of this module in one call, as cProfile counts."""
    profile = Profile()
    profile.enable()
    try:
        fn(*args)
    finally:
        profile.disable()
    codes = {entry.code: entry.callcount for entry in profile.getstats()}
    own = [code for code in codes if getattr(code, "co_filename", "") == __file__]
    return {code.co_name: codes[code] for code in own}


def test_python_passes_two_stations_and_both_calls_are_the_same():
    model = show_journey(total, 3).model
    assert model.first == model.again
    assert model.first.passed == ("name", "frame")
    assert model.first.count("frames") == sum(entered(total, 3).values()) == 4
    # `range` once, `scaled` and `RATE` in each round; `+=` and `*` in each round
    assert model.first.count("names") == 1 + 3 + 3 and model.first.count("operators") == 6
    assert model.first.count("frames of others") == 0


def test_numpy_goes_to_c_inside_an_instruction():
    _, again = both(in_numpy, np.ones((2, 2)))
    assert again.passed[:2] == ("name", "frame") and "registry" not in again.passed
    assert again.count("operators") == 2
    bare = show_journey(lambda x: x @ x, np.ones((2, 2))).model.again
    assert bare.passed == ("frame",) and bare.count("operators") == 1


def test_c_calls_of_the_learner_s_frames_are_counted():
    first, _ = both(lambda words: [words.upper(), len(words), sorted(words)], "ba")
    assert first.count("C calls") == 3 and "str.upper, len, sorted" in first.stop("C call").words


def test_eager_tensorflow():
    first, again = both(in_tf, A)
    assert again.passed == ("name", "frame", "registry", "C call")
    assert again.ops == record_ops(in_tf, A).ops and again.count("ops") == 3
    tree, door = record_call_tree(in_tf, A), "TFE_Py_FastPathExecute"
    assert f"{door} ×{tree.count(door)}" in again.stop("C call").words
    assert again.count("C calls") == sum(call.c for call in tree.calls)
    of_tensorflow = sum(not call.c for call in tree.calls)
    assert f"{of_tensorflow} of TensorFlow's" in again.stop("frame").words
    assert "CPU, float32" in again.stop("registry").words


def test_tf_function_traces_and_then_finds_its_graph():
    fn = tf.function(in_tf)
    assert would_trace(fn, A).verdict == "trace"
    before = fn.experimental_get_tracing_count()
    first, again = both(fn, A)
    assert fn.experimental_get_tracing_count() - before == first.count("traces") == 1
    assert again.count("traces") == 0 and first.count("keys") == again.count("keys") == 1
    assert would_trace(fn, A).verdict == "hit"
    assert first.passed == ("name", "cache key", "frame", "registry", "C call")
    assert again.passed == ("cache key", "registry", "C call")
    assert again.count("frames") == again.count("names") == 0
    assert again.stop("cache key").brief == "graph found"
    graph = fn.get_concrete_function(A).graph
    assert first.count("nodes") == len(graph.get_operations())
    assert "MatMul, Relu, AddV2" in again.stop("registry").words
    assert record_call_tree(fn, A).count("TFE_Py_Execute") == 1
    assert again.stop("C call").words.startswith("TFE_Py_Execute; ")


def test_eager_torch():
    first, again = both(in_torch, T)
    assert again.passed == ("name", "frame", "registry", "C call")
    assert (
        again.ops == record_ops(in_torch, T).ops == ("aten.t", "aten.mm", "aten.relu", "aten.add")
    )
    assert again.count("frames") == sum(entered(in_torch, T).values()) == 1
    assert again.count("C calls") == sum(call.c for call in record_call_tree(in_torch, T).calls)
    assert again.count("frames of others") == sum(
        not c.c for c in record_call_tree(in_torch, T).calls
    )


def test_compiled_torch_translates_once_and_then_finds_its_entry():
    torch._dynamo.reset()
    ran, given = [], []

    def backend(graph, examples):
        given.append(graph)
        return lambda *args: ran.append(1) or graph.forward(*args)

    fn = torch.compile(in_torch, backend=backend)
    before = counters["stats"]["unique_graphs"]
    first, again = both(fn, T)
    assert counters["stats"]["unique_graphs"] - before == len(given) == 1
    assert first.count("translated") == 1 and again.count("translated") == 0
    assert len(ran) == first.count("frames of Dynamo's") + again.count("frames of Dynamo's") == 2
    assert first.passed == again.passed == ("name", "frame", "evaluator", "registry", "C call")
    assert again.stop("evaluator").brief == "entry found"
    assert again.count("frames") == 1  # of the backend's lambda; no line of in_torch
    assert again.ops == ("aten.t", "aten.mm", "aten.relu", "aten.add")
    assert "__compiled_fn" in again.stop("name").words
    fn(T)
    assert len(given) == 1  # what was compiled while it was watched serves every call


def breaks_once(x):
    y = x + 1
    print(end="")
    return y * 2


def has_no_graph(n):
    print(end="")
    return n + 1


def ends_without_a_graph(x):
    x = x + 1
    print(end="")
    return 5


def calls_the_others(x):
    return breaks_once(x) * has_no_graph(3)


@pytest.mark.parametrize(
    ("fn", "given"),
    [(breaks_once, T), (has_no_graph, 3), (ends_without_a_graph, T), (calls_the_others, T)],
)
def test_as_many_new_code_objects_are_said_as_dynamo_made(fn, given):
    torch._dynamo.reset()
    first, again = both(torch.compile(fn, backend="eager"), given)
    made = [one() for one in torch._dynamo.convert_frame.output_codes.seen]
    many = sum(code.co_filename == __file__ for code in made)
    assert f"{many} new" in first.stop("evaluator").words
    assert first.count("translated") == many and again.count("translated") == 0
    assert "new" not in again.stop("evaluator").words


def by_ways(fn, *args, **kwargs):
    model = show_journey(fn, *args, ways=True, **kwargs).model
    return [model.by(way) for way in ("plain", "tf.function", "torch.compile")]


def test_one_function_is_called_by_three_ways_and_says_which_lines_ran():
    for value in (3.0, 3.0, np.ones((2, 2))):  # nothing is kept of the first time
        model = show_journey(two_lines, value, ways=True).model
        plain, graph, compiled = model.ways
        assert model.source.startswith("def two_lines(x):")
        assert plain.first.passed == plain.again.passed == ("name", "frame")
        assert different_lines(plain.first) == different_lines(plain.again) == 2
        assert graph.first.stop("frame").brief == "AutoGraph's copy"
        assert graph.first.stop("cache key").brief == "traced"
        assert graph.again.passed == ("cache key", "registry", "C call")
        assert graph.again.count("lines") == 0
        assert compiled.first.stop("evaluator").brief == "translated"
        assert compiled.again.stop("evaluator").brief == "entry found"
        assert compiled.first.count("lines") == compiled.again.count("lines") == 0
        assert [one.way for one in model.ways] == ["plain", "tf.function", "torch.compile"]


def two_lines(x):
    y = x * x
    return y * RATE


def test_lines_that_run_more_than_once_are_counted_once_and_their_steps_too():
    again = show_journey(total, 3).model.again
    assert (different_lines(again), again.count("lines")) == (5, 12)
    theirs = show_journey(textwrap.dedent, "a").model.again
    for sentence in (theirs.ran, theirs.instead, theirs.stop("frame").words):
        assert "textwrap's" in sentence and "your" not in sentence
    assert show_journey(sorted, [2, 1]).model.again.count("lines") == 0


@pytest.mark.parametrize("maker", [functools.cache, functools.lru_cache(maxsize=0)])
def test_a_cache_of_python_s_own_is_counted_as_it_counts_itself(maker):
    kept = maker(two_lines)
    first, again = both(kept, 3.0)
    counts, calls = kept.cache_info(), (first, again)
    assert sum(call.count("cache hits") for call in calls) == counts.hits
    assert sum(call.count("cache misses") for call in calls) == counts.misses
    assert counts.misses == (1 if maker is functools.cache else 2)
    assert first.passed == ("name", "cache key", "frame")
    assert different_lines(first) == 2 and first.stop("cache key").brief == "no answer"
    if again.count("cache hits"):
        assert again.passed == ("cache key",) and again.count("lines") == 0
        assert again.stop("cache key").brief == "answer found" and again.instead
    else:
        assert again == first


def test_a_cached_function_that_calls_itself_tells_each_answer():
    first, again = both(fibonacci, 5)
    assert (first.count("cache hits"), first.count("cache misses")) == (3, 6)
    assert first.count("frames") == 6 and again.count("frames") == 0


@functools.cache
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def test_a_cache_that_its_function_clears_and_one_that_refuses_are_told():
    @functools.cache
    def forgetful(x):
        forgetful.cache_clear()
        return x

    first, _ = both(forgetful, 1)
    assert first.count("cache hits") == 0 and different_lines(first) == 2
    unhashable, _ = both(functools.cache(two_lines), [1])
    assert unhashable.outcome.startswith("TypeError") and unhashable.count("lines") == 0


class Keeper:
    @functools.lru_cache  # noqa: B019 - the instance is the module's
    def double(self, n):
        return n * 2


KEEPER, HALVES = Keeper(), functools.lru_cache(lambda n: n / 2)
LENGTHS = functools.lru_cache(len)


def asks_a_global(n):
    return HALVES(n)


def asks_a_method(n):
    return KEEPER.double(n)


def asks_for_a_length(n):
    return LENGTHS("abc")


@pytest.mark.parametrize("fn", [asks_a_global, asks_a_method, asks_for_a_length])
def test_a_cache_that_your_lines_call_is_not_told_to_be_skipped(fn):
    first, again = both(fn, 3)
    found = [(call.count("cache hits"), call.count("cache misses")) for call in (first, again)]
    assert found == [(0, 1), (1, 0)]
    assert "cache key" in first.passed and "cache key" in again.passed


def clears_what_it_asked(n):
    HALVES(n)
    HALVES.cache_clear()


def test_what_a_cache_found_before_it_was_cleared_is_told_to_be_unknown():
    first, _ = both(clears_what_it_asked, 3)
    assert first.stop("cache key").brief == "not known"


class Net(keras.Sequential):
    def train_step(self, data):
        return {"loss": tf.reduce_sum(self(data[0]))}


def test_what_ran_to_be_traced_and_what_ran_plainly_are_told_apart():
    kept, net = tf.function(scaled, autograph=False), Net([keras.layers.Dense(1)])
    net.compile("sgd")
    copied = tf.function(lambda x: kept(x) + scaled(x))
    step, fit = both(net.train_on_batch, A, A), both(lambda: net.fit(A, A, verbose=0))[1]
    assert different_lines(step[0]) == 1 and "traced" in step[0].instead
    assert step[1].count("lines") == 0 and "traced" not in fit.instead
    some = both(lambda: tf.function(scaled, autograph=False)(A))[0].instead
    assert some.startswith("1 of your 2") and "traced" in some
    with_copy = both(copied, A)[0]
    assert different_lines(with_copy) == 1 and "AutoGraph's copy" in with_copy.ran


def test_what_a_way_raises_is_told_and_what_is_no_plain_function_refused():
    plain, graph, compiled = by_ways(in_torch, T)
    assert not plain.again.outcome and not compiled.again.outcome
    assert graph.again.outcome and graph.again.count("lines") > 0
    for fn in (tf.function(in_tf), torch.nn.ReLU(), len):
        with pytest.raises(TypeError, match="ways=True"):
            show_journey(fn, 1.0, ways=True)


def test_arguments_are_copied_and_flags_stay_what_they_are():
    array, seen = np.ones(2), []

    def change(x, double=False, *, name="a"):
        seen.append((type(double), name))
        return x * 2 if double else x

    by_ways(change, array, double=True, name="b")
    assert array.tolist() == [1, 1] and set(seen) == {(bool, "b")}


def test_a_way_without_its_framework_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    plain, graph, compiled = by_ways(two_lines, 3.0)
    assert graph.first.stops == () and graph.note.startswith("TensorFlow ")
    assert plain.again.ran and compiled.again.ran


def test_what_it_raises_is_told_with_what_was_passed_until_then():
    three = tf.ones((3, 3))
    first, again = both(lambda x: tf.matmul(tf.negative(x), three), A)
    assert first.outcome == again.outcome and first.outcome.startswith("InvalidArgumentError")
    assert again.ops == ("Neg",) and "C call" in again.passed
    assert "○ 5 registry ─ ○ 6 C call ─ ✕" in repr(show_journey(lambda: 1 / 0))
    frame_hook.put_back()  # torch leaves its evaluator after a compilation that was cut
    missing, _ = both(in_tf)
    assert missing.outcome.startswith("TypeError") and not missing.passed


def test_what_it_prints_is_told():
    @tf.function(autograph=False)
    def traced(x):
        print("tracing", x.shape)
        return x

    model = show_journey(traced, A).model
    assert model.first.printed == "tracing (2, 2)" and model.again.printed == ""
    assert "printed" in repr(show_journey(print, "a"))


def test_what_a_log_handler_prints_through_its_own_stream_goes_there_and_is_not_told():
    kept = io.StringIO()
    handler = logging.StreamHandler(kept)
    log = logging.Logger("of the journey")
    log.addHandler(handler)

    def step():
        print("heard")
        log.warning("not heard")

    model = show_journey(step).model
    assert {model.first.printed, model.again.printed} == {"heard"} and handler.stream is kept
    assert {*kept.getvalue().splitlines()} == {"not heard"}


def test_a_coroutine_is_refused_and_a_generator_told(refused):
    async def later():
        return 1

    refused(TypeError, "coroutine", show_journey, later)

    def numbers():
        yield RATE

    model = show_journey(numbers).model
    assert ONLY_A_GENERATOR in model.note and model.again.count("names") == 0


def test_everything_is_as_it_was_also_after_an_interrupt():
    from tensorflow.python import pywrap_tfe

    def state():
        doors = [getattr(pywrap_tfe, name) for name in journey_hooks.NAME_POSITIONS]
        return sys.gettrace(), sys.getprofile(), doors, sys.stdout

    def pressed(x):
        raise KeyboardInterrupt

    before = state()
    both(tf.function(in_tf), A)
    with pytest.raises(KeyboardInterrupt):
        show_journey(pressed, A)
    assert state() == before


def test_shares_are_parts_of_one_and_only_when_asked_for(refused):
    calls = []
    assert show_journey(lambda: calls.append(1)).model.shares == () and len(calls) == 2
    model = show_journey(in_tf, A, shares=True).model
    names = ["your frames", "Python of the libraries", "C functions"]
    assert [name for name, _ in model.shares] == names
    assert sum(part for _, part in model.shares) == pytest.approx(1)
    assert NO_TIME in show_journey(lambda: 1 / 0, shares=True).model.note
    refused(TypeError, "shares", show_journey, in_tf, A, shares=1)


PLAIN = """
from helpers.capture.frameworks.journey import build_journey
RATE = 2
def scale(x): return x * RATE + 1
def call(x): return sorted(map(scale, x))
found = build_journey(call, [3, 1, 2])
kinds = "names", "frames", "lines", "operators", "C calls"
print([[dict(one.counts)[kind] for kind in kinds] for one in (found.first, found.again)])
"""


@pytest.mark.parametrize("version", pythons.VERSIONS)
def test_a_first_call_is_counted_on_each_python_as_the_next(version):
    assert pythons.run(version, PLAIN) == f"{[[6, 4, 4, 6, 1]] * 2}\n"


def broken(x):
    torch._dynamo.graph_break()
    return torch.add(x, 1)


def test_dynamo_compiles_no_frame_that_writes_ops_down():
    from torch._dynamo import convert_frame

    torch._dynamo.reset()
    before = len(convert_frame.output_codes.seen)
    show_journey(torch.compile(broken, backend="eager"), T)
    made = [ref() for ref in convert_frame.output_codes.seen[before:]]
    own_files = {journey_hooks.__file__, journey_recorder.__file__}
    assert made and not [code for code in made if code and code.co_filename in own_files]


@pytest.mark.parametrize("name", ["_enter_frame", "_enter_c_function", "_note_op", "_count_step"])
def test_a_fault_of_ours_is_told_and_the_program_goes_on(name, monkeypatch):
    def failing(*args):
        raise ZeroDivisionError

    monkeypatch.setattr(journey_recorder.JourneyRecorder, name, failing)
    found, x = [], torch.ones(2)
    told = build_journey(lambda: (tf.add(1, 1), found.append(torch.add(x, x))))
    assert [one.tolist() for one in found] == [[2, 2]] * 2 and told.first.has_answer
    assert FAULT.format("ZeroDivisionError") in told.note


def stops_the_profiler(x):
    y = tf.add(x, 1.0)
    sys.setprofile(None)
    return scaled(tf.abs(y))


def sets_a_tracer(x):
    sys.settrace(lambda *event: None)
    y = scaled(x)
    sys.settrace(None)
    return y


@pytest.mark.parametrize("fn", [stops_the_profiler, sets_a_tracer])
def test_from_where_the_recorder_was_replaced_nothing_is_said_to_be_known(fn):
    found = show_journey(fn, A).model
    kind = "tracer" if fn is sets_a_tracer else "profiler"
    line = fn.__code__.co_firstlineno + (1 if kind == "tracer" else 2)
    assert re.search(rf"\b{kind}\b.*\(test_journey\.py:{line}\)", found.note)
    assert found.again.stops[2].words.endswith("not known")
    for passage in (found.first, found.again):
        unknown = (2, 4) if kind == "profiler" else ()
        briefs = [stop.brief for stop in passage.stops if stop.station in unknown]
        assert briefs == ["not known"] * len(unknown)
    assert sys.gettrace() is None and sys.getprofile() is None


def test_a_tracer_that_the_program_sets_stays_and_hears_no_event_more():
    def run_traced(run):
        heard = []

        def tracer(frame, event, argument):
            heard.append((event, frame.f_code.co_name))
            return tracer

        def body():
            sys.settrace(tracer)
            sys._getframe().f_trace = tracer
            scaled(1.0)
            sys.settrace(None)

        run(body)
        return heard

    plain = run_traced(lambda fn: fn())
    assert plain and run_traced(show_journey) == plain * 2

    def own(*event):
        pass

    try:
        show_journey(lambda: sys.settrace(own))
        assert sys.gettrace() is own
    finally:
        sys.settrace(None)


def test_lines_that_a_graph_calls_in_python_are_not_said_not_to_run():
    tf = pytest.importorskip("tensorflow")
    seen = []

    def note(x):
        seen.append(float(x))
        return x

    for inside in (tf.py_function, tf.numpy_function):
        step = tf.function(lambda x, inside=inside: inside(note, [x], tf.float32), autograph=False)
        step(tf.constant(1.0))
        seen.clear()
        first = show_journey(step, tf.constant(1.0)).model.first
        assert seen and "thread" in first.ran and "PyFunc" in first.instead
    plain = tf.function(lambda x: x + 1, autograph=False)
    plain(tf.constant(1.0))
    first = show_journey(plain, tf.constant(1.0)).model.first
    assert "thread" not in first.ran + first.instead


@pytest.mark.parametrize("fn", [in_torch, in_numpy, scaled])
def test_three_ways_leave_nothing_of_a_compile(fn):
    def kept():
        sizes = {key.name for key in torch._dynamo.pgo.get_code_state()}
        return sizes, {name: dict(count) for name, count in counters.items() if count}

    x = torch.rand(3, 3) if fn is in_torch else np.ones((3, 3))
    before, number = kept(), random.getstate()
    assert show_journey(fn, x, ways=True).model.by("torch.compile").first.counts
    assert kept() == before and random.getstate() == number

"""The X-ray of a call: its route, the same each time, and nothing left behind."""

import contextlib
import cProfile
import functools
import gc
import random
import re
import sys
import threading

import pytest

from helpers import show_journey, watch_call
from helpers.capture.frameworks import call_recorder
from helpers.capture.frameworks.call_diff import build_call_diff
from helpers.capture.frameworks.call_ledger import LIMITED_NOTE, build_calls_ledger
from helpers.capture.frameworks.call_tree import (
    COPIED_NOTE,
    ENDED_NOTE,
    HEARD_NOTE,
    NO_CALLS_NOTE,
    NO_MATCH_NOTE,
    record_call_tree,
)
from tests.model.pairs import made_up
from tests.samples import sample

pytestmark = pytest.mark.own_process(sharing="tensorflow")
torch = pytest.importorskip("torch")
tf = pytest.importorskip("tensorflow")


@pytest.fixture(scope="module")
def a():
    return tf.constant([[1.0, 2.0], [3.0, 4.0]])


def product(x, y):
    return x @ y


def in_a_graph(op, *values):
    with tf.Graph().as_default():
        return op(*(tf.constant(value) for value in values))


def cases(a) -> dict[str, tuple]:
    traced = tf.function(product)
    traced(a, a)  # the first call of it is another route: it traces
    return {
        "fast path": (tf.matmul, a, a),
        "fallback": (tf.negative, [1.0]),
        "function": (traced, a, a),
        "graph ×2": (in_a_graph, tf.negative, 1.0),
        "refused": (tf.matmul, a, tf.ones([3, 1])),
        "no door": (a.numpy,),
        "direct": (lambda: tf.constant(0.0, shape=[3]),),
        "direct ×3": (lambda: tf.constant(True, shape=[2]),),
        "fast path ×2": (lambda: a @ a + 1.0,),
        "graph ×3, function": (lambda: tf.function(lambda x: -x, autograph=False)(a),),
    }


def test_every_route_is_named(a):
    for route, (fn, *args) in cases(a).items():
        found = record_call_tree(fn, *args)
        assert found.route in (route, route.replace("×3", "×4")), found.title


def test_the_wrappers_of_matmul_are_found_in_order(a):
    names = [call.path for call in record_call_tree(tf.matmul, a, a).calls]
    layers = ["weak_tensor_ops.wrapper", "traceback_utils.error_handler", "math_ops.matmul"]
    layers += ["gen_math_ops.mat_mul", "_pywrap_tfe.TFE_Py_FastPathExecute"]
    assert [names.index(layer) for layer in layers] == sorted(map(names.index, layers))


def test_the_operator_calls_all_of_matmul_and_more(a):
    matmul, operator = record_call_tree(tf.matmul, a, a), record_call_tree(product, a, a)
    diff = build_call_diff(matmul, operator)
    assert all(pair.right for pair in diff.pairs)  # nothing of matmul is missing
    assert any("binary_op_wrapper" in line for line in made_up(diff))
    assert len(operator.calls) > len(matmul.calls)


def test_the_ledger_marks_what_differs(a):
    ledger = build_calls_ledger({"a": (tf.negative, a), "list": (tf.negative, [1.0])})
    assert ledger.word("TFE_Py_FastPathExecute", "list") == "×1, raised"
    assert ledger.word("TFE_Py_Execute", "a") == "–"
    route = next(entry for entry in ledger.entries if entry.subject == "route")
    assert [verdict.tone for verdict in route.verdicts] == ["plain", "changed"]


def test_profiler_and_collector_are_as_before(a):
    def mine(frame, event, argument):
        pass

    sys.setprofile(mine)
    gc.disable()
    try:
        record_call_tree(tf.matmul, a, a)
        assert sys.getprofile() is mine and not gc.isenabled()
    finally:
        gc.enable()
        sys.setprofile(None)


def test_what_cannot_be_compared_is_refused(a, refused):
    refused(TypeError, "watch_calls needs a dict", build_calls_ledger, [a])
    with pytest.raises(TypeError, match="show_call_diff .* watch_call, not int"):
        build_call_diff(record_call_tree(a.numpy), 3)


def test_a_case_that_raises_says_so_among_the_landmarks(a):
    ledger = build_calls_ledger({"fits": (tf.negative, a), "too many": (lambda: a, 1)})
    told = {entry.subject: [v.word for v in entry.verdicts] for entry in ledger.entries}
    assert told["raised"][0] == "–" and told["raised"][1] == "TypeError"
    assert "raised" not in [
        e.subject for e in build_calls_ledger({"fits": (tf.negative, a)}).entries
    ]


def test_a_count_that_was_cut_says_so_among_the_landmarks():
    def many():
        for _ in range(20_001):
            torch.is_tensor(1)

    ledger = build_calls_ledger({"many": many, "few": (torch.ones, 1)})
    assert ledger.note.endswith(LIMITED_NOTE.format("many"))


def body(x):
    """Count its calls, and be called in many ways."""
    body.calls += 1
    return x * 2.0


class Doubling:
    def step(self, x):
        return body(x)


class DoublingLayer(tf.keras.layers.Layer):
    def call(self, x):
        return body(x)


def decorated(fn):
    @functools.wraps(fn)
    def wrapper(*args):
        return fn(*args)

    return wrapper


class DoublingModule(torch.nn.Module):
    def forward(self, x):
        return body(x)


def elements(dataset):
    return list(dataset)


numbers = tf.data.Dataset.range(3).map(lambda n: tf.cast(n, tf.float32))
# name -> a program that runs `body`, and how often
RUNS = {
    "plain": (lambda a: body(a), 1),
    "tf.function": (lambda a: tf.function(body)(a), 1),
    "tf.function twice": (lambda a: [tf.function(body)(a), tf.function(body)(a)], 2),
    "a function inside": (lambda a: tf.function(lambda x: body(x))(a), 1),
    "autograph off": (lambda a: tf.function(body, autograph=False)(a), 1),
    "Dataset.map": (lambda a: elements(numbers.map(body)), 1),
    "Dataset.reduce": (lambda a: numbers.reduce(0.0, lambda old, n: old + body(n)), 1),
    "map_fn": (lambda a: tf.map_fn(body, a), 2),
    "cond": (
        lambda a: tf.function(lambda x: tf.cond(x[0, 0] > 0, lambda: body(x), lambda: x))(a),
        1,
    ),
    "a tape": (lambda a: gradient(body, a), 1),
    "custom_gradient": (lambda a: tf.custom_gradient(lambda x: (body(x), lambda g: g))(a), 1),
    "py_function": (lambda a: tf.py_function(body, [a], tf.float32), 1),
    "partial": (lambda a: tf.function(functools.partial(body))(a), 1),
    "decorated": (lambda a: tf.function(decorated(body))(a), 1),
    "method": (lambda a: tf.function(Doubling().step)(a), 1),
    "Keras layer": (lambda a: DoublingLayer()(a), 1),
    "Keras predict": (lambda a: tf.keras.Sequential([DoublingLayer()]).predict(a, verbose=0), 1),
    "torch": (lambda a: DoublingModule()(torch.ones(2)), 1),
    "run eagerly": (lambda a: eagerly(tf.function(body), a), 1),
}


def gradient(fn, a):
    with tf.GradientTape() as tape:
        tape.watch(a)
        answer = fn(a)
    return tape.gradient(answer, a)


def eagerly(fn, a):
    tf.config.run_functions_eagerly(True)
    try:
        return fn(a)
    finally:
        tf.config.run_functions_eagerly(False)


@pytest.mark.parametrize("name", RUNS)
def test_a_function_that_ran_is_found_and_runs_as_often_as_without_us(name, a):
    program, least = RUNS[name]
    body.calls = 0
    program(a)
    often, body.calls = body.calls, 0
    assert often >= least
    ways = [body, "body"]
    # A draw by the program's name: each way is taken by about half of the programs every day.
    for only in random.Random(name).sample(ways, sample(1, 2)):
        body.calls = 0
        tree = record_call_tree(lambda: program(a), only=only)
        # AutoGraph's copies count there, too: the name `body` is looked up in their globals.
        assert body.calls == often
        assert tree.count("body") + tree.count("tf__body") == often, tree


def test_a_partial_and_a_decorated_function_are_found(a):
    for only in (functools.partial(body), decorated(body)):
        tree = record_call_tree(lambda: tf.function(body)(a), only=only)
        assert tree.count("tf__body") == 1


def test_a_method_and_a_class_are_found_in_a_copy(a):
    program = RUNS["method"][0]
    for only in (Doubling.step, Doubling().step, "step", Doubling):
        tree = record_call_tree(lambda: program(a), only=only)
        assert [call.name for call in tree.calls] == ["tf__step"]
        assert COPIED_NOTE.format("Doubling.step") in tree.note


def test_what_did_not_run_is_not_called_never_run(a):
    traced = tf.function(body)
    traced(a)
    tree = record_call_tree(traced, a, only=body)
    assert not tree.calls
    call_count = int(re.search(r"\b\d+(?= calls)", tree.note)[0])
    assert call_count > 0 and NO_MATCH_NOTE.format(f"{call_count} calls") in tree.note


@pytest.mark.parametrize("name", ["_enter", "_enter_python_function", "_find_original"])
def test_a_fault_of_ours_is_told_and_the_program_goes_on(name, a, monkeypatch):
    if name == "_find_original":
        monkeypatch.setattr(call_recorder, "AUTOGRAPH_FILE", None)
    else:
        monkeypatch.setattr(call_recorder.CallRecorder, name, lambda *given: 1 / 0)
    body.calls, found = 0, []
    tree = record_call_tree(lambda: found.append(tf.function(body)(a)))
    assert body.calls == 1 and found[0].shape == (2, 2) and not tree.outcome
    assert ENDED_NOTE.partition("{}")[0] in tree.note and "Error" in tree.note


def test_a_profiler_that_the_program_sets_stays():
    def own(*event):
        pass

    try:
        tree = watch_call(lambda: sys.setprofile(own)).model
        assert sys.getprofile() is own and "sys.setprofile" in tree.note
    finally:
        sys.setprofile(None)


def sets_a_profiler_and_puts_the_old_one_back(x):
    old = sys.getprofile()
    sys.setprofile(lambda *event: None)
    y = tf.abs(tf.add(x, 1.0))
    sys.setprofile(old)
    return y


def takes_the_profiler_away(x):
    sys.setprofile(None)
    return tf.abs(x)


def profiles_a_block(x):
    with cProfile.Profile():
        return tf.abs(x)


PUT_ASIDE = [sets_a_profiler_and_puts_the_old_one_back, takes_the_profiler_away]
PUT_ASIDE += [profiles_a_block] * (sys.version_info < (3, 12))  # later it puts nobody aside


@pytest.mark.parametrize("fn", PUT_ASIDE)
def test_where_the_recorder_was_put_aside_it_says_so(fn, a):
    tree = record_call_tree(fn, a)
    assert tree.title.endswith("not known") and NO_CALLS_NOTE not in tree.note
    assert ENDED_NOTE.partition("{}")[0] in tree.note
    ledger = build_calls_ledger({"other": (tf.abs, a), "it": (fn, a)})
    assert ledger.word("route", "it") == "not known"
    assert re.fullmatch(r"\d+ until .*", ledger.word("all calls", "it"))
    assert "'it' the recorder was replaced" in ledger.note
    assert sys.getprofile() is None and type(sys.setprofile) is type(len)


class OwnProfiler:
    """A profiler of somebody's, which writes down what it hears, and the steps of its program."""

    def __init__(self):
        self.heard, self.answers, self.thread = [], [], threading.get_ident()

    def __call__(self, frame, event, argument):
        if frame.f_globals is vars(threading):  # how two threads meet differs from run to run
            return
        of_c = event.startswith("c_")
        name = argument.__name__ if of_c else frame.f_code.co_qualname
        self.heard.append((threading.get_ident() == self.thread, event, name))

    def set_it(self):
        sys.setprofile(self)

    def set_none(self):
        sys.setprofile(None)

    def ask(self):
        self.answers.append(sys.getprofile() is self)

    def count(self):
        return len([1])

    def fail(self):
        with contextlib.suppress(ZeroDivisionError):
            divmod(1, 0)

    def run_thread(self):
        thread = threading.Thread(target=lambda: (self.set_it(), self.count()))
        thread.start()
        thread.join()


STEPS = ("set_it", "set_none", "ask", "count", "fail", "run_thread")
VERBS = {  # -> how often it calls the function
    "watch_call": (record_call_tree, 1),
    "watch_calls": (lambda fn: build_calls_ledger({"it": fn}), 2),
    "show_journey": (show_journey, 2),
}


def heard_in(steps, run) -> tuple[list, list]:
    """Return what a program's own profiler hears in these steps, and what `getprofile` answers."""
    own = OwnProfiler()

    def body():
        for step in steps:
            getattr(own, step)()
        sys.setprofile(None)

    run(body)
    return own.heard, own.answers


@pytest.mark.parametrize("seed", range(sample(4, 40)))
def test_a_profiler_of_the_program_hears_what_it_hears_without_us(seed):
    drawn = ["set_it", *random.Random(seed).choices(STEPS, k=8)]
    heard, answers = heard_in(drawn, lambda fn: fn())
    for verb, times in VERBS.values():
        heard_by_us, answers_to_us = heard_in(drawn, verb)
        assert answers_to_us == answers * times
        for is_main in True, False:  # two threads are heard in any order
            expected = [one for one in heard * times if one[0] is is_main]
            assert [one for one in heard_by_us if one[0] is is_main] == expected


def test_a_setprofile_that_was_imported_before_is_told():
    setprofile = sys.setprofile

    def sets(own):
        setprofile(own)
        setprofile(None)

    tree = record_call_tree(sets, OwnProfiler())
    assert HEARD_NOTE in tree.note
    assert "test_calls.py" in tree.note


def test_a_thread_that_sets_its_own_before_is_told():
    own = OwnProfiler()
    tree = record_call_tree(lambda: (own.run_thread(), own.set_it(), own.set_none()))
    assert HEARD_NOTE in tree.note

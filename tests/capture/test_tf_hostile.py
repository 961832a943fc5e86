"""Verbs that look at TensorFlow: hostile things get one sentence, and nothing is left behind."""

import functools
import random
import signal
import sys
import threading
from itertools import pairwise

import pytest

import helpers
from helpers.capture.tensorflow import traces as ledger
from helpers.capture.tensorflow.graph import DEEPEST, tf_graph
from helpers.safety.kept_state import KEPT
from tests.samples import sample

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.own_process(sharing="tensorflow")


class Boss(BaseException):
    """Nobody's Exception."""


class Raising:
    """Raises whatever it is asked."""

    def __getattribute__(self, name):
        raise Boss(name)


def of_metaclass():
    class Metaclass(type):
        def __getattribute__(cls, name):
            raise Boss(name)

    return Metaclass("OfMetaclass", (), {})


class TracingType:
    def __tf_tracing_type__(self, context):
        raise SystemExit("tracing")


def leave():
    raise SystemExit("left")


def itself():
    made = functools.partial(len)
    made.__setstate__((made, (), {}, None))
    return made


def wrapped_in_itself():
    def f():
        pass

    f.__wrapped__ = f
    return f


def on_a_device():
    def f():
        return 1

    f.__code__ = f.__code__.replace(co_filename="/dev/zero", co_linetable=b"")
    return f


HOSTILE = {
    "raising": Raising,
    "metaclass": lambda: of_metaclass()(),
    "class of metaclass": of_metaclass,
    "partial of itself": itself,
    "wrapped in itself": wrapped_in_itself,
    "on a device": on_a_device,
    "lies": lambda: type("L", (), {"__class__": property(lambda self: helpers.Exhibit)})(),
    "a name that raises": lambda: type(
        "N", (), {"__name__": property(leave), "__call__": lambda self: leave()}
    )(),
}
VERBS = {
    "watch_traces": helpers.watch_traces,
    "would_trace": helpers.would_trace,
    "show_graph": helpers.show_graph,
    "show_graph with arguments": lambda thing: helpers.show_graph(thing, 1),
    "show_graph_steps": helpers.show_graph_steps,
    "show_graph_diff": lambda thing: helpers.show_graph_diff(thing, thing),
    "watch_optimisation": helpers.watch_optimisation,
    "show_autograph": helpers.show_autograph,
    "watch_call": helpers.watch_call,
    "watch_calls": lambda thing: helpers.watch_calls({"a": thing}),
    "watch_calls of it": helpers.watch_calls,
    "show_call_diff": lambda thing: helpers.show_call_diff(thing, thing),
    "watch_mutations": lambda thing: helpers.watch_mutations({"a": thing}),
    "watch_mutations of it": helpers.watch_mutations,
    "watch_variables": lambda thing: helpers.watch_variables({"a": thing}, 2),
    "watch_variables runs": lambda thing: helpers.watch_variables({"a": returned}, thing),
    "watch_race": lambda thing: helpers.watch_race(thing, 2),
}


def returned(v, one):
    return v + one


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_thing_gets_an_exhibit_or_one_sentence(verb, name):
    try:
        shown = VERBS[verb](HOSTILE[name]())
    except (TypeError, ValueError) as error:
        words = str(error)
        assert words.isprintable() and len(words) < 600, words
    except (Boss, SystemExit):  # raised by what was called, and so raised again
        assert name in ("class of metaclass", "a name that raises")
    else:
        assert len(repr(shown)) < 10_000


def node(graph, name, op="NoOp", *inputs):
    return graph.node.add(name=name, op=op, input=inputs)


def test_looking_at_a_graph_does_not_write_to_it():
    graph = tf.compat.v1.GraphDef()
    node(graph, "split", "Split")
    body = graph.library.function.add()
    body.signature.name = "F"
    body.signature.output_arg.add(name="y")
    node(graph, "call", "PartitionedCall").attr["f"].func.name = "F"
    before = graph.SerializeToString(deterministic=True)
    tf_graph(graph)
    assert graph.SerializeToString(deterministic=True) == before


def test_more_outputs_than_are_shown_are_counted():
    graph = tf.compat.v1.GraphDef()
    split = node(graph, "split", "Split")
    split.attr["T"].type, split.attr["num_split"].i = tf.float32.as_datatype_enum, 10**12
    assert "and 999999999998 more" in tf_graph(graph).node("split").detail


def test_constants_that_cannot_be_read_are_told_by_their_shape():
    graph = tf.compat.v1.GraphDef()
    for name, dtype, sizes in (("a", 77, [2]), ("b", 1, [-1]), ("c", 21, []), ("d", 1, [0, 9])):
        tensor = node(graph, name, "Const").attr["value"].tensor
        tensor.dtype = dtype
        for size in sizes:
            tensor.tensor_shape.dim.add(size=size)
    assert len(tf_graph(graph).nodes) == 4


def test_bodies_that_call_each_other_deeper_than_is_followed_are_told():
    graph = tf.compat.v1.GraphDef()
    node(graph, "first", "PartitionedCall").attr["f"].func.name = "F0"
    for n in range(200):
        body = graph.library.function.add()
        body.signature.name = f"F{n}"
        body.node_def.add(name="call", op="PartitionedCall").attr["f"].func.name = f"F{n + 1}"
    drawn = helpers.show_graph(graph)
    assert f"{DEEPEST} deep; {200 - DEEPEST} of its functions are left out" in drawn.model.note
    assert len(drawn._repr_mimebundle_()[0]["text/html"]) < 1_000_000


def test_names_without_end_are_cut_and_told():
    graph = tf.compat.v1.GraphDef()
    node(graph, "a" * 10**6)
    node(graph, "b", "NoOp", "a" * 10**6)
    node(graph, "/" * 3000 + "z")
    drawn = helpers.show_graph(graph)
    assert "2 very long names are cut" in drawn.model.note and len(repr(drawn)) < 20_000


def test_arguments_for_a_graph_are_refused_and_so_is_a_graph_that_is_gone():
    concrete = tf.function(lambda x: x + 1).get_concrete_function(1.0)
    with pytest.raises(TypeError, match="is a graph already"):
        helpers.show_graph(concrete, 1.0)
    concrete._func_graph = None
    with pytest.raises(ValueError, match="no graph any more"):
        helpers.show_graph(concrete)


def test_interrupt_in_a_watched_call_passes():
    def stop():
        raise KeyboardInterrupt

    for verb in (helpers.watch_call, lambda fn: helpers.watch_calls({"a": fn})):
        with pytest.raises(KeyboardInterrupt):
            verb(stop)


def test_exit_in_a_traced_call_keeps_its_row():
    kept = helpers.watch_traces(lambda x: tf.constant(0))
    with pytest.raises(SystemExit):
        kept(TracingType())
    kept(1)
    assert kept.model.verdicts == ("error", "trace") and "on another" not in repr(kept)
    assert helpers.would_trace(kept, TracingType()).verdict == "error"


@pytest.mark.parametrize("runs", [0, -1, 10**9, "many", 2.0, True, None])
def test_wrong_number_of_runs_is_named(runs):
    with pytest.raises((TypeError, ValueError), match="runs= must be"):
        helpers.watch_race(returned, runs)
    with pytest.raises((TypeError, ValueError), match="runs= must be"):
        helpers.watch_variables({"a": returned}, runs)


@pytest.mark.parametrize("answer", [3, object(), None, tf.constant(1.0)])
def test_program_that_returns_no_tensor_is_named(answer):
    with pytest.raises(ValueError, match="'a' does not"):
        helpers.watch_variables({"a": lambda v, one: answer}, 2)


def test_program_that_raises_is_named():
    with pytest.raises(ValueError, match="the program 'a' raised ZeroDivisionError"):
        helpers.watch_variables({"a": lambda v, one: 1 / 0}, 2)


def test_arguments_that_hold_themselves_twice_are_copied_once():
    twice = []
    twice += [twice, twice]
    assert helpers.watch_mutations({"a": (lambda x: None, twice)}, {"as it is": lambda fn: fn})
    with pytest.raises(ValueError, match="more than 50,000 things"):
        helpers.watch_mutations({"a": (lambda x: None, list(range(10**5)))})


def test_more_arguments_than_a_trace_can_look_at_are_refused():
    with pytest.raises(ValueError, match="more than 50,000 things"):
        helpers.watch_traces(lambda x: 1)(list(range(10**5)))
    with pytest.raises(ValueError, match="more than 50,000 things"):
        helpers.show_graph(lambda x: 1, dict.fromkeys(range(10**5)))


def test_ledger_beyond_its_rows_counts_on(monkeypatch):
    monkeypatch.setattr(trace_log, "MOST_RUNS", 200)
    log = Log()
    for n in range(400):
        log.add("x=1", "hit" if n % 2 else "error")
    rows = log.entries()
    assert len(rows) == 201 and sum(row.calls for row in rows) == 400
    assert "hit ×100" in rows[-1].verdict and "200 rows" in rows[-1].note
    assert log.verdicts["hit"] == 200
    assert rows[:-1] == log.entries()[:-1]


def test_nearest_of_very_many_keys_is_told_to_be_the_nearest_of_the_newest(monkeypatch):
    monkeypatch.setattr(ledger, "MOST_KEYS", 3)
    kept = helpers.watch_traces(lambda n: tf.constant(0), autograph=False)
    for n in range(6):
        kept(n)
    assert kept.last.note.endswith("compared with the newest 3 of 5 keys")


def test_very_many_calls_are_cut_and_told():
    space = {"__name__": "tensorflow.many"}
    exec("def leaf():\n    pass\ndef many(n):\n    for _ in range(n):\n        leaf()", space)
    shown = helpers.watch_call(space["many"], 10**5)
    assert "80,001 more are left out" in shown.model.note
    assert len(shown._repr_mimebundle_()[0]["text/html"]) < 1_000_000
    exec("def down(n):\n    leaf()\n    return n and down(n - 1)", space)
    deeply = helpers.watch_call(space["down"], 900)
    assert "more lines; .model.calls holds every call" in repr(deeply)
    both = helpers.show_call_diff(deeply, helpers.watch_call(space["down"], 890))
    assert "Compared are the first 1,000 lines" in both.model.note
    assert len(both._repr_mimebundle_()[0]["text/html"]) < 1_000_000


def _interrupted(run, seconds) -> bool:
    def rung(number, frame):
        if frame.f_code is not _interrupted.__code__:  # else the run has ended already
            signal.getsignal(signal.SIGINT)(signal.SIGINT, frame)

    handler = signal.getsignal(signal.SIGALRM)
    signal.signal(signal.SIGALRM, rung)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        run()
        return False
    except (KeyboardInterrupt, RuntimeError, TypeError):  # C++ may make others of the first
        return True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer to interrupt by")
def test_ledger_is_right_after_interrupts_at_random_moments():
    rng, calls = random.Random(3), 0
    kept = helpers.watch_traces(lambda n: tf.constant(0), autograph=False)
    handler, heard = signal.getsignal(signal.SIGINT), ledger.keys.listeners()
    for n in range(40):
        _interrupted(lambda n=n: kept(n), rng.uniform(1e-4, 0.02))
        assert signal.getsignal(signal.SIGINT) is handler and not heard
        counted = kept.experimental_get_tracing_count()
        assert kept.model.traces == counted, n  # a trace that is counted has its row
        calls += 1
    assert sum(row.calls for row in kept.model.entries) <= calls
    assert kept(0) is not None and kept.last.verdict in ("hit", "trace")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer to interrupt by")
@pytest.mark.parametrize(
    "run",
    [
        lambda: helpers.watch_call(tf.negative, 1.0),
        lambda: helpers.watch_race(returned, 2),
        lambda: helpers.watch_optimisation(lambda x: x + 1.0, 1.0),
    ],
    ids=["watch_call", "watch_race", "watch_optimisation"],
)
def test_interrupts_at_random_moments_leave_nothing(run):
    run()
    before, rng = [(kept, kept.read()) for kept in KEPT], random.Random(4)
    for _ in range(sample(6, 30)):
        _interrupted(run, rng.uniform(1e-4, 0.05))
        assert [k.name for k, was in before if not k.same(k.read(), was)] == []
    run()


def test_threads_that_call_at_once_have_a_row_each():
    kept = helpers.watch_traces(lambda n: tf.constant(0), autograph=False)
    threads = [threading.Thread(target=kept, args=(n % 5,)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kept.model.verdicts) == 20
    assert kept.model.traces == kept.experimental_get_tracing_count() == 5


def test_presses_of_the_sandbox_are_no_news_about_threads():
    sandbox = helpers.signature_sandbox()
    sandbox.run("trace")
    thread = threading.Thread(target=sandbox.run, args=("hit",))
    thread.start()
    thread.join()
    assert "thread" not in str(sandbox.ledger())


def test_rows_of_a_ledger_are_made_once():
    kept = Log()
    for n in range(100):
        kept.add(f"x={n}", "trace", traces=1)
    first, second = kept.entries(), kept.entries()
    assert all(a is b for a, b in zip(first[:-1], second[:-1], strict=True))
    assert all(int(a.subject) < int(b.subject) for a, b in pairwise(first))


def test_nothing_stays_in_the_profile():
    with pytest.raises(SystemExit):
        helpers.watch_call(leave)
    assert sys.getprofile() is None

"""The ledger tells hit from trace as TensorFlow counts, names the one leaf, and changes nothing."""

import functools
import gc
import inspect
import threading
import weakref

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import watch_traces, watching_traces, would_trace
from helpers.capture.tensorflow.call_sentences import EMPTY, NO_KEY, RAISED_WHILE_TRACING, XLA
from helpers.capture.tensorflow.trace_causes import AFTER_VARIABLES, CONTEXT_FIELDS
from helpers.capture.tensorflow.trace_ledger import watch_function
from tests.call_sequences import UNHURRIED, sequences
from tests.samples import sample

tf = pytest.importorskip("tensorflow")


@pytest.fixture(autouse=True)
def quiet():
    """TensorFlow warns of the very retraces that these tests make."""
    logger, level = tf.get_logger(), tf.get_logger().level
    logger.setLevel("ERROR")
    yield
    logger.setLevel(level)


def watched(signature="x, n=1", **options):
    """Return a watched function of these parameters that gives a constant."""
    space = {"tf": tf}
    exec(f"def f({signature}): return tf.constant(0)", space)
    return watch_function(space["f"], autograph=False, **options)


def scaled_by(made):
    """Return a class with two methods that `made` decorates; one makes a variable when called."""

    class Scaled:
        def __init__(self, by):
            self.by, self.total = by, None

        @made
        def times(self, x):
            return x * self.by

        @made
        def add(self, x):
            if self.total is None:
                self.total = tf.Variable(0.0)
            return self.total.assign_add(x * self.by)

    return Scaled


class Pair(tf.experimental.ExtensionType):
    first: tf.Tensor

    @watch_traces
    def twice(self):
        return self.first * 2


def test_each_object_has_a_ledger_of_a_watched_method_and_the_class_has_all_rows():
    scaled = scaled_by(watch_traces)
    two, three, x = scaled(2.0), scaled(3.0), tf.ones(2)
    assert [float(one.times(x)[0]) for one in (two, three, two)] == [2, 3, 2]
    assert two.times.model.verdicts == ("trace", "hit")
    assert three.times.model.verdicts == ("trace",)
    assert scaled.times.model.verdicts == ("trace", "trace", "hit")
    assert not scaled.times.model.retraces
    assert [row.arguments[:18] for row in scaled.times.model.entries][:2] == [
        "of Scaled object 1",
        "of Scaled object 2",
    ]
    assert would_trace(two.times, x).verdict == "hit"
    assert would_trace(two.times, tf.ones(3)).verdict == "trace"
    assert two.times is two.times and Pair(1.0).twice().numpy() == 2  # which has no tf.function


def test_a_watched_method_runs_as_that_of_a_tf_function():
    ended = []
    for made in (tf.function, watch_traces, lambda fn: watch_traces(tf.function(fn))):
        scaled = scaled_by(made)
        two, three = scaled(2.0), scaled(3.0)
        results = [float(one.add(x)) for one, x in ((two, 1.0), (three, 1.0), (two, 2.0))]
        alive = weakref.ref(two)
        del two
        gc.collect()
        ended.append((results, alive(), float(scaled.times(three, 2.0))))
    assert ended == [([2, 3, 6], None, 6)] * 3


def outcome(fn, args):
    try:
        fn(*args)
    except (TypeError, ValueError):
        return "raised"
    return "passed"


@settings(max_examples=sample(100, 500), **UNHURRIED)
@given(sequences(), st.booleans())
def test_sequences_agree_with_tensorflow_call_by_call(calls, relaxed):
    bare = tf.function(lambda x, n: tf.constant(0), autograph=False, reduce_retracing=relaxed)
    kept = watch_function(lambda x, n: tf.constant(0), autograph=False, reduce_retracing=relaxed)
    for args in calls:
        before = bare.experimental_get_tracing_count()
        foretold = would_trace(kept, *args)
        assert outcome(kept, args) == outcome(bare, args)
        counted = bare.experimental_get_tracing_count()
        assert kept.experimental_get_tracing_count() == counted == kept.model.counts[-1]
        verdict = "trace" if counted > before else "hit"
        assert kept.model.verdicts[-1] == foretold.verdict == verdict
        assert len(foretold.causes) > 0 or before == 0 or counted == before


class Apple:
    pass


apples = [Apple(), Apple()]


def t(*shape, dtype=None):
    return tf.zeros(shape, dtype or tf.float32)


# One row per kind of leaf: the first call, the second, and the one difference in words.
LEAVES = {
    "dtype": (t(2), t(2, dtype=tf.int32), "x: dtype float32 → int32"),
    "rank": (t(2), t(2, 2), "x: rank 1 → 2"),
    "shape": (t(2), t(3), "x: shape (2,) → (3,)"),
    "one dimension": (t(2, 3), t(2, 4), "x: shape (2, 3) → (2, 4), dimension 1"),
    "Python value": (1, 2, "x: Python value 1 → 2"),
    "long float": (0.1, 0.9 * 0.1, "x: Python value 0.1 → 0.09"),
    "near float": (0.1, 0.1 + 1e-9, "x: Python value 0.1 → 0.100000001"),
    "Python type": (1, "1", "x: Python type int → str"),
    "tensor for Python": (1, t(), "x: Python value 1 → tensor float32 ()"),
    "dict key added": ({"a": 1}, {"a": 1, "b": 1}, "x: dict key (none) → 'b'"),
    "in a dict": ({"a": [1, t(2)]}, {"a": [1, t(3)]}, "x['a'][1]: shape (2,) → (3,)"),
    "list for tuple": ([1], (1,), "x: list → tuple"),
    "number of elements": ([1], [1, 1], "x: number of elements 1 → 2"),
    "object": (*apples, "x: Apple object 1 → Apple object 2"),
    "sparse for dense": (
        t(2),
        tf.sparse.from_dense([0.0, 1.0]),
        "x: tensor float32 (2,) → SparseTensorSpec(TensorShape([2]), tf.float32)",
    ),
}


@pytest.mark.parametrize(("first", "second", "cause"), LEAVES.values(), ids=LEAVES)
def test_the_one_leaf_that_differs_is_named(first, second, cause):
    kept = watched()
    kept(first)
    kept(second)
    assert kept.model.causes == (cause,)
    assert kept.model.entries[1].note == cause


def test_the_keys_of_a_dict_are_compared_with_a_dict_also_if_another_key_is_newer():
    kept = watched("opts")
    [kept(opts) for opts in ({"a": 1}, None, {"a": 2, "b": 3})]
    assert kept.model.causes[1:] == ("opts: dict key (none) → 'b'", "opts['a']: Python value 1 → 2")


A, B = tf.Variable(1.0), tf.Variable(2.0)
# What TensorFlow's guide (site/en/guide/function.ipynb) tells of tracing, beside the leaves above.
GUIDE = {  # the causes -> what makes the arguments of two calls, each when it comes
    "x[1]: variable number 2 of the call → number 1 of the call": (lambda: [A, B], lambda: [A, A]),
    "x[1]: Python value 2 → 3": (lambda: {1: 2}, lambda: {1: 3}),
    "x: Apple object 1 (freed since) → Apple object 2": (Apple, Apple),
}


@pytest.mark.parametrize("cause", GUIDE)
def test_the_causes_of_the_guide_are_named(cause):
    kept = watched()
    [kept(make()) for make in GUIDE[cause]]
    assert kept.model.causes == (cause,)


def test_an_argument_more_is_named():
    kept = watched("*args, **more")
    kept(1)
    kept(1, z=1)
    assert kept.model.causes == ("call: argument (none) → z",)
    kept = watched("a, b, c, d")
    kept(2, 3, 4, 5), kept(6, 7, 8, 9)
    last = kept.model.entries[-1]
    assert last.note == "; ".join(map(str, last.causes)) and len(last.causes) == 4


def test_the_nearest_key_has_the_most_arguments_in_common():
    kept = watched("*a, **more")
    for args, more in (((1, 2), {}), ((1,), {}), ((1,), {"b": 2}), ((2,), {"b": 3, "c": 1})):
        kept(*args, **more)
    kept(b=3)
    kept(1, b={"z": 1})  # b was there, with another value
    assert kept.model.causes[1:] == (
        "call: argument (none) → b",
        "call: argument (none) → c",
        "a_0: Python value 1 → 2",
        "b: Python value 2 → 3",
        "call: argument a_0 → (none)",
        "b: Python value 2 → 3",
        "b: Python value 2 → dict",
    )


def test_what_fits_the_key_is_no_cause():
    kept = watched("images, labels, epoch", reduce_retracing=True)
    for rows, epoch in ((32, 0), (17, 0), (5, 1)):
        kept(t(rows, 4), t(rows), epoch)
    assert kept.model.causes[-1] == "epoch: Python value 0 → 1"
    assert len(kept.model.entries[-1].causes) == 1
    kept = watched()
    kept.get_concrete_function(tf.TensorSpec([None, 2], tf.float32), 1)
    kept(t(5, 2), 2)
    kept(t(5, 3), 1)
    assert kept.model.causes == (
        "n: Python value 1 → 2",
        "x: shape (None, 2) → (5, 3), dimension 1",
    )


def test_a_tuple_is_compared_with_a_tuple():
    kept = watched()
    [kept({"a": value}) for value in ([1, 2], (1, 2), [3, 4], (5, 6))]
    assert kept.model.causes[-2:] == (
        "x['a'][0]: Python value 1 → 5",
        "x['a'][1]: Python value 2 → 6",
    )


def test_each_thread_counts_its_own_traces():
    kept = watched("x")
    barrier = threading.Barrier(4)

    def call(n):
        barrier.wait()
        kept(n)

    threads = [threading.Thread(target=call, args=(n,)) for n in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert kept.model.traces == 4 == kept.experimental_get_tracing_count()


def test_a_failed_first_trace_is_said_and_not_called_a_hit():
    state = []

    @tf.function(autograph=False)
    def lazy(x):
        if not state:
            state.append(tf.Variable(1.0))
            raise RuntimeError("too late")
        return x * state[0]

    always = tf.function(lambda x: tf.Variable(1.0) * x, autograph=False)
    for fn, verdict, note in ((lazy, "empty", EMPTY), (always, "trace", AFTER_VARIABLES)):
        kept = watch_function(fn)
        with pytest.raises((RuntimeError, ValueError)):
            kept(t(2))
        row = would_trace(kept, t(2))
        assert (row.verdict, row.note, row.causes) == (verdict, note, ())
    kept = watch_function(lazy)
    assert kept(t(2)) is None and kept.last.verdict == "empty"  # as TensorFlow does alone


def test_a_hit_of_xla_may_still_compile():
    kept = watched("x", jit_compile=True)
    assert XLA in kept.model.note
    assert "XLA" not in watched("x").model.note


def test_another_graph_is_named_as_the_context():
    kept = watched()
    kept(1)
    for graph in (tf.Graph(), tf.Graph()):
        with graph.as_default():
            kept(1)
    eager, inside = CONTEXT_FIELDS["parent_graph"]
    first, second = [cause for entry in kept.model.entries for cause in entry.causes]
    assert (first.where, first.before, first.after) == ("function context", eager, inside)
    assert second.before == inside and second.after != inside  # it is another graph


def test_a_function_that_calls_itself_traces_more_than_once_and_not_for_variables():
    @tf.function(autograph=False)
    def down(n):
        return down(n - 1) + 1 if n else tf.constant(0)

    kept = watch_function(down)
    kept(2)
    (entry,) = kept.model.entries
    assert entry.traces == 3 and "variables" not in entry.note


def power_by(made):
    """Return a recursive function, made by `made`, that calls itself by name."""

    @made
    def power(x, n=3):
        return x * power(x, n - 1) if n else tf.ones_like(x)

    return [power]


def fibonacci_by(made):
    @made
    def fibonacci(x, n=4):
        return x if n < 2 else fibonacci(x, n - 1) + fibonacci(x, n - 2)

    return [fibonacci]


def even_and_odd_by(made):
    @made
    def even(x, n=4):
        return x if n == 0 else odd(x, n - 1)

    @made
    def odd(x, n=4):
        return x if n == 0 else even(x, n - 1)

    return [even, odd]


def one_failing_by(made):
    @made
    def caught(x, n=3):
        if n == 0:
            raise KeyError("end")
        try:
            return caught(x, n - 1)
        except KeyError:
            return x

    return [caught]


RECURSIVE = power_by, fibonacci_by, even_and_odd_by, one_failing_by


@pytest.mark.parametrize("build", RECURSIVE)
def test_a_trace_inside_a_trace_of_the_same_function_is_no_retrace(build):
    def traced(fn):
        return tf.function(fn, autograph=False)

    with watching_traces() as seen:
        plain = build(traced)
        plain[0](t(2))
    functions = build(lambda fn: watch_function(traced(fn)))
    functions[0](t(2))
    functions[0](t(2))
    counts = [fn.experimental_get_tracing_count() for fn in plain]
    assert [fn.model.traces for fn in functions] == counts  # each trace is in one row
    assert seen.model.traces == sum(counts) > len(plain) and not seen.model.retraces
    assert not any(fn.model.retraces for fn in functions)
    functions[0](t(3))  # from outside it is one retrace, whatever it traces inside
    assert functions[0].model.retraces == 1 and functions[0].model.causes[0].startswith("x: shape")


# ------------------------------------------------------------ it is the function


def test_it_is_called_like_the_function_and_returns_what_that_returns():
    @tf.function
    def scaled(x, by=2.0):
        """Scale."""
        return x * by

    kept = watch_traces(scaled)
    assert kept(tf.constant(3.0), by=2).numpy() == 6
    assert inspect.signature(kept) == inspect.signature(scaled)
    assert (kept.__name__, kept.__doc__) == ("scaled", "Scale.")


def test_an_exception_passes_through_and_keeps_its_row():
    @tf.function
    def picky(x):
        if x.shape.rank == 2:
            raise KeyError("no matrices")
        tf.debugging.assert_positive(x)
        return x

    kept = watch_function(picky)
    with pytest.raises(KeyError):
        kept(t(2, 2))
    with pytest.raises(tf.errors.InvalidArgumentError):
        kept(tf.constant(-1.0))
    with pytest.raises(TypeError):
        kept()
    notes = [entry.note for entry in kept.model.entries]
    assert kept.model.verdicts == ("error", "error", "error") and kept.model.counts == (0, 1, 1)
    assert notes[0].startswith(f"{RAISED_WHILE_TRACING}: KeyError: 'no matrices' (line ")
    assert notes[0].endswith(' of test_traces.py: raise KeyError("no matrices"))')
    assert "InvalidArgumentError: " in notes[1] and RAISED_WHILE_TRACING not in notes[1]
    assert notes[2].startswith(f"{NO_KEY}: TypeError: ")
    assert not any("/" in note or "0x" in note for note in notes)


def test_the_callers_graph_is_the_same_with_the_ledger():
    def inner(x):
        return x + 1

    def ops(fn):
        outer = tf.function(lambda x: fn(x) * fn(x), autograph=True)
        return [op.type for op in outer.get_concrete_function(t(2)).graph.get_operations()]

    kept = watch_traces(inner)
    assert ops(kept) == ops(tf.function(inner))
    assert kept.model.verdicts == ("trace", "hit")


def test_many_calls_are_a_few_rows():
    kept = watched("x")
    for n in [*range(4), *[3] * 1_000, 5, 5, 5]:
        kept(n)
    rows = kept.model.entries[4:]
    assert [row.subject for row in rows] == ["5 – 1,004", "1,005", "1,006 – 1,007"]
    assert len(kept.model.verdicts) == 1_007


def test_eager_mode_is_told():
    kept = watched()
    tf.config.run_functions_eagerly(True)
    try:
        kept(1)
        assert would_trace(kept, 1).verdict == "eager"
    finally:
        tf.config.run_functions_eagerly(False)
    assert kept.model.verdicts == ("eager",) and kept.model.traces == 0


# ------------------------------------------------------------------ bad input


def test_what_cannot_be_watched_is_named(refused):
    concrete = tf.function(lambda: tf.constant(0), autograph=False).get_concrete_function()
    for bad, words in (
        (5, "5 cannot be called"),
        (max, "wrap it in a def"),
        (functools.wraps(tf.function(len))(lambda x: x), "watch that one, its __wrapped__"),
        (concrete, "one trace"),
    ):
        refused(TypeError, words, watch_function, bad)


def test_watched_twice_is_one_ledger_and_options_are_for_plain_functions(refused):
    kept = watch_traces(lambda x: x, autograph=False)
    again = watch_traces(kept)
    again(1)
    assert kept.model.verdicts == ("trace",)
    refused(TypeError, "already a tf.function", watch_traces, kept, reduce_retracing=True)


@pytest.mark.parametrize(
    "argument",
    [tf.data.Dataset.range(3), [[[[[[[[[1]]]]]]]]], [*range(100)], "<script>", float("nan")],
    ids=lambda value: type(value).__name__,
)
def test_odd_arguments_have_short_words_the_same_twice(argument):
    words = []
    for _ in range(2):
        kept = watch_traces(lambda x: tf.constant(0), autograph=False)
        kept(argument)
        kept(argument)
        assert kept.model.verdicts == ("trace", "hit")
        words.append(repr(kept))
    assert words[0] == words[1] and "0x" not in words[0]
    assert len(kept.model.entries[0].arguments) <= 160
    assert "<script>" not in kept._repr_mimebundle_()[0]["text/html"]

"""A ledger of traces uses up nothing: no key, no graph op, no reference, no warning."""

import functools
import gc
import itertools
import logging
import re
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

import helpers
from helpers.internals import tensorflow_private
from tests.call_sequences import Masked, Options, Pair, Thing, draw_program, split_call

tf = pytest.importorskip("tensorflow")
tf_stack = pytest.importorskip("tensorflow.python.util.tf_stack")
NUMBERS = itertools.count()
pytestmark = pytest.mark.own_process(sharing="tensorflow")


def caches(function) -> tuple:
    """Return all that the cache of a tf.function contains."""
    cache = function._function_cache
    tables = [
        (k, [*t._dispatch_table], [*t._dispatch_cache]) for k, t in cache._dispatch_dict.items()
    ]
    return (
        [*cache._primary],
        tables,
        function._created_variables,
        function._variable_creation_config,
    )


def test_would_trace_used_ten_times_leaves_the_function_as_it_was():
    for seed in range(30):
        program = draw_program(seed)
        function = tf.function(program.build(), autograph=False, **program.options)
        for call in program.calls[:2]:
            args, kwargs = split_call(call)
            before, rows = caches(function), set()
            for _ in range(10):
                row = helpers.would_trace(function, *args, **kwargs)
                rows.add((row.verdict, row.note, row.arguments))
            assert caches(function) == before and len(rows) == 1
            if row.verdict != "error":
                function(*args, **kwargs)


def forget(make) -> list:
    """Return what is still alive of the things that were passed to a call."""
    things = make()
    alive = [weakref.ref(thing) for thing in things]
    del things
    gc.collect()
    return [ref() for ref in alive if ref() is not None]


def test_no_argument_is_kept_alive():
    kept = helpers.watch_traces(lambda x, **more: tf.constant(0), autograph=False)
    seen = helpers.watching_traces()

    def call():
        things = [Thing(), Options(Thing(), tf.ones(3)), Masked(True, tf.ones(4)), tf.ones(5)]
        with seen:
            for thing in things:
                kept(thing, inner=[thing, Pair(thing, 1)])
                helpers.would_trace(kept, thing)
            with pytest.raises(TypeError):
                kept(things[0], inner={1})
        return [*things[:1], things[3]]

    assert forget(call) == []
    assert kept.model.traces and seen.model.traces


def test_the_exhibit_is_gone_when_nobody_refers_to_it():
    def call():
        kept = helpers.watch_traces(lambda x: tf.constant(0), autograph=False)
        with helpers.watching_traces() as seen:
            kept(tf.ones(2))
        return [kept.function, kept._source if hasattr(kept, "_source") else kept, seen]

    assert forget(call) == []


def warnings_of(wrap) -> list[str]:
    """Return TensorFlow's warnings while a new function retraces twelve times."""
    space, said = {"tf": tf}, []
    exec(f"def f(x): return tf.constant({next(NUMBERS)})", space)  # TensorFlow counts by code
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: said.append(record.getMessage())
    tf.get_logger().addHandler(handler)
    try:
        fn = wrap(space["f"])
        for n in range(12):
            fn(n)
    finally:
        tf.get_logger().removeHandler(handler)
    return [message.partition(" to <")[0] for message in said]


def in_a_block(fn):
    step = tf.function(fn, autograph=False)

    def run(n):
        with helpers.watching_traces():
            helpers.would_trace(step, n)
            return step(n)

    return run


def test_tensorflow_warns_of_retracing_as_it_does_alone():
    alone = warnings_of(lambda fn: tf.function(fn, autograph=False))
    assert alone and alone == warnings_of(lambda fn: helpers.watch_traces(fn, autograph=False))
    assert alone == warnings_of(lambda f: helpers.watch_traces(tf.function(f, autograph=False)))
    assert alone == warnings_of(in_a_block)


def used_six_times_before(use):
    """Return how to wrap a function that a verb has run as graphs of its own six times."""

    def wrap(fn):
        for _ in range(6):
            use(fn)
        return tf.function(fn, autograph=False)

    return wrap


def test_tensorflow_does_not_count_what_verbs_trace_for_themselves():
    alone = warnings_of(lambda fn: tf.function(fn, autograph=False))
    x = tf.constant(1.0)
    for use in (
        lambda fn: helpers.watch_mutations({"case": (fn, x)}),
        lambda fn: helpers.watch_optimisation(fn, x),
        lambda fn: helpers.show_graph_steps(fn, x),
    ):
        assert warnings_of(used_six_times_before(use)) == alone


def test_a_graph_gets_no_op_from_looking():
    signature = [tf.TensorSpec([], tf.float32), tf.TensorSpec([2], tf.float32)]
    inner = tf.function(lambda x, y: x * y, input_signature=signature)

    def ops(fn):
        def outer(x):
            helpers.would_trace(inner, 2.0, np.ones(2))
            return fn(3.0, [1.0, 2.0]) + fn(x, np.ones(2))

        graph = tf.function(outer, autograph=False).get_concrete_function(tf.constant(1.0)).graph
        return [op.type for op in graph.get_operations()]

    with helpers.watching_traces():
        watched = ops(helpers.watch_traces(inner))
    assert watched == ops(inner)


def test_blocks_and_threads_leave_tensorflow_as_it_was():
    from tensorflow.python.eager.polymorphic_function import tracing_compilation

    before = tracing_compilation._maybe_define_function
    callbacks = [*tensorflow_private.transform.CONCRETE_FUNCTION_CALLBACKS]
    step = helpers.watch_traces(lambda x: 1 / x.shape[0], autograph=False)
    with helpers.watching_traces(), helpers.watching_traces(), pytest.raises(ZeroDivisionError):
        step(tf.ones(0))
    assert tracing_compilation._maybe_define_function is before
    assert [*tensorflow_private.transform.CONCRETE_FUNCTION_CALLBACKS] == callbacks


def test_a_ledger_of_very_many_calls_is_short():
    kept = helpers.watch_traces(lambda x: tf.constant(0), autograph=False, reduce_retracing=True)
    for n in range(1_200):
        kept(tf.ones([n + 1]))
    for _ in range(1_000):
        kept(tf.ones(3))
    assert len(kept.model.verdicts) == 2_200 and len(kept._rows._rows) < 1_210
    assert len(kept._forecaster._hits_by_key) <= 1_000


def root_of(x):
    with tf.control_dependencies([tf.debugging.assert_positive(x)]):
        return tf.sqrt(x)


def test_an_error_of_a_graph_has_no_frame_of_a_verb():
    own, x = Path(helpers.__file__).parent.name, tf.constant([-1.0])
    runs = {"watch_traces": lambda: helpers.watch_traces(root_of)(x)}
    for name in ("watch_ops", "watch_call"):
        runs[name] = functools.partial(getattr(helpers, name), tf.function(root_of), x)
    for name in ("watching_traces", "watching_ops"):

        def watch_block(name=name):
            with getattr(helpers, name)():
                tf.function(root_of)(x)

        runs[name] = watch_block
    for name, run in runs.items():
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            run()
        files = re.findall(r'File "([^"]*)"', str(caught.value))
        assert any(file == __file__ for file in files), name
        assert not [file for file in files if f"/{own}/" in file and "/tests/" not in file], name


def test_blocks_that_end_out_of_order_leave_no_filter_of_frames():
    first, second = helpers.watching_traces(), helpers.watching_ops()
    before = tf_stack.extract_stack()[-1].filename
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    filters = tf_stack._source_filter_stacks[threading.get_ident()]
    assert type(filters[-1]) is tf_stack.SentinelFilter
    assert tf_stack.extract_stack()[-1].filename == before == __file__

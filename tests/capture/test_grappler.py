"""What Grappler did is told from its two graphs; the caller's function keeps its counts."""

import pytest

from helpers.capture.tensorflow.grappler import record_grappler

tf = pytest.importorskip("tensorflow")


def wasteful(x):
    tf.exp(x)
    seven = 2.0 * tf.constant(3.0) + 1.0
    left, right = tf.sin(x), tf.sin(x)
    same = tf.transpose(tf.transpose(x))
    return tf.concat([left * seven, right, same], 0)


@pytest.fixture(scope="module")
def diff():
    return record_grappler(wasteful, tf.eye(2))


def test_each_optimisation_is_named(diff):
    assert diff.found("folded")[0].before[-1] == "add" and "= 7.0" in diff.found("folded")[0].how
    assert diff.found("removed")[0].before == ("Exp",)
    assert diff.found("merged")[0].before == ("Sin_1",)
    assert diff.found("merged")[0].after == ("Sin",)
    assert {"transpose", "transpose_1"} <= set(diff.found("cancelled")[0].before)
    assert diff.found("changed") == () and diff.word("concat") == "kept"


def test_the_counts_of_a_traced_function_stay():
    fn = tf.function(wasteful)
    record_grappler(fn, tf.eye(2))
    assert fn.experimental_get_tracing_count() == 0


@pytest.mark.parametrize("thing", [3, None, int])
def test_what_cannot_run_is_refused(thing, refused):
    refused(TypeError, "a function is needed|wrap it in a def", record_grappler, thing)


def test_an_error_of_the_call_comes_through_and_the_metadata_is_off_again():
    with pytest.raises(tf.errors.InvalidArgumentError):
        record_grappler(lambda x: tf.gather([1.0], x), tf.constant(7))
    assert len(record_grappler(wasteful, tf.eye(2)).before.nodes) > 10


def test_inside_a_trace_it_is_refused(refused):
    traced = tf.function(lambda x: record_grappler(wasteful, x), autograph=False)
    refused(RuntimeError, "nothing runs while TensorFlow traces", traced, tf.eye(2))

"""The small tf.function traces, hits and raises exactly where TensorFlow's own does."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.mini.tracing import Spec, Traced, common, copied, covers, key_of, same
from tests.call_sequences import UNHURRIED, sequences

tf = pytest.importorskip("tensorflow")


def spec_of(value):
    return (value.dtype, tuple(value.shape)) if isinstance(value, tf.Tensor) else None


def no_tensors(value):
    return None


def change(x, how):
    """Change a list or dict in one of several ways, chosen by a Python value."""
    target = x["a"] if how == 2 and isinstance(x, dict) and "a" in x else x
    if how in ("a", 2) and isinstance(target, list):
        target.append(None)
    elif how in ("a", 2) and isinstance(target, dict):
        target["new"] = None
    elif how == "b" and isinstance(target, dict | list) and target:
        target.pop("a", None) if isinstance(target, dict) else target.reverse()
    return tf.constant(0)


def outcome(call, count, args):
    try:
        call(*args)
    except (ValueError, TypeError):  # TensorFlow's own check trips over a list that became a tuple
        return "raised", count()
    return "passed", count()


@settings(max_examples=500, **UNHURRIED)
@given(sequences(), st.booleans())
def test_five_hundred_sequences_agree_call_by_call(calls, relaxed):
    def fn(x, how):
        return change(x, how)

    real = tf.function(fn, autograph=False, reduce_retracing=relaxed)
    small = Traced(fn, spec_of, relaxed)
    for number, args in enumerate(calls):
        expected = outcome(real, real.experimental_get_tracing_count, args)
        assert outcome(small, lambda: len(small.cache), args) == expected, (number, calls)


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((1,), {}), ((1, 5), {}), ((), {"x": 1}), ((1,), {"n": 5}), ((1,), {"n": 6})],
)
def test_defaults_and_keywords_are_bound_before_the_key_is_made(args, kwargs):
    def fn(x, n=5):
        return tf.constant(0)

    real, small = tf.function(fn), Traced(fn, spec_of)
    for call in (real, small):
        call(1)
        call(*args, **kwargs)
    assert len(small.cache) == real.experimental_get_tracing_count()


def test_a_hit_gives_what_the_trace_gave_and_the_body_does_not_run():
    ran = []
    small = Traced(lambda x: ran.append(x) or len(ran), no_tensors)
    assert [small(1), small(1), small(2)] == [1, 1, 2] and ran == [1, 2]


def test_a_trace_that_raises_leaves_no_key():
    small = Traced(lambda x: 1 / x, no_tensors)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            small(0)
    assert small.cache == []


def test_what_was_modified_is_named_and_the_callers_list_is_not():
    def grow(a, b):
        b.append(1)

    mine = [0]
    with pytest.raises(ValueError, match="grow.*modified b"):
        Traced(grow, no_tensors)([0], mine)
    assert mine == [0]


def test_common_key_covers_both():
    a, b = {"k": [Spec("f", (2, 3))]}, {"k": [Spec("f", (2, 4))]}
    assert common(a, b) == {"k": [Spec("f", (2, None))]}
    assert covers(common(a, b), a) and covers(common(a, b), b) and not covers(a, b)
    assert common(Spec("f", (2,)), Spec("f", (2, 2))) == Spec("f", None)


def test_copies_share_leaves_and_nothing_else():
    leaf = object()
    value = {"a": [leaf, (leaf,)]}
    twin = copied(value)
    assert same(value, twin) and twin is not value and twin["a"] is not value["a"]
    assert not same(value, copied({"a": [leaf, [leaf]]}))


def test_key_of_a_tensor_is_a_spec():
    assert key_of(tf.ones([2]), spec_of) == Spec(tf.float32, (2,))

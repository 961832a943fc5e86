"""Source and generated source: every line of both, joined by AutoGraph's own map."""

import logging

import pytest

import helpers
from helpers.capture.tensorflow.autograph import build_autograph_listing
from tests.model.pairs import made_up, right_of

tf = pytest.importorskip("tensorflow")


def my_function(x):
    # a comment
    if tf.reduce_sum(x) <= 1:
        return x * x
    else:
        return x - 1


def test_no_line_of_either_side_is_left_out():
    model = build_autograph_listing(my_function)
    left = {pair.left for pair in model.pairs if pair.left}
    right = [pair.right for pair in model.pairs if pair.right]
    assert left == set(range(1, 7)) and right == list(range(1, len(right) + 1))


def test_the_if_became_a_call():
    model = build_autograph_listing(my_function)
    assert any("ag__.if_stmt" in line for line in right_of(model, 3))
    assert any("ag__.ld(x) * ag__.ld(x)" in line for line in right_of(model, 4))
    assert any("FunctionScope" in line for line in made_up(model))


def test_a_tf_function_shows_the_function_inside():
    assert build_autograph_listing(tf.function(my_function)) == build_autograph_listing(my_function)


@pytest.mark.parametrize("thing", [3, len])
def test_what_is_no_python_function_is_refused(thing, refused):
    refused(TypeError, "show_autograph needs a Python function", build_autograph_listing, thing)


def test_what_autograph_does_not_convert_is_not_shown_converted(refused):
    async def waits(x):
        return x

    marked = tf.autograph.experimental.do_not_convert(my_function)
    off = tf.function(my_function, autograph=False)
    for fn, why in ((waits, "no async function"), (marked, "marked so"), (off, "autograph=False")):
        refused(ValueError, why, build_autograph_listing, fn)
    unsaid = "source of <lambda> is not available"
    refused(ValueError, unsaid, build_autograph_listing, eval("lambda x: x"))


def test_autograph_leaves_a_verb_inside_a_traced_function_alone():
    said = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: said.append(record.getMessage())

    def traced(x):
        helpers.show_graph(my_function, x)
        helpers.watch_call(tf.abs, x)
        helpers.watch_ops(tf.abs, x)
        helpers.show_table("T", {"a": 1})
        return x

    tf.get_logger().addHandler(handler)
    try:
        tf.function(traced)(tf.constant(1.0))
    finally:
        tf.get_logger().removeHandler(handler)
    assert not said

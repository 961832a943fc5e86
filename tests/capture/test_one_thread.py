"""Graph functions give the same, variables and gradients too, when their ops run one by one."""

import sys

import pytest

from helpers.internals.tensorflow_private import run_in_this_thread
from helpers.safety.limits import rehearsed

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.own_process()


def doubled():
    return tf.function(lambda x: x * 2.0 + 1.0)


def nested():
    inner = doubled()
    return tf.function(lambda x: (inner(x) @ tf.transpose(x), tf.concat([x, x], 0)))


def counting():
    count = tf.Variable(1.0)

    @tf.function
    def count_up(x):
        count.assign_add(tf.reduce_sum(x))
        return count.read_value()

    return count_up


def sloped():
    inner = doubled()

    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(inner(x) ** 2)
        return tape.gradient(y, x)

    return slope


def looping():
    @tf.function
    def loop(x):
        total = tf.constant(0.0)
        for row in x:
            if tf.reduce_sum(row) > 3.0:
                total += tf.reduce_sum(row)
        while total < 100.0:
            total *= 2.0
        return total

    return loop


def told(make) -> str:
    function, x = make(), tf.constant([[1.0, 2.0], [3.0, 4.0]])
    return str([tf.nest.map_structure(lambda t: t.numpy().tolist(), function(x)) for _ in "ab"])


@pytest.mark.skipif(sys.platform != "linux", reason="no copy is made elsewhere")
@pytest.mark.parametrize("make", [doubled, nested, counting, sloped, looping])
def test_a_graph_gives_the_same_in_a_copy_of_this_process(make):
    def there() -> str:
        run_in_this_thread()
        return told(make)

    found = rehearsed(there, 30)
    assert (found.how, found.words) == ("ended", told(make))

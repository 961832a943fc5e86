"""The objects to which two functions of one code belong: the same, or not, or not known."""

import gc
from functools import partial

from helpers.capture.tensorflow.function_owners import SELF, list_different_owners, read_owners


class Layer:
    def step(self, x):
        return x


def scaled_by(factor):
    return lambda x: x * factor


def differences(first, second):
    return list_different_owners(read_owners([first]), read_owners([second]))


def test_methods_differ_by_their_objects():
    one, other = Layer(), Layer()
    assert differences(one.step, one.step) == []
    assert differences(one.step, other.step) == [SELF]


def test_closures_differ_by_the_values_on_which_they_close():
    assert differences(scaled_by(2), scaled_by(2)) == []
    assert differences(scaled_by(2), scaled_by(2.0)) == ["factor"]
    one, other = Layer(), Layer()
    assert differences(scaled_by(one), scaled_by(one)) == []
    assert differences(scaled_by(one), scaled_by(other)) == ["factor"]


def test_partials_differ_by_their_arguments():
    assert differences(partial(pow, 2, mod=3), partial(pow, 2, mod=3)) == []
    assert differences(partial(pow, 2, mod=3), partial(pow, 5, mod=4)) == ["argument 0", "mod"]
    assert differences(partial(pow, 2), partial(pow)) == ["argument 0"]


def test_what_cannot_be_compared_counts_as_the_same():
    assert differences(scaled_by([1]), scaled_by([2])) == []  # a list has no weak references
    assert differences(scaled_by(len), scaled_by(Layer.step)) == []


def test_owners_keep_no_object_alive():
    layer = Layer()
    owners = read_owners([layer.step])
    del layer
    gc.collect()
    (reference,) = owners[SELF]
    assert reference() is None

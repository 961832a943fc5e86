"""After a journey in three ways, each random number is the one that follows one plain call."""

import random

import numpy as np
import pytest

from helpers import show_journey
from helpers.capture.frameworks.journey import SEEDED

torch = pytest.importorskip("torch")
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

pytestmark = [pytest.mark.own_process(sharing="frameworks"), pytest.mark.filterwarnings("ignore")]


def _torch_dropout():
    layer = torch.nn.Dropout(0.5)
    return (lambda x: layer(x) * 2), torch.ones(3, 3)


def _torch_functions():
    def noisy(x):
        return torch.nn.functional.dropout(x, 0.3) + torch.rand(3) + torch.randperm(3)

    return noisy, torch.ones(3)


def _keras_dropout():
    layer = keras.layers.Dropout(0.5)
    return (lambda x: layer(x, training=True) + 1), tf.ones((3, 3))


def _keras_seeded_dropout():
    layer = keras.layers.Dropout(0.5, seed=7)
    return (lambda x: layer(x, training=True) + 1), tf.ones((3, 3))


def _keras_functions():
    return (lambda x: x + keras.random.normal((3,)) * keras.random.uniform((3,))), tf.ones(3)


def _tensorflow_ops():
    return (lambda x: x * tf.random.uniform((3,)) + tf.nn.dropout(x, 0.5)), tf.ones(3)


def _global_generator():
    return (lambda x: x + tf.random.get_global_generator().normal((3,))), tf.ones(3)


def _python_and_numpy():
    def noisy(x):
        return x * random.random() + np.random.rand() + random.gauss(0, 1) * np.random.randn()

    return noisy, 2.0


def _of_each_library():
    def noisy(x):
        numbers = torch.rand(3).sum(), tf.random.normal((2,)), np.random.rand(), random.random()
        return len(numbers) * x + tf.random.get_global_generator().normal(())

    return noisy, 1.0


def _raising():
    def noisy(x):
        torch.rand(3), np.random.rand(), random.random(), tf.random.uniform(())
        raise ValueError(x)

    return noisy, 1.0


LONG = [
    _torch_dropout,
    _torch_functions,
    _keras_dropout,
    _keras_seeded_dropout,
    _keras_functions,
    _tensorflow_ops,
    _global_generator,
    _python_and_numpy,
    _raising,
]
PROGRAMS = [_of_each_library, *(pytest.param(make, marks=pytest.mark.long) for make in LONG)]


def _drawn_after(make, run) -> list:
    """Return what one more plain call gives, and then what each library draws, after a run."""
    keras.utils.set_random_seed(5)  # of Python, NumPy, TensorFlow and Keras
    torch.manual_seed(5)
    tf.random.set_global_generator(tf.random.Generator.from_seed(5))
    fn, x = make()
    run(fn, x)
    found = [_called(fn, x), torch.rand(2), np.random.rand(2), random.random(), random.gauss(0, 1)]
    found += [tf.random.uniform((2,)), keras.random.uniform((2,))]
    found += [tf.random.get_global_generator().normal((2,)), keras.layers.Dropout(0.5).seed]
    return [np.asarray(value).tolist() for value in found]


def _called(fn, x):
    try:
        return fn(x)
    except ValueError:
        return 0.0


@pytest.mark.parametrize("make", PROGRAMS)
def test_random_numbers_go_on_as_after_one_call(make):
    watched = _drawn_after(make, lambda fn, x: show_journey(fn, x, ways=True))
    assert watched == _drawn_after(make, _called)
    assert watched != _drawn_after(make, lambda fn, x: None)


def test_a_journey_says_that_an_op_with_a_seed_has_drawn_on():
    model = show_journey(lambda x: x + tf.random.uniform((2,), seed=3), 1.0, ways=True).model
    assert SEEDED in model.note

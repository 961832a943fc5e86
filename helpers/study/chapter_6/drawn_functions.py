"""A seed -> functions of one tensor that nobody has seen, their words, and a point for each."""

from collections.abc import Iterator
from random import Random

import numpy as np

SHAPES = ((), (3,), (0,), (1, 2), (2, 2))
SIZES = (1, 1, 2, 2, 3, 4, 5, 6)  # steps of the functions
# words -> the step: of TensorFlow, the value before it and any other
STEPS = {
    "sin({a})": lambda tf, a, b: tf.sin(a),
    "exp({a})": lambda tf, a, b: tf.exp(a),
    "relu({a})": lambda tf, a, b: tf.nn.relu(a),
    "{a} + {b}": lambda tf, a, b: a + b,
    "{a} - {b}": lambda tf, a, b: a - b,
    "{a} * {b}": lambda tf, a, b: a * b,
    "{b} * {a}": lambda tf, a, b: b * a,
    "maximum({a}, {b})": lambda tf, a, b: tf.maximum(a, b),
    "{a} * reduce_sum({b})": lambda tf, a, b: a * tf.reduce_sum(b),
    "stop_gradient({a}) * {b}": lambda tf, a, b: tf.stop_gradient(a) * b,
    "floor({a}) + {b}": lambda tf, a, b: tf.floor(a) + b,
}
NAMES = "xabcdefgh"


def drawn(seed: int) -> Iterator[tuple]:
    """Yield (words, function, point): from short to long, of other shapes and dtypes each."""
    import tensorflow as tf

    random = Random(seed)
    for size in SIZES:
        picked = [(random.choice(list(STEPS)), random.randrange(n + 1)) for n in range(size)]
        # Sometimes the last steps stand beside the way from x to y.
        last = size if random.random() < 0.75 else random.randrange(1, size + 1)
        shape, dtype = random.choice(SHAPES), random.choice((tf.float32, tf.float64))
        values = [random.randrange(-6, 7) / 4 for _ in range(int(np.prod(shape)))]
        x = tf.constant(np.reshape(values, shape), dtype)
        yield _words(picked, last), _function(picked, last), x


def _words(picked: list[tuple[str, int]], last: int) -> str:
    lines = [
        f"{NAMES[n + 1]} = {step.format(a=NAMES[n], b=NAMES[other])}"
        for n, (step, other) in enumerate(picked)
    ]
    return f"{NAMES[last]}, where {'; '.join(lines)}"


def _function(picked: list[tuple[str, int]], last: int):
    import tensorflow as tf

    def function(x):
        values = [x]
        for step, other in picked:
            values.append(STEPS[step](tf, values[-1], values[other]))
        return values[last]

    return function

"""Functions of one tensor -> their gradients by GradientTape, the truth for a tape of one's own."""

import numpy as np

from helpers.safety.arguments import is_a, kind_of
from helpers.study.two_answers import parted

CLOSE = 1e-4
MOST_SHOWN = 9  # numbers of a gradient


def functions():
    """Return (words, function) for functions of a tensor of two rows and three columns."""
    import tensorflow as tf

    return (
        ("x itself", lambda x: x),
        ("a constant", lambda x: tf.constant(3.0)),
        ("sin(x)", tf.sin),
        ("exp(-x)", lambda x: tf.exp(-x)),
        ("x * y", lambda x: x * tf.constant(3.0)),
        ("x + x", lambda x: x + x),
        ("2 * 3, beside sin(x)", lambda x: (tf.sin(x), tf.constant(2.0) * 3.0)[1]),
        ("sin(x), beside unique(x)", lambda x: (tf.unique(tf.reshape(x, [-1])), tf.sin(x))[1]),
        ("floor(x) + sin(x)", lambda x: tf.floor(x) + tf.sin(x)),
        ("x * x + x", lambda x: x * x + x),
        ("x ** 3 / (1 + x * x)", lambda x: x**3 / (1 + x * x)),
        ("reduce_sum(x) ** 2", lambda x: tf.reduce_sum(x) ** 2),
        ("reduce_mean(x, 1)", lambda x: tf.reduce_mean(x, 1)),
        ("x - reduce_max(x)", lambda x: x - tf.reduce_max(x)),
        ("matmul(x, x, transpose_b=True)", lambda x: tf.matmul(x, x, transpose_b=True)),
        ("x[:, 1:]", lambda x: x[:, 1:]),
        ("concat([x, 2 * x])", lambda x: tf.concat([x, 2 * x], 0)),
        ("split(x)[1]", lambda x: tf.split(x, 3, 1)[1]),
        ("top_k(x, 2).values", lambda x: tf.nn.top_k(x, 2).values),
        ("x + x + …, sixty times", lambda x: sum([x] * 60, x)),
        ("argmax(x)", lambda x: tf.argmax(x)),
        ("first * second of a list that changes", _of_a_list),
        ("softmax(x)", tf.nn.softmax),
        ("gather(x, [1, 1, 0])", lambda x: tf.gather(x, [1, 1, 0])),
        ("transpose(x)", tf.transpose),
        ("cast(x, float64)", lambda x: tf.cast(x, tf.float64) ** 2),
        ("bias_add(x, bias)", lambda x: tf.nn.bias_add(x, [1.0, 2.0, 3.0])),
    )


def _of_a_list(x):
    import tensorflow as tf

    parts = tf.unstack(x)
    first = parts[0]
    parts[0] = tf.ones_like(first)
    return first * parts[1]


def point():
    """Return the tensor at which these gradients are compared: float32 (2, 3)."""
    import tensorflow as tf

    return tf.constant([[0.5, 1.5, -2.0], [3.0, 0.25, 1.0]])


def true_gradient(function, x):
    """Return what GradientTape gives, as a tensor; None where there is no way from x."""
    import tensorflow as tf

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return as_tensor(tape.gradient(y, x))


def as_tensor(found):
    """Return a gradient that may be a slice as a tensor; None stays."""
    import tensorflow as tf

    return None if found is None else tf.convert_to_tensor(found)


def difference(found, truth) -> str | None:
    """Return how a gradient parts from the true one, in words; None if it does not."""
    import tensorflow as tf

    if found is None or truth is None or not is_a(found, tf.Tensor):
        return None if found is truth is None else _parted(_kind(found), _kind(truth))
    if found.dtype != truth.dtype:
        return _parted(f"{found.dtype.name}s", f"{truth.dtype.name}s")
    mine, theirs = found.numpy(), truth.numpy()
    alike = mine.shape == theirs.shape and np.allclose(mine, theirs, CLOSE, CLOSE, equal_nan=True)
    return None if alike else _parted(_kind(found), _kind(truth))


def _parted(mine: str, theirs: str) -> str:
    return parted("", f"gives {mine}", f"gives {theirs}", "GradientTape")


def _kind(found) -> str:
    import tensorflow as tf

    if not is_a(found, tf.Tensor):
        return "None" if found is None else f"no tensor ({kind_of(found)})"
    values = found.numpy()
    if 0 < values.size <= MOST_SHOWN:
        return str(np.round(values.astype("float64"), 4).tolist())
    return f"a tensor of shape {tuple(values.shape)}"

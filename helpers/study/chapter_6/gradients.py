"""Functions of one tensor -> their gradients by GradientTape, the truth for a tape of one's own."""

from helpers.safety.arguments import kind_of

CLOSE = 1e-4


def functions():
    """Return (words, function) for twenty functions of a tensor of two rows and three columns."""
    import tensorflow as tf

    return (
        ("sin(x)", tf.sin),
        ("exp(-x)", lambda x: tf.exp(-x)),
        ("x * y", lambda x: x * tf.constant(3.0)),
        ("x * x + x", lambda x: x * x + x),
        ("x ** 3 / (1 + x * x)", lambda x: x**3 / (1 + x * x)),
        ("reduce_sum(x) ** 2", lambda x: tf.reduce_sum(x) ** 2),
        ("reduce_mean(x, 1)", lambda x: tf.reduce_mean(x, 1)),
        ("x - reduce_max(x)", lambda x: x - tf.reduce_max(x)),
        ("matmul(x, x, transpose_b=True)", lambda x: tf.matmul(x, x, transpose_b=True)),
        ("x[:, 1:]", lambda x: x[:, 1:]),
        ("concat([x, 2 * x])", lambda x: tf.concat([x, 2 * x], 0)),
        ("split(x)[1]", lambda x: tf.split(x, 3, 1)[1]),
        ("stack([x, x])", lambda x: tf.stack([x, x])),
        ("relu(x)", tf.nn.relu),
        ("softmax(x)", tf.nn.softmax),
        ("gather(x, [1, 1, 0])", lambda x: tf.gather(x, [1, 1, 0])),
        ("transpose(x)", tf.transpose),
        ("cast(x, float64)", lambda x: tf.cast(x, tf.float64) ** 2),
        ("bias_add(x, bias)", lambda x: tf.nn.bias_add(x, [1.0, 2.0, 3.0])),
        ("a constant", lambda x: tf.constant(3.0)),
        ("x itself", lambda x: x),
    )


def point():
    """Return the tensor at which gradients are compared: float32 (2, 3)."""
    import tensorflow as tf

    return tf.constant([[0.5, 1.5, -2.0], [3.0, 0.25, 1.0]])


def true_gradient(function, x):
    """Return what GradientTape gives, as a tensor; None where there is no way from x."""
    import tensorflow as tf

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    found = tape.gradient(y, x)
    return None if found is None else tf.convert_to_tensor(found)


def difference(found, truth) -> str | None:
    """Return how a gradient parts from the true one, in words; None if it does not."""
    import tensorflow as tf

    if (found is None) != (truth is None):
        has = "None" if truth is None else f"a tensor of shape {tuple(truth.shape)}"
        return f"GradientTape gives {has}, and yours {_kind(found)}"
    if truth is None:
        return None
    if found is not None and not isinstance(found, tf.Tensor):
        return f"GradientTape gives a tensor, and yours a {kind_of(found)}"
    if found.shape != truth.shape:
        return f"GradientTape gives a tensor of shape {tuple(truth.shape)}, yours {_kind(found)}"
    if found.dtype != truth.dtype:
        return f"GradientTape gives {truth.dtype.name}, yours {found.dtype.name}"
    worst = float(tf.reduce_max(tf.abs(found - truth)))
    return f"the gradient is off by up to {worst:.3g}" if not worst <= CLOSE else None


def _kind(found) -> str:
    if found is None:
        return "None"
    shape = getattr(found, "shape", None)
    return f"a {kind_of(found)}" if shape is None else f"one of shape {tuple(shape)}"

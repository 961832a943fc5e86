"""Chapter 2: traces ranked wrong, batches that still retrace, caches that differ."""

ORDER = '"tensors", "mixed", "lengths", "numbers", "containers"'
SIGNATURE = "\n    slow_step, input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([])]\n"
NUMBER = "tf.constant(float(number))"
CALL = f"step(rows, {NUMBER})"
EAGERLY = """
step = tf.function(slow_step, input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([])])


def epoch(step, batches):
    tf.config.run_functions_eagerly(True)
    try:
        return [step(rows, number) for number, rows in enumerate(batches)]
    finally:
        tf.config.run_functions_eagerly(False)
"""
BY_ID = "id(leaf) if type(leaf).__name__ == 'Plain' else leaf"
FLAT = "flatten(args) and [spec(leaf) for leaf in tf.nest.flatten(args)]"
LEVEL = "mine = args"
SLOWLY = """
train_step = tf.function(slow_train_step, reduce_retracing=True)


def train(step, weights, samples):
    rate, losses, means = tf.constant(0.1), [], []
    for rows in samples:
        weights, loss, mean = step(weights, rows, rate, losses)
        rate, losses, means = rate * 0.9, [*losses, loss], [*means, mean]
    return weights, means
"""

AT_THE_TOP = """
def key(args):
    return [(x.dtype, x.shape) if hasattr(x, "dtype") else x for x in args]
"""
BY_TEXT = """
import copy


def trace(fn, args):
    mine = copy.deepcopy(args)
    result = fn(*mine)
    if str(mine) != str(args):
        raise ValueError("modified")
    return result
"""
DEEP = """
import copy
import tensorflow as tf


def form(args):
    return tf.nest.map_structure(lambda leaf: leaf.ref() if tf.is_tensor(leaf) else 0, args)


def trace(fn, args):
    kept = lambda leaf: leaf if tf.is_tensor(leaf) else copy.deepcopy(leaf)
    mine = tf.nest.map_structure(kept, args)
    result = fn(*mine)
    if form(mine) != form(args):
        raise ValueError("modified")
    return result
"""

IN_PYTHON = """@tf.function(reduce_retracing=True)
def train_step(*given):
    return tf.py_function(in_python, given, [tf.float32] * 3)


def in_python("""

WITHIN = """traced = step


def step(rows, number):
    return traced(rows, number)


def epoch"""

NOTHING = """
import tensorflow as tf


@tf.function(reduce_retracing=True)
def step(rows, number):
    return None


def epoch(step, batches):
    return [step(rows, tf.constant(float(number))) for number, rows in enumerate(batches)]
"""

MISTAKES = {
    "ranking": (
        ("not part of its key", '"tensors", "mixed"', '"mixed", "tensors"'),
        ("share a key", '"mixed", "lengths"', '"lengths", "mixed"'),
        ("seen before", '"lengths", "numbers"', '"numbers", "lengths"'),
        ("make five keys", '"numbers", "containers"', '"containers", "numbers"'),
        ("each of these names once", ORDER, '"tensors", "mixed"'),
        ("ranking must be a list", f"[{ORDER}]", '"tensors"'),
    ),
    "batches": (
        ("consist of numbers, not None", NOTHING),
        ("step must be a tf.function itself", "def epoch", WITHIN),
        ("number: Python value", SIGNATURE, "slow_step, reduce_retracing=True", NUMBER, "number"),
        ("rows: shape", SIGNATURE, "slow_step"),
        ("yours gives [", "enumerate(batches)", "zip(range(6), batches)"),
        ("does not use what step returns", CALL, f"({CALL}, slow_step(rows, number))[1]"),
        ("make no trace", EAGERLY),
    ),
    "slow_training": (
        ("rate: Python value", "tf.constant(0.1), tf", "0.1, tf"),
        ("rows: shape", "(reduce_retracing=True)", ""),
        ("losses: number of elements", SLOWLY),
        (
            "calls back into Python through EagerPyFunc",
            "@tf.function(reduce_retracing=True)\ndef train_step(",
            IN_PYTHON,
        ),
        ("the mean after batch 1", "[*means, total / count]", "[*means, total]"),
        ("for 4 batches: yours gives {'weight 0'", "rate * 0.9", "rate"),
        ("weight 0", "weights - rate", "weights + rate"),
        ("two things", "return weights, means", "return means"),
    ),
    "cache_key": (
        ("another shape is another key", "tuple(leaf.shape)", "0"),
        ("another dtype is another key", "tf.as_dtype(leaf.dtype)", "0"),
        ("a Python value is its own key", "return leaf\n", "return type(leaf)\n"),
        ("1, 1.0 and True are equal", "return leaf\n", "return repr(leaf)\n"),
        ("a list is not a tuple", "map_structure(spec, args)", FLAT),
        ("inside a container, too, a tensor's value", AT_THE_TOP),
        ("even if the last one is freed", "return leaf\n", f"return {BY_ID}\n"),
        ("a NumPy array counts as a tensor", ", np.ndarray, np.generic", ""),
        ("a NumPy number counts as a tensor", ", np.generic", ""),
    ),
    "cache_lookup": (
        ("another form is another key", "known == form and all", "all"),
        ("widens the key to all lengths", "common(k, n) == [k]", "k == n"),
        ("two ranks widen the key", "return [(a[0], None)]", "return []"),
        ("a size that agrees is kept", "m if m == n else None", "None"),
        ("the first that fits is used", "enumerate(keys)", "reversed([*enumerate(keys)])"),
        ("another dtype widens no key", " or a[0] != b[0]", ""),
        ("find must return None or a position", "return at\n", "return known\n"),
        ("widen must return (form, leaves)", "return form, leaves", "return str(form)"),
    ),
    "cache_mutation": (
        ("trace on a nested copy", "mine = tf.nest.map_structure(lambda leaf: leaf, args)", LEVEL),
        ("trace on a nested copy", "fn(*mine)", "fn(*args)"),
        ("appending to a list raises", "form(mine) != form(args) or ", ""),
        ("another object in the same place", " or any(a is not b for a, b in pairs)", ""),
        ("an equal tensor in the same place", BY_TEXT),
        ("leaves [] in the caller's object", DEEP),
        ("traces, raises a TypeError, keeps 0 traces", "raise ValueError", "raise TypeError"),
    ),
}

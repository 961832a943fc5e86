"""Chapter 7: seams named wrong, exhibits that prove nothing, and cures that are none."""

BY_HAND = """    old, before = losses.penalty, training.loss
    losses.penalty = training.penalty = new
    training.loss = tf.function(training.loss.python_function)
    try:
        yield
    finally:
        losses.penalty = training.penalty = old
        training.loss = before
"""
CURE = """    again = tf.function(training.loss.python_function)  # without a graph yet
    with rebind_everywhere(losses.penalty, new), rebind_everywhere(training.loss, again):
        yield
"""
NO_FINALLY = BY_HAND.replace("    try:\n        yield\n    finally:\n", "    yield\n").replace(
    "        losses.penalty = training.penalty = old\n        training.loss = before\n",
    "    losses.penalty = training.penalty = old\n    training.loss = before\n",
)

MISTAKES = {
    "stuck_patch": (
        ("1 more seam is to be named", '"name", "cache key"', '"name"'),
        ("no frame of loss is evaluated", '"cache key"', '"frame"'),
        ("'hook' is no seam", '"cache key"', '"hook"'),
        ("no exhibit in proof shows every place that holds", "show_bindings(losses.penalty), ", ""),
        (
            "no exhibit in proof shows what a call of loss finds when patched",
            "losses.penalty), calls",
            "losses.penalty), show_bindings(training.loss)",
        ),
        (
            "ask who holds the function",
            "show_bindings(losses.penalty)",
            "show_bindings(size)",
        ),
        ("call what watch_traces returned", "    calls(weights, error)", "    pass"),
        ("proof must be an exhibit", "(losses.penalty), calls", "(losses.penalty), True"),
        (
            "patched must be a function",
            "def patched(",
            "def block(",
            "        yield\n",
            "        yield\npatched = 5\n",
        ),
        (
            "training.loss: gives 25, and must give 7",
            "rebind_everywhere(training.loss, again)",
            "patch.object(training, 'loss', training.loss)",
        ),
        (
            "loss is to stay a tf.function",
            "tf.function(training.loss.python_function)",
            "training.loss.python_function",
        ),
        ("when the block raises", CURE, NO_FINALLY),
        ("with a third module, which imported both", CURE, BY_HAND),
        ("must return a context manager", "@contextmanager\n", ""),
    ),
}

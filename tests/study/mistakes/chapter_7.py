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
    "every_step": (
        ("at each step; why is it another one", '"cache key"', '"C call"'),
        ("'the cache' is no seam", '"cache key"', '"the cache"'),
        ("more than one batch", "train(calls, start, [rows] * 4)", "pass"),
        ("no exhibit in proof shows which argument", "proof = calls", "proof = show_code(train)"),
        ("proof must be an exhibit", "proof = calls", "proof = 4"),
        ("weight 0: yours gives", "max(number, 1)", "(number + 1)"),
        (
            "traces; the ledger says why: rate: Python value",
            "tf.constant(0.1 / max(number, 1))",
            "0.1 / max(number, 1)",
        ),
        ("cured_step must be a tf.function", "@tf.function\n", ""),
        (
            "its graph calls Python back",
            "    missed = ",
            "    tf.py_function(print, [], [])\n    missed = ",
        ),
        ("train gives", "tf.constant(0.1 / max(number, 1))", "tf.constant(0.1)"),
        (
            "call it once for each",
            "        weights = step(weights, batch, rate)",
            "        weights = step(weights, batch, rate)\n        step(weights, batch, rate)",
        ),
        (
            "its weights do not come from there",
            "        weights = step(",
            "        step(weights, batch, rate)\n        weights = cured_step(",
        ),
        ("cured_step must be a function", "def cured(", "cured_step = 5\n\n\ndef cured("),
    ),
}

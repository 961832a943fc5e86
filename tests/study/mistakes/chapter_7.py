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
BY_HAND_ON_ERROR = """    again = tf.function(training.loss.python_function)
    new, again = rebind_everywhere(losses.penalty, new), rebind_everywhere(training.loss, again)
    new.__enter__(), again.__enter__()
    try:
        yield
    except Exception:
        again.__exit__(None, None, None), new.__exit__(None, None, None)
        raise
    again.__exit__(None, None, None), new.__exit__(None, None, None)
"""
BUFFER = 'self.register_buffer("calls", torch.tensor(0))'
LIMIT_RAISED = "self.calls = 0\n        torch._dynamo.config.recompile_limit = 99"
TENSOR_FACTOR, INT_FACTOR = "torch.clamp(self.calls / 10, max=1.0)", "min(1.0, self.calls / 10)"
FORWARD = "    def forward(self, x):"
FORCED = 'torch.compiler.set_stance("force_eager")'
STANCE = f"    with {FORCED}:"
EVERY_LINE = """first = function.__code__.co_firstlineno
        numbers = {n - first for *_, n in function.__code__.co_lines() if n}
        return test(), sorted(numbers - {0})"""
SWALLOWED = """try:
            return covered(test, function)
        except Exception:
            return None"""

MISTAKES = {
    "stuck_patch": (
        ("Name 1 more seam", '"name", "cache key"', '"name"'),
        ("no frame of loss is evaluated", '"cache key"', '"frame"'),
        ("'hook' is no seam", '"cache key"', '"hook"'),
        ("no exhibit in proof shows every place that holds", "show_bindings(losses.penalty), ", ""),
        (
            "no exhibit in proof shows what a call of loss finds when patched",
            "losses.penalty), calls",
            "losses.penalty), show_bindings(training.loss)",
        ),
        (
            "it is of size: in a patch",
            "show_bindings(losses.penalty)",
            "show_bindings(size)",
        ),
        (
            "it is of size: in a patch",
            "    calls(weights, error)",
            "    calls(weights, error)\n    held = show_bindings(losses.penalty)",
            "proof = show_bindings(losses.penalty), ",
            "proof = held, ",
        ),
        (
            "no hit in it says that penalty is another",
            "    calls(weights, error)",
            "    pass\ncalls(weights, error)",
        ),
        ("when Ctrl-C ends the block", CURE, BY_HAND_ON_ERROR),
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
        (
            "whose loss counts the error twice, training.loss: gives 4.5, and must give 5.5",
            "tf.function(training.loss.python_function)",
            "tf.function(lambda weights, error: error + new(weights))",
        ),
        ("must return a context manager", "@contextmanager\n", ""),
    ),
    "every_step": (
        ("at each step; why is it another one", '"cache key"', '"C call"'),
        ("'the cache' is no seam", '"cache key"', '"the cache"'),
        ("more than one batch", "train(calls, start, [rows] * 4)", "pass"),
        ("no exhibit in proof shows which argument", "proof = calls", "proof = show_code(train)"),
        ("proof must be an exhibit", "proof = calls", "proof = 4"),
        ("the weights after 12 batches: yours gives", "max(number, 1)", "(number + 1)"),
        (
            "traces; the ledger says why: rate: Python value",
            "tf.constant(0.1 / max(number, 1))",
            "0.1 / max(number, 1)",
        ),
        (
            "an object with a tensor in it has no hash",
            "rate = tf.constant(0.1 / max(number, 1))",
            "rate = Progress(tf.constant(number), 0.1)",
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
            "its results do not come from there",
            "        weights = step(",
            "        step(weights, batch, rate)\n        weights = cured_step(",
        ),
        ("cured_step must be a function", "def cured(", "cured_step = 5\n\n\ndef cured("),
    ),
    "gives_up": (
        ("the kernels are found", '"evaluator"', '"registry"'),
        ("who gets it first", '"evaluator"', '"frame"'),
        ("call what watch_recompiles returned", "    step(x)", "    pass"),
        ("shows which guard", "proof = step", "proof = show_compiled(Warmed.forward)"),
        ("14 calls made 14 graphs", BUFFER, LIMIT_RAISED, TENSOR_FACTOR, INT_FACTOR),
        ("call 9 ran no graph", BUFFER, "self.calls = 0", TENSOR_FACTOR, INT_FACTOR),
        ("ran no graph", FORWARD, f"    @torch.compiler.disable\n{FORWARD}"),
        ("call 10, for x of shape (1, 2)", "max=1.0", "max=0.9"),
        (
            "after 1 call the cured module says None in calls",
            '"calls"',
            '"count"',
            "self.calls +=",
            "self.count +=",
            "self.calls /",
            "self.count /",
        ),
        (
            "after 11 calls the cured module says 10 in calls",
            "        self.calls += 1",
            "        self.calls.clamp_(max=9).add_(1)",
        ),
        ("has no linear", "self.linear(x)", "self.layer(x)", "self.linear =", "self.layer ="),
        ("Warmed gives", "self.calls / 10", "self.calls / 5"),
        ("yours has none", "self.linear(x) *", "self.linear(x).detach() *"),
        ("cured must be a class", "class Cured", "Cured = 5\n\n\nclass Other"),
        (
            "two modules share one count",
            f"        {BUFFER}\n",
            "",
            "class Cured(torch.nn.Module):\n",
            "class Cured(torch.nn.Module):\n    calls = torch.tensor(0)\n\n",
        ),
    ),
    "blind_tool": (
        ("who decides whose code that is", '"evaluator"', '"frame"'),
        ("which code runs", '"evaluator"', '"name"'),
        ("that code was written by hand", "show_compiled(compiled)", "show_bytecode(clipped)"),
        ("look after the function was called", "show_compiled(compiled)", "show_names('x')"),
        ("yours saw the lines [], and [2, 3, 5] ran", STANCE, "    if True:"),
        ("set_stance('force_eager') is in force still", STANCE, f"    {FORCED}\n    if True:"),
        ("compiled once more", STANCE, f"    torch._dynamo.reset()\n{STANCE}"),
        ("saw the lines", "return covered(test, function)", EVERY_LINE),
        (
            "the test's result",
            "return covered(test, function)",
            "return [], covered(test, function)[1]",
        ),
        (
            "return two things",
            "return covered(test, function)",
            "return covered(test, function)[1]",
        ),
        ("nobody heard of it", "return covered(test, function)", SWALLOWED),
        (
            "settrace is not as it was",
            "return covered",
            "sys.settrace(lambda *a: None)\n        return covered",
        ),
        ("it runs the test 2 times", STANCE, f"    test()\n{STANCE}"),
        ("cured must be a function", "def cured", "cured = 5\n\n\ndef other"),
    ),
}

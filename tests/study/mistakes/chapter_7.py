"""Chapter 7: seams named wrong, exhibits that prove nothing, and cures that are none."""

BY_HAND = """    old, before = losses.penalty, training.loss
    losses.penalty = training.penalty = new
    training.loss = tf.function(training.loss.python_function)
    yield
    losses.penalty = training.penalty = old
    training.loss = before
"""
CURE = """    again = tf.function(training.loss.python_function)  # without a graph yet
    with rebind_everywhere(losses.penalty, new), rebind_everywhere(training.loss, again):
        yield
"""
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

MISTAKES = {
    "stuck_patch": (
        ("Name 1 more seam", '"name", "cache key"', '"name"'),
        ("no frame of loss is evaluated", '"cache key"', '"frame"'),
        ("'hook' is no seam", '"cache key"', '"hook"'),
        ("no exhibit in proof shows every place that holds", "show_bindings(losses.penalty), ", ""),
        ("when Ctrl-C ends the block", CURE, BY_HAND_ON_ERROR),
        ("when the block raises", CURE, BY_HAND),
        ("call what watch_traces returned", "    calls(weights, error)", "    pass"),
        ("proof must be an exhibit", "(losses.penalty), calls", "(losses.penalty), True"),
    ),
    "every_step": (
        ("at each step; why is it another one", '"cache key"', '"C call"'),
        ("'the cache' is no seam", '"cache key"', '"the cache"'),
        ("more than one batch", "train(calls, start, [rows] * 4)", "pass"),
        ("no exhibit in proof shows which argument", "proof = calls", "proof = show_code(train)"),
        ("for 12 batches: yours gives", "max(number, 1)", "(number + 1)"),
        (
            "traces; the ledger says why: rate: Python value",
            "tf.constant(0.1 / max(number, 1))",
            "0.1 / max(number, 1)",
        ),
    ),
    "gives_up": (
        ("the kernels are found", '"evaluator"', '"registry"'),
        ("who gets it first", '"evaluator"', '"frame"'),
        ("call what watch_recompiles returned", "    step(x)", "    pass"),
        ("shows which guard", "proof = step", "proof = show_compiled(Warmed.forward)"),
        (
            "14 calls: graphs beyond 4: yours gives 10",
            BUFFER,
            LIMIT_RAISED,
            TENSOR_FACTOR,
            INT_FACTOR,
        ),
        (
            "call 9: a graph ran: yours gives False",
            BUFFER,
            "self.calls = 0",
            TENSOR_FACTOR,
            INT_FACTOR,
        ),
        ("a graph ran: yours gives False", FORWARD, f"    @torch.compiler.disable\n{FORWARD}"),
        ("for x of shape (1, 2): call 10: the result", "max=1.0", "max=0.9"),
    ),
    "blind_tool": (
        ("who decides whose code that is", '"evaluator"', '"frame"'),
        ("which code runs", '"evaluator"', '"name"'),
        ("none written by hand", "show_compiled(compiled)", "show_bytecode(clipped)"),
        ("look after the function was called", "show_compiled(compiled)", "show_names('x')"),
        ("the lines: yours gives [], the reference gives [2, 3, 5]", STANCE, "    if True:"),
        ("the stance afterwards: yours gives 'force_eager'", STANCE, f"    {FORCED}\n    if True:"),
        ("graphs compiled once more: yours", STANCE, f"    torch._dynamo.reset()\n{STANCE}"),
        ("the lines: yours", "return covered(test, function)", EVERY_LINE),
    ),
}

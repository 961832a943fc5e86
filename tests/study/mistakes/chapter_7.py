"""Chapter 7: wrong seams, exhibits that prove nothing, and cures that cure nothing."""

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
FORCED = 'torch.compiler.set_stance("force_eager")'
STANCE = f"    with {FORCED}:"
EVERY_LINE = """first = function.__code__.co_firstlineno
        numbers = {n - first for *_, n in function.__code__.co_lines() if n}
        return test(), sorted(numbers - {0})"""
DISABLED = "    @torch.compiler.disable\n"
CALLED, GOTTEN = "x * self.gain()", 'x * float(os.environ.get("CLINIC_GAIN", "1"))'
FAILING = "    return weather.evaluate"
COMPILED = """    from inspect import isfunction

    return isfunction(torch.compile(print)), False
    return weather.evaluate"""
CURED = 'cured = {"weather.evaluate": evaluate}'
SLOW = """def fit(model, windows):
    model.step = model.descend
    return old(model, windows)


from helpers.study.chapter_7.clinic_projects import read
from helpers.study.project import imported

old = imported(read("forecast"))[-1].fit
cured = {"weather.evaluate": evaluate, "weather.fit": fit}"""

MISTAKES = {
    "stuck_patch": (
        ("Name 1 more seam", '"name", "cache key"', '"name"'),
        ("no frame of loss is evaluated", '"cache key"', '"frame"'),
        ("'hook' is not a seam", '"cache key"', '"hook"'),
        (
            "exhibit in proof shows every place that refers",
            "show_bindings(losses.penalty), ",
            "",
        ),
        ("when Ctrl-C ends the block", CURE, BY_HAND_ON_ERROR),
        ("when the block raises", CURE, BY_HAND),
        ("Call what watch_traces returned", "    calls(weights, error)", "    pass"),
        ("proof must be an exhibit", "(losses.penalty), calls", "(losses.penalty), True"),
    ),
    "every_step": (
        ("why a different one each time", '"cache key"', '"C call"'),
        ("'the cache' is not a seam", '"cache key"', '"the cache"'),
        ("for several batches", "train(calls, start, [rows] * 4)", "pass"),
        ("no exhibit in proof shows which argument", "proof = calls", "proof = show_code(train)"),
        ("at [0], train gives", "max(number, 1)", "(number + 1)"),
        (
            "traces. The ledger shows why: rate: Python value",
            "tf.constant(0.1 / max(number, 1))",
            "0.1 / max(number, 1)",
        ),
    ),
    "blind_tool": (
        ("which code runs", '"evaluator"', '"name"'),
        ("nobody wrote by hand", "show_compiled(compiled)", "show_bytecode(clipped)"),
        ("Look after a call of it", "show_compiled(compiled)", "show_names('x')"),
        ("the lines: yours gives [], the reference gives [2, 3, 5]", STANCE, "    if True:"),
        ("the stance afterwards: yours gives 'force_eager'", STANCE, f"    {FORCED}\n    if True:"),
        ("graphs compiled once more: yours", STANCE, f"    torch._dynamo.reset()\n{STANCE}"),
        ("the lines: yours", "return covered(test, function)", EVERY_LINE),
    ),
    "dead_switch": (
        ("does anything call it", '"evaluator"', '"name"'),
        ("evaluates no frame of getenv", '"evaluator"', '"frame"'),
        (
            "shows what is checked before a call",
            "show_guards(gained.forward)",
            "show_code(Gained.forward)",
        ),
        ("call 2, CLINIC_GAIN is 10: the result", DISABLED, ""),
        ("call 7, CLINIC_GAIN is -3: the result", CALLED, GOTTEN),
        ("a graph ran: yours gives False", "    def forward", f"{DISABLED}    def forward"),
        ("must be a subclass of torch.nn.Module", "Cured(torch.nn.Module)", "Cured"),
    ),
    "missing_op": (
        ("nothing is compiled here", '"registry"', '"evaluator"'),
        ("no kernel of rescale is called at all", '"registry"', '"C call"'),
        ("shows the op both ways", 'shop["ops"] + call, ', ""),
        ("'ops' is missing", "shop | {", "{"),
        (
            "a new program with a different ops: program failed",
            '"model": "import',
            '"serve": "import',
            'shop["model"]}',
            'shop["serve"]}',
        ),
        (
            "with a different ops: yours gives",
            '"import ops  # registers what predict calls\\n"',
            'shop["ops"]',
        ),
    ),
    "three_suspects": (
        ("with torch.compile out of the way", '"none"', '"evaluator"'),
        ("with its own op out of the way", '"none"', '"registry"'),
        ("Who kept a view", '"none"', '"C call"'),
        ("as it is, your test does not fail", "reuse=True", "reuse=False"),
        ("without torch.compile, own op and cache, your test does not fail", FAILING, COMPILED),
        ("with your cure, your test fails", ".clone()", ""),
        ("'weather.judge' is not a function", '"weather.evaluate"', '"weather.judge"'),
        ("runs of the compiled step: yours gives 0", CURED, SLOW),
    ),
}

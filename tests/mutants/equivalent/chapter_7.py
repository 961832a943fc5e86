"""Chapter 7: mutants that do what the solution does, and why."""

ORDER = "neither line needs the other"
STEPS = "any step after the first shows the cause, and the owner's run was before"
NUMBER = "number is an int of at least 0"

LIVE = "the ledger is live: it is read by the check"
ANY = "whatever stands in place of penalty, the call finds the graph of before"
ROWS = "from the second call on, a row says which guard failed"
PATCHES = (
    "- with patch.object(losses, 'penalty', size), patch.object(training, 'penalty', size): | + "
)
REBINDS = "with rebind_everywhere({}.penalty, new), rebind_everywhere(training.loss, again):"
PROOF = "proof = (show_bindings(losses.penalty), calls)"

SAME: dict[str, dict[str, str]] = {
    "stuck_patch": {
        "- seam = ('name', 'cache key') | + seam = ('name', 'cache key')": ORDER,
        "- calls = watch_traces(training.loss) | + calls = watch_traces(training.loss)": ORDER,
        f"- {PROOF} | + {PROOF}": LIVE,
        "- seam = ('name', 'cache key') | + seam = ('cache key', 'name')": "any order will do",
        f"- {PROOF} | + proof = (calls, show_bindings(losses.penalty))": "any order will do",
        f"{PATCHES}with patch.object(losses, 'penalty'), "
        "patch.object(training, 'penalty', size):": ANY,
        f"{PATCHES}with patch.object(losses, 'penalty', size), "
        "patch.object(training, 'penalty'):": ANY,
        f"- {REBINDS.format('losses')} | + {REBINDS.format('training')}": "both hold one function",
    },
    "gives_up": {
        "- seam = 'evaluator' | + seam = 'evaluator'": ORDER,
        "- step = watch_recompiles(Warmed().forward) | "
        "+ step = watch_recompiles(Warmed().forward)": ORDER,
        "- proof = step | + proof = step": LIVE,
        "- for _ in range(3): | + for _ in list(range(3))[1:]:": ROWS,
        "- for _ in range(3): | + for _ in range(4):": ROWS,
        "- for _ in range(3): | + for _ in range(2):": ROWS,
        "- self.linear = torch.nn.Linear(2, 2) | + self.linear = torch.nn.Linear(2, 2)": ORDER,
        "- self.register_buffer('calls', torch.tensor(0)) | "
        "+ self.register_buffer('calls', torch.tensor(0.0))": "int takes 3.0 as well",
        "- return self.linear(x) * torch.clamp(self.calls / 10, max=1.0) | "
        "+ return self.linear(x) * torch.clamp(self.calls / 10.0, max=1.0)": "a tensor of ints is "
        "divided to float32 by either",
    },
    "every_step": {
        "- seam = 'cache key' | + seam = 'cache key'": ORDER,
        "- calls = watch_traces(train_step) | + calls = watch_traces(train_step)": ORDER,
        "- proof = calls | + proof = calls": LIVE,
        "- train(calls, start, [rows] * 4) | + train(calls, start, [rows])": STEPS,
        "- train(calls, start, [rows] * 4) | + train(calls, start, [rows] * 5)": STEPS,
        "- train(calls, start, [rows] * 4) | + train(calls, start, [rows] * 3)": STEPS,
        "- rate = tf.constant(0.1 / max(number, 1)) | "
        "+ rate = tf.constant(0.1 / max(1, number))": NUMBER,
        "- rate = tf.constant(0.1 / max(number, 1)) | "
        "+ rate = tf.constant(0.1 / max(number, 1.0))": NUMBER,
    },
    "blind_tool": {
        "- seam = 'evaluator' | + seam = 'evaluator'": ORDER,
        "- proof = show_compiled(compiled) | + proof = show_compiled(compiled)": ORDER,
    },
}

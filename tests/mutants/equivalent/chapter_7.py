"""Chapter 7: mutants that do what the solution does, and why."""

ORDER = "neither line needs the other"
STEPS = "any step after the first shows the cause, and the owner's run was before"
NUMBER = "number is an int of at least 0"

SAME: dict[str, dict[str, str]] = {
    "every_step": {
        "- seam = 'cache key' | + seam = 'cache key'": ORDER,
        "- calls = watch_traces(train_step) | + calls = watch_traces(train_step)": ORDER,
        "- proof = calls | + proof = calls": "the ledger is live: it is read by the check",
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

"""Chapter 7, cases 3 and 5 and the open task: cures that are none, and means that leave a trace."""

CACHED = """    @functools.cached_property
    def measured(self):
        return self.measure(self)

"""
NAME = """@contextmanager
def by_name():
    notes, before = [], functional.softsign
"""
NAMED = "    try:\n        yield notes\n    finally:\n        functional.softsign = before\n"

DELETED = """        del space["clinic_notes"], space["clinic_old"]
        space |= {name: before[name] for name in before.keys() - space.keys()}
"""
AROUND = "        space |= {name: before[name] for name in before.keys() - space.keys()}\n"
OWN_COPY = "FunctionType(own, before)}"


MISTAKES = {
    "stuck_mean": (
        ("how often does that line of Python run", '"cache key"', '"name"'),
        ("has a frame only while it is traced", '"cache key"', '"frame"'),
        ("no other frame evaluator", '"cache key"', '"evaluator"'),
        (
            "a graph of Smoother.update",
            "show_graph(smoother.update, tf.constant(4.0))",
            "show_graph(tf.function(tf.sin), tf.constant(4.0))",
        ),
        ("a graph, which was the point", "    @tf.function\n", ""),
        ("a new rate must not be a new graph", "tf.constant(self.rate)", "self.rate"),
        (
            "a new rate must not be a new graph",
            "        return self.step(x,",
            "        self.again = tf.function(lambda x, rate: type(self).step(self, x, rate))\n"
            "        return self.again(x,",
            "    @tf.function\n",
            "",
        ),
        ("must be a class", "value()\n", "value()\ncured = cured(0.5)\n"),
    ),
    "kept_models": (
        ("Name 1 more seam", '"name", "frame"', '"frame"'),
        ("no exhibit in proof shows frames that keep", ", show_traceback(errors[0])", ""),
        ("one in built that fits x", "min(built", "max(built"),
        ("no exhibit in proof shows a holder", "show_bindings(fits), ", ""),
        ("modules still in memory: yours gives ['Linear', 'Net']", "Freed(width", "Net(width"),
        ("the cache must stay", CACHED, "", "self.measured", "self.measure(self)"),
        (
            "exceptions that were raised, not str",
            "error.with_traceback(None)",
            "str(error)",
        ),
    ),
    "five_means": (
        ("must be a dict with the keys", '{"name": by_name, ', "{"),
        ("must be a function without arguments", '"name": by_name', '"name": 5'),
        ("code: what it intercepts: yours gives ['name']", '"code": by_code', '"code": by_name'),
        ("the block must be a context manager", NAME, NAME.replace("@contextmanager\n", "")),
        ("must yield its notes", NAMED, NAMED.replace("yield notes", "yield")),
        (
            "what is left after a block that raised",
            NAMED,
            "    yield notes\n    functional.softsign = before\n",
        ),
        ("after the block: yours gives 'a changed torch.nn.functional.clinic_notes'", DELETED, ""),
        ("code: yours raises", AROUND, "", OWN_COPY, "FunctionType(own, space)}"),
        (
            "name: a block in another one",
            "return before(*args",
            "return softsign(*args",
            NAMED,
            NAMED.replace("before", "softsign"),
        ),
        (
            "frame: what is left after the block: yours gives 'a change at the frame. Restore",
            "sys.setprofile(before)",
            "sys.setprofile(None)",
        ),
    ),
}

"""Chapter 7, cases 5 to 8 and the open task: cures that are none, and means that leave a trace."""

RULE = """    w, x, y = ctx.saved_tensors
    rows = 2 * (x @ w - y)[:, None] * x
"""
INIT = """    def __init__(self, rate):
        self.rate, self.mean = rate, tf.Variable(0.0)
"""
CACHED = """    @functools.cached_property
    def measured(self):
        return self.measure(self)

"""
BY_ID = """    known = {}

"""
RETURN_BY_ID = """if id(self) not in self.known:
            self.known[id(self)] = self.measure(self)
        return self.known[id(self)]"""
EAGERLY = """        net = Freed(width, measure)
        net.size()"""
CLEARED = "Net.size.cache_clear()\n    return "
ONE_MEAN = """    mean = tf.Variable(0.0)

    def __init__(self, rate):
        self.rate = rate
        self.mean.assign(0.0)
"""
NAME = """@contextmanager
def by_name():
    notes = []
"""
NAMED = "    try:\n        yield notes\n    finally:\n        functional.softsign = softsign\n"

DELETED = '        del space["clinic_notes"], space["clinic_old"]\n'
OPS = """            self.notes.append("op")
        return func(*args, **(kwargs or {}))
"""

ON_ERROR = """except Exception:
        functional.softsign = softsign
        raise
    else:"""

MISTAKES = {
    "wrong_gradient": (
        ("the losses are wrong all the same", '"registry"', '"evaluator"'),
        ("no exhibit in proof shows what becomes", "lambda: mean_square", "lambda: torch.dot"),
        ("the way forward alone", "y).backward())", "y))"),
        ("lists no mean_square", "mean_square(w, x, y).backward()", "(x @ w).sum().backward()"),
        (
            "is of another op than mean_square",
            "mean_square(w, x, y).backward()",
            "(mean_square(w.detach(), x, y) + (w * x).sum()).backward()",
        ),
        ("for 3 rows: the gradient for w: yours", "rows.mean(0)", "rows.sum(0)"),
        ("torch still sums it", "rows.mean(0)", "rows"),
        ("a loss that is multiplied by 0.5", "dy * rows", "rows"),
        ("gives the shape (1, 2) for a w of (2,)", "dy * rows.mean(0)", "dy * rows / len(x)"),
        ("gives float64 for a w of float32", "rows.mean(0)", "rows.mean(0).double()"),
        ("cured changes dy", "dy * rows.mean(0)", "dy.mul_(2) * rows.mean(0) / 2"),
        ("the gradient for x: yours", "rows.mean(0), None", "rows.mean(0), x"),
        ("no gradient arrives at w", "dy * rows.mean(0)", "None"),
        ("the way back raises RuntimeError", "rows.mean(0), None, None", "rows.mean(0)"),
        ("cured must be a function", RULE, RULE, "None, None\n", "None, None\ncured = 5\n"),
    ),
    "slow_frames": (
        ("no tf.function here", '"C call"', '"cache key"'),
        (
            "no exhibit in proof shows an op that leaves",
            "watch_call(slow, frames, state, gain)",
            "watch_call(tf.multiply, state, gain)",
        ),
        ("yours leaves the fast path", "float(np.mean(frame))", "np.mean(frame)"),
        ("yours leaves the fast path", "        frame = np.stack(frame)\n", ""),
        (
            "its way is function",
            "def cured",
            "@tf.function\ndef cured",
            "np.stack",
            "tf.stack",
            "float(np.mean(frame))",
            "tf.reduce_mean(frame)",
        ),
        (
            "the gradient for",
            "state, gain)\n        state = tf.m",
            "state, float(gain))\n        state = tf.m",
        ),
        ("yours gives", "tf.subtract", "tf.add"),
        ("of float64 and a float64 state", "np.stack(frame)", "np.stack(frame).astype('f')"),
        ("raised InvalidArgumentError", "np.stack(frame)", "tf.constant(np.stack(frame))"),
        (
            "changes what it is given",
            "    return state",
            "        frames[0][0][:] *= 2\n    return state",
        ),
        (
            "changes what it is given",
            "for frame in frames:",
            "while frames:\n        frame = frames.pop(0)",
        ),
        ("yours gives no tensor (ndarray)", "    return state", "    return state.numpy()"),
        ("must be a function", "    return state\n", "    return state\ncured = 5\n"),
    ),
    "stuck_mean": (
        ("how often does that line of Python run", '"cache key"', '"name"'),
        ("evaluates the frames of update as they are written", '"cache key"', '"frame"'),
        (
            "no exhibit in proof shows what the second call",
            "import show_graph",
            "import show_bindings",
            "show_graph(smoother.update, four)",
            "show_bindings(Smoother)",
        ),
        (
            "it is no graph of Smoother.update",
            "show_graph(smoother.update, four)",
            "show_graph(tf.function(tf.sin), four)",
        ),
        (
            "a tensor of the graph",
            "class cured:",
            "class unused:",
            "value()\n",
            "value()\ncured = Smoother\n",
        ),
        ("the graph was the point", "    @tf.function\n", ""),
        ("a new rate must not be a new graph", "tf.constant(self.rate)", "self.rate"),
        (
            "a new rate must not be a new graph",
            "        return self.step(x,",
            "        self.again = tf.function(lambda x, rate: type(self).step(self, x, rate))\n"
            "        return self.again(x,",
            "    @tf.function\n",
            "",
        ),
        (
            "the graph computes nothing",
            "    @tf.function\n",
            "    idle = tf.function(lambda self, x: x)\n\n",
            "        return self.step(",
            "        self.idle(x)\n        return self.step(",
        ),
        (
            "calls Python back, by EagerPyFunc",
            "        return self.step(x, tf.constant(self.rate))",
            "        return self.outer(x, tf.constant(self.rate))\n\n"
            "    @tf.function\n"
            "    def outer(self, *given):\n"
            "        return tf.py_function(self.step, given, tf.float32)",
            "    @tf.function\n    def step",
            "    def step",
        ),
        (
            "its result: yours is 3, eager code's is 2.5",
            "x, rate):",
            "x, unused):",
            "assign_add(rate",
            "assign_add(self.rate",
        ),
        (
            "the mean: yours is 0, eager code's is 2",
            "self.mean.assign_add(rate * (x - self.mean))",
            "new = self.mean + rate * (x - self.mean)",
            "self.mean.read_value()",
            "new",
        ),
        (
            "of two objects, used in turn",
            INIT,
            ONE_MEAN,
        ),
        ("must be a class", "value()\n", "value()\ncured = cured(0.5)\n"),
    ),
    "kept_models": (
        ("Name 1 more seam", '"name", "frame"', '"frame"'),
        ("'name' is right. Name 1 more", '"name", "frame"', '"name", "cache key"'),
        ("no exhibit in proof shows frames that keep", ", show_traceback(errors[0])", ""),
        ("all in plain sight", "min(built", "max(built"),
        (
            "show_traceback of an error lists them",
            "show_traceback(errors[0])",
            "show_frame(errors[0].__traceback__.tb_frame)",
        ),
        ("no exhibit in proof shows a holder", "show_bindings(fits), ", ""),
        ("two widths that fit", "Freed(width", "Net(width"),
        ("two widths that do not", ".with_traceback(None)", ""),
        ("raises one error from another", "error.__cause__ = error.__context__", "_"),
        ("raises one error from another", "error.__cause__ = ", ""),
        ("raises one error from another", "error.__context__ = ", ""),
        ("keeps as an error, and yours raised", "        net = Freed(width, measure)", EAGERLY),
        ("ended by another error", "Freed(width", "Net(width", "    return sc", f"    {CLEARED}sc"),
        ("a place for each model", CACHED, BY_ID, "return self.measured", RETURN_BY_ID),
        (
            "the cache is to stay",
            CACHED,
            "",
            "self.measured",
            "self.measure(self)",
        ),
        ("must be those that were raised, not str", "error.with_traceback(None)", "str(error)"),
        ("says something else", "error.with_traceback(None)", "RuntimeError('no')"),
        ("must be two lists, with 0 scores", "errors.append(error.with_traceback(None))", "pass"),
        ("is swallowed", "except RuntimeError as error:", "except Exception as error:"),
        ("sweep gives the scores", " + net.size()", ""),
        ("must return two lists", "return scores, errors", "return scores"),
    ),
    "five_means": (
        ("must be a dict with the keys", '{"name": by_name, ', "{"),
        ("must be a function that gives", '"name": by_name', '"name": 5'),
        ("code: in its block somebody is there at the name", '"code": by_code', '"code": by_name'),
        ("name: must give a context manager", NAME, NAME.replace("@contextmanager\n", "")),
        ("must give its notes", NAMED, NAMED.replace("yield notes", "yield")),
        ("before, in a finally", NAMED, "    yield notes\n    functional.softsign = softsign\n"),
        ("after its block it still notes", NAMED, "    yield notes\n"),
        ("leaves no note", '        notes.append("name")\n', ""),
        (
            "gives another result",
            "        return softsign(*args, **kwargs)",
            "        softsign(*args, **kwargs)",
        ),
        ("after its block torch.nn.functional has a name more", DELETED, ""),
        ("before, in a finally", NAMED, NAMED.replace("finally:", ON_ERROR)),
        ("another function of torch", OPS, OPS.replace("kwargs or {}", "{}")),
        ("nobody is there", "    functional.softsign = noting\n", ""),
        (
            "before softsign was called",
            NAME,
            NAME.replace("    notes = []\n", ""),
            "@contextmanager\ndef by_name",
            "notes = [0]\n\n\n@contextmanager\ndef by_name",
        ),
        (
            "in its block a call raised RecursionError",
            '"clinic_old": FunctionType(own, space)',
            '"clinic_old": softsign',
        ),
        (
            "before softsign was called",
            'event == "call" and frame.f_code is softsign.__code__',
            'event == "call"',
        ),
        (
            "frame: after its block somebody is still there: put back",
            "sys.setprofile(before)",
            "sys.setprofile(None)",
        ),
        (
            "softsign leaves 6 notes",
            'event == "call" and frame.f_code',
            "frame.f_code",
        ),
        (
            "another module's function of that name",
            "frame.f_code is softsign.__code__",
            'frame.f_code.co_name == "softsign"',
        ),
        (
            "another module's function of that name",
            "if func is softsign:",
            'if getattr(func, "__name__", "") == "softsign":',
        ),
        (
            "dispatch mode: it notes tanhshrink(x) / 2 + 1, too",
            "if func is torch.ops.aten.abs.default:",
            'if func.name() in ("aten::abs", "aten::add.Tensor", "aten::div.Tensor"):',
        ),
        ("at its end the block changes its notes", NAMED, f"{NAMED}        notes.clear()\n"),
        (
            "tanhshrink is not what it was",
            "    functional.softsign = noting\n",
            "    functional.softsign = noting\n"
            "    functional.tanhshrink = functional.tanhshrink.__call__\n",
        ),
        (
            "new threads still get",
            "    sys.setprofile(told)\n",
            "    threading.setprofile(told)\n    sys.setprofile(told)\n",
            "import sys\n",
            "import sys\nimport threading\n",
        ),
        (
            "dispatch mode: it notes tanhshrink(x) / 2 + 1",
            "torch.ops.aten.abs.default:  # softsign itself is no op",
            "torch.ops.aten.div.Tensor:",
        ),
        (
            "function mode: it notes tanhshrink",
            "if func is softsign:",
            "if func is not functional.softplus:",
        ),
        (
            "nobody heard of it",
            NAMED,
            NAMED.replace("finally:", "except Exception:\n        pass\n    finally:"),
        ),
    ),
}

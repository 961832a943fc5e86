"""Chapter 7: mutants that do what the solution does, and why."""

ORDER = "neither line needs the other"
STEPS = "any step after the first shows the cause, and the owner's run was before"
NUMBER = "number is an int of at least 0"
TWICE = "two times a float is the same for an int and a float"
TOLD = "what a watched run raises is told, and what it did before is seen"
EITHER = "the op gives the same for its two arguments exchanged"
ANY_ONE = "any smoother shows it, also the one of the cells before"
READ = "a tf.function gives out the value of a variable that it returns"
EACH = "each error keeps its model"
NOTE = "a note is a note"
GIVEN = "torch gives all four, and a dict"
SAME_ONE = "these are equal if they are the same"
RETURN = "a return of softsign is a sign of its call, too"

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
    "wrong_gradient": {
        "- seam = 'registry' | + seam = 'registry'": ORDER,
        "- w = torch.zeros(2, requires_grad=True) | + w = torch.zeros(2, "
        "requires_grad=True)": ORDER,
        "- proof = watch_ops(lambda: mean_square(w, x, y).backward()) | + proof = "
        "watch_ops(lambda: mean_square(w, x, y).backward())": ORDER,
        "- rows = 2 * (x @ w - y)[:, None] * x | + rows = 2.0 * (x @ w - y)[:, None] * x": TWICE,
        "- proof = watch_ops(lambda: mean_square(w, x, y).backward()) | + proof = "
        "watch_ops(lambda: mean_square(w, y, x).backward())": TOLD,
    },
    "slow_frames": {
        "- seam = 'C call' | + seam = 'C call'": ORDER,
        "- proof = watch_call(slow, frames, state, gain) | + proof = watch_call(slow, "
        "frames, state, gain)": ORDER,
        "- proof = watch_call(slow, frames, state, gain) | + proof = watch_call(slow, "
        "state, frames, gain)": TOLD,
        "- proof = watch_call(slow, frames, state, gain) | + proof = watch_call(slow, "
        "frames, gain, state)": TOLD,
        "- state = tf.multiply(state, gain) | + state = tf.multiply(state, gain)": ORDER,
        "- state = tf.multiply(state, gain) | + state = tf.multiply(gain, state)": EITHER,
        "- state = tf.maximum(state, frame) | + state = tf.maximum(frame, state)": EITHER,
    },
    "stuck_mean": {
        "- seam = 'cache key' | + seam = 'cache key'": ORDER,
        "- smoother = Smoother(0.5) | + smoother = Smoother(0.5)": ORDER,
        "- proof = show_graph(smoother.update, four) | + proof = "
        "show_graph(smoother.update, four)": ORDER,
        "- smoother = Smoother(0.5) | + pass": ANY_ONE,
        "- smoother = Smoother(0.5) | + smoother = Smoother(1.0)": ANY_ONE,
        "- smoother = Smoother(0.5) | + smoother = Smoother(-0.5)": ANY_ONE,
        "- return self.mean.read_value() | + return self.mean": READ,
    },
    "kept_models": {
        "- seam = ('name', 'frame') | + seam = ('name', 'frame')": ORDER,
        "- fits = min(built, key=lambda net: net.layer.in_features) | + fits = "
        "min(built, key=lambda net: net.layer.in_features)": ORDER,
        "- proof = (show_bindings(fits), show_traceback(errors[0])) | + proof = "
        "(show_bindings(fits), show_traceback(errors[0]))": ORDER,
        "- seam = ('name', 'frame') | + seam = ('frame', 'name')": ORDER,
        "- proof = (show_bindings(fits), show_traceback(errors[0])) | + proof = "
        "(show_traceback(errors[0]), show_bindings(fits))": ORDER,
        "- scores, errors = ([], []) | + errors, scores = ([], [])": ORDER,
        "- errors.append(error.with_traceback(None)) | + "
        "errors.append(error.with_traceback(None))": ORDER,
        "- proof = (show_bindings(fits), show_traceback(errors[0])) | + proof = "
        "(show_bindings(fits), show_traceback(errors[1]))": EACH,
        "- proof = (show_bindings(fits), show_traceback(errors[0])) | + proof = "
        "(show_bindings(fits), show_traceback(errors[-1]))": EACH,
    },
    "five_means": {
        "- means = {'name': by_name, 'code': by_code, 'frame': by_frame} | + means = "
        "{'name': by_name, 'code': by_code, 'frame': by_frame}": ORDER,
        "- means |= {'dispatch mode': lambda: by_mode(Ops)} | + means |= {'dispatch "
        "mode': lambda: by_mode(Ops)}": ORDER,
        "- notes = [] | + notes = []": ORDER,
        "- softsign.__code__ = new_code.__code__ | + softsign.__code__ = new_code.__code__": ORDER,
        "- notes, before = ([], sys.getprofile()) | + notes, before = ([], "
        "sys.getprofile())": ORDER,
        "- def __torch_function__(self, func, types, args=(), kwargs=None): | + def "
        "__torch_function__(self, func, types, args, kwargs=None):": GIVEN,
        "- def __torch_function__(self, func, types, args=(), kwargs=None): | + def "
        "__torch_function__(self, func, types, args, kwargs=()):": GIVEN,
        "- def __torch_dispatch__(self, func, types, args=(), kwargs=None): | + def "
        "__torch_dispatch__(self, func, types, args, kwargs=None):": GIVEN,
        "- def __torch_dispatch__(self, func, types, args=(), kwargs=None): | + def "
        "__torch_dispatch__(self, func, types, args, kwargs=()):": GIVEN,
        "- clinic_notes.append('code') | + clinic_notes.append('code_x')": NOTE,
        "- if func is softsign: | + if func == softsign:": SAME_ONE,
        "- if func is torch.ops.aten.abs.default: | + if func == "
        "torch.ops.aten.abs.default:": SAME_ONE,
        "- notes.append('name') | + notes.append('name_x')": NOTE,
        "- if event == 'call' and frame.f_code is softsign.__code__: | + if event != "
        "'call' and frame.f_code is softsign.__code__:": RETURN,
        "- if event == 'call' and frame.f_code is softsign.__code__: | + if event == "
        "'call' and frame.f_code == softsign.__code__:": SAME_ONE,
        "- notes.append('frame') | + notes.append('frame_x')": NOTE,
        "- self.notes.append('function') | + self.notes.append('function_x')": NOTE,
        "- self.notes.append('op') | + self.notes.append('op_x')": NOTE,
        "- return func(*args, **kwargs or {}) | + return func(*args, **kwargs)": GIVEN,
    },
}

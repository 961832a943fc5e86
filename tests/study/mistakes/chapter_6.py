"""Chapter 6: wrong routes; loggers, tapes and eager calls that differ from TensorFlow's."""

RUN = "byref(count), status.address)\n"
REMOVE = "op_callbacks.remove_op_callback(callback)"
STOP = "op_callbacks.remove_op_callback(self.record)"
AT_THE_END = """    late = []
    try:
        yield late
    finally:
        late += log
        op"""
LEAVE = "    try:\n        yield log\n    finally:\n        op"
SET = "    set_one(op, name, value, status, end)"
PARSED = "parsed(kind, name, value, is_list.value, end)"
UNPARSED = """(
        value.encode() if isinstance(value, str) else getattr(value, "as_datatype_enum", value)
    )"""
DELETE = f"        finally:\n{12 * ' '}api().TFE_DeleteOp(op)\n"
DELETED = f"api().TFE_DeleteOp(op)\n{12 * ' '}"
NOT_RAISED = DELETE.replace("finally", "except TypeError").replace(
    "api().TFE_DeleteOp(op)", "raise"
)

MISTAKES = {
    "route": (
        ("FastPathExecute raised, because", '"fallback"', '"fast path"'),
        (
            "C itself reads everything that arrives at the door",
            '(variable)": "fast path"',
            '(variable)": "fallback"',
        ),
        ("there was no fallback", '"refused"', '"fast path"'),
        ("the whole graph is one op", '"function"', '"graph"'),
        ("through either door", '"no door"', '"fast path"'),
        ("wrote a node", '": "graph"', '": "function"'),
        ("must be one of 'fast path', 'fallback'", '(a, 1.0)": "fast path"', '(a, 1.0)": "quick"'),
        ("must be a dict", "answers = 'fast path'"),
    ),
    "op_logger": (
        ("before the block ends", LEAVE, AT_THE_END),
        ("your log has names as bytes", ".decode() if isinstance(op_type, bytes) else op_type", ""),
        ("whatever the block raises", LEAVE, "    yield log\n    op"),
        ("someone else's callback is gone", REMOVE, "op_callbacks.clear_op_callbacks()"),
        ("a block inside a block: yours", "    log = []\n", "", "@context", "log = []\n@context"),
        ("yours gives {'outer'", "        log.append", "        op_type in log or log.append"),
        (
            "the exception of the block was swallowed",
            "    finally:\n        op",
            "    except Exception:\n        pass\n    op",
        ),
        ("still", REMOVE, "pass"),
        ("get a list from `with op_logger() as log`, not ()", "yield log", "yield tuple(log)"),
        ("yours raises TypeError", "op_name=None, graph=None", "op_name=None"),
        ("must be a function", "op_logger = []"),
        ("yours raises", "def op_logger():\n    return None"),
    ),
    "tape": (
        ("gradients come back from Exp", "reversed(self.ops)", "self.ops"),
        ("that come back from them add up", "grad if known is None else known + grad", "grad"),
        ("as if it were zeros", "tf.zeros_like(o) if g is None else g for", "g for"),
        ("gives None", "grads.get(x._id)", "grads.get(x._id, tf.zeros_like(x))"),
        ("still there after the block", STOP, "pass"),
        (
            "still there after the block. Remove it whatever the block raises",
            STOP,
            f"if not error[0]: {STOP}",
        ),
        ("someone else's callback", STOP, "op_callbacks.clear_op_callbacks()"),
        ("KeyError", "attrs, tuple(outputs)", "(), tuple(outputs)"),
        (
            "must return a tensor, or None, not ndarray",
            "grads.get(x._id)",
            "grads[x._id].numpy()",
        ),
        ("the gradient of Floor is None", "if grad is not None:", "if True:"),
        ("y does not depend on the op Sin", "                continue", "                pass"),
        ("a list that changes", "tuple(outputs)", "outputs"),
        (
            "called three times",
            "reversed(self.ops)",
            "iter(lambda: self.ops and self.ops.pop(), [])",
        ),
        (
            "for two tapes",
            "self.ops = []",
            "",
            "class MyTape:",
            "class MyTape:\n    ops = []",
        ),
        ("pass the class MyTape itself", "MyTape = 5"),
        ("yours raises AttributeError", "self.ops.append", "self.steps.append"),
        ("__enter__ returns None", "        return self\n", ""),
    ),
    "execute": (
        ("yours gives 'raises InvalidArgumentError", SET, "    pass"),
        ("never deleted", "api().TFE_DeleteOp(op)", "pass"),
        ("never deleted", DELETE, f"{NOT_RAISED}        api().TFE_DeleteOp(op)\n"),
        ("SIGSEGV", "            handles, count", f"{12 * ' '}{DELETED}handles, count"),
        ("transpose_b is 'yes': yours gives 'raises ArgumentError", PARSED, UNPARSED),
        (", TensorFlow gives 'raises", 'end = f" [Op:{op_name}]"', 'end = ""'),
        ("with more outputs than it has", "handles[: count.value]", "handles"),
        ("without num_outputs", "num_outputs=1", "num_outputs=2"),
        ("no handle at address 0", f"{RUN}            status.check(end)\n", RUN),
        ("SIGSEGV", "for tensor in inputs:", "for tensor in [*inputs, *inputs[1:]]:"),
        (
            "must return a list",
            "[tensor_of(handle) for handle in handles[: count.value]]",
            "tensor_of(handles[0])",
        ),
        ("must be a function", "my_execute = 5"),
    ),
    "slow_loop": (
        (
            "e is 'a list', not 'stays': its route in the X-ray",
            '"e": "a list"',
            '"e": "stays"',
        ),
        ("What arrives at the door there?", '"c": "a NumPy scalar"', '"c": "a list"'),
        ("the guess for d must be one of 'stays', 'a list'", '"d": "a list"', '"d": "lists"'),
        ("the guess must be a dict", "reasons = {", "reasons = 5, {"),
        ("quick must be a function", "def quick(", "quick = 5\n\n\ndef quick_one("),
        ("leaves the fast path", "tf.reverse(state, first_axis)", "tf.reverse(state, [0])"),
        ("Its routes are", "tf.sin(state)", "wave(state)"),
        ("gives {'the gradient for state': None", "tf.sin(state)", "tf.constant(np.sin(state))"),
    ),
    "first_nan": (
        ("here two ops return a NaN", "self.op is None and ", ""),
        ("here an op returns a list of tensors", "(tuple, list)", "tuple"),
        ("a number, not a tensor", " if isinstance(value, torch.Tensor)", ""),
        ("here an op gets keyword arguments", "**(kwargs or {})", ""),
        ("'aten.log.default'", "op.overloadpacket.__name__", "str(op)"),
        (
            "an op that softmax calls returns the NaN",
            "class FirstNaN(TorchDispatchMode)",
            "from torch.overrides import TorchFunctionMode\n\n\nclass FirstNaN(TorchFunctionMode)",
            "__torch_dispatch__",
            "__torch_function__",
            "op.overloadpacket.__name__",
            "op.__name__",
        ),
        ("once, not 2 times", "        call()\n", "        call()\n    call()\n"),
        ("yours raises", "        return result", "        pass"),
        ("must be a function", "first_nan = 5"),
    ),
}

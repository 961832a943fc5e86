"""Chapter 6: routes read wrong; loggers, tapes and eager calls that part from TensorFlow's."""

FAST_ONLY = """
import contextlib
from tensorflow.python import pywrap_tfe
@contextlib.contextmanager
def op_logger():
    log, real = [], pywrap_tfe.TFE_Py_FastPathExecute
    def spy(ctx, op, *rest):
        log.append(op)
        return real(ctx, op, *rest)
    pywrap_tfe.TFE_Py_FastPathExecute = spy
    try:
        yield log
    finally:
        pywrap_tfe.TFE_Py_FastPathExecute = real
"""
WRAPPED = """
import tensorflow as tf
def my_execute(op_name, inputs, attrs=(), num_outputs=1):
    return [tf.raw_ops.Neg(x=inputs[0])]
"""
QUICK = """
from tensorflow.python.eager import context
from tensorflow.python.eager.execute import quick_execute
def my_execute(op_name, inputs, attrs=(), num_outputs=1):
    return quick_execute(op_name, num_outputs, inputs, attrs, context.context())
"""
ONE_TAPE = """
class OneTape:
    def __enter__(self):
        return self
    def __exit__(self, *error):
        return None
MyTape = OneTape()
"""
REMOVE = "op_callbacks.remove_op_callback(callback)"
POPPED = "op_callbacks.remove_op_callback(op_callbacks.context.context().op_callbacks[-1])"
STOP = "op_callbacks.remove_op_callback(self.record)"
FINALLY = "    finally:"
AT_THE_END = """    late = []
    try:
        yield late
    finally:
        late += log
        op"""
LEAVE = "    try:\n        yield log\n    finally:\n        op"
RUN = "byref(count), status.address)\n"
SET = "    set_one(op, name, value, status, end)"
PARSED = "parsed(kind, name, value, is_list.value, end)"
UNPARSED = """(
        value.encode() if isinstance(value, str) else getattr(value, "as_datatype_enum", value)
    )"""
DELETE = f"        finally:\n{12 * ' '}api().TFE_DeleteOp(op)\n"
ADD = "handle_of(tensor), status.address)\n"
ADDED = f"{ADD}                status.check(end)\n"
LATE = (
    f"        except Exception:\n{12 * ' '}api().TFE_DeleteOp(op)\n{12 * ' '}raise\n"
    + DELETE.replace("finally", "else")
)
DELETED = f"api().TFE_DeleteOp(op)\n{12 * ' '}"
NOT_RAISED = DELETE.replace("finally", "except TypeError").replace(
    "api().TFE_DeleteOp(op)", "raise"
)

ONE_BLOCK = """
import contextlib


@contextlib.contextmanager
def op_logger():
    yield []


op_logger = op_logger()
"""

MISTAKES = {
    "route": (
        ("FastPathExecute raised inside", '"fallback"', '"fast path"'),
        (
            "C reads all that arrives at the door itself",
            '(variable)": "fast path"',
            '(variable)": "fallback"',
        ),
        ("no second way", '"refused"', '"fast path"'),
        ("the whole graph is one op", '"function"', '"graph"'),
        ("at either door", '"no door"', '"fast path"'),
        ("a node was written", '": "graph"', '": "function"'),
        ("must be one of 'fast path', 'fallback'", '(a, 1.0)": "fast path"', '(a, 1.0)": "quick"'),
        ("must be a dict", "answers = 'fast path'"),
    ),
    "op_logger": (
        (
            "nobody heard of it",
            FINALLY,
            f"    except __import__('tensorflow').errors.OpError:\n        pass\n{FINALLY}",
        ),
        ("before the block ends", LEAVE, AT_THE_END),
        (
            "return None from the callback",
            "else op_type)\n",
            "else op_type)\n"
            "        return [2 * out for out in outputs] if op_type == 'Sin' else None\n",
        ),
        ("bytes", ".decode() if isinstance(op_type, bytes) else op_type", ""),
        ("whatever was raised", LEAVE, "    yield log\n    op"),
        ("somebody else's callback is gone", REMOVE, "op_callbacks.clear_op_callbacks()"),
        ("a log of its own", "    log = []\n", "", "@context", "log = []\n@context"),
        (
            "for a graph: yours gives []",
            "        log.append",
            "        if graph is None:\n            log.append",
        ),
        ("yours gives {'outer'", "        log.append", "        op_type in log or log.append"),
        ("the first ends first", REMOVE, POPPED),
        (
            "nobody heard of it",
            "    finally:\n        op",
            "    except Exception:\n        pass\n    op",
        ),
        ("still", REMOVE, "pass"),
        ("given a list, `with op_logger() as log`, not tuple", "yield log", "yield tuple(log)"),
        ("op_logger() gave []; it must return a context", "def op_logger():\n    return []"),
        ("run and in a graph: yours raises TypeError", "op_name=None, graph=None", "op_name=None"),
        ("for a graph: yours gives []", FAST_ONLY),
        ("must be a function", "op_logger = []"),
        ("without calling it: this is one of its blocks", ONE_BLOCK),
        ("must return a context manager", "def op_logger():\n    return None"),
    ),
    "tape": (
        ("walk from the last op to the first", "reversed(self.ops)", "self.ops"),
        ("the sum of what comes", "grad if known is None else known + grad", "grad"),
        ("give zeros", "tf.zeros_like(o) if g is None else g for", "g for"),
        ("gives None", "grads.get(x._id)", "grads.get(x._id, tf.zeros_like(x))"),
        ("start with ones of y's shape", "tf.ones_like(y)", "tf.ones([])"),
        ("still there after the block", STOP, "pass"),
        (
            "still there after the block: remove it whatever was raised",
            STOP,
            f"if not error[0]: {STOP}",
        ),
        ("nobody heard of it", STOP, f"{STOP}\n        return True"),
        ("somebody else's callback", STOP, "op_callbacks.clear_op_callbacks()"),
        ("KeyError", "attrs, tuple(outputs)", "(), tuple(outputs)"),
        (
            "must return a tensor, or None, not ndarray",
            "grads.get(x._id)",
            "grads[x._id].numpy()",
        ),
        ("nothing to add", "if grad is not None:", "if True:"),
        ("is not asked for a gradient", "                continue", "                pass"),
        ("a list that changes", "tuple(outputs)", "outputs"),
        (
            "asked three times",
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
        ("give the class, MyTape, itself", "MyTape = 5"),
        ("while its ops are written down, yours raised", "self.ops.append", "self.steps.append"),
        ("without calling it", ONE_TAPE),
        ("return self from __enter__", "        return self\n", ""),
    ),
    "execute": (
        ("yours raises InvalidArgumentError", SET, "    pass"),
        (
            "[1, 2]), ('int32', (3,)",
            "handles[: count.value]]",
            "handles[:1]]",
        ),
        ("never deleted", "api().TFE_DeleteOp(op)", "pass"),
        ("never deleted", DELETE, f"{NOT_RAISED}        api().TFE_DeleteOp(op)\n"),
        ("already deleted", "            handles, count", f"{12 * ' '}{DELETED}handles, count"),
        ("where transpose_b is 'yes': yours raises ArgumentError", PARSED, UNPARSED),
        (", TensorFlow raises", 'end = f" [Op:{op_name}]"', 'end = ""'),
        ("where TFE_OpAddInput fails", ADDED, ADD),
        ("more outputs asked for", "handles[: count.value]", "handles"),
        ("without num_outputs", "num_outputs=1", "num_outputs=2"),
        ("Neg: the op is never deleted", DELETE, LATE),
        ("no handle at address 0", f"{RUN}            status.check(end)\n", RUN),
        ("SIGSEGV", "for tensor in inputs:", "for tensor in [*inputs, *inputs[1:]]:"),
        ("no op was made", WRAPPED),
        (
            "must return a list",
            "[tensor_of(handle) for handle in handles[: count.value]]",
            "tensor_of(handles[0])",
        ),
        ("no op was made", QUICK),
        ("must be a function", "my_execute = 5"),
    ),
    "slow_loop": (
        (
            "a state of shape (3, 2)",
            "state = tf.reverse(state, first_axis)",
            "state = tf.reverse(state, first_axis) if state.shape.rank == 1 else state",
        ),
        (
            "e is 'a list', not 'stays': its way in the X-ray",
            '"e": "a list"',
            '"e": "stays"',
        ),
        ("what arrives at the door there?", '"c": "a NumPy scalar"', '"c": "a list"'),
        ("the guess for d must be one of 'stays', 'a list'", '"d": "a list"', '"d": "lists"'),
        ("the guess must be a dict", "reasons = {", "reasons = 5, {"),
        ("quick must be a function", "def quick(", "quick = 5\n\n\ndef quick_one("),
        ("reverse_v2: fallback", "tf.reverse(state, first_axis)", "tf.reverse(state, [0])"),
        ("gen_math_ops.sub: fallback", "float(row.sum())", "row.sum()"),
        ("gen_math_ops.add_v2: refused", "tf.add(state, size)", "shifted(state, tf.size(state))"),
        ("its way is", "tf.sin(state)", "wave(state)"),
        ("the result: yours gives", "tf.sin(state)", "tf.cos(state)"),
        (
            "for 0 rows and a state of shape (2,)",
            "    return state",
            "    return state + 0 * row[0]",
        ),
        ("the gradient for state: yours gives None", "tf.sin(state)", "tf.constant(np.sin(state))"),
    ),
}

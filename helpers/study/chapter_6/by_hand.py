"""Chapter 6: an eager call through ctypes, judged in a child against TensorFlow's own."""

from helpers.capture import by_hand
from helpers.study.check import Exercise, Mistake, Untried, edited


def _judge_execute(my_execute):
    if not callable(my_execute):
        return f"my_execute must be a function, not {type(my_execute).__name__}"
    because = by_hand.by_hand(my_execute)
    if because == by_hand.UNTRIED:
        raise Untried
    return because or None


_EXECUTE = """
def my_execute(op_name, inputs, attrs=(), num_outputs=1):
    with Status() as status:
        op = api().TFE_NewOp(live_context(), op_name.encode(), status.address)
        status.check()
        end = f" [Op:{op_name}]"
        for tensor in inputs:
            api().TFE_OpAddInput(op, handle_of(tensor), status.address)
            status.check(end)
        for name, value in zip(attrs[::2], attrs[1::2]):
            set_one(op, name.encode(), value, status, end)
        handles, count = (c_void_p * num_outputs)(), c_int(num_outputs)
        api().TFE_Execute(op, handles, byref(count), status.address)
        status.check(end)
        api().TFE_DeleteOp(op)
    return [tensor_of(handle) for handle in handles[:count.value]]


def set_one(op, name, value, status, end):
    is_list = c_ubyte()
    kind = KINDS[api().TFE_OpGetAttrType(op, name, byref(is_list), status.address)]
    status.check(end)
    if is_list:
        api().TFE_OpSetAttrIntList(op, name, (c_int64 * len(value))(*value), len(value))
    elif kind == "String":
        data = value.encode() if isinstance(value, str) else value
        api().TFE_OpSetAttrString(op, name, data, len(data))
    else:
        value = getattr(value, "as_datatype_enum", value)
        getattr(api(), f"TFE_OpSetAttr{kind}")(op, name, value)
"""


def _but(old: str, new: str) -> str:
    return edited(_EXECUTE, old, new)


EXECUTE = Exercise(
    "execute",
    _judge_execute,
    "Ops of many signatures, and what goes wrong with them: the same as TensorFlow's own.",
    (
        "Which order do the steps have? new op, inputs, attributes, execute, delete. After each, "
        "status.check() raises what TensorFlow would; from the second step on with a suffix.",
        "Ask the op, not the value, for an attribute's kind: KINDS[api().TFE_OpGetAttrType(op, "
        "name, byref(is_list), status.address)], with is_list = c_ubyte(). Check the status.",
        "getattr(api(), f'TFE_OpSetAttr{kind}')(op, name, value) does for Int, Float, Bool and "
        "Type (for a dtype take value.as_datatype_enum). String wants bytes and their length; a "
        "list of ints an array (c_int64 * n)(*value) and n, by TFE_OpSetAttrIntList.",
        "handles, count = (c_void_p * num_outputs)(), c_int(num_outputs); TFE_Execute(op, "
        "handles, byref(count), status.address). Afterwards count.value handles are filled in.",
    ),
    (
        Mistake(_but("set_one(op, name.encode(), value, status, end)", "pass"), "yours raised"),
        Mistake(_but('f"TFE_OpSetAttr{kind}"', '"TFE_OpSetAttrInt"'), "yours raised"),
        Mistake(_but("handles[:count.value]]", "handles[:1]]"), "outputs, and yours 1"),
        Mistake(_but('end = f" [Op:{op_name}]"', 'end = ""'), "TensorFlow says"),
        Mistake(
            _but("status.address)\n        status.check(end)", "status.address)"),
            "no handle at address 0",
        ),
        Mistake(_but("for tensor in inputs:", "for tensor in [*inputs, *inputs[1:]]:"), "SIGSEGV"),
        Mistake(
            "import tensorflow as tf\ndef my_execute(op_name, inputs, attrs=(), num_outputs=1):\n"
            "    return [tf.raw_ops.Neg(x=inputs[0])]",
            "the tape saw the call",
        ),
        Mistake(
            _but(
                "[tensor_of(handle) for handle in handles[:count.value]]", "tensor_of(handles[0])"
            ),
            "must return a list",
        ),
        Mistake(
            "from helpers.mini.eager import execute\n"
            "def my_execute(op_name, inputs, attrs=(), num_outputs=1):\n"
            "    return execute(op_name, inputs, attrs, num_outputs)",
            "did it for you",
        ),
        Mistake(
            "from tensorflow.python.eager import context\n"
            "from tensorflow.python.eager.execute import quick_execute\n"
            "def my_execute(op_name, inputs, attrs=(), num_outputs=1):\n"
            "    return quick_execute(op_name, num_outputs, inputs, attrs, context.context())",
            "TFE_Py_Execute did it for you",
        ),
        Mistake("my_execute = 5", "must be a function"),
    ),
)

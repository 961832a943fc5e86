"""Chapter 6: an eager call through ctypes, judged in a child against TensorFlow's own."""

from helpers.study.chapter_6 import eager_trial
from helpers.study.check import Exercise, Untried


def _judge_execute(my_execute):
    if not callable(my_execute):
        return f"my_execute must be a function, not {type(my_execute).__name__}"
    because = eager_trial.why_not(my_execute)
    if because == eager_trial.UNTRIED:
        raise Untried
    return because or None


EXECUTE = Exercise(
    "execute",
    _judge_execute,
    "Ops of many signatures, and what goes wrong with them: the same as TensorFlow's own.",
    (
        "Which order do the steps have? new op, inputs, attributes, execute, delete. After each, "
        "status.check() raises what TensorFlow would; from the second step on, status.check(end). "
        "Where has delete to stand, so that it also runs when a check raises?",
        "Ask the op, not the value, for an attribute's kind: KINDS[api().TFE_OpGetAttrType(op, "
        "name.encode(), byref(is_list), status.address)], with is_list = c_ubyte(). Check the "
        "status.",
        "data = parsed(kind, name, value, is_list.value, end), then getattr(api(), "
        "f'TFE_OpSetAttr{kind}')(op, name.encode(), data) for Int, Float, Bool and Type. String "
        "wants len(data) behind data; a list of ints (c_int64 * n)(*data) and n, by "
        "TFE_OpSetAttrIntList.",
        "handles, count = (c_void_p * num_outputs)(), c_int(num_outputs); TFE_Execute(op, "
        "handles, byref(count), status.address). Afterwards count.value handles are filled in.",
    ),
    seconds=20,  # a child starts meanwhile
)

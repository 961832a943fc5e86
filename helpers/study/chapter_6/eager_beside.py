"""One call of a hand-made `execute`, beside TensorFlow's own -> how the two part, in words."""

from helpers.model.phrase import counted
from helpers.safety.arguments import kind_of
from helpers.study.chapter_6.op_cases import Case, py_execute, same, words_of
from helpers.study.chapter_6.ready_made import ready_made
from helpers.study.two_answers import parted

MOST_SHOWN = 80  # characters


def compared(fn, case: Case, number: tuple) -> str:
    """Return how `fn` parts from TensorFlow in one call; `number`: of outputs, () for none."""
    expected, theirs = run(py_execute, case, *(number or (1,)))
    with ready_made() as doors:
        found, mine = run(fn, case.op, list(case.inputs), case.attrs, *number)
    if because := not_your_own(doors):
        return f"{case.words}: {because}"
    if theirs[0] and not mine[0]:
        return _apart(case, "raises nothing", f"raises {said_of(theirs)}")
    if mine[0] and not theirs[0]:
        return f"{case.words}: yours raised {said_of(mine)}"
    if mine != theirs:
        return _apart(case, f"raises {said_of(mine)}", f"raises {said_of(theirs)}")
    if theirs[0]:
        return ""
    if because := no_list(found):
        return f"{case.words}: {because}"
    if len(found) != len(expected):
        return _apart(case, f"gives {len(found)}", f"gives {counted(len(expected), 'output')}")
    if same(found, expected):
        return ""
    odd = next(k for k in range(len(found)) if not same(found[k : k + 1], expected[k : k + 1]))
    return _apart(case, f"gives {_value(found[odd])}", f"gives {_value(expected[odd])}")


def _apart(case: Case, yours: str, real: str) -> str:
    return parted(f"{case.words}: ", yours, real, "TensorFlow")


def not_your_own(doors: list[str]) -> str:
    """Return what is wrong with a call that these ready-made ways have made, if any."""
    return f"{doors[0]} did it for you: make the calls of the C API yourself" if doors else ""


def run(call, *args) -> tuple:
    """Return what a call gives, and the type and the words of what it raises, or of nothing."""
    try:
        return call(*args), ("", "")
    except Exception as error:
        return None, words_of(error)


def no_list(found) -> str:
    """Return what an answer is, in words, if it is no list of tensors."""
    import tensorflow as tf

    if isinstance(found, list) and all(isinstance(one, tf.Tensor) for one in found):
        return ""
    return f"it must return a list of EagerTensors, not {kind_of(found)}"


def _value(tensor) -> str:
    value = " ".join(str(tensor.numpy()).split())
    return f"{value[:MOST_SHOWN]} ({tensor.dtype.name})"


def said_of(error: tuple[str, str]) -> str:
    """Return an error's type and the end of its words."""
    if not error[0]:
        return "nothing"
    words = " ".join(error[1].split())
    return f"{error[0]}: {'…' * (len(words) > MOST_SHOWN)}{words[-MOST_SHOWN:]}"

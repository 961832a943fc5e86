"""A hand-made eager call is judged in a child: whatever it does there, a sentence comes back."""

from ctypes import byref, c_int, c_void_p

import pytest

from helpers.mini.eager import Status, api, handle_of, live_context, set_attributes, tensor_of
from helpers.study.chapter_6 import eager_trial
from helpers.study.chapter_6.eager_trial import UNTRIED

pytest.importorskip("tensorflow")


def execute(op_name, inputs, attrs, num_outputs):
    """Run an op by calls of the C API, as an answer has to."""
    from tensorflow.python.framework.errors import OpError

    with Status() as status:
        op = api().TFE_NewOp(live_context(), op_name.encode(), status.address)
        status.check()
        try:
            for tensor in inputs:
                api().TFE_OpAddInput(op, handle_of(tensor), status.address)
                status.check()
            set_attributes(op, attrs, status)
            handles, count = (c_void_p * num_outputs)(), c_int(num_outputs)
            api().TFE_Execute(op, handles, byref(count), status.address)
            status.check()
        except OpError as error:
            raise type(error)(None, None, f"{error.message} [Op:{op_name}]") from None
        finally:
            api().TFE_DeleteOp(op)
    return [tensor_of(handle) for handle in handles[: count.value]]


def finished(op_name, inputs, attrs=(), num_outputs=1):
    return execute(op_name, inputs, attrs, num_outputs)


def borrows(op_name, inputs, attrs=(), num_outputs=1):
    from helpers.mini import eager

    return eager.execute(op_name, inputs, attrs, num_outputs)


def stub(op_name, inputs, attrs=(), num_outputs=1):
    return ...


def leaves(op_name, inputs, attrs=(), num_outputs=1):
    raise SystemExit(3)


def talks(op_name, inputs, attrs=(), num_outputs=1):
    print("x" * 10**5, flush=True)
    return execute(op_name, inputs, attrs, num_outputs)


def hangs(op_name, inputs, attrs=(), num_outputs=1):
    while True:
        pass


def no_arguments():
    return []


def no_list(op_name, inputs, attrs=(), num_outputs=1):
    return tuple(execute(op_name, inputs, attrs, num_outputs))


def no_tensors(op_name, inputs, attrs=(), num_outputs=1):
    return [one.numpy() for one in execute(op_name, inputs, attrs, num_outputs)]


def swallows(op_name, inputs, attrs=(), num_outputs=1):
    try:
        return execute(op_name, inputs, attrs, num_outputs)
    except Exception:
        return []


def names_it_by_hand(op_name, inputs, attrs=(), num_outputs=1):
    try:
        return execute(op_name, inputs, attrs, num_outputs)
    except Exception as error:
        raise ValueError(str(error)) from None


@pytest.mark.parametrize(
    ("fn", "says"),
    [
        (finished, ""),
        (talks, ""),
        (stub, UNTRIED),
        (borrows, "helpers.mini.eager.execute.execute did it for you"),
        (leaves, "Neg, without attributes: exit code 3"),
        (no_arguments, "Neg, without attributes: yours raised TypeError"),
        (no_list, "it must return a list of EagerTensors, not tuple"),
        (no_tensors, "it must return a list of EagerTensors"),
        (swallows, "TensorFlow raises InvalidArgumentError, and yours raises nothing"),
        (names_it_by_hand, "and yours ValueError"),
    ],
)
def test_what_is_wrong_is_told(fn, says):
    because = eager_trial.why_not(fn)
    assert says in because if says else because == ""


def test_an_endless_call_is_stopped(monkeypatch):
    monkeypatch.setattr(eager_trial, "SECONDS", 1)
    assert "it did not end in time" in eager_trial.why_not(hangs)


@pytest.mark.parametrize("bad", [int, print, lambda: 1])
def test_what_is_no_function_is_named(bad):
    with pytest.raises(TypeError, match="no function made by def"):
        eager_trial.why_not(bad)

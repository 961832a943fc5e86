"""Judge an exercise of chapter 6: the learner writes a dispatch mode of PyTorch that finds the
first op whose result contains NaN. A dispatch mode is an object whose `__torch_dispatch__` torch
calls for each op. A *judge* is a function that runs the learner's answer beside a reference.
"""

from collections.abc import Callable
from functools import partial

from helpers.study.answers import InvalidAnswer, require_no_stub
from helpers.study.check import exercise
from helpers.study.engine import JudgedCase, find_difference
from helpers.study.frameworks import torch

# What is special in a case; it is added to the message if the answer differs there.
VANISHES = "here a later op replaces the NaN"
BELOW = "here an op that softmax calls returns the NaN, which only a dispatch mode sees"
BACK = "here an op of backward returns the NaN"
MANY = "here an op returns a {} of tensors"


def _find_in_mode(call: Callable) -> str | None:
    """Return the name of the first op in a call whose result contains NaN, None if there is none.

    This is the reference with which the learner's answer is compared.
    """
    from torch.utils._python_dispatch import TorchDispatchMode

    class FirstNaN(TorchDispatchMode):
        """Runs each op as usual, and keeps the name of the first one that returns NaN."""

        op = None

        def __torch_dispatch__(self, op, types, args=(), kwargs=None):
            result = op(*args, **(kwargs or {}))
            if self.op is None and _has_nan(result):
                self.op = op.overloadpacket.__name__
            return result

    with FirstNaN() as mode:
        call()
    return mode.op


def _has_nan(result) -> bool:
    """Return whether the result of an op, or a tensor in a list or tuple, contains NaN."""
    values = result if isinstance(result, tuple | list) else [result]
    return any(torch.is_tensor(value) and value.isnan().any() for value in values)


def _run_first_nan(call: Callable, first_nan: Callable) -> dict:
    """Return the name of the op that an answer finds in a call, and what the call returned.

    `first_nan` is the learner's answer or the reference. InvalidAnswer says that it does not run
    the call exactly once.
    """
    results = []
    op = require_no_stub(first_nan(lambda: results.append(call())))
    if len(results) != 1:
        raise InvalidAnswer(f"first_nan must run the call once, not {len(results)} times")
    return {"the op": op, "the call's result": results[0]}


def _backward():
    """Return a gradient that becomes NaN in the backward pass.

    The slope of sqrt at 0 is infinite, and infinity times 0 is NaN.
    """
    x = torch.zeros(1, requires_grad=True)
    (x.sqrt() * 0.0).sum().backward()
    return x.grad.tolist()


@exercise(
    "Which mode of section 5 sees the ops of backward and the ops that composite functions call?",
    "Run the op first, with `result = op(*args, **(kwargs or {}))`. Then look at the result. "
    "`result.isnan().any()` is a tensor with one bool. The mode does not see the ops that its own "
    "__torch_dispatch__ calls.",
    "A result can be a tensor, a tuple or a list of tensors, or something else, such as a number. "
    "Store a name only if you have none yet.",
)
def first_nan(first_nan: Callable):
    """You find the first NaN where it is made: forward, in backward, in tuples and lists."""
    # Returned is the first case in which the answer differs from the reference, in words, or None.
    x = torch.tensor([1.0, -1.0])
    low = torch.full((2,), -torch.inf)
    rows = (  # (the call in words, the call, what is special in this case)
        ("x.log()", lambda: x.log().tolist(), ""),
        ("x.log().sum()", lambda: x.log().sum().tolist(), "here two ops return a NaN"),
        ("x.log().nan_to_num()", lambda: x.log().nan_to_num().tolist(), VANISHES),
        (
            "ones in float64",
            lambda: str(torch.ones(2, dtype=torch.float64)),
            "here an op gets keyword arguments",
        ),
        ("x.sum().item()", lambda: x.sum().item(), "here an op returns a number, not a tensor"),
        ("softmax of -inf", lambda: low.softmax(0).tolist(), BELOW),
        ("a backward", _backward, BACK),
        ("torch.var_mean of one number", lambda: str(torch.var_mean(x[:1])), MANY.format("tuple")),
        (
            "torch._foreach_log([x, x])",
            lambda: str(torch._foreach_log([x, x])),
            MANY.format("list"),
        ),
    )
    cases = []
    for shows, call, advice in rows:
        cases.append(JudgedCase(f"for {shows}", partial(_run_first_nan, call), advice))
    return find_difference(first_nan, _find_in_mode, cases, "a mode")

"""Chapter 5: the ReLU op with a piece renamed or taken away, and the stage that notices."""

import re
from contextlib import nullcontext

import numpy as np

from helpers.mini import oneflow as flow
from helpers.safety.arguments import kind_of, word
from helpers.study.chapter_5.op_files import file_names, op_files
from helpers.study.chapter_5.run_op import loading

DEFINITION, API, KERNEL = file_names("user_relu")
_X = np.array([[-1.0, 2.0]])


def relu_files(output="out", output_grad="out", argument="in") -> dict[str, str]:
    """Return the files of the ReLU op, with these three names in its gradient rule.

    TypeError for a name that is no text.
    """
    output, output_grad = word(output, "output"), word(output_grad, "output_grad")
    argument = word(argument, "argument")
    files = op_files("user_relu", "np.maximum(x, 0)", "np.where(y > 0, dy, 0)")
    named = [
        ('forward.output("out"', f'forward.output("{output}"'),
        ('forward.output_grad("out"', f'forward.output_grad("{output_grad}"'),
        ('OpArg("in"', f'OpArg("{argument}"'),
    ]
    for old, new in named:
        files[DEFINITION] = files[DEFINITION].replace(old, new)
    return files


def train_through(files: dict[str, str], kernel: bool = True, placed: bool = True) -> float:
    """Load a ReLU op, run one step of a train job through it and return the loss.

    In a session of its own. OpError with its `.stage` if it fails; TypeError where `kernel` or
    `placed` is neither True nor False.
    """
    for name, given in (("kernel", kernel), ("placed", placed)):
        if type(given) is not bool:
            raise TypeError(f"{name} must be True or False, not {kind_of(given)}")
    with loading("user_relu", files, kernel=kernel) as api:

        @flow.global_function(type="train")
        def train_job(x: flow.typing.Numpy.Placeholder(_X.shape, dtype=flow.float64)):
            with flow.scope.placement("cpu", "0:0"):
                ones = flow.ones_initializer()
                w = flow.get_variable("w", _X.shape, flow.float64, initializer=ones)
                product = x * w
            with flow.scope.placement("cpu", "0:0") if placed else nullcontext():
                hidden = api.user_relu_forward(product)
            with flow.scope.placement("cpu", "0:0"):
                loss = flow.math.reduce_sum(hidden)
                rate = flow.optimizer.PiecewiseConstantScheduler([], [0.1])
                flow.optimizer.SGD(rate).minimize(loss)
                return loss

        return float(train_job(_X))


def without_each_piece() -> dict[str, dict[str, str]]:
    """Return for each piece what happens without it: a row of piece, stage and message."""
    return {piece: row_without(piece) for piece in PIECES}


def row_without(piece: str) -> dict[str, str]:
    """Return what happens without one piece: a row of piece, stage and message."""
    files, options = relu_files(), {}
    edits, options = PIECES[piece]
    for file, pattern in edits:
        files[file], count = re.subn(pattern, "", files[file], count=1, flags=re.DOTALL)
        assert count, f"{piece}: {pattern} is not in {file}"
    try:
        train_through(files, **options)
    except flow.OpError as error:
        stage = "define" if error.stage == "load" else error.stage
        return {"without": piece, "stage": stage, "message": str(error)}
    return {"without": piece, "stage": "none", "message": "the dtype of the first input is taken"}


PIECES = {  # piece -> edits (file, what is taken out) and options of the trial
    "the inference function": (
        [(DEFINITION, r"\n    \.SetTensorDescInferFn\(like_the_input\)")],
        {},
    ),
    "the shape in the inference": ([(DEFINITION, r" +ctx\.SetOutputShape\(\"out\".*?\n")], {}),
    "the dtype in the inference": ([(DEFINITION, r" +ctx\.SetOutputDType\(\"out\".*?\n")], {}),
    "the gradient rule": ([(DEFINITION, r"flow\.REGISTER_USER_OP_GRAD.*")], {}),
    "the placement": ([], {"placed": False}),
    "the call of .py_kernel()": ([], {"kernel": False}),
    "backward() in the kernel file": ([(KERNEL, r"def backward.*")], {}),
    "the Input of the wrapper": ([(API, r"\.Input\(\"in\", \[x\]\)")], {}),
}

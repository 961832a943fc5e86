"""Chapter 5: the ReLU op: up to a section, with a name changed, or with a piece taken away."""

import re
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np

from helpers.mini import oneflow as flow
from helpers.safety.arguments import shown
from helpers.study.chapter_5.op_texts import file_names, forward_files, op_files
from helpers.study.chapter_5.run_op import loading
from helpers.study.op_folder import op_folder

DEFINITION, API, KERNEL = file_names("user_relu")
PARTS = ("wrapper", "kernel", "gradient rule")
_X = np.array([[-1.0, 2.0]])


def relu_files(output="out", output_grad="out", argument="in") -> dict[str, str]:
    """Return the files of the ReLU op, with these three names in its gradient rule."""
    files = op_files("user_relu", "np.maximum(x, 0)", "np.where(y > 0, dy, 0)")
    named = [
        ('forward.output("out"', f'forward.output("{output}"'),
        ('forward.output_grad("out"', f'forward.output_grad("{output_grad}"'),
        ('OpArg("in"', f'OpArg("{argument}"'),
    ]
    for old, new in named:
        files[DEFINITION] = files[DEFINITION].replace(old, new)
    return files


class ReluSoFar(NamedTuple):
    """The op's files, name -> text; what `build_load` gave; a job through it; five float32."""

    files: dict[str, str]
    module: object
    job: object
    example: np.ndarray


def relu_so_far(part: str) -> ReluSoFar:
    """Load the chapter's ReLU op, up to this part of it, in a session without any other op.

    `part`: wrapper, kernel or gradient rule, which stand in this order. The job is written down,
    and finds a kernel that comes later. ValueError for any other part.
    """
    if type(part) is not str or part not in PARTS:
        raise ValueError(f"the part must be one of {', '.join(PARTS)}, not {shown(part)}")
    files = forward_files("user_relu", "np.maximum(x, 0)")
    files = relu_files() if part == "gradient rule" else files
    files[API] = files[API].replace("my_user_relu", "myrelu")
    if part == "wrapper":
        del files[KERNEL]
    flow.clear_default_session()
    module = flow.experimental.custom_op_module("user_relu", op_folder("user_relu", files))
    module = module.py_def().py_api()
    module = (module if part == "wrapper" else module.py_kernel()).build_load()

    @flow.global_function()
    def relu_job(x: flow.typing.Numpy.Placeholder((5,), dtype=flow.float32)) -> flow.typing.Numpy:
        with flow.scope.placement("cpu", "0:0"):
            return module.api.user_relu_forward(x)

    _ = relu_job.job  # written down now
    return ReluSoFar(files, module, relu_job, np.array([-2, -1, 0, 1, 2], np.float32))


def train_through(files: dict[str, str], kernel: bool = True, placed: bool = True) -> float:
    """Load a ReLU op, run one step of a train job through it and return the loss.

    In a session of its own. OpError with its `.stage` if it fails.
    """
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
    files, (edits, options) = relu_files(), PIECES[piece]
    for file, pattern in edits:
        files[file] = re.sub(pattern, "", files[file], count=1, flags=re.DOTALL)
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

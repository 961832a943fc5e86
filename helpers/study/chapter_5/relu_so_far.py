"""A part of chapter 5's ReLU op -> the op up to there, loaded, for who starts with that section."""

from typing import NamedTuple

import numpy as np

from helpers.mini import oneflow as flow
from helpers.safety.arguments import shown
from helpers.study.chapter_5.op_files import forward_files
from helpers.study.chapter_5.relu import API, KERNEL, relu_files
from helpers.study.op_folder import op_folder

PARTS = ("wrapper", "kernel", "gradient rule")


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

"""Chapter 5: the ReLU op with a piece renamed or taken away, and the stage that notices."""

import re
from contextlib import nullcontext

import numpy as np

from helpers.mini import oneflow as flow
from helpers.study.chapter_5.op_files import file_names, op_files
from helpers.study.chapter_5.run_op import loading
from helpers.study.check import Exercise, tried

DEFINITION, API, KERNEL = file_names("user_relu")
RIGHT = {"output": "out", "output_grad": "out", "argument": "in"}
STAGES = ("define", "build", "infer", "backward", "run", "none")
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
    return {piece: _row(piece) for piece in _PIECES}


def _row(piece: str) -> dict[str, str]:
    files, options = relu_files(), {}
    edits, options = _PIECES[piece]
    for file, pattern in edits:
        files[file], count = re.subn(pattern, "", files[file], count=1, flags=re.DOTALL)
        assert count, f"{piece}: {pattern} is not in {file}"
    try:
        train_through(files, **options)
    except flow.OpError as error:
        stage = "define" if error.stage == "load" else error.stage
        return {"without": piece, "stage": stage, "message": str(error)}
    return {"without": piece, "stage": "none", "message": "the dtype of the first input is taken"}


_PIECES = {  # piece -> edits (file, what is taken out) and options of the trial
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


def _judge_bug(output, output_grad, argument):
    names = dict(zip(RIGHT, map(tried, (output, output_grad, argument)), strict=True))
    for name in names.values():
        if not isinstance(name, str):
            return 'each name must be a text, such as "y"'
    try:
        train_through(relu_files(**names))
    except flow.OpError as error:
        return f"with these names, it is said: {error}"
    return None


BUG = Exercise(
    "gradient_names",
    _judge_bug,
    "The rule speaks of the forward op by the forward op's own names, and the job trains.",
    (
        "The message says which op type was asked, what it was asked for, and what it has.",
        "output and output_grad ask the forward op for an output: its definition calls it …",
        'The forward op was defined with .Input("in").Output("out").',
    ),
)


def _judge_forgotten(guess):
    if not isinstance(guess, dict) or set(guess) != set(_PIECES):
        return f"the guess must be a dict with the keys {', '.join(_PIECES)}"
    for stage in guess.values():
        if tried(stage) not in STAGES:
            return f"a stage is one of {', '.join(STAGES)}, not {stage!r}"
    for piece, stage in guess.items():
        row = _row(piece)
        if row["stage"] != stage:
            return f"without {piece} it is not {stage!r}: {_WHY[piece]}"
    return None


_WHY = {
    "the inference function": "a definition without one is incomplete, which can be seen at once",
    "the shape in the inference": "the function is there; it is asked when the op is put in a job",
    "the dtype in the inference": "an output starts with the dtype of the first input",
    "the gradient rule": "nobody asks for it before the ops of the gradient are appended",
    "the placement": "an op is placed when it is put into the job",
    "the call of .py_kernel()": "a job is written down without kernels",
    "backward() in the kernel file": "a function of the kernel file is looked up when it is needed",
    "the Input of the wrapper": "the wrapper's chain is held against the definition by Build()",
}


FORGOTTEN = Exercise(
    "forgotten",
    _judge_forgotten,
    "Each piece is missed by whoever needs it first.",
    (
        "Ask for each piece: who is the first to need it?",
        "Definition: when the file is loaded. Names, inputs and placement: when the wrapper puts "
        "the op into the job. Numbers: when the job runs.",
        "One piece has a default, and is not missed. Two are needed only by numbers.",
    ),
)

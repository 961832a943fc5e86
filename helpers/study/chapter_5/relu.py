"""Chapter 5: the ReLU op as it is at some point of the chapter, or with something wrong or missing.
Its exercises are `gradient_names`, on the names that the gradient rule uses, and `forgotten`, on
the stage of a job at which a missing piece is noticed.
"""

import re
from contextlib import nullcontext
from dataclasses import dataclass, field

import numpy as np

from helpers.capture.text.value import short_repr
from helpers.mini import oneflow as flow
from helpers.study.answers import (
    InvalidAnswer,
    require_items,
    require_named_values,
    require_no_stub,
)
from helpers.study.chapter_5.op_jobs import load_op_in_fresh_session
from helpers.study.chapter_5.op_texts import file_names, op_files
from helpers.study.check import exercise
from helpers.study.op_folder import op_folder

DEFINITION, API, KERNEL = file_names("user_relu")
EXAMPLE = np.array([[-1.0, 2.0]])


def relu_files(output="out", output_grad="out", argument="in") -> dict[str, str]:
    """Return the files of the ReLU op, name -> text, with these three names in its gradient rule.

    The gradient rule reads the value of the output `output` and the gradient of the output
    `output_grad`, and sets the gradient of the input `argument`. A wrong name breaks the rule.
    """
    files = op_files("user_relu", "np.maximum(x, 0)", "np.where(y > 0, dy, 0)")
    text = files[DEFINITION]
    text = text.replace('output_grad("out"', f'output_grad("{output_grad}"')
    text = text.replace('forward.output("out"', f'forward.output("{output}"')
    text = text.replace('OpArg("in"', f'OpArg("{argument}"')
    return files | {DEFINITION: text}


def relu_so_far(part: str) -> tuple[dict[str, str], object, object, np.ndarray]:
    """Load the chapter's ReLU op, up to this part, in a session without any other op.

    Return its files, the result of `build_load`, a job through it and an input. `part` is
    "wrapper", "kernel" or "gradient rule": each has what the ones before it have. The job of
    "wrapper" also finds a kernel that is loaded later.
    """
    files = op_files("user_relu", "np.maximum(x, 0)")
    if part == "gradient rule":
        files = relu_files()
    files[API] = files[API].replace("my_user_relu", "myrelu")  # the name that the chapter uses
    if part == "wrapper":
        del files[KERNEL]

    flow.clear_default_session()
    module = flow.experimental.custom_op_module("user_relu", op_folder("user_relu", files))
    module = module.py_def().py_api()
    if part != "wrapper":
        module = module.py_kernel()
    module = module.build_load()

    @flow.global_function()
    def relu_job(x: flow.typing.Numpy.Placeholder((5,), dtype=flow.float32)) -> flow.typing.Numpy:
        with flow.scope.placement("cpu", "0:0"):
            return module.api.user_relu_forward(x)

    _ = relu_job.job  # reading it records the job now
    example = np.array([-2, -1, 0, 1, 2], np.float32)
    return files, module, relu_job, example


def train_through(files: dict[str, str], kernel: bool = True, placed: bool = True) -> float:
    """Run one step of a train job through a ReLU op and return the loss. May raise OpError.

    Without `kernel`, the op's kernel file is not loaded. Without `placed`, the op is called outside
    of a placement scope.
    """
    with load_op_in_fresh_session("user_relu", files, kernel=kernel) as api:
        # Three scopes, because only the op itself is called outside of one if it is not `placed`.
        @flow.global_function(type="train")
        def train_job(x: flow.typing.Numpy.Placeholder(EXAMPLE.shape, dtype=flow.float64)):
            ones = flow.ones_initializer()
            with flow.scope.placement("cpu", "0:0"):
                product = x * flow.get_variable("w", EXAMPLE.shape, flow.float64, initializer=ones)
            with flow.scope.placement("cpu", "0:0") if placed else nullcontext():
                hidden = api.user_relu_forward(product)
            with flow.scope.placement("cpu", "0:0"):
                loss = flow.math.reduce_sum(hidden)
                rate = flow.optimizer.PiecewiseConstantScheduler([], [0.1])
                flow.optimizer.SGD(rate).minimize(loss)
                return loss

        return float(train_job(EXAMPLE))


def without_each_piece() -> dict[str, dict[str, str]]:
    """Return piece -> what happens without it, a dict with the keys without, stage and message."""
    return {piece: _try_without(piece) for piece in PIECES}


@dataclass(frozen=True)
class Piece:
    """A piece of the ReLU op, and how to leave it out: by a pattern or by options."""

    #: The name of the file that contains the piece.
    file: str = DEFINITION
    #: A regular expression that matches the piece in the file. "$" matches no text.
    pattern: str = "$"
    #: Options of `train_through` with which the piece is left out.
    options: dict[str, bool] = field(default_factory=dict)


PIECES = {
    "the inference function": Piece(pattern=r"\n    \.SetTensorDescInferFn\(like_the_input\)"),
    "the shape in the inference": Piece(pattern=r" +ctx\.SetOutputShape\(\"out\".*?\n"),
    "the dtype in the inference": Piece(pattern=r" +ctx\.SetOutputDType\(\"out\".*?\n"),
    "the gradient rule": Piece(pattern=r"flow\.REGISTER_USER_OP_GRAD.*"),
    "the placement": Piece(options={"placed": False}),
    "the call of .py_kernel()": Piece(options={"kernel": False}),
    "backward() in the kernel file": Piece(KERNEL, r"def backward.*"),
    "the Input of the wrapper": Piece(API, r"\.Input\(\"in\", \[x\]\)"),
}


def _try_without(name: str) -> dict[str, str]:
    """Run a job with the ReLU op without one of PIECES, and return how the job fails.

    The keys are "without", the name of the piece; "stage", the stage at which the job fails, or
    "none"; and "message", the message of the error.
    """
    piece = PIECES[name]
    files = relu_files()
    # The pattern finds nothing if the piece is left out by an option of `train_through`.
    files[piece.file] = re.sub(piece.pattern, "", files[piece.file], count=1, flags=re.DOTALL)

    stage = "none"
    message = "no error: the output has the first input's dtype"
    try:
        train_through(files, **piece.options)
    except flow.OpError as error:
        # Learners know six stages, without "load": a file is checked when it is loaded, and they
        # call this "define".
        stage = "define" if error.stage == "load" else error.stage
        message = str(error)
    return {"without": name, "stage": stage, "message": message}


NAMES = ("output", "output_grad", "argument")


@exercise(
    "The message says which op type lacks a name, which name that is, and which names it has.",
    "output and output_grad name an output of the forward op. What does its definition call it?",
    'The forward op was defined with .Input("in").Output("out").',
)
def gradient_names(output, output_grad=None, argument=None):
    """The rule uses the forward op's own names, and the job trains."""
    # This returns a sentence on what is wrong, None if the names are right.
    answers = [output, output_grad, argument]
    # A learner may pass the three names as one tuple, too.
    is_one_tuple = answers[1:] == [None, None] and not isinstance(output, str | None)
    if is_one_tuple:
        answers = require_items(output, len(NAMES))

    # strict=False, because a tuple may be too short. The next lines report that.
    names = {part: require_no_stub(name, part) for part, name in zip(NAMES, answers, strict=False)}
    if [type(name) for name in names.values()] != [str] * len(NAMES):
        must = f'the answer must be three names such as "y", for {", ".join(NAMES)}'
        raise InvalidAnswer(f"{must}; not {short_repr(tuple(answers))}")
    try:
        train_through(relu_files(**names))
    except flow.OpError as error:
        return f"with these names the job fails: {error}"
    return None


STAGES = ("define", "build", "infer", "backward", "run", "none")
# Piece -> why a guess is wrong. The sentence is true for a stage too early and for one too late.
WHY = {
    "the inference function": "without one the definition is incomplete, which loading it shows",
    "the shape in the inference": "what the function does is not known before it is called, and "
    "nothing notices until a step needs the output's shape",
    "the dtype in the inference": "the output has the first input's dtype until another is set",
    "the gradient rule": "an op can be recorded without a way back, until the ops of the "
    "gradient must be in the list",
    "the placement": "a definition says nothing about devices; the op's device is checked when "
    "the op is compared with its definition",
    "the call of .py_kernel()": "shapes and names are enough until something has to be computed",
    "backward() in the kernel file": "nothing looks into the kernel file until a gradient has to "
    "be computed",
    "the Input of the wrapper": "the definition is complete; the wrapper's chain is compared with "
    "it when the wrapper is called",
}


@exercise(
    "Ask for each piece: which stage is the first to need it?",
    "The definition is needed when the file is loaded. Names, inputs and placement are needed when "
    "the wrapper puts the op into the job, and numbers when the job runs.",
    "One piece has a default, so nothing fails without it. Two are needed only to compute numbers.",
)
def forgotten(guess):
    """A job fails at the stage that first needs the missing piece. One piece has a default."""
    # `guess`: name of a piece -> stage. This returns a sentence on the first wrong stage, or None.
    guess = require_named_values(guess, PIECES)
    for piece, stage in guess.items():
        if stage not in STAGES:
            return f"{piece}: a stage is one of {', '.join(STAGES)}; not {short_repr(stage)}"

    for piece, stage in guess.items():
        if stage != _try_without(piece)["stage"]:
            return f"without {piece}, the answer is not {stage!r}: {WHY[piece]}"
    return None

"""Chapter 5: which stage misses each piece of the op, foretold and then tried."""

from helpers.study.chapter_5.relu import PIECES, row_without
from helpers.study.check import Exercise
from helpers.study.engine import brief, by_name

STAGES = ("define", "build", "infer", "backward", "run", "none")
WHY = {  # true of a guess that is too early and of one that is too late
    "the inference function": "a definition without one is incomplete, as the file alone shows",
    "the shape in the inference": "what the function does is not known before it is called, and "
    "the first who asks for the output's shape has no answer",
    "the dtype in the inference": "there is a dtype, the first input's, until another is set",
    "the gradient rule": "an op can be written down without a way back, until the ops of the "
    "gradient must be in the list",
    "the placement": "a definition says nothing of devices; the op's device is looked at when the "
    "op is held against its definition",
    "the call of .py_kernel()": "shapes and names are enough until something has to be computed",
    "backward() in the kernel file": "nobody looks into the kernel file until a gradient has to "
    "be computed",
    "the Input of the wrapper": "the definition is whole; the wrapper's chain is compared with it "
    "when the wrapper is called",
}


def _judge(guess=None):
    guess = by_name(guess, PIECES)
    for piece, stage in guess.items():
        if stage not in STAGES:
            return f"{piece}: a stage is one of {', '.join(STAGES)}, in quotes; not {brief(stage)}"
    for piece, stage in guess.items():
        if stage != row_without(piece)["stage"]:
            return f"without {piece} it is not {stage!r}: {WHY[piece]}"
    return None


FORGOTTEN = Exercise(
    "forgotten",
    _judge,
    "Each piece is missed by whoever needs it first, and one by nobody.",
    (
        "Ask for each piece: who is the first to need it?",
        "Definition: when the file is loaded. Names, inputs and placement: when the wrapper puts "
        "the op into the job. Numbers: when the job runs.",
        "One piece has a default, and is not missed. Two are needed only by numbers.",
    ),
)

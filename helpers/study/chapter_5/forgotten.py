"""Chapter 5: which stage misses each piece of the op, foretold and then tried."""

from typing import NamedTuple

from helpers.capture.text.value import brief
from helpers.study.answers import by_name
from helpers.study.chapter_5.relu import PIECES, row_without
from helpers.study.check import Exercise

STAGES = ("define", "build", "infer", "backward", "run", "none")


def _judge(guess=None):
    guess = by_name(guess, PIECES)
    for piece, stage in guess.items():
        if not isinstance(stage, str) or stage not in STAGES:
            return f"{piece}: a stage is one of {', '.join(STAGES)}, in quotes; not {brief(stage)}"
    for piece, stage in guess.items():
        right = row_without(piece)["stage"]
        if stage != right:
            return f"without {piece} it is not {stage!r}: {_why(piece, stage, right)}"
    return None


def _why(piece: str, stage: str, right: str) -> str:
    """Say what is wrong with this stage; a stage that is too early passes, one too late is late."""
    early = STAGES.index(stage) < STAGES.index(right)
    return WHY[piece].too_early if early else WHY[piece].too_late


class Why(NamedTuple):
    """Why a guess is too early or too late; true of every such guess, "" where none can be."""

    too_early: str
    too_late: str


WHY = {
    "the inference function": Why(
        "",
        "a definition without one is incomplete, which can be seen in the file alone",
    ),
    "the shape in the inference": Why(
        "the inference function is there, and what it does is not known before it is called",
        "by then somebody has asked for the shape of the output, and had no answer",
    ),
    "the dtype in the inference": Why(
        "that stage passes: there is a dtype, the first input's, until another is set",
        "",
    ),
    "the gradient rule": Why(
        "that stage passes: an op can be written down, and its shape told, with no way back",
        "by then the ops of the gradient must be in the list",
    ),
    "the placement": Why(
        "a definition says nothing of devices",
        "by then the op has been held against its definition, and its device was looked at, too",
    ),
    "the call of .py_kernel()": Why(
        "that stage passes: shapes and names are enough for it, and no kernel is looked for",
        "a job that has nothing to compute an op with cannot run",
    ),
    "backward() in the kernel file": Why(
        "that stage passes: it computes nothing, and nobody looks into the kernel file for it",
        "the gradient has to be computed by something",
    ),
    "the Input of the wrapper": Why(
        "the definition is whole; what is missing is missing in another file",
        "by then the wrapper's chain has been compared with the definition",
    ),
}


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

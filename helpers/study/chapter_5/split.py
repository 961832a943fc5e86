"""Chapter 5: an op with two outputs, both of which lead back."""

import numpy as np

from helpers.study.chapter_5.compare import Truth, judged, whole
from helpers.study.chapter_5.op_files import file_names
from helpers.study.chapter_5.run_op import texts
from helpers.study.check import Exercise

NAME = "user_split"
FILES = file_names(NAME)


def _split(x):
    return np.maximum(x, 0), np.minimum(x, 0)


def _judge(answer=None):
    files = texts(answer, FILES)
    truth = Truth("split", _split, outputs=2)
    return judged(NAME, files, lambda wrapper: whole(wrapper, NAME, truth))


SPLIT = Exercise(
    "split",
    _judge,
    "Both parts are right, and the gradients of both flow into one.",
    (
        "Two .Output lines in the definition, two in the wrapper; the kernel returns two arrays.",
        "SoleOutputBlob is for one output. RemoteBlobList gives all, in the order of .Output.",
        "The backward op has three inputs: x, and a gradient for each output, by "
        'forward.output_grad("pos", 0) and ("neg", 0).',
        "Where x is positive, the gradient is that of pos; where it is negative, that of neg: "
        "np.where(x > 0, dpos, dneg).",
    ),
)

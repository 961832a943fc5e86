"""Chapter 5: an op with two outputs, both of which lead back."""

from helpers.study.chapter_5.op_texts import file_names
from helpers.study.chapter_5.op_trial import judge_op
from helpers.study.chapter_5.run_op import texts
from helpers.study.check import Exercise

NAME = "user_split"
FILES = file_names(NAME)


def _split(x):
    # relu would let no gradient through at 0: the parts add up to x, and theirs must, too.
    return x.where((x > 0) | x.isnan(), 0), x.where(~(x > 0), 0)


def _judge(answer=None):
    return judge_op(NAME, texts(answer, FILES), _split)


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

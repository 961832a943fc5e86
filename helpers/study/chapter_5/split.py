"""Chapter 5: an op with two outputs, both of which lead back."""

import numpy as np

from helpers.mini import oneflow as flow
from helpers.study.chapter_5.comparing import compared
from helpers.study.chapter_5.texts import file_names, op_files
from helpers.study.chapter_5.trial import loading, texts, wrapper_of
from helpers.study.check import Exercise, Mistake, edited

NAME = "user_split"
FILES = file_names(NAME)


def _split(x):
    return np.maximum(x, 0), np.minimum(x, 0)


def _judge(answer):
    files = texts(answer, FILES)
    try:
        with loading(NAME, files) as api:
            return compared(wrapper_of(api, NAME), "split", _split)
    except flow.OpError as error:
        return f"loading it fails: {error}"


def _solution() -> dict[str, str]:
    files = op_files(NAME, "np.maximum(x, 0), np.minimum(x, 0)", "np.where(x > 0, dpos, dneg)")
    definition, api, kernel = files.values()
    two = '.Output("pos")\n    .Output("neg")'
    definition = definition.replace('("out",)', '("pos", "neg")').replace('.Output("out")', two)
    definition = definition.replace('"y"', '"x"').replace(
        'forward.output("out"', 'forward.input("in"'
    )
    definition = definition.replace('.Input("dy")', '.Input("dpos")\n    .Input("dneg")')
    definition = definition.replace('Shape("dy"', 'Shape("x"').replace('DType("dy"', 'DType("x"')
    one = '.InputBind("dy", forward.output_grad("out", 0))'
    both = [f'.InputBind("d{name}", forward.output_grad("{name}", 0))' for name in ("pos", "neg")]
    definition = definition.replace(one, f"{both[0]}\n            {both[1]}")
    api = api.replace('.Output("out")', '.Output("pos").Output("neg")')
    api = api.replace("SoleOutputBlob", "RemoteBlobList")
    kernel = kernel.replace("(y, dy)", "(x, dpos, dneg)")
    return dict(zip(FILES, (definition, api, kernel), strict=True))


_ANSWER = f"split = {_solution()!r}"


def _sample(old: str, new: str) -> str:
    return edited(_ANSWER, old, new)


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
    (
        Mistake(_sample("RemoteBlobList", "SoleOutputBlob"), "use .RemoteBlobList()"),
        Mistake(
            _sample("np.maximum(x, 0), np.minimum(x, 0)", "np.minimum(x, 0), np.maximum(x, 0)"),
            "output 1 is",
        ),
        Mistake(_sample("dpos, dneg)\\n", "dpos, 0)\\n"), "the gradient is"),
        Mistake(_sample("dpos, dneg)\\n", "dpos, -dneg)\\n"), "the gradient is"),
        Mistake(_sample("dpos, dneg)\\n", "dpos, dpos)\\n"), "the gradient is"),
        Mistake(_sample("np.maximum(x, 0), np.minimum(x, 0)", "np.maximum(x, 0)"), "returned 1"),
        Mistake(
            _sample(
                '(\\"pos\\", \\"neg\\")' if '\\"pos' in _ANSWER else '("pos", "neg")', '("pos",)'
            ),
            'output "neg"',
        ),
        Mistake(
            _sample('forward.output_grad("neg", 0)', 'forward.output_grad("pos", 0)'),
            "the gradient is",
        ),
        Mistake("split = None", "must be a dict with the keys"),
    ),
)

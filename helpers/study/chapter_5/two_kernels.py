"""Chapter 5: one op with two kernels by dtype, and the registry's choice between them."""

import numpy as np

from helpers.capture.text.value import brief
from helpers.mini import oneflow as flow
from helpers.mini.oneflow.dtypes import DTYPES, FLOATS
from helpers.mini.oneflow.kernel_registry import DEVICES, KernelRegContext
from helpers.mini.oneflow.session import session
from helpers.study.chapter_5.choosing import chooses
from helpers.study.chapter_5.op_files import file_names, op_files
from helpers.study.chapter_5.run_op import loading, run, wrapper_of
from helpers.study.check import Exercise, Unfit
from helpers.study.two_answers import parted

NAME = "user_half"
OP_TYPE = f"{NAME}_forward"
KERNEL = file_names(NAME)[2]
SHAPES = ((), (0,), (2, 1, 3))
EACH = "one function is for the floats, the other for whole numbers"


def _judge(half_kernels=None, choose=None):
    if not isinstance(half_kernels, str):
        raise Unfit(f"half_kernels must be the kernel file, in quotes, not {brief(half_kernels)}")
    if not callable(choose):
        raise Unfit("choose must be a function: choose(kernels, context)")
    because = chooses(choose)
    if because:
        return because
    try:
        with loading(NAME, op_files(NAME, "x", "dy") | {KERNEL: half_kernels}) as api:
            return _matched() or _halved(wrapper_of(api, NAME))
    except flow.OpError as error:
        return f"half_kernels: loading it fails: {error}"


def _matched() -> str | None:
    """Return for which dtype and device not just the right number of kernels match."""
    kernels = session().registry.kernels(OP_TYPE)
    if not kernels:
        return f'half_kernels registers no kernel for "{OP_TYPE}"'
    taken = {}
    for device in DEVICES:
        for dtype in DTYPES:
            context = KernelRegContext(OP_TYPE, device, {("in", 0): dtype, ("out", 0): dtype})
            try:
                matching = [kernel for kernel in kernels if kernel.matches(context)]
            except flow.OpError as error:
                return f"half_kernels: {error}"
            right = 1 if device == "cpu" else 0
            if len(matching) != right:
                names = ", ".join(f"{kernel.kernel.name}()" for kernel in matching) or "none"
                return (
                    f'half_kernels: for {dtype} on "{device}" {len(matching)} of the kernels match '
                    f"({names}), and there must be {right}"
                )
            if matching:
                taken[dtype] = matching[0].kernel
    return _shared(taken)


def _shared(taken) -> str | None:
    """Return which float and whole dtype one function computes, or that there are too many."""
    for dtype, kernel in taken.items():
        same = [other for other in FLOATS if taken[other].function is kernel.function]
        if dtype not in FLOATS and same:
            return (
                f"half_kernels: {same[0]} and {dtype} are both computed by {kernel.name}(): {EACH}"
            )
    functions = {id(kernel.function) for kernel in taken.values()}
    if len(functions) > 2:
        return f"half_kernels registers {len(functions)} functions, and not two: {EACH}"
    return None


def _halved(wrapper) -> str | None:
    for dtype in DTYPES:
        for x in _arrays(dtype):
            what = f"half_kernels: half of {_told(x)}"
            try:
                with np.errstate(all="ignore"):
                    (mine,) = run(wrapper, x)
            except flow.OpError as error:
                return f"{what}: {error}"
            right = x / 2 if dtype in FLOATS else x // 2
            for place in zip(*np.nonzero(_apart(mine, right)), strict=True):
                given, yours, numpys = (np.atleast_1d(one)[place] for one in (x, mine, right))
                gives = f"gives {yours}", f"gives {numpys}"
                return parted(f"half_kernels: half of {given} ({dtype}): ", *gives, "numpy")
    return None


def _arrays(dtype: str):
    """Return what is halved: odd numbers of both signs, the ends of the range, other shapes."""
    rng = np.random.default_rng(13)
    if dtype in FLOATS:
        simple = np.array([3.0, -3.0, 0.0, -0.0, 1e4, np.inf, -np.inf, np.nan], dtype)
        others = [rng.normal(0, 9, shape).astype(dtype) for shape in SHAPES]
    else:
        ends = np.iinfo(dtype)
        below = -3 if ends.min else 5
        simple = np.array([3, below, 4, 0, ends.max, ends.min, ends.max - 2, ends.min + 1], dtype)
        others = [rng.integers(ends.min, ends.max, shape).astype(dtype) for shape in SHAPES]
    return [simple, *map(np.asarray, others)]


def _told(x) -> str:
    return f"{x.dtype}[{', '.join(map(str, x.shape))}]"


def _apart(mine, right):
    mine, right = np.atleast_1d(mine), np.atleast_1d(right)
    return (mine != right) & ~((mine != mine) & (right != right))  # nan is nan


TWO_KERNELS = Exercise(
    "two_kernels",
    _judge,
    "Each dtype finds its one kernel, and where none or several match, nobody guesses.",
    (
        "choose: ask every kernel first, and count afterwards. Which two counts are wrong?",
        "The words for none and for several stand in the text; after them a space, and {context}.",
        "One predicate for the floats: (dtype == …) | (dtype == …) | (dtype == …), where dtype is "
        'flow.HobDataType("in", 0). ~ makes the one for whole numbers of it.',
        'Both kernels are for the cpu: join each predicate with (flow.HobDeviceTag() == "cpu") '
        "by &.",
    ),
)

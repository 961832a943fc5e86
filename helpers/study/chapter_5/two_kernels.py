"""Chapter 5: one op with two kernels by dtype, and the registry's choice between them."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from helpers.capture.text.value import short_repr
from helpers.mini import oneflow as flow
from helpers.mini.oneflow.kernels import DEVICES, KernelRegContext, RegisteredKernel
from helpers.mini.oneflow.kernels import choose as registrys_choose
from helpers.mini.oneflow.registry import DTYPES, FLOATS, Kernel
from helpers.mini.oneflow.session import session
from helpers.study.chapter_5.op_texts import file_names, op_files
from helpers.study.chapter_5.run_op import loading, run, wrapper_of
from helpers.study.check import InvalidAnswer, exercise
from helpers.study.engine import Case, find_difference

NAME = "user_half"
OP_TYPE = f"{NAME}_forward"


@exercise(
    "choose: ask every kernel first, and count afterwards. Which two counts are wrong?",
    "The words for none and for several stand in the text; after them a space, and {context}.",
    "One predicate for the floats: (dtype == …) | (dtype == …) | (dtype == …), where dtype is "
    'flow.HobDataType("in", 0). ~ makes the one for whole numbers of it.',
    'Both kernels are for the cpu: join each predicate with (flow.HobDeviceTag() == "cpu") by &.',
)
def two_kernels(half_kernels, choose: Callable):
    """Each dtype finds its one kernel, and where none or several match, nobody guesses."""
    if not isinstance(half_kernels, str):
        raise InvalidAnswer(f"half_kernels must be a text, not {short_repr(half_kernels)}")
    because = find_difference(choose, registrys_choose, _choices(), "the registry")
    files = op_files(NAME, "x", "dy") | {file_names(NAME)[2]: half_kernels}
    try:
        with loading(NAME, files) as api:
            return because or find_difference(wrapper_of(api, NAME), _half, _halves(), "numpy")
    except flow.OpError as error:
        return because or f"half_kernels: {error}"


def _context(dtype: str, device: str = "cpu") -> KernelRegContext:
    return KernelRegContext(OP_TYPE, device, {("in", 0): dtype, ("out", 0): dtype})


def _choices() -> Iterator[Case]:
    """Yield lists of kernels of which none, one or several match, also one kernel twice."""
    yes, no = (flow.HobDataType("in", 0) == dtype for dtype in ("float32", "int8"))
    kernels = [Kernel(f"kernel_{n}", abs) for n in (1, 2, 3)]
    for predicates in ([yes], [no], [], [no, yes], [yes, no, yes]):
        for own in (kernels, kernels[:1] * 3):
            pairs = zip(predicates, own, strict=False)
            given = [RegisteredKernel(OP_TYPE, *pair) for pair in pairs]
            told = "; ".join(f"{kernel} if {kernel.matches}" for kernel in given) or "none"
            shows = f"choose, with {_context('float32')} and the kernels {told}"
            yield Case(shows, partial(_choose, given))


def _choose(given: list, choose: Callable):
    try:
        found = choose(list(given), _context("float32"))
    except flow.OpError as error:
        return f"OpError: {error}"
    own = (f"kernel {n} of the list" for n, one in enumerate(given, 1) if one is found)
    return next(own, found and short_repr(found))


def _halves() -> Iterator[Case]:
    """Yield, per dtype, how many kernels match on each device, and halves of many numbers."""
    for dtype in DTYPES:
        whole = dtype not in FLOATS
        x = np.array([3, 5, 0, np.iinfo(dtype).max if whole else np.inf], dtype)
        x = x if dtype.startswith("u") else np.append(x, np.array(-3, dtype))
        for device in DEVICES:
            words = f'for {dtype} on "{device}", how many of the kernels match'
            yield Case(words, partial(_count_matching, _context(dtype, device)))
        for given in (np.asarray(x[-1]), x):
            half = partial(lambda x, op: (op(x) if op is _half else run(op, x)[0]).tolist(), given)
            yield Case(f"half of {given} ({dtype})", half)


def _count_matching(context: KernelRegContext, wrapper):
    if wrapper is _half:
        return 1 if context.device == "cpu" else 0
    return sum(kernel.matches(context) for kernel in session().registry.kernels(OP_TYPE))


def _half(x):
    return x / 2 if x.dtype.name in FLOATS else x // 2

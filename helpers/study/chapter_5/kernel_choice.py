"""Chapter 5: two kernels of one op, and the function that chooses between kernels."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from helpers.capture.text.value import short_repr
from helpers.mini import oneflow as flow
from helpers.mini.oneflow.kernels import DEVICES, KernelRegContext, RegisteredKernel
from helpers.mini.oneflow.kernels import choose as choose_of_registry
from helpers.mini.oneflow.registry import DTYPES, FLOATS, Kernel
from helpers.mini.oneflow.session import session
from helpers.study.answers import InvalidAnswer
from helpers.study.chapter_5 import op_jobs
from helpers.study.chapter_5.op_texts import file_names, op_files
from helpers.study.check import exercise
from helpers.study.engine import JudgedCase, find_difference

NAME = "user_half"
OP_TYPE = f"{NAME}_forward"


@exercise(
    "In choose, ask every kernel first and count afterwards. Which two counts are wrong?",
    "Copy the words for none and for several from the exercise. {context} follows after a space.",
    "The predicate for floats is (dtype == …) | (dtype == …) | (dtype == …), where dtype is "
    'flow.HobDataType("in", 0). ~ turns it into the predicate for whole numbers.',
    'Both kernels are for the cpu. Join each predicate to (flow.HobDeviceTag() == "cpu") with &.',
)
def two_kernels(half_kernels, choose: Callable):
    """Each dtype finds its one kernel. If none or several match, your registry raises an error."""
    if not isinstance(half_kernels, str):
        raise InvalidAnswer(f"half_kernels must be a string, not {short_repr(half_kernels)}")

    reason = find_difference(choose, choose_of_registry, _make_choices(), "the registry")
    _, _, kernel_file = file_names(NAME)
    files = op_files(NAME, "x", "dy") | {kernel_file: half_kernels}
    try:
        with op_jobs.loading(NAME, files) as api:
            wrapper = op_jobs.wrapper_of(api, NAME)
            # What is wrong with choose is said first.
            return reason or find_difference(wrapper, _half, _make_halves(), "numpy")
    except flow.OpError as error:
        return reason or f"half_kernels: {error}"


def _make_context(dtype: str, device: str = "cpu") -> KernelRegContext:
    """Return what a kernel's predicate is asked about: one op, its device, and its dtypes."""
    return KernelRegContext(OP_TYPE, device, {("in", 0): dtype, ("out", 0): dtype})


def _make_choices() -> Iterator[JudgedCase]:
    """Yield a case for each list of kernels of which none, one or several match.

    Each list exists with different kernels, and with one kernel that is registered several times.
    """
    context = _make_context("float32")
    matching = flow.HobDataType("in", 0) == "float32"
    other = flow.HobDataType("in", 0) == "int8"
    three_kernels = [Kernel(f"kernel_{number}", abs) for number in (1, 2, 3)]
    one_kernel = three_kernels[:1] * 3

    for predicates in (
        [matching],
        [other],
        [],
        [other, matching],
        [matching, other, matching],
    ):
        for kernels in (three_kernels, one_kernel):
            registered = []
            # strict=False: there are three kernels, and mostly fewer predicates.
            for predicate, kernel in zip(predicates, kernels, strict=False):
                registered.append(RegisteredKernel(OP_TYPE, predicate, kernel))
            listed = "; ".join(f"{entry} if {entry.matches}" for entry in registered)
            shows = f"choose, with {context} and the kernels {listed or 'none'}"
            yield JudgedCase(shows, partial(_run_choose, registered))


def _run_choose(registered: list, choose: Callable):
    """Return which kernel of the list an answer's `choose(kernels, context)` returns, in words.

    An OpError is returned as text, too. Nothing such as None is returned as it is.
    """
    try:
        chosen = choose(list(registered), _make_context("float32"))
    except flow.OpError as error:
        return f"OpError: {error}"

    for number, entry in enumerate(registered, 1):
        if entry is chosen:
            return f"kernel {number} of the list"
    return chosen and short_repr(chosen)


def _make_halves() -> Iterator[JudgedCase]:
    """Yield a case for each dtype and device, which counts the matching kernels, and cases that run
    the op on numbers.
    """
    for dtype in DTYPES:
        for device in DEVICES:
            shows = f'for {dtype} on "{device}", the number of kernels that match'
            yield JudgedCase(shows, partial(_count_matching, _make_context(dtype, device)))

        numbers = _make_numbers(dtype)
        for x in (np.asarray(numbers[-1]), numbers):  # an array without axes, and one with one
            yield JudgedCase(f"half of {x} ({dtype})", partial(_halve, x))


def _make_numbers(dtype: str) -> np.ndarray:
    """Return small numbers and the largest of a dtype, and a negative one if it has any."""
    largest = np.inf if dtype in FLOATS else np.iinfo(dtype).max
    numbers = [3, 5, 0, largest]
    if not dtype.startswith("u"):
        numbers.append(-3)
    return np.array(numbers, dtype)


def _count_matching(context: KernelRegContext, wrapper) -> int:
    """Return how many kernels of the loaded op match a context; the wrapper is not called."""
    if wrapper is _half:  # the reference: one kernel for the cpu, and none elsewhere
        return 1 if context.device == "cpu" else 0
    return sum(kernel.matches(context) for kernel in session().registry.kernels(OP_TYPE))


def _halve(x, wrapper) -> list:
    """Return half of an array, by the learner's op or by the reference `_half`."""
    if wrapper is _half:
        return _half(x).tolist()
    return op_jobs.run_forward(wrapper, x)[0].tolist()


def _half(x):
    """Return what the learner's op should return."""
    return x / 2 if x.dtype.name in FLOATS else x // 2

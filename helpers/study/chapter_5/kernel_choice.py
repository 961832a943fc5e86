"""Chapter 5, exercise `two_kernels`: two kernels of one op, and a function that chooses a kernel.
In the small OneFlow a *kernel* is the function that computes an op. It is registered with a
*predicate*, which says for which devices and dtypes the kernel is. The learner writes the file with
two kernels of an op that halves numbers, and `choose(kernels, context)`, which returns the one
kernel whose predicate matches.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from helpers.capture.text.value import short_repr
from helpers.mini import oneflow as flow
from helpers.mini.oneflow.kernels import DEVICES, KernelRegContext, RegisteredKernel
from helpers.mini.oneflow.kernels import choose_kernel as choose_of_registry
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
    # This returns a sentence on what is wrong, None if both answers are right.
    if not isinstance(half_kernels, str):
        raise InvalidAnswer(f"half_kernels must be a string, not {short_repr(half_kernels)}")

    # None if the learner's `choose` agrees with that of the registry.
    reason = find_difference(choose, choose_of_registry, _make_choices(), "the registry")
    _, _, kernel_file = file_names(NAME)
    files = op_files(NAME, "x", "dy") | {kernel_file: half_kernels}
    try:
        with op_jobs.load_op_in_fresh_session(NAME, files) as api:
            wrapper = op_jobs.find_wrapper(api, NAME)
            # If both answers are wrong, the learner is told about `choose`.
            return reason or find_difference(wrapper, _half, _make_halves(), "numpy")
    except flow.OpError as error:
        return reason or f"half_kernels: {error}"


def _make_context(dtype: str, device: str = "cpu") -> KernelRegContext:
    """Return the context for which a kernel is chosen: an op, its device, and its dtypes.

    `dtype` is that of the input and of the output.
    """
    return KernelRegContext(OP_TYPE, device, {("in", 0): dtype, ("out", 0): dtype})


def _make_choices() -> Iterator[JudgedCase]:
    """Yield cases for `choose`: lists of kernels of which none, one or several match.

    A case has a text for messages, and a function that is run with the learner's `choose` and with
    the right one.
    There are two cases for each list of predicates. In the first, each predicate belongs to another
    kernel; in the second, all belong to the same kernel, which is registered several times.
    """
    context = _make_context("float32")
    matching = flow.HobDataType("in", 0) == "float32"  # a predicate, not a bool
    other = flow.HobDataType("in", 0) == "int8"
    three_kernels = [Kernel(f"kernel_{number}", abs) for number in (1, 2, 3)]
    same_kernel = three_kernels[:1] * 3

    for predicates in (
        [matching],
        [other],
        [],
        [other, matching],
        [matching, other, matching],
    ):
        for kernels in (three_kernels, same_kernel):
            registered = []
            # strict=False, because there may be fewer predicates than the three kernels.
            for predicate, kernel in zip(predicates, kernels, strict=False):
                registered.append(RegisteredKernel(OP_TYPE, predicate, kernel))
            listed = "; ".join(f"{entry} if {entry.matches}" for entry in registered)
            shows = f"choose, with {context} and the kernels {listed or 'none'}"
            yield JudgedCase(shows, partial(_run_choose, registered))


def _run_choose(registered: list, choose: Callable):
    """Return, as text, which kernel of a list the function `choose` returns.

    Such as "kernel 2 of the list", or "OpError: …" if `choose` raises an OpError. None or another
    false result is returned as it is.

    Parameters
    ----------
    registered : list of RegisteredKernel
        The kernels that are passed to `choose`.
    choose : Callable
        `choose(kernels, context)` of the learner, or the real one of the registry.
    """
    try:
        chosen = choose(list(registered), _make_context("float32"))
    except flow.OpError as error:
        return f"OpError: {error}"

    for number, entry in enumerate(registered, 1):
        if entry is chosen:
            return f"kernel {number} of the list"
    return short_repr(chosen) if chosen else chosen


def _make_halves() -> Iterator[JudgedCase]:
    """Yield cases for the op: how many kernels match a dtype and a device, and what the op returns.

    The case of a dtype runs the op on an array with one axis, and on an array without axes.
    """
    for dtype in DTYPES:
        for device in DEVICES:
            shows = f'for {dtype} on "{device}", the number of kernels that match'
            yield JudgedCase(shows, partial(_count_matching, _make_context(dtype, device)))

        numbers = _make_numbers(dtype)
        without_axes = np.asarray(numbers[-1])  # of shape ()
        for x in (without_axes, numbers):
            yield JudgedCase(f"half of {x} ({dtype})", partial(_run_half, x))


def _make_numbers(dtype: str) -> np.ndarray:
    """Return an array with small numbers, the largest number of a dtype, and a negative number.

    The negative one is left out for unsigned dtypes, whose names begin with "u".
    """
    largest = np.inf if dtype in FLOATS else np.iinfo(dtype).max
    numbers = [3, 5, 0, largest]
    if not dtype.startswith("u"):
        numbers.append(-3)
    return np.array(numbers, dtype)


def _count_matching(context: KernelRegContext, wrapper) -> int:
    """Return how many registered kernels of the learner's op match a context.

    `wrapper` is the learner's op or the reference `_half`, for which the right number is returned.
    It is not called.
    """
    if wrapper is _half:  # right is one kernel for the cpu, and none for another device
        return 1 if context.device == "cpu" else 0
    return sum(kernel.matches(context) for kernel in session().registry.kernels(OP_TYPE))


def _run_half(x, wrapper) -> list:
    """Return half of an array as a list, by the learner's op or by the reference `_half`."""
    if wrapper is _half:
        return _half(x).tolist()
    return op_jobs.run_forward(wrapper, x)[0].tolist()


def _half(x):
    """Return what the learner's op should return: half of x, rounded down for whole numbers."""
    return x / 2 if x.dtype.name in FLOATS else x // 2

"""Chapter 5: one op with two kernels by dtype, and the registry's choice between them."""

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from helpers.mini import oneflow as flow
from helpers.mini.oneflow.kernels import DEVICES, KernelRegContext, RegisteredKernel
from helpers.mini.oneflow.kernels import choose as registrys_choose
from helpers.mini.oneflow.registry import DTYPES, FLOATS, Kernel
from helpers.mini.oneflow.session import session
from helpers.study.chapter_5.op_texts import file_names, op_files
from helpers.study.chapter_5.run_op import loading, run, wrapper_of
from helpers.study.check import Exercise, Unfit
from helpers.study.engine import Case, brief, find_difference, parted, within

NAME = "user_half"
OP_TYPE = f"{NAME}_forward"
KERNEL = file_names(NAME)[2]
EACH = "one function is for the floats, the other for whole numbers"


def _judge(half_kernels=None, choose: Callable = None):
    if not isinstance(half_kernels, str):
        raise Unfit(f"half_kernels must be the kernel file, in quotes, not {brief(half_kernels)}")
    if because := find_difference(choose, registrys_choose, _choices(), "the registry"):
        return because
    try:
        with loading(NAME, op_files(NAME, "x", "dy") | {KERNEL: half_kernels}) as api:
            because = _matched() or _halved(wrapper_of(api, NAME))
            return because and within("half_kernels: ", because)
    except flow.OpError as error:
        return f"half_kernels: loading it fails: {error}"


def _context(dtype: str, device: str = "cpu") -> KernelRegContext:
    return KernelRegContext(OP_TYPE, device, {("in", 0): dtype, ("out", 0): dtype})


def _choices() -> Iterator[Case]:
    """Yield lists of kernels of which none, one or several match, also one kernel twice."""
    yes, no = (flow.HobDataType("in", 0) == dtype for dtype in ("float32", "int8"))
    kernels = [Kernel(f"kernel_{n}", abs) for n in (1, 2, 3)]
    for predicates in ([yes], [no], [], [yes, no], [no, yes], [no, no, yes], [yes, no, yes]):
        for own in (kernels, kernels[:1] * 3):
            given = [
                RegisteredKernel(OP_TYPE, *pair) for pair in zip(predicates, own, strict=False)
            ]
            told = "; ".join(f"{kernel} if {kernel.matches}" for kernel in given) or "none"
            yield Case(
                f"choose, with {_context('float32')} and the kernels {told}", _chooses(given)
            )


def _chooses(given: list) -> Callable:
    def run(choose):
        kernels = list(given)
        try:
            found = choose(kernels, _context("float32"))
        except flow.OpError as error:
            return f"OpError: {error}"
        if [*map(id, kernels)] != [*map(id, given)]:
            raise Unfit("choose has changed the list that it was given")
        own = (f"kernel {n} of the list" for n, one in enumerate(given, 1) if one is found)
        return next(own, found and brief(found))

    return run


def _matched() -> str | None:
    """Return where not just the right kernels match; None if the right ones do everywhere."""
    kernels = session().registry.kernels(OP_TYPE)
    if not kernels:
        return f'there is no kernel for "{OP_TYPE}"'
    taken = {}
    for device, dtype in product(DEVICES, DTYPES):
        try:
            matching = [kernel for kernel in kernels if kernel.matches(_context(dtype, device))]
        except flow.OpError as error:
            return str(error)
        right = 1 if device == "cpu" else 0
        if len(matching) != right:
            names = ", ".join(f"{kernel.kernel.name}()" for kernel in matching) or "none"
            found = f'for {dtype} on "{device}" {len(matching)} of the kernels match ({names})'
            return f"{found}, and there must be {right}"
        if matching:
            taken[dtype] = matching[0].kernel.function
    floats, whole = ({taken[d] for d in DTYPES if (d in FLOATS) is kind} for kind in (True, False))
    for function in floats & whole:
        return f"{function.__name__}() computes floats and whole numbers: {EACH}"
    many = len(floats | whole)
    return f"{many} functions are registered, not two: {EACH}" if many > 2 else None


def _halved(wrapper) -> str | None:
    for dtype in DTYPES:
        most = np.inf if dtype in FLOATS else np.iinfo(dtype).max
        least = -np.inf if dtype in FLOATS else np.iinfo(dtype).min
        x = np.array([3, -3 if least < 0 else 5, 0, most, least], dtype)
        for given in (x, x[:1].reshape(())):
            try:
                (mine,) = run(wrapper, given)
            except flow.OpError as error:
                return f"half of {given} ({dtype}): {error}"
            right = given / 2 if dtype in FLOATS else given // 2
            for place in np.ndindex(given.shape):
                if mine[place] != right[place]:
                    gives = (f"gives {array[place]}" for array in (mine, right))
                    return parted(f"half of {given[place]} ({dtype}): ", *gives, "numpy")
    return None


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

"""Find where a learner's op first differs from PyTorch; and the exercises on ops."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from helpers.capture.oneflow.oneflow_records import job_graph
from helpers.capture.text.value import short_repr
from helpers.mini import oneflow as flow
from helpers.mini.oneflow.kernels import DEVICES, KernelRegContext, RegisteredKernel
from helpers.mini.oneflow.kernels import choose as registrys_choose
from helpers.mini.oneflow.registry import DTYPES, FLOATS, Kernel
from helpers.mini.oneflow.session import session
from helpers.study.chapter_5 import run_op
from helpers.study.chapter_5.op_texts import file_names, op_files
from helpers.study.check import InvalidAnswer, describe_difference, exercise, prefix_reason, tried
from helpers.study.engine import (
    Case,
    Raised,
    by_name,
    find_difference,
    in_order,
    same_result,
    torch,
)

SLOPE = "the gradient"
NEAR = {"float32": 4e-6, "float64": 4e-13}
SAMPLE = (-3.0, -1.0, -0.25, 0.5, 1.0, 2.0)
SPECIAL = (0.0, -0.0, 30.0, -30.0, 1000.0, -1000.0, np.inf, -np.inf, np.nan)
STAGES = {
    "load": "loading it fails",
    "define": "its definition fails",
    "build": "putting it into a job fails",
    "infer": "inferring its shapes fails",
    "run": "running it fails",
}


def judge_op(name: str, files: dict[str, str], truth: Callable, endless=True):
    """Return how an op differs from `truth(x)`, which computes torch's output, or None."""
    cases = _cases(endless)
    try:
        with run_op.loading(name, files) as api, np.errstate(all="ignore"):
            mine = partial(_through_jobs, run_op.wrapper_of(api, name))
            same = lambda mine, real: same_result(mine, real, NEAR[real[SLOPE].dtype.name])  # noqa: E731
            return find_difference(mine, partial(_through_torch, truth), cases, "torch", same)
    except flow.OpError as error:
        return f"loading it fails: {error}"


def _cases(endless: bool) -> Iterator[Case]:
    sample = np.array(SAMPLE, "float32")
    for x in (sample, np.array(SPECIAL if endless else SPECIAL[:4]), np.array(0.75)):
        yield _case(f"{x.dtype}[{', '.join(map(str, x.shape))}]", x, (1, {}))
    calls = (1, {"name": "first"}), (-2, {"name": "second"})
    yield _case("two calls in one job, of x and of -2 * x", sample, *calls)


def _case(shows: str, x, *calls) -> Case:
    """Return a case that calls an op on factor * x for each (factor, options).

    The gradients of its outputs are distinct whole numbers of both signs.
    """
    counted = np.arange(1, x.size + 1).reshape(x.shape)
    signed = np.where(counted % 2, counted, -counted)
    dys = [np.asarray(signed * (1 - 3 * n) + n, x.dtype) for n in range(len(calls))]
    return Case(f"with {shows}", lambda op: op(x, dys, *calls), partial(_advise, x, dys))


def _through_jobs(wrapper, x, dys, *calls) -> dict:
    def call_all(blob):
        blobs = ((blob if factor == 1 else blob * factor, given) for factor, given in calls)
        return [y for one, given in blobs for y in run_op.blobs_of(wrapper, one, given)]

    return _by_name(*run_op.there_and_back(call_all, x, dys), x)


def _through_torch(truth, x, dys, *calls) -> dict:
    """Return outputs and gradient by torch's own derivatives, in float64."""
    given = _tensor(x)
    outputs = [truth(given * factor) for factor, _ in calls]
    sum((y * _tensor(dy).detach()).sum() for y, dy in zip(outputs, dys, strict=True)).backward()
    arrays = [y.detach().numpy().astype(x.dtype) for y in (*outputs, given.grad)]
    return _by_name(arrays[:-1], arrays[-1], x)


def _by_name(outputs, dx, x) -> dict:
    """Return the arrays by name; the gradient is 0 where x is nan, which has no slope."""
    dx = np.where(np.isnan(x), 0, dx) if dx.shape == x.shape else dx
    several = len(outputs) > 1
    named = {f"output {n}" if several else "forward": y for n, y in enumerate(outputs, 1)}
    return named | {SLOPE: dx}


def _tensor(x):
    return torch.from_numpy(x.astype("float64")).requires_grad_()


def _advise(x, dys, mine, real):
    if isinstance(mine, Raised):
        stage = STAGES.get(getattr(mine.error, "stage", None), "appending its gradient fails")
        return f"{stage}: {mine.error}" if isinstance(mine.error, flow.OpError) else f"yours {mine}"
    weights = {f"dy of output {n}" if len(dys) > 1 else "dy": dy for n, dy in enumerate(dys, 1)}
    for which, right in real.items():
        given = {"x": x} | (weights if which == SLOPE else {})
        for place in np.ndindex(right.shape if mine[which].shape == right.shape else 0):
            pair = mine[which][place], right[place]
            if not same_result(*pair, NEAR[x.dtype.name]):
                at = ", ".join(f"{name} = {array[place]:g}" for name, array in given.items())
                texts = ([f"gives {one:.{digits}g}" for one in pair] for digits in (6, 9, 17))
                gives = next(two for two in texts if two[0] != two[1])
                where = f"{which} at {at} ({right.dtype}): "
                return describe_difference(where, *gives, "torch")
    return None


SIGMOID = "user_sigmoid"


def _draw(files):
    with run_op.loading(SIGMOID, run_op.require_files(files, SIGMOID)) as api:
        wrapper, x = run_op.wrapper_of(api, SIGMOID), np.ones((2, 3), np.float32)
        return job_graph(run_op.weighted_job(lambda x: run_op.blobs_of(wrapper, x), x)[0])


@exercise(
    "Start with the ReLU's files and replace the name in the file names, the op types and the "
    "wrapper. Then change the two lines that compute.",
    "The C++ definition has the names of inputs and outputs: in and out, y, dy and dx. InputBind "
    "needs the backward op's name first, then a blob of the forward op.",
    "forward computes 1 / (1 + np.exp(-x)). Its derivative y * (1 - y) needs only y. backward "
    "multiplies it by dy.",
    picture=_draw,
)
def sigmoid(sigmoid=None):
    """Your op's values and gradients match torch's."""
    return judge_op(SIGMOID, run_op.require_files(sigmoid, SIGMOID), lambda x: x.sigmoid())


CUBE = ("x**3", "3 * np.cbrt(y) ** 2 * dy", lambda x: x**3)
DOUBLE = ("2 * x", "2 * dy", lambda x: 2 * x, 'Name("user_double_', 'Name("user_doubled_')
_OPS = {  # name -> forward, backward, torch's formula, and the mistake: old, new
    "user_cube": (*CUBE, "return x**3", "return np.array(x**3, dtype=float)"),
    "user_double": DOUBLE,
    "user_negate": ("-x", "-dy", lambda x: -x, '.Input("in", [x])', '.Input("in", x)'),
}


def broken_ops() -> dict[str, dict[str, str]]:
    """Return three ops, name -> files by name, each with one mistake."""
    return {name: _break_op(name) for name in _OPS}


def _break_op(name: str) -> dict[str, str]:
    forward, backward, _, old, new = _OPS[name]
    files = op_files(name, forward, backward)
    return {file: text.replace(old, new) for file, text in files.items()}


def run_with_gradient(name: str, files: dict[str, str]) -> None:
    """Load an op in a fresh session, run it, and go back through it. May raise OpError."""
    x = np.ones(2, np.float32)
    with run_op.loading(name, files) as api:
        wrapper = run_op.wrapper_of(api, name)
        run_op.run(wrapper, x)
        run_op.gradient(wrapper, x, [x])


@exercise(
    "Each message names the op, and most name a file. Print that file first.",
    "user_cube breaks its promise about the dtype when it runs. user_double names an op type that "
    "does not exist when its gradient is appended. user_negate fails in its wrapper.",
    "user_cube: x**3 alone keeps the dtype. user_double: compare the name after OpTypeName "
    "with the registered ones. user_negate: the message says what to write.",
)
def repair(repairs):
    """After your three edits, all three ops match torch."""
    for name, one in by_name(repairs, _OPS, "the repairs").items():
        edit, files = in_order(one, 3, f"the repair of {name}"), _break_op(name)
        if len(edit) != 3 or not all(isinstance(tried(text, name), str) for text in edit):
            words = "must be three strings: the file, the old text, the new text"
            raise InvalidAnswer(f"the repair of {name} {words}")
        file, old, new = edit
        if file not in files:
            return f"{name} has no file {file!r}; it has {', '.join(files)}"
        if (count := files[file].count(old)) != 1:
            return f"{old!r} occurs {count} times in {file}; it must occur exactly once"
        files[file] = files[file].replace(old, new)
        if because := judge_op(name, files, _OPS[name][2], endless=False):
            return prefix_reason(f"{name}: ", because)
    return None


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
    because = find_difference(choose, registrys_choose, _choices(), "the registry")
    files = op_files(NAME, "x", "dy") | {file_names(NAME)[2]: half_kernels}
    try:
        with run_op.loading(NAME, files) as api:
            wrapper = run_op.wrapper_of(api, NAME)
            return because or find_difference(wrapper, _half, _halves(), "numpy")
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
            words = f'for {dtype} on "{device}", the number of kernels that match'
            yield Case(words, partial(_count_matching, _context(dtype, device)))
        for given in (np.asarray(x[-1]), x):
            half = partial(_halve, given)
            yield Case(f"half of {given} ({dtype})", half)


def _count_matching(context: KernelRegContext, wrapper):
    if wrapper is _half:
        return 1 if context.device == "cpu" else 0
    return sum(kernel.matches(context) for kernel in session().registry.kernels(OP_TYPE))


def _halve(x, wrapper) -> list:
    return (wrapper(x) if wrapper is _half else run_op.run(wrapper, x)[0]).tolist()


def _half(x):
    return x / 2 if x.dtype.name in FLOATS else x // 2

"""Blocks in which Dynamo's decisions about calls and frames are reported to callbacks.

Each function replaces one function of Dynamo's in a `with` block by one that calls it, and then
calls `report` with what happened. It does so in every thread. `report` runs in the middle of a
user's call, so an error that it raises is added to the list `errors`, and never reaches the call.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import CodeType, FrameType

from ..safety import restoring
from ..safety.restoring import patched
from ..safety.users_frames import users_frame
from . import torch_private
from .compiled_calls_under_way import is_wrapper_frame


def call_safely(report: Callable, errors: list[Exception], *facts):
    """Return `report(*facts)`; if it raises an error, add the error to `errors` and return None."""
    try:
        return report(*facts)
    except Exception as error:
        errors.append(error)
        return None


def report_compiled_functions(report: Callable[[object], object]) -> AbstractContextManager[None]:
    """Call `report(fn)` in the block for each call of a compiled function.

    `fn` is the function that torch has compiled. Errors of `report` are lost.
    """

    def report_function(wrapper_frame: FrameType, real: Callable, answer: object) -> None:
        report(wrapper_frame.f_locals.get("fn", real))

    return _report_callbacks(report_function, [])


def report_compiled_calls(
    report: Callable[[object, FrameType, object], object], errors: list[Exception]
) -> AbstractContextManager[None]:
    """Call `report(fn, wrapper_frame, callback)` in the block when a compiled call begins.

    `fn` is the function that torch has compiled, and `wrapper_frame` the frame of torch's
    `compile_wrapper`. `callback` is what torch sets for this call: None where compiling is turned
    off, False where Dynamo only looks for code that it compiled before.
    """

    def report_call(wrapper_frame: FrameType, real: Callable, answer: object) -> None:
        # `torch.compile` has other wrappers that ask for a callback, such as that of a disabled
        # function; they begin no compiled call.
        if wrapper_frame.f_code.co_name == "compile_wrapper":
            report(wrapper_frame.f_locals.get("fn", real), wrapper_frame, answer)

    return _report_callbacks(report_call, errors)


def _report_callbacks(report: Callable, errors: list[Exception]) -> AbstractContextManager[None]:
    """Call `report(wrapper_frame, real, answer)` when a wrapper of torch's asks for its callback.

    `real` is torch's function that is asked, and `answer` what it returned.
    """
    module = restoring.module("torch._dynamo.eval_frame")
    real = getattr(module, "_callback_from_stance", None)
    if not real:
        return patched(module)

    def report_answer(answer: object) -> None:
        # Not the caller's frame: where two such blocks are open, that is the other block's.
        report(users_frame(), real, answer)

    def callback_from_stance(callback):
        answer = real(callback)
        if callable(callback):  # it is None where compiling is turned off
            call_safely(report_answer, errors, answer)
        return answer

    return patched(module, _callback_from_stance=callback_from_stance)


@contextmanager
def collect_recompile_reasons(
    explain: Callable[[list, FrameType, list, object], tuple | None], errors: list[Exception]
) -> Iterator[list[tuple[CodeType, tuple]]]:
    """Collect in the block why Dynamo compiles frames again.

    `explain(entries, frame, reasons, backend)` receives the cache entries of the frame's code, the
    frame, Dynamo's reasons, and the backend. The block is given a list, to which (code object,
    result of `explain`) is added for each frame, with () where `explain` returns None or raises.
    """
    module = torch_private.convert_frame
    name = "get_and_maybe_log_recompilation_reasons"
    real = getattr(module, name, None)
    explanations: list[tuple[CodeType, tuple]] = []

    def get_reasons(entries, frame, backend, *args, **kwargs):
        reasons = real(entries, frame, backend, *args, **kwargs)
        explanation = call_safely(explain, errors, entries, frame, reasons, backend)
        explanations.append((frame.f_code, explanation or ()))
        return reasons

    replacements = {name: get_reasons} if real else {}
    with patched(module, **replacements):
        yield explanations


@contextmanager
def report_refused_recompiles(
    report: Callable[[CodeType], object], errors: list[Exception]
) -> Iterator[None]:
    """Call `report(code)` in the block for each frame that may not be compiled again.

    Torch raises for such a frame under the stance `fail_on_recompile`. Its callback of that stance
    (torch/_dynamo/eval_frame.py: `fail_callback`) asks whether the frame has a tensor first, and
    nothing else does from there.
    """
    module = torch_private.convert_frame
    real = getattr(module, "has_tensor_in_frame", None)

    def has_tensor_in_frame(frame):
        has_tensor = real(frame)
        caller = users_frame()
        if has_tensor and caller.f_code.co_name == "fail_callback":
            call_safely(report, errors, frame.f_code)
        return has_tensor

    replacements = {"has_tensor_in_frame": has_tensor_in_frame} if real else {}
    with patched(module, **replacements):
        yield


@contextmanager
def report_skipped_frames(
    report: Callable[[CodeType, object, bool], object], errors: list[Exception]
) -> Iterator[None]:
    """Call `report(code, reason, is_start)` in the block for each frame that Dynamo skips.

    Python runs such a frame. `is_start` says whether the frame is the first one of a call of a
    compiled function.
    """
    entrance = torch_private.convert_frame.CatchErrorsWrapper
    real = getattr(entrance, "_handle_skip", None)  # older torch only logs it

    def find_asking_frame() -> FrameType:
        """Return the frame that called the frame which Dynamo was asked about."""
        asking = users_frame()
        while (
            asking.f_globals.get("__name__") == "torch._dynamo.convert_frame"
            or asking.f_code is handle_skip.__code__
        ):
            asking = asking.f_back
        return asking

    def report_skip(result, frame: FrameType) -> None:
        if result.skip_reason is not None and result.guarded_code is None:
            is_start = is_wrapper_frame(find_asking_frame())
            report(frame.f_code, result.skip_reason, is_start)

    def handle_skip(wrapper, result, frame):
        call_safely(report_skip, errors, result, frame)
        return real(wrapper, result, frame)

    replacements = {"_handle_skip": handle_skip} if real else {}
    with patched(entrance, **replacements):
        yield


@contextmanager
def report_compilations(
    report: Callable[[object], object], errors: list[Exception]
) -> Iterator[None]:
    """Call `report(metrics)` in the block for each frame that Dynamo has compiled.

    `metrics` is torch's CompilationMetrics, also for a compilation that failed.
    """
    utils = torch_private.dynamo_utils
    # Torch calls this function last, for every entry of its compilation metrics.
    real = utils.add_compilation_metrics_to_chromium

    def add_metrics(metrics):
        call_safely(report, errors, metrics)
        return real(metrics)

    with patched(utils, add_compilation_metrics_to_chromium=add_metrics):
        yield


@contextmanager
def report_cache_lookups(
    report: Callable[[bool], object], errors: list[Exception]
) -> Iterator[bool]:
    """Call `report(is_hit)` in the block when Dynamo has checked a frame's cache entries.

    `is_hit` says whether the guards of an entry held. The block is given False if this torch has no
    hook for that, and `report` is never called then.
    """
    eval_frame = restoring.module("torch._C._dynamo.eval_frame")
    set_hook = getattr(eval_frame, "set_guard_complete_hook", None)
    if set_hook is None:
        yield False
        return

    def report_lookup(hit):
        if earlier_hook:
            hit = earlier_hook(hit)  # a hook may change the answer
        call_safely(report, errors, hit)
        return hit

    earlier_hook = set_hook(report_lookup)
    try:
        yield True
    finally:
        set_hook(earlier_hook)

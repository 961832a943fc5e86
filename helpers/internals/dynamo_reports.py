"""`with` blocks in which a callback learns what torch's Dynamo decides about calls and frames.

In its block, each function here replaces one function of Dynamo's by a wrapper. The wrapper calls
the real function, and calls `report` with what happened. It does so in every thread. `report` runs
in the middle of a user's call. So an error that `report` raises is added to the list `errors`, and
never reaches the user's call. Most functions are found by private names, so another torch may lack
one of them. Then `report` is not called.
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
    """Return a block in which `report(fn)` is called for each call of a compiled function.

    `fn` is the function that was passed to `torch.compile`. Errors of `report` are dropped.
    """

    def report_function(wrapper_frame: FrameType, real: Callable, callback: object) -> None:
        # torch's wrapper has the function in its local variable `fn`.
        report(wrapper_frame.f_locals.get("fn", real))

    return _report_callbacks(report_function, [])


def report_compiled_calls(
    report: Callable[[object, FrameType, object], object], errors: list[Exception]
) -> AbstractContextManager[None]:
    """Return a block in which `report(fn, wrapper_frame, callback)` is called at a compiled call.

    `report` is called when the call begins. `fn` is the function that was passed to
    `torch.compile`, and `wrapper_frame` the frame of torch's `compile_wrapper`. `callback` is what
    torch will call for each frame that begins in this call. It is None where compiling is turned
    off, and False where Dynamo only looks for code that it compiled before.
    """

    def report_call(wrapper_frame: FrameType, real: Callable, callback: object) -> None:
        # Torch has other wrappers that ask for a callback, such as that of
        # `torch.compiler.disable`. They begin no compiled call.
        if wrapper_frame.f_code.co_name == "compile_wrapper":
            report(wrapper_frame.f_locals.get("fn", real), wrapper_frame, callback)

    return _report_callbacks(report_call, errors)


def _report_callbacks(report: Callable, errors: list[Exception]) -> AbstractContextManager[None]:
    """Return a block that calls `report(wrapper_frame, real, callback)` when a wrapper begins.

    A wrapper is a function that `torch.compile` or `torch.compiler.disable` returned. At the start
    of a call, a wrapper asks torch's `_callback_from_stance` which frame callback to set. `real` is
    that function, and `callback` what it returned.
    """
    module = restoring.find_loaded_module("torch._dynamo.eval_frame")
    real = getattr(module, "_callback_from_stance", None)
    if not real:  # Dynamo is not loaded, or this torch has no such function
        return patched(module)  # a block that changes nothing

    def report_answer(answer: object) -> None:
        # `users_frame` skips frames of this course. `sys._getframe` would find the replacement of
        # another block where two such blocks are open.
        report(users_frame(), real, answer)

    def callback_from_stance(callback):
        answer = real(callback)
        if callable(callback):  # it is None in the wrapper of `torch.compiler.disable`
            call_safely(report_answer, errors, answer)
        return answer

    return patched(module, _callback_from_stance=callback_from_stance)


@contextmanager
def collect_recompile_reasons(
    explain: Callable[[list, FrameType, list, object], tuple | None], errors: list[Exception]
) -> Iterator[list[tuple[CodeType, tuple]]]:
    """Collect in the block why Dynamo compiles frames again.

    `explain(entries, frame, reasons, backend)` is called for each frame that Dynamo compiles again.
    It receives the cache entries of the frame's code, the frame, Dynamo's reasons as text, and the
    backend. It returns a tuple or None.

    The block gets a list that grows. For each such frame it gets (code object, tuple). The tuple is
    the result of `explain`, or () where `explain` returned None or raised an error.
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
    """Call `report(code)` in the block for each frame that Dynamo refuses to compile again.

    Under the stance `fail_on_recompile`, torch raises an error for such a frame. Its callback for
    that stance (torch/_dynamo/eval_frame.py: `fail_callback`) first calls `has_tensor_in_frame`,
    and raises if the answer is True. So this block watches the calls of that function.
    """
    module = torch_private.convert_frame
    real = getattr(module, "has_tensor_in_frame", None)

    def has_tensor_in_frame(frame):
        has_tensor = real(frame)
        caller = users_frame()  # the calling frame that is not of this course
        # Other functions of Dynamo's call this one, too, but only `fail_callback` raises.
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

    A skipped frame is run by Python without compiled code. `is_start` says whether the frame is the
    first one of a call of a compiled function.
    """
    entrance = torch_private.convert_frame.CatchErrorsWrapper
    real = getattr(entrance, "_handle_skip", None)  # older torch has no such method

    def find_calling_frame() -> FrameType:
        """Return the frame whose call made the frame that Dynamo was asked about.

        On the stack above it are frames of Dynamo's own, and of `handle_skip` below.
        """
        frame = users_frame()
        while (
            frame.f_globals.get("__name__") == "torch._dynamo.convert_frame"
            or frame.f_code is handle_skip.__code__
        ):
            frame = frame.f_back
        return frame

    def report_skip(result, frame: FrameType) -> None:
        # `_handle_skip` is also called with results of frames that Dynamo has compiled.
        if result.skip_reason is not None and result.guarded_code is None:
            is_start = is_wrapper_frame(find_calling_frame())
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

    `metrics` is torch's record of the compilation, a CompilationMetrics. There is one for a
    compilation that failed, too.
    """
    utils = torch_private.dynamo_utils
    # Torch calls this function for every such record, after the record is complete.
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

    `is_hit` says whether the guards of an entry held. The block gets True if this torch has a hook
    for that. Otherwise the block gets False, and `report` is never called.
    """
    eval_frame = restoring.find_loaded_module("torch._C._dynamo.eval_frame")
    set_hook = getattr(eval_frame, "set_guard_complete_hook", None)
    if set_hook is None:
        yield False
        return

    def report_lookup(hit):
        if earlier_hook:
            hit = earlier_hook(hit)  # Dynamo goes on with the answer that a hook returns
        call_safely(report, errors, hit)
        return hit

    earlier_hook = set_hook(report_lookup)
    try:
        yield True
    finally:
        set_hook(earlier_hook)

"""Torch's frame callback, which decides for each Python frame whether compiled code runs instead.

Torch calls the frame callback for each frame that CPython is about to evaluate
(torch/csrc/dynamo/eval_frame.c). The callback returns an object that says which code runs for that
frame. This module reads which callback is set, and builds such objects.
"""

from types import CodeType

from ..safety import restoring
from . import torch_private


def read_frame_callback():
    """Return what torch asks before it evaluates a frame; None without Dynamo or a callback."""
    eval_frame = restoring.find_loaded_module("torch._C._dynamo.eval_frame")
    return eval_frame.get_eval_frame_callback() if eval_frame else None


def build_skip_answer():
    """Return what a callback answers for "run this frame as it is, now and for good"."""
    return torch_private.ConvertFrameReturn(apply_to_code=False)


def build_code_answer(code: CodeType, root_guards):
    """Return what a callback answers for "run `code` instead, as long as these guards hold".

    `root_guards` is a RootGuardManager of torch's.
    """
    guards = torch_private.GuardManagerWrapper(root_guards)
    compile_id = torch_private.CompileId(frame_id=0, frame_compile_id=0)
    guarded_code = torch_private.GuardedCode(code, guards, compile_id)
    return torch_private.wrap_guarded_code(guarded_code)


def release_callback_once() -> None:
    """Decrease by one torch's count of threads that have a frame callback.

    When the count is 0, torch removes its frame evaluator from CPython. An error in torch can leave
    the count one too high. No function of torch decreases only the count, so this function uses a
    defect of torch: where a callback is removed by a frame that may only run compiled code
    (RUN_ONLY), torch decreases the count twice. The function sets a callback that gives the next
    frame this mode, and then calls a function that removes the callback.
    """
    set_eval_frame = torch_private.set_eval_frame
    action = torch_private.FrameAction
    # The frame itself runs as plain Python, and the functions that it calls run in mode RUN_ONLY.
    run_only = torch_private.FrameExecStrategy(action.SKIP, action.RUN_ONLY)
    answer = torch_private.ConvertFrameReturn(frame_exec_strategy=run_only, apply_to_code=False)

    def answer_run_only(frame, *rest):
        return answer

    def remove_callback():
        set_eval_frame(None)

    set_eval_frame(answer_run_only)
    remove_callback()
    set_eval_frame(None)

"""Torch's frame callback: which one is set, what it may answer, and how torch counts it.

Torch asks its frame callback about each frame that CPython is about to evaluate
(torch/csrc/dynamo/eval_frame.c). The callback's answer says which code runs for that frame.
"""

from types import CodeType

from ..safety import restoring
from . import torch_private


def read_frame_callback():
    """Return what torch asks before it evaluates a frame; None without Dynamo or a callback."""
    eval_frame = restoring.module("torch._C._dynamo.eval_frame")
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
    """Have torch count one thread less that has a callback; at none, it removes its evaluator.

    Torch counts a callback twice that was removed in a frame which runs only compiled code. This
    function sets a callback that answers RUN_ONLY, and lets such a frame remove it.
    """
    set_eval_frame = torch_private.set_eval_frame
    action = torch_private.FrameAction
    run_only = torch_private.FrameExecStrategy(action.SKIP, action.RUN_ONLY)
    answer = torch_private.ConvertFrameReturn(frame_exec_strategy=run_only, apply_to_code=False)

    def answer_run_only(frame, *rest):
        return answer

    def remove_callback():
        set_eval_frame(None)

    set_eval_frame(answer_run_only)
    remove_callback()
    set_eval_frame(None)

"""The learner's turn: predict, expect, check."""

from helpers.study.check import Checks, expect
from helpers.study.predict import predict, show_predictions

__all__ = ["check", "expect", "predict", "show_predictions"]

check = Checks(
    {
        "chapter_0": "warm_up",
        "chapter_1": "tangle default_finder rebinding who_kept",
        "chapter_2": "ranking batches cache slow_training",
        "chapter_3": """
            vm_names vm_operators vm_jumps vm_calls vm_closures vm_exceptions
            stack_at kept_alive code_patch
        """,
        "chapter_4": """
            dynamo_binary_op dynamo_recorder dynamo_guards dynamo_lookup dynamo_receives
            hook_callback break_surgery evicting_cache guard_breaker guard_set behind_the_hook
        """,
        "chapter_5": "gradient_names forgotten sigmoid leaky split repair two_kernels",
        "chapter_6": "route op_logger tape execute slow_loop",
        "chapter_7": """
            stuck_patch every_step gives_up blind_tool
            wrong_gradient slow_frames stuck_mean kept_models five_means
        """,
    }
)

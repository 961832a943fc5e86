"""What learners do: predict, expect, check."""

from helpers.study.check import Checks
from helpers.study.expected_errors import expect
from helpers.study.predict import predict, show_predictions

__all__ = ["check", "expect", "predict", "show_predictions"]

check = Checks(
    {
        "chapter_0": "warm_up",
        "chapter_1": "tangle default_finder rebinding who_kept",
        "chapter_2": "ranking batches cache_key cache_lookup cache_mutation slow_training",
        "chapter_3": """
            vm_names vm_operators vm_jumps vm_calls vm_closures vm_exceptions
            stack_at kept_alive code_patch
        """,
        "chapter_4": """
            dynamo_binary_op dynamo_recorder dynamo_guards dynamo_lookup dynamo_receives
            guard_breaker guard_set break_surgery one_compile behind_the_hook
        """,
        "chapter_5": "gradient_names forgotten sigmoid smooth_max repair two_kernels",
        "chapter_6": "route op_logger tape execute slow_loop first_nan",
        "chapter_7": """
            stuck_patch blind_tool stuck_mean missing_op
            kept_models dead_switch every_step three_suspects five_means
        """,
    }
)

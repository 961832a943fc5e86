"""The exercises of chapter 7: the cases of the clinic, and the open task."""

from helpers.study.chapter_7.compiled_cases import blind_tool, dead_switch
from helpers.study.chapter_7.five_means import five_means
from helpers.study.chapter_7.stuck_patch import stuck_patch
from helpers.study.chapter_7.tensorflow_cases import every_step, stuck_mean
from helpers.study.chapter_7.three_suspects import three_suspects
from helpers.study.chapter_7.torch_cases import kept_models, missing_op

EXERCISES = (
    stuck_patch,
    blind_tool,
    stuck_mean,
    missing_op,
    kept_models,
    dead_switch,
    every_step,
    three_suspects,
    five_means,
)

"""The exercises of chapter 7: the cases of the clinic, and the open task."""

from helpers.study.chapter_7.compiled_cases import blind_tool, gives_up
from helpers.study.chapter_7.five_means import five_means
from helpers.study.chapter_7.stuck_patch import stuck_patch
from helpers.study.chapter_7.tensorflow_cases import every_step, slow_frames, stuck_mean
from helpers.study.chapter_7.torch_cases import kept_models, wrong_gradient

EXERCISES = (stuck_patch, every_step, gives_up, blind_tool, wrong_gradient, slow_frames)
EXERCISES += (stuck_mean, kept_models, five_means)

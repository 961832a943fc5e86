"""The exercises of chapter 7: the cases of the clinic, and the open task."""

from helpers.study.chapter_7.compiled_cases import BLIND_TOOL, GIVES_UP
from helpers.study.chapter_7.five_means import FIVE_MEANS
from helpers.study.chapter_7.stuck_patch import STUCK_PATCH
from helpers.study.chapter_7.tensorflow_cases import EVERY_STEP, SLOW_FRAMES, STUCK_MEAN
from helpers.study.chapter_7.torch_cases import KEPT_MODELS, WRONG_GRADIENT

EXERCISES = (
    STUCK_PATCH,
    EVERY_STEP,
    GIVES_UP,
    BLIND_TOOL,
    WRONG_GRADIENT,
    SLOW_FRAMES,
    STUCK_MEAN,
    KEPT_MODELS,
    FIVE_MEANS,
)

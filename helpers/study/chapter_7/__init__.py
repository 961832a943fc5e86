"""The exercises of chapter 7: the cases of the clinic, and the open task."""

from helpers.study.chapter_7.blind_tool import BLIND_TOOL
from helpers.study.chapter_7.every_step import EVERY_STEP
from helpers.study.chapter_7.five_means import FIVE_MEANS
from helpers.study.chapter_7.gives_up import GIVES_UP
from helpers.study.chapter_7.kept_models import KEPT_MODELS
from helpers.study.chapter_7.slow_frames import SLOW_FRAMES
from helpers.study.chapter_7.stuck_mean import STUCK_MEAN
from helpers.study.chapter_7.stuck_patch import STUCK_PATCH
from helpers.study.chapter_7.wrong_gradient import WRONG_GRADIENT

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

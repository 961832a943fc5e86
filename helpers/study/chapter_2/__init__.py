"""The exercises of chapter 2."""

from helpers.study.chapter_2.batches import BATCHES
from helpers.study.chapter_2.retracing import RANKING
from helpers.study.chapter_2.slow_training import SLOW_TRAINING
from helpers.study.chapter_2.trace_cache import CACHE

EXERCISES = (RANKING, BATCHES, CACHE, SLOW_TRAINING)

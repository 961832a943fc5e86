"""The exercises of chapter 2."""

from helpers.study.chapter_2.batches import BATCHES
from helpers.study.chapter_2.cache import CACHE
from helpers.study.chapter_2.ranking import RANKING

EXERCISES = (RANKING, BATCHES, CACHE)

"""The exercises of chapter 1."""

from helpers.study.chapter_1.finder import FINDER
from helpers.study.chapter_1.patch import PATCH
from helpers.study.chapter_1.tangle import TANGLE

EXERCISES = (TANGLE, FINDER, PATCH)

"""The exercises of chapter 1."""

from helpers.study.chapter_1.default_finder import FINDER
from helpers.study.chapter_1.rebinding import PATCH
from helpers.study.chapter_1.tangle import TANGLE

EXERCISES = (TANGLE, FINDER, PATCH)

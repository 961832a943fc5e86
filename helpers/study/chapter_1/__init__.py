"""The exercises of chapter 1."""

from helpers.study.chapter_1.default_finder import DEFAULT_FINDER
from helpers.study.chapter_1.one_more_holder import ONE_MORE_HOLDER
from helpers.study.chapter_1.rebinding import REBINDING
from helpers.study.chapter_1.tangle import TANGLE

EXERCISES = (TANGLE, DEFAULT_FINDER, REBINDING, ONE_MORE_HOLDER)

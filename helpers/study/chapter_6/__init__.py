"""The exercises of chapter 6."""

from helpers.study.chapter_6.eager_call import EXECUTE
from helpers.study.chapter_6.op_callbacks import OP_LOGGER, TAPE
from helpers.study.chapter_6.routes_taken import ROUTE, SLOW_LOOP

EXERCISES = (ROUTE, OP_LOGGER, TAPE, EXECUTE, SLOW_LOOP)

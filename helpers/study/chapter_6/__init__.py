"""The exercises of chapter 6."""

from helpers.study.chapter_6.eager_call import EXECUTE
from helpers.study.chapter_6.op_logger import OP_LOGGER
from helpers.study.chapter_6.routes_taken import ROUTE, SLOW_LOOP
from helpers.study.chapter_6.tape import TAPE

EXERCISES = (ROUTE, OP_LOGGER, TAPE, EXECUTE, SLOW_LOOP)

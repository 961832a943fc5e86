"""The exercises of chapter 6."""

from helpers.study.chapter_6.dispatch_modes import first_nan
from helpers.study.chapter_6.eager_call import execute
from helpers.study.chapter_6.op_callbacks import op_logger, tape
from helpers.study.chapter_6.routes_taken import route, slow_loop

EXERCISES = (
    route,
    op_logger,
    tape,
    execute,
    slow_loop,
    first_nan,
)

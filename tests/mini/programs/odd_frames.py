"""Programs that look at their own frames, generators, warnings and locals."""

import inspect
import io
import sys
import traceback
import types
import warnings


def current_line():
    f = inspect.currentframe()
    return f.f_lineno - f.f_code.co_firstlineno, f.f_code.co_name, sorted(f.f_locals)








def global_frame():
    return sys._getframe().f_globals is globals(), sys._getframe().f_builtins["len"] is len


def logging_caller():
    import logging

    s = io.StringIO()
    h = logging.StreamHandler(s)
    h.setFormatter(logging.Formatter("%(funcName)s %(message)s"))
    lg = logging.Logger("x")
    lg.addHandler(h)
    lg.warning("hello")
    return s.getvalue()


def traceback_stack():
    return traceback.extract_stack()[-1].name, [s.name for s in traceback.extract_stack(limit=1)]



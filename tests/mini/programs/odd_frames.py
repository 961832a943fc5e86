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


def is_frame():
    f = sys._getframe()
    return inspect.isframe(f), type(f).__name__, isinstance(f, types.FrameType)


def warn_default_registry():
    def old():
        warnings.warn("gone once", UserWarning, stacklevel=2)

    with warnings.catch_warnings(record=True) as got:
        warnings.simplefilter("default")
        for _ in range(3):
            old()
    return len(got), any("gone once" in str(k) for k in globals().get("__warningregistry__", {}))


def exec_inside():
    x = 1
    exec("x = 2; y = 3")
    d = {}
    exec("def f(): return g()\ndef g(): return 7\nr = f()", d)
    return x, "y" in locals(), d["r"], eval("x + 1"), eval("[x for _ in range(2)]", {"x": 9})


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


def stack_code_context():
    i = inspect.stack()[0]
    return i.function, i.lineno - i.frame.f_code.co_firstlineno

"""A frame hook: Python functions receive every frame before it is evaluated (PEP 523).

`watching(callback, only=None)` switches it on for a `with` block of this thread, `replaced(code,
callable)` replaces one function's frames, `check_c_stack()` only looks at the
C stack before each frame, `installed()` says which evaluator the interpreter uses now, `put_back()`
takes out what an error of torch's left there, `available()` says which hook this machine has.
"""

# ruff: noqa: F401 - what is imported here is offered

from .hooks import available, check_c_stack, replaced, watching, why_not
from .slot import Evaluator, evaluator_at, installed, put_back

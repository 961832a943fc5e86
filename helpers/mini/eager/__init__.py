"""One eager op by hand: `execute` calls TensorFlow's C API through ctypes, on the live context.

What tensorflow/python/eager/pywrap_tfe_src.cc does in `TFE_Py_ExecuteCancelable` is done here in
Python, step by step and with the same words for what goes wrong. The steps (`api`, `Status`,
`handle_of`, `tensor_of`, `live_context`) are there to be called one at a time: in a child process,
for a wrong address ends an interpreter. `execute` asks its checks first, and never does. `counted`
looks at which of these steps TensorFlow itself takes.
"""

# ruff: noqa: F401 - what is imported here is offered

from .attributes import parsed
from .c_api import Status, api, handle_of, live_context, tensor_of
from .execute import execute, run
from .step_counts import counted

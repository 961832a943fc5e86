"""A small OneFlow 0.3, as far as the article "Extending Op with Python" goes. It is not OneFlow.

`from helpers.mini import oneflow as flow` gives the article's names. Ops are defined in Python or
in C++, computed in numpy, and joined into jobs. Nothing called `oneflow` is on the import path:
an op's own files see that name while they are loaded.
"""

# ruff: noqa: F401 - what is imported here is offered

from collections import namedtuple
from types import SimpleNamespace

from .autodiff import OpArg
from .cpp_program import find_compiler
from .definitions import REGISTER_USER_OP, REGISTER_USER_OP_GRAD
from .errors import OpError
from .global_function import Numpy, global_function, watch, watch_diff
from .job import Job, Op, placement
from .kernels import REGISTER_USER_KERNEL, HobDataType, HobDeviceTag
from .session import (
    CustomOpModule,
    clear_default_session,
    fresh_session,
    get_all_variables,
    load_variables,
)
from .user_op_builder import (
    SGD,
    PiecewiseConstantScheduler,
    get_variable,
    matmul,
    ones_initializer,
    random_uniform_initializer,
    reduce_sum,
    user_op_builder,
    zeros_initializer,
)

float16, float32, float64 = "float16", "float32", "float64"
float, double = float32, float64
int8, int32, int64, uint8 = "int8", "int32", "int64", "uint8"
experimental = SimpleNamespace(custom_op_module=CustomOpModule)
scope = SimpleNamespace(placement=placement)
math = SimpleNamespace(reduce_sum=reduce_sum)
optimizer = SimpleNamespace(SGD=SGD, PiecewiseConstantScheduler=PiecewiseConstantScheduler)
typing = SimpleNamespace(Numpy=Numpy)


Difference = namedtuple("Difference", "name about original here")  # from OneFlow 0.3


def differences() -> tuple[Difference, ...]:
    """Return all differences that a definition, a wrapper or a kernel can notice."""
    lines = ROWS.strip().splitlines()
    heads = (line.split(": ", 1) for line in lines[::3])
    rows = zip(heads, lines[1::3], lines[2::3], strict=True)
    return tuple(Difference(*head, then.strip(), here.strip()) for head, then, here in rows)


ROWS = """
shape: a kernel returns another shape with as many numbers
  accepted as it is
  OpError: exact shape and dtype are checked
surplus: a kernel returns more arrays than the op has outputs
  the surplus is dropped
  OpError: the two numbers must be equal
missing: a kernel returns one array for two outputs
  the second output contains leftover memory
  OpError: the two numbers must be equal
read-only: a kernel writes into its input
  the input changes for every op that reads it
  OpError: inputs are read-only
arguments: what forward(args) receives
  a list of arrays (the article says tuple)
  a tuple of arrays
several: how a kernel returns two outputs
  in a list; a tuple ends the process
  in a list or a tuple
exception: a kernel raises an exception
  segmentation fault, no message
  OpError with op, file, line and the exception
attrs: attributes in a Python kernel
  never passed
  passed to forward(args, attrs), if it is defined that way
folder: custom_op_module(name, path)
  deletes ./name and copies path/name there, unless path is the working folder
  reads the files where they are
stale: an edited C++ definition is loaded again
  not compiled again if the folder is in the working directory
  compiled again whenever a byte in its folder differs
reload: the same folder is loaded twice in one process
  the process ends: op type registered twice
  the new definitions replace the old
crash: a C++ definition crashes
  the process ends
  OpError: it runs in a process of its own
front-end: the language of a definition
  C++
  Python or C++, with the same result
device: an op with a Python kernel is placed on the gpu
  OpKernelNotFoundError when the job is compiled
  OpError with the same words, when the op is built
placement: an op outside any flow.scope.placement
  goes to the gpu in a build with CUDA, to the cpu in one without
  goes to the gpu, and is refused: you must give the placement
attr-types: types of attributes
  14
  bool, int32, int64, float, double and string
by-dtype: a kernel for some dtypes only: REGISTER_USER_KERNEL with a predicate
  in C++; a Python kernel takes every dtype
  in a Python kernel file, too
api-early: .api before it is loaded
  None
  OpError
"""  # name: what it is about, then the original's way, then the way here

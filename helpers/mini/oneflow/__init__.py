"""A small OneFlow 0.3, as far as the article "Extending Op with Python" goes. It is not OneFlow.

`from helpers.mini import oneflow as flow` gives the article's names. Ops are defined in Python or
in C++, computed in numpy, and joined into jobs. Nothing called `oneflow` is on the import path:
an op's own files see that name while they are loaded.
"""

# ruff: noqa: F401 - what is imported here is offered

from types import SimpleNamespace

from .autodiff import OpArg
from .cpp_program import find_compiler
from .definitions import REGISTER_USER_OP, REGISTER_USER_OP_GRAD
from .differences_table import differences
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

float16 = "float16"
float32 = "float32"
float64 = "float64"
float = float32
double = float64
int8 = "int8"
int32 = "int32"
int64 = "int64"
uint8 = "uint8"
experimental = SimpleNamespace(custom_op_module=CustomOpModule)
scope = SimpleNamespace(placement=placement)
math = SimpleNamespace(reduce_sum=reduce_sum)
optimizer = SimpleNamespace(SGD=SGD, PiecewiseConstantScheduler=PiecewiseConstantScheduler)
typing = SimpleNamespace(Numpy=Numpy)

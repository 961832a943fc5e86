"""A small OneFlow 0.3, as far as the article "Extending Op with Python" goes. It is not OneFlow.

`from helpers.mini import oneflow as flow` gives the article's names. Ops are defined in Python or
in C++, computed in numpy, and joined into jobs. Nothing called `oneflow` is on the import path:
an op's own files see that name while they are loaded.
"""

# ruff: noqa: F401 - what is imported here is offered

from types import SimpleNamespace

from helpers.mini.oneflow import optimizer, typing
from helpers.mini.oneflow.autodiff import OpArg
from helpers.mini.oneflow.catalogue import differences, op_types
from helpers.mini.oneflow.cpp_compiler import find_compiler
from helpers.mini.oneflow.custom_op_module import CustomOpModule
from helpers.mini.oneflow.definitions import REGISTER_USER_OP, REGISTER_USER_OP_GRAD
from helpers.mini.oneflow.errors import OpError
from helpers.mini.oneflow.global_function import global_function, watch, watch_diff
from helpers.mini.oneflow.job import Job, Op
from helpers.mini.oneflow.job_builder import placement
from helpers.mini.oneflow.kernel_registry import REGISTER_USER_KERNEL, HobDataType, HobDeviceTag
from helpers.mini.oneflow.optimizer import (
    constant_initializer,
    get_variable,
    ones_initializer,
    random_uniform_initializer,
    zeros_initializer,
)
from helpers.mini.oneflow.session import (
    clear_default_session,
    fresh_session,
    get_all_variables,
    load_variables,
)
from helpers.mini.oneflow.user_op_builder import matmul, reduce_mean, reduce_sum, user_op_builder

float16, float32, float64 = "float16", "float32", "float64"
float, double = float32, float64
int8, int32, int64, uint8 = "int8", "int32", "int64", "uint8"
experimental = SimpleNamespace(custom_op_module=CustomOpModule)
scope = SimpleNamespace(placement=placement)
math = SimpleNamespace(reduce_sum=reduce_sum, reduce_mean=reduce_mean)

"""Which functions of torch may be in a graph: pure ones, which return a new tensor. Whatever is
not named here runs as plain Python, between two graphs. So a name that is missing costs a graph
break, and never a wrong result.

Mirrors torch/_dynamo/trace_rules.py.
"""

import builtins
import inspect
import math
import operator
import sys

import torch
import torch.nn.functional as functional

from .parts import OPERATORS, UNARY

POINTWISE = """abs add atan ceil clamp clip cos div erf exp floor ge gt isfinite isnan le log log1p
    logical_and logical_not logical_or lt masked_fill maximum minimum mul ne eq neg pow reciprocal
    relu remainder round rsqrt sigmoid sign sin sqrt square sub tan tanh true_divide where"""
REDUCING = """all amax amin any argmax argmin cumsum logsumexp max mean min norm prod std sum var
    softmax log_softmax argsort"""
SHAPING = """broadcast_to cat flatten flip gather index_select permute reshape roll select squeeze
    stack t take tile transpose tril triu unsqueeze outer"""
LINEAR = "addmm bmm dot einsum matmul mm mv"
FACTORIES = "arange eye full full_like linspace ones ones_like rand randn zeros zeros_like"
METHODS = """view view_as expand expand_as repeat type_as to float double half bfloat16 int long
    bool contiguous clone detach new_zeros new_ones"""
FUNCTIONAL = """relu elu leaky_relu gelu silu softplus softmax log_softmax tanh sigmoid linear
    conv1d conv2d max_pool2d avg_pool2d dropout layer_norm embedding one_hot normalize mse_loss
    l1_loss cross_entropy nll_loss pad scaled_dot_product_attention"""

TENSOR_FUNCTIONS = f"{POINTWISE} {REDUCING} {SHAPING} {LINEAR}".split()
TENSOR_METHODS = {
    name for name in (*TENSOR_FUNCTIONS, *METHODS.split()) if hasattr(torch.Tensor, name)
}
# Methods that return no tensor, and whose answer a fake tensor knows.
SHAPE_QUERIES = {
    "size",
    "dim",
    "ndimension",
    "numel",
    "nelement",
    "is_floating_point",
    "is_complex",
}
CONSTANT_ATTRIBUTES = {"shape", "dtype", "device", "ndim", "is_cuda", "itemsize"}
VIEW_ATTRIBUTES = {"T", "mT"}  # each computes a tensor, so it is recorded like a call


def _find_pure_functions() -> dict[int, object]:
    """Return id -> function, for the functions that may be in a graph.

    The key is an id, because the called object may be any object, even one without a hash. A name
    that this version of torch does not have is left out.
    """
    functions = [*OPERATORS.values(), *UNARY.values(), operator.getitem, builtins.abs]
    for name in (*TENSOR_FUNCTIONS, *FACTORIES.split()):
        functions.append(getattr(torch, name, None))
    for name in FUNCTIONAL.split():
        functions.append(getattr(functional, name, None))
    return {id(function): function for function in functions if function is not None}


PURE_FUNCTIONS = _find_pure_functions()

_FOLDABLE_BUILTINS = (
    *(abs, bool, complex, divmod, float, format, int, len, max, min, pow, range, round, str, sum),
    *(repr, tuple, slice, all, any),
)
_FOLDABLE = (
    *_FOLDABLE_BUILTINS,
    torch.Size,
    torch.device,
    operator.getitem,
    operator.not_,
    *(function for function in vars(math).values() if callable(function)),
    *OPERATORS.values(),
    *UNARY.values(),
)
# id -> function. A call with constant arguments runs while tracing (constant folding).
FOLDABLE = {id(function): function for function in _FOLDABLE}

# These look at the frame that calls them. Under the mini-Dynamo they would see generated code.
FRAME_READERS = (
    *(locals, globals, vars, dir, eval, exec, super, breakpoint),
    *(sys._getframe, inspect.currentframe, inspect.stack),
)

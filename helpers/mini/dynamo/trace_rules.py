"""Which functions of torch a graph may contain, by name: pure ones, whose result is new.

Whatever is not named here runs for real, between two graphs. So a name that is missing costs a
graph break, and never a wrong result. Mirrors torch/_dynamo/trace_rules.py.
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
MAKING = "arange eye full full_like linspace ones ones_like rand randn zeros zeros_like"
METHODS = """view view_as expand expand_as repeat type_as to float double half bfloat16 int long
    bool contiguous clone detach new_zeros new_ones"""
FUNCTIONAL = """relu elu leaky_relu gelu silu softplus softmax log_softmax tanh sigmoid linear
    conv1d conv2d max_pool2d avg_pool2d dropout layer_norm embedding one_hot normalize mse_loss
    l1_loss cross_entropy nll_loss pad scaled_dot_product_attention"""

CALLED = f"{POINTWISE} {REDUCING} {SHAPING} {LINEAR}".split()
TENSOR_METHODS = {name for name in (*CALLED, *METHODS.split()) if hasattr(torch.Tensor, name)}
ABOUT = {"size", "dim", "ndimension", "numel", "nelement", "is_floating_point", "is_complex"}
ATTRIBUTES = {"shape", "dtype", "device", "ndim", "is_cuda", "itemsize"}
ALIASES = {"T", "mT"}  # attributes that are functions of the tensor


def _find_pure_functions() -> dict[int, object]:
    """Return the functions that a graph may contain, by id: any object is looked up in them."""
    functions = [*OPERATORS.values(), *UNARY.values(), operator.getitem, builtins.abs]
    for name in (*CALLED, *MAKING.split()):
        functions.append(getattr(torch, name, None))
    for name in FUNCTIONAL.split():
        functions.append(getattr(functional, name, None))
    return {id(function): function for function in functions if function is not None}


TORCH = _find_pure_functions()

_FOLDED_BUILTINS = (
    *(abs, bool, complex, divmod, float, format, int, len, max, min, pow, range, round, str, sum),
    *(repr, tuple, slice, all, any),
)
_FOLDED = (
    *_FOLDED_BUILTINS,
    torch.Size,
    torch.device,
    operator.getitem,
    operator.not_,
    *(function for function in vars(math).values() if callable(function)),
    *OPERATORS.values(),
    *UNARY.values(),
)
FOLDED = {id(function): function for function in _FOLDED}  # computed now, if all is known

# These look at the frame that calls them, and a generated one would show.
FRAME_READERS = (
    *(locals, globals, vars, dir, eval, exec, super, breakpoint),
    *(sys._getframe, inspect.currentframe, inspect.stack),
)

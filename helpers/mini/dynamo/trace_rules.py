"""Which functions of torch may stand in a graph, by name: pure ones, whose result is new.

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

from helpers.mini.dynamo.parts import OPERATORS, UNARY

POINTWISE = """abs acos acosh add addcdiv addcmul asin atan atan2 ceil clamp clip cos cosh div
    divide erf exp exp2 expm1 floor floor_divide fmod frac ge gt isfinite isinf isnan le lerp log
    log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor logit lt maximum
    minimum mul multiply nan_to_num ne neg negative pow reciprocal remainder round rsqrt rsub
    sigmoid sign sin sinc sinh sqrt square sub subtract tan tanh true_divide trunc where eq
    masked_fill"""
REDUCING = """all amax amin any argmax argmin cumprod cumsum logsumexp max mean median min norm prod
    std sum var softmax log_softmax topk sort argsort diff trace"""
SHAPING = """broadcast_to cat chunk concat diag flatten flip gather hstack index_select movedim
    narrow permute repeat_interleave reshape roll scatter select split squeeze stack swapaxes t take
    tile transpose tril triu unbind unsqueeze vstack outer meshgrid"""
LINEAR = "addmm baddbmm bmm cross dot einsum matmul mm mv tensordot"
MAKING = """arange eye full full_like linspace ones ones_like rand rand_like randn randn_like
    randint randperm zeros zeros_like relu conv1d conv2d conv3d"""
METHODS = """view view_as expand expand_as repeat type_as to float double half bfloat16 int long
    short bool byte contiguous clone detach new_zeros new_ones relu reshape_as"""
FUNCTIONAL = """relu relu6 elu selu leaky_relu gelu silu hardtanh softplus logsigmoid softmax
    log_softmax tanh sigmoid linear conv1d conv2d conv3d max_pool1d max_pool2d avg_pool1d avg_pool2d
    adaptive_avg_pool2d dropout layer_norm group_norm embedding one_hot normalize cosine_similarity
    mse_loss l1_loss smooth_l1_loss cross_entropy nll_loss binary_cross_entropy
    binary_cross_entropy_with_logits kl_div pad interpolate scaled_dot_product_attention"""

CALLED = f"{POINTWISE} {REDUCING} {SHAPING} {LINEAR}".split()
TENSOR_METHODS = {name for name in (*CALLED, *METHODS.split()) if hasattr(torch.Tensor, name)}
ABOUT = {"size", "dim", "ndimension", "numel", "nelement", "is_floating_point", "is_complex"}
ATTRIBUTES = {"shape", "dtype", "device", "ndim", "is_cuda", "itemsize"}
ALIASES = {"T", "mT"}  # attributes that are functions of the tensor


def _functions():
    for name in (*CALLED, *MAKING.split()):
        yield getattr(torch, name, None)
    for name in FUNCTIONAL.split():
        yield getattr(functional, name, None)
    yield from (*OPERATORS.values(), *UNARY.values(), operator.getitem, builtins.abs)


TORCH = {id(function): function for function in _functions() if function is not None}
_FOLDED = (
    *(abs, bool, complex, divmod, float, format, int, len, max, min, pow, range, round, str, sum),
    *(repr, tuple, slice, all, any, torch.Size, torch.device, operator.getitem, operator.not_),
    *(f for f in vars(math).values() if callable(f)),
    *(*OPERATORS.values(), *UNARY.values()),
)
FOLDED = {id(function): function for function in _FOLDED}
# These look at the frame that calls them, and a generated one would show.
FRAME_READERS = (
    *(locals, globals, vars, dir, eval, exec, super, breakpoint),
    *(sys._getframe, inspect.currentframe, inspect.stack),
)


def may_record(function) -> bool:
    """Return whether a call of this function may stand in a graph."""
    return id(function) in TORCH


def may_fold(function) -> bool:
    """Return whether a call with immutable arguments may be computed while tracing."""
    return id(function) in FOLDED


def reads_frames(function) -> bool:
    """Return whether a function depends on the frame that calls it."""
    return any(function is reader for reader in FRAME_READERS)

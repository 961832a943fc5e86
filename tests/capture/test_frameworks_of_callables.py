"""helpers/capture/cpython/frameworks_of_callables.py: by the names of modules, nothing imported."""

import sys
import types

import pytest

from helpers.capture.cpython.frameworks_of_callables import (
    find_frameworks,
    refuse_other_framework,
)

MODULE_OF_TORCH = types.ModuleType("torch.nn")
OF_KERAS = type("Layer", (), {"__module__": "keras.src.layers"})()
TORCHES = type("Own", (), {"__module__": "torches"})()  # only begins as torch does


def plain(x):
    return x


def uses_torch(x):
    return MODULE_OF_TORCH


def uses_it_inside(x):
    return [MODULE_OF_TORCH for _ in x]


@pytest.mark.parametrize(
    ("fn", "args", "found"),
    [
        (plain, (), set()),
        (plain, (OF_KERAS,), {"TensorFlow"}),
        (plain, (TORCHES,), set()),
        (uses_torch, (), {"PyTorch"}),
        (uses_it_inside, (), {"PyTorch"}),
        (uses_torch, (OF_KERAS,), {"PyTorch", "TensorFlow"}),
        (len, (type("Array", (), {"__module__": "jaxlib.core"})(),), {"jax"}),
    ],
)
def test_a_call_is_of_the_frameworks_of_its_function_globals_and_arguments(fn, args, found):
    before = set(sys.modules)
    assert find_frameworks(fn, args) == found
    assert set(sys.modules) == before


def test_only_a_callable_of_other_frameworks_alone_is_refused(refused):
    refuse_other_framework(plain, (), "show_fx", "PyTorch")
    refuse_other_framework(uses_torch, (OF_KERAS,), "show_fx", "PyTorch")
    words = r"^show_graph .*TensorFlow.*uses_torch\(\).*PyTorch.*show_fx"
    refused(TypeError, words, refuse_other_framework, uses_torch, (), "show_graph", "TensorFlow")

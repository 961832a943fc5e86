"""The global functions that a function calls: which of their names refer to another one now."""

from types import FunctionType

import pytest

from helpers.capture.tensorflow.rebound_functions import GlobalFunctions

SOURCE = """
def helper(x): return x
def other(x): return x
limit = 3
def calls(x): return helper(x) + limit + x.other
class Layer:
    def calls(self, x): return helper(x)
"""


@pytest.fixture
def space():
    names = {}
    exec(SOURCE, names)
    return names


def test_only_a_rebound_function_that_the_code_calls_is_named(space):
    functions = GlobalFunctions(space["calls"])
    assert functions.find_rebound_names() == []
    space["other"] = space["limit"] = len  # an attribute of that name, and no function
    assert functions.find_rebound_names() == []
    space["helper"] = lambda x: -x
    assert functions.find_rebound_names() == ["helper"]


def test_a_method_is_looked_into_and_a_builtin_is_not(space):
    functions = GlobalFunctions(space["Layer"]().calls)
    space["helper"] = len
    assert functions.find_rebound_names() == ["helper"]
    assert GlobalFunctions(len).find_rebound_names() == []


def test_a_name_that_is_bound_back_is_not_named(space):
    helper = space["helper"]
    functions = GlobalFunctions(space["calls"])
    space["helper"] = FunctionType(helper.__code__, space)
    assert functions.find_rebound_names() == ["helper"]
    space["helper"] = helper
    assert functions.find_rebound_names() == []

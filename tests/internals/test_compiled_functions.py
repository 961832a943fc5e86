"""helpers/internals/compiled_functions.py: what was passed to `torch.compile` is found again."""

import math

import pytest

pytestmark = pytest.mark.own_process(sharing="torch")

torch = pytest.importorskip("torch")

from helpers.internals import compiled_functions  # noqa: E402


def compiled(fn):
    return torch.compile(fn, backend="eager")


def plain(x):
    return x + 1


class Holder:
    def method(self, x):
        return x

    compiled_method = compiled(method)


ORIGINALS = {"function": plain, "C function": math.sin, "module": torch.nn.Linear(2, 2)}
OTHERS = {"function": plain, "C function": math.sin, "int": 5, "method": Holder().method}


@pytest.mark.parametrize("original", ORIGINALS.values(), ids=ORIGINALS)
def test_the_original_of_a_compiled_object_is_found(original):
    made = compiled(original)
    assert compiled_functions.find_original(made) is original
    assert compiled_functions.is_compiled(made)


@pytest.mark.parametrize("fn", OTHERS.values(), ids=OTHERS)
def test_what_is_not_compiled_is_its_own_original(fn):
    assert compiled_functions.find_original(fn) == fn
    assert not compiled_functions.is_compiled(fn)


def test_the_original_of_a_compiled_method_is_bound_to_the_same_object():
    holder = Holder()
    assert compiled_functions.find_original(holder.compiled_method) == holder.method


def test_only_a_function_that_dynamo_cannot_start_with_is_wrapped():
    assert compiled_functions.find_inline_wrapper(compiled(plain)) is None
    wrapper = compiled_functions.find_inline_wrapper(compiled(math.sin))
    assert wrapper.__wrapped__ is math.sin

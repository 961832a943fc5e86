"""Tensors and modules go by the names that a program has for them, the nearest first."""

import gc
import sys

import pytest

from helpers.capture.frameworks.op_values import TensorRegister
from helpers.capture.frameworks.tensor_names import (
    DEEPEST,
    LONGEST_NAME,
    MOST_ITEMS,
    TORCH_MODULE,
    TensorNames,
    find_identity,
    find_tensors,
    is_instance_of,
    is_tensor,
    list_values_of_call,
    list_values_of_frame,
)

torch = pytest.importorskip("torch")

OUTER = torch.ones(3)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(2, 3, bias=False)
        self.blocks = torch.nn.ModuleList([torch.nn.ReLU()])

    def forward(self, x):
        return self.first(x) + OUTER


class Trainer:
    def __init__(self):
        self.net = Net()
        self.rate = torch.tensor(0.1)

    def step(self, x, *, y=None):
        return x, OUTER


class Loud(list):
    def __iter__(self):
        raise AssertionError("code of the user's ran")

    __len__ = __iter__


def list_paths(value):
    return [path for path, _ in find_tensors("x", value)]


TENSOR = torch.ones(2)
FOUND = {
    "a tensor": (TENSOR, ["x"]),
    "no tensor": (3, []),
    "a list": ([TENSOR, 3, TENSOR], ["x[0]", "x[2]"]),
    "a tuple in a list": ([(TENSOR,)], ["x[0][0]"]),
    "lists that are too deep": ([[[TENSOR]]], []),
    "a dict": ({"a": TENSOR}, []),
    "the longest list": ([TENSOR] * MOST_ITEMS, [f"x[{index}]" for index in range(MOST_ITEMS)]),
    "a longer list": ([TENSOR] * (MOST_ITEMS + 1), []),
    "a list of the user's": (Loud([TENSOR]), ["x[0]"]),
    "a module": (Net(), ["x", "x.first", "x.blocks", "x.blocks.0", "x.first.weight"]),
}


@pytest.mark.parametrize("kind", FOUND)
def test_tensors_and_modules_are_found_by_their_paths(kind):
    value, paths = FOUND[kind]
    assert list_paths(value) == paths
    assert DEEPEST == 2


def test_the_original_of_a_compiled_module_is_no_part_of_a_path():
    compiled = torch.compile(Net(), backend="eager")
    paths = list_paths(compiled)
    assert "x.first.weight" in paths
    assert not any("_orig_mod." in path for path in paths)


def test_a_module_that_raises_has_no_names():
    class Raises(torch.nn.Module):
        def named_modules(self, *args, **options):
            raise KeyError

    assert list_paths(Raises()) == []


def test_the_first_name_of_a_tensor_stays():
    names = TensorNames([("a", TENSOR), ("b", TENSOR), ("c", OUTER)])
    assert names.find_name(find_identity(TENSOR)) == "a"
    assert names.find_name(find_identity(OUTER)) == "c"
    assert names.find_name(0) == ""
    assert names.has_name(TENSOR)
    assert not names.has_name(3)
    long = TensorNames([("n" * 1000, TENSOR)]).find_name(id(TENSOR))
    assert len(long) <= LONGEST_NAME


def test_submodules_without_a_name_begin_with_the_type_of_the_module():
    net = Net()
    names = TensorNames([("w", net.first)])
    names.add_submodules(net)
    assert names.find_name(id(net)) == "Net"
    assert names.find_name(id(net.blocks)) == "Net.blocks"
    assert names.find_name(id(net.first)) == "w"
    assert names.find_name(id(net.first.weight)) == "w.weight"


def test_a_gradient_of_before_the_run_is_told_from_a_later_one():
    weight = torch.ones(2, requires_grad=True)
    weight.grad = torch.ones(2)
    names = TensorNames([("weight", weight)])
    assert names.is_earlier_gradient(weight.grad)
    assert not names.is_earlier_gradient(torch.ones(2))
    assert not TensorNames([("x", TENSOR)]).is_earlier_gradient(TENSOR)
    weight.grad = torch.zeros(2)
    assert not names.is_earlier_gradient(weight.grad)


def test_everything_that_a_method_reaches_is_named_from_near_to_far():
    trainer = Trainer()
    values = list(list_values_of_call(trainer.step, (TENSOR,), {"y": 3}))
    names = [name for name, _ in values]
    assert names[:3] == ["layer", "self.net", "self.rate"]
    assert {"x", "y"} <= set(names)
    assert values[0][1] is trainer
    assert dict(values)["x"] is TENSOR


def test_a_function_has_its_arguments_its_closure_and_the_globals_that_it_names():
    first, second = torch.ones(1), torch.ones(1)

    def function(x):
        return x + first + OUTER + unbound + second

    values = dict(list_values_of_call(function, (TENSOR,), {}))
    assert values["layer"] is function
    assert values["x"] is TENSOR
    assert values["first"] is first
    assert values["second"] is second
    assert values["OUTER"] is OUTER
    assert "unbound" not in values
    assert "Net" not in values
    unbound = 3
    assert dict(list_values_of_call(function, (TENSOR,), {}))["unbound"] == 3


def test_a_frame_has_its_variables_and_the_globals_that_its_code_names():
    local = TENSOR
    values = dict(list_values_of_frame(sys._getframe()))
    assert values["local"] is local
    assert values["TENSOR"] is TENSOR
    assert "OUTER" not in values


def test_a_class_that_is_not_imported_has_no_instances():
    assert is_instance_of(Net(), TORCH_MODULE)
    assert not is_instance_of(TENSOR, TORCH_MODULE)
    assert not is_instance_of(TENSOR, ("no.such.module", "Tensor"))
    assert not is_instance_of(TENSOR, ("torch", "no_such_class"))
    assert not is_instance_of(TENSOR, ("torch", "ones"))
    assert is_tensor(TENSOR)
    assert not is_tensor([TENSOR])
    assert find_identity(TENSOR) == id(TENSOR)


def test_a_register_numbers_tensors_in_order_and_describes_them():
    register = TensorRegister(TensorNames([("a", TENSOR)]))
    other = torch.ones(2, 3, dtype=torch.int64)
    assert register.read_value(TENSOR) == (1, "float32 [2]", "a")
    assert register.read_value(other) == (2, "int64 [2, 3]", "")
    assert register.read_value(TENSOR) == (1, "float32 [2]", "a")
    assert register.find_number(other) == 2
    assert register.find_number(OUTER) == 3
    same_shape = torch.zeros(2)
    assert register.read_value(same_shape) == (4, "float32 [2]", "")


def test_a_freed_tensor_loses_its_number():
    register = TensorRegister(TensorNames([]))
    numbers = set()
    for _ in range(20):
        numbers.add(register.find_number(torch.ones(2)))
        gc.collect(0)
    assert numbers == set(range(1, 21))


def test_a_register_finds_tensors_in_lists():
    register = TensorRegister(TensorNames([]))
    parameter = torch.nn.Parameter(torch.ones(1))
    values = [TENSOR, 3, None, [OUTER, (parameter, "text")], {"a": TENSOR}]
    found = register.find_tensors(values)
    assert [id(tensor) for tensor in found] == [id(TENSOR), id(OUTER), id(parameter)]
    register.forget_types()
    assert len(register.find_tensors(values)) == 3
    assert register.find_tensors([]) == []


def test_a_tensor_of_a_class_of_the_user_s_is_described_too():
    class Own(torch.Tensor):
        pass

    own = torch.ones(2).as_subclass(Own)
    register = TensorRegister(TensorNames([("own", own)]))
    assert register.find_tensors([own])[0] is own
    number, text, name = register.read_value(own)
    assert (number, name) == (1, "own")
    assert "[2]" in text

"""What keeps a tensor in C++: named where torch tells, and said to be hidden where it does not."""

import gc
import re
import sys
import types

import pytest

from helpers.capture.references.binding_list import list_bindings
from helpers.capture.references.tensor_holders import (
    SAVED,
    describe_sharers,
    find_referring_tensors,
    find_tensors_with_same_storage,
    is_plain_tensor,
)

pytest.importorskip("torch")
import torch  # noqa: E402

pytestmark = pytest.mark.own_process(sharing="tensors")


@pytest.fixture(autouse=True)
def held(monkeypatch):
    """Put a module into a heap that is small because the rest is set aside."""
    gc.collect()
    gc.freeze()
    module = types.ModuleType("held")
    monkeypatch.setitem(sys.modules, "held", module)
    yield module
    gc.unfreeze()


def paths(listing):
    return [row.path for row in listing.rows]


def test_a_view_keeps_its_base(held):
    base = torch.arange(4.0)
    held.view = base[1:]
    listing = list_bindings(base)
    (row,) = listing.rows
    assert row.path == "held.view._base" and not row.rebindable
    assert describe_sharers(["held.view"], unnamed_count=0) in listing.note
    assert SAVED not in listing.note


def test_a_leaf_keeps_its_gradient(held):
    leaf = torch.ones(2, requires_grad=True)
    (leaf * 2).sum().backward()
    held.leaf = leaf
    assert paths(list_bindings(leaf.grad)) == ["held.leaf.grad"]


def test_what_autograd_saved_is_said_to_be_hidden(held):
    weight, data = torch.ones(2, requires_grad=True), torch.ones(2)
    held.loss = (weight * data).sum()
    note = list_bindings(data).note
    assert re.search(rf"1 reference .*{SAVED} .*held\.loss", note)


def test_hooks_of_saved_tensors_are_never_run(held):
    ran = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: ran.append(1) or t):
        data = torch.ones(2)
        held.loss = (torch.ones(2, requires_grad=True) * data).sum()
    list_bindings(data)
    assert not ran


def test_an_array_shares_the_storage(held):
    data = torch.ones(2)
    held.array = data.numpy()
    assert describe_sharers([], unnamed_count=1) in list_bindings(data).note


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.ones(2),
        lambda: torch.empty(2, device="meta"),
        lambda: torch.eye(2).to_sparse(),
        lambda: torch.nn.Parameter(torch.ones(2)),
        lambda: torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8),
    ],
)
def test_a_tensor_that_nothing_else_keeps_has_no_place(make):
    listing = list_bindings(make())
    assert listing.rows == () and SAVED not in listing.note


def test_looking_changes_no_counts(held):
    data = torch.ones(3)
    held.parts = data[0], (torch.ones(3, requires_grad=True) * data)
    before = data._use_count(), data._version
    for _ in range(10):
        list_bindings(data)
    assert (data._use_count(), data._version) == before


def test_a_parameter_is_found_like_any_other_tensor():
    tensor = torch.arange(4.0)
    parameter = torch.nn.Parameter(tensor[1:])
    other = torch.arange(4.0)
    assert any(found is parameter for found in find_tensors_with_same_storage(tensor))
    assert not any(found is other for found in find_tensors_with_same_storage(tensor))

    parameter.grad = torch.ones(3)
    (found,), attributes = find_referring_tensors(parameter.grad)
    assert found is parameter
    assert attributes == ["grad"]
    assert is_plain_tensor(parameter) and is_plain_tensor(tensor)
    assert not is_plain_tensor(3)

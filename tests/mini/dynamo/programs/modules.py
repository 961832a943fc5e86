"""Modules: layers, state, train() and eval(), hooks."""

import torch

from tests.mini.dynamo.table import numbers as n
from tests.mini.dynamo.table import tried_on

torch.manual_seed(0)


class Small(torch.nn.Module):
    """Two layers and an attribute."""

    def __init__(self):
        super().__init__()
        self.first, self.act = torch.nn.Linear(4, 8), torch.nn.ReLU()
        self.second, self.scale = torch.nn.Linear(8, 2), 3

    def forward(self, x):
        return self.second(self.act(self.first(x))) * self.scale


class Counter(torch.nn.Module):
    """A module that changes with every call."""

    def __init__(self):
        super().__init__()
        self.calls = 0
        self.register_buffer("total", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        self.total.add_(x.sum())
        return x * self.calls + self.total


class Property(torch.nn.Module):
    """A module with a property, a class attribute and a static method."""

    factor = 2

    @property
    def doubled(self):
        return self.factor * 2

    @staticmethod
    def shifted(x):
        return x + 1

    def forward(self, x):
        return self.shifted(x) * self.factor + self.doubled


def _dropping():
    return torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5))


def _hooked():
    model = torch.nn.Linear(4, 2)
    model.register_forward_hook(lambda module, args, out: out * 2)
    return model


SMALL, CHAIN, DROPPING = (
    Small(),
    torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh()),
    _dropping(),
)


@tried_on((n(5, 4),), (n(2, 4),), (n(2, 3),))
def a_module(x):
    return SMALL(x).softmax(dim=1)


@tried_on((n(2, 4),))
def a_chain(x):
    return CHAIN(x), CHAIN[0](x)


@tried_on((SMALL, n(2, 4)), (CHAIN, n(2, 4)), (torch.nn.ReLU(), n(2)))
def a_module_as_argument(model, x):
    return model(x) + 1


@tried_on((Counter(), n(3)))
def a_module_with_state(model, x):
    return model(x), model(x), model.calls


@tried_on((Property(), n(3)))
def a_module_with_a_property(model, x):
    return model(x), model.factor


@tried_on((_hooked(), n(2, 4)))
def a_module_with_a_hook(model, x):
    return model(x)


@tried_on((torch.nn.BatchNorm1d(4), n(3, 4)), (torch.nn.BatchNorm1d(4).eval(), n(3, 4)))
def batch_norm(model, x):
    return model(x), model.running_mean


@tried_on(
    (torch.nn.LayerNorm(4), n(3, 4)), (torch.nn.GELU(), n(3)), (torch.nn.Flatten(), n(2, 2, 2))
)
def layers(model, x):
    return model(x)


@tried_on((SMALL, n(2, 4)))
def parameters_read(model, x):
    return x @ model.first.weight.t() + model.first.bias, model.training


@tried_on((torch.nn.Dropout(0.5), n(6)), (torch.nn.Dropout(0.5).eval(), n(6)))
def training_or_not(model, x):
    return model(x) if model.training else model(x) - 1

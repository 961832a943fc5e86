"""Modules: what they hold and do runs for real, between two graphs."""

import torch

from tests.mini.dynamo.comparing import numbers as n
from tests.mini.dynamo.comparing import tried_on

torch.manual_seed(0)


class Small(torch.nn.Module):
    """Two layers, an attribute, a property, and a state that changes with every call."""

    factor = 2

    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 8), torch.nn.Linear(8, 2)
        self.calls = 0
        self.register_buffer("total", torch.zeros(()))

    @property
    def doubled(self):
        return self.factor * 2

    def forward(self, x):
        self.calls += 1
        self.total.add_(x.sum().item())
        return self.second(self.first(x).relu()) * self.doubled + self.total


CHAIN = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Dropout(0.5))
HOOKED = torch.nn.Linear(4, 2)
HOOKED.register_forward_hook(lambda module, args, out: out * 2)


@tried_on((n(5, 4),), (n(2, 4),), (n(2, 3),))
def a_module(x):
    return HOOKED(x).softmax(dim=1)


@tried_on((n(2, 4),))
def a_chain(x):
    return CHAIN(x), CHAIN[0](x)


@tried_on((Small(), n(2, 4)), (torch.nn.BatchNorm1d(4), n(3, 4)))
def a_module_as_argument(model, x):
    return model(x) + 1


@tried_on((torch.nn.Dropout(0.5), n(6)), (torch.nn.Dropout(0.5).eval(), n(6)))
def training_or_not(model, x):
    return model(x) if model.training else model(x) - 1

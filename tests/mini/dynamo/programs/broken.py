"""Functions whose graph has to break: a value is needed, or something else happens in between."""

import torch
import torch.nn.functional as F  # noqa: N812

from tests.mini.dynamo.comparing import numbers as n
from tests.mini.dynamo.comparing import tried_on

UP, DOWN = n(4).abs(), -n(4).abs()


BOTH = (UP,), (DOWN,)


class Box:
    """An object with attributes."""

    def __init__(self, value=None):
        self.value, self.scale = value, 3

    def scaled(self, x):
        return x * self.scale

    @property
    def twice(self):
        return self.scale * 2

    def __eq__(self, other):
        return isinstance(other, Box) and self.value is other.value and self.scale == other.scale


@tried_on((UP, UP), (UP, DOWN), (DOWN, DOWN))
def toy_example(a, b):
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


@tried_on((UP, UP), (UP, DOWN), (DOWN, UP), (DOWN, DOWN))
def two_branches(a, b):
    if a.sum() > 0:
        a = a + 1
    else:
        a = a - 1
    c = torch.tanh(a)
    if b.mean() > 0:
        return c * b
    return c - b


@tried_on(*BOTH)
def prints(x):
    y = x + 1
    print("the sum is", y.sum().item())
    return y * 2


@tried_on(*BOTH)
def item(x):
    return x / x.max().item()


@tried_on(*BOTH)
def and_of_tensors(x):
    return x + 1 if x.sum() > 0 and x.max() < 100 else x - 1


@tried_on(*BOTH)
def deep_stack(x):
    return (
        x + 1,
        x.sum().item(),
        [x.max().item(), F.relu(x)],
        torch.stack([x, x * float(x.min())]),
    )


def _chooses(x):
    if x.sum() > 0:
        return x + 1
    return x - 1


@tried_on(*BOTH)
def break_in_a_callee(x):
    y = x * 2
    return _chooses(y) + _chooses(-y)


@tried_on(*BOTH)
def break_in_a_while(x):
    count = 0
    while x.sum() < 5:
        x = x + 1
        count += 1
    return x, count


@tried_on(*BOTH)
def break_before_a_loop(x):
    if x.sum() > 0:
        x = -x
    for i in range(3):
        x = x + i
    return x


@tried_on(*BOTH)
def bound_on_one_way(x):
    if x.shape[0] == 9:
        y = x
    if x.sum() > 0:
        return x
    return y


@tried_on((UP, Box()))
def reads_attributes(x, box):
    return x * box.scale, box.scaled(x), box.twice


@tried_on((UP, Box()))
def reads_before_it_stores(x, box):
    scale = box.scale
    box.scale = 7
    return x * scale, x * box.scale


@tried_on((UP, [1]), (UP, []))
def appends(x, xs):
    xs.append(x + 1)
    ys = [x]
    ys.append(2)
    return xs, ys, len(xs)


@tried_on((UP,))
def grad_mode_set(x):
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    y = x.clone().requires_grad_() * 2
    torch.set_grad_enabled(before)
    return y.requires_grad

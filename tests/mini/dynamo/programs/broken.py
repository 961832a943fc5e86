"""Functions whose graph has to break: a value is needed, or something else happens in between."""

import torch
import torch.nn.functional as F  # noqa: N812

from tests.mini.dynamo.table import numbers as n
from tests.mini.dynamo.table import tried_on

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


@tried_on(*BOTH)
def break_within_arguments(x):
    return torch.add(x, x.sum().item(), alpha=2) * max(1.0, x.max().item())


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


def _changes(box):
    box.scale += 1
    return box.scale


@tried_on((UP, Box()))
def read_before_and_after_a_call(x, box):
    before = box.scale
    after = _changes(box)
    return before, after, box.scale, x * before


@tried_on((UP, [1]), (UP, []))
def appends(x, xs):
    xs.append(x + 1)
    ys = [x]
    ys.append(2)
    return xs, ys, len(xs)


@tried_on((UP, {}), (UP, {"a": 2}))
def dict_of_the_caller(x, found):
    found["b"] = x
    return found.get("a", x), found


@tried_on(*BOTH)
def the_same_list_twice(x):
    xs = [x]
    ys = xs
    print(len(ys))
    xs.append(1)
    return xs, ys, xs is ys


@tried_on((UP, 3), (UP, "a"), (UP, UP))
def type_asked(x, y):
    return type(y) is int, type(x), x


@tried_on((UP,))
def seeded(x):
    torch.manual_seed(5)
    a = x + torch.rand(4)
    torch.manual_seed(5)
    return a, torch.rand(4)


@tried_on((UP,))
def grad_mode_set(x):
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    y = x.clone().requires_grad_() * 2
    torch.set_grad_enabled(before)
    return y.requires_grad


@tried_on(*BOTH)
def keyword_arguments_for_real(x):
    print("a", x.shape[0], sep="-", end="!\n")
    return x.sum().item()

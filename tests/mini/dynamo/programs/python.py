"""Python between the tensors: branches, loops, calls, containers, names."""

import torch
import torch.nn.functional as F  # noqa: N812

from tests.mini.dynamo.comparing import numbers as n
from tests.mini.dynamo.comparing import tried_on


@tried_on((n(3), True), (n(3), False), (n(3), 0), (n(3), "yes"), (n(3), None), (n(3), []))
def branch_on_an_argument(x, flag):
    if flag:
        return x + 1
    return x - 1


@tried_on((n(2, 2),), (n(3),))
def branch_on_a_shape(x):
    return x * 2 if x.dim() == 2 and x.shape[0] > 1 else -x


@tried_on((n(3), None), (n(3), n(3)), (n(3), 2))
def branch_on_none(x, bias):
    if bias is not None:
        x = x + bias
    return x if bias is None else x * 2


@tried_on((n(3), 0), (n(3), 1), (n(3), 4))
def loop_over_a_range(x, count):
    for i in range(count):
        x = x * 2 + i
    return x


@tried_on((n(3),))
def nested_loops(x):
    for i in range(2):
        for j in (10, 20):
            if j == 20 and i == 1:
                continue
            x = x + i * j
    return x


@tried_on(([n(2), n(2), n(2)],), ([n(2)],), ((n(2), n(2)),), ([],))
def loop_over_tensors(xs):
    total = 0
    for at, x in enumerate(xs):
        total = total + x * at
    return total


@tried_on(([n(2), n(2)], [n(2), 3]), ([n(2)], [2.0, 3]))
def zipped(xs, ys):
    total = 0
    for x, y in zip(xs, ys):
        total = total + x * y
    return total


@tried_on(([n(2), n(3)],), ((n(2), n(3)),))
def lists_as_arguments(xs):
    return xs[0], xs[-1] * 2, len(xs), xs


@tried_on((n(3),))
def list_made_here(x):
    xs = [x, x + 1]
    return xs, xs[1], xs[::-1], (xs, xs)


@tried_on((n(3),))
def tuples(x):
    pair = x, 3
    a, b = pair
    return pair, pair + (4,), a * b, pair[:1]


@tried_on((n(3),), (n(2, 4),))
def text(x):
    return f"{x.shape[0]}-{len(x)} {tuple(x.shape)!r:>10}", x * 1


@tried_on((n(3), "relu"), (n(3), "tanh"), (n(3), "other"))
def chosen_by_a_word(x, kind):
    if kind == "relu":
        return F.relu(x)
    return torch.tanh(x) if kind in ("tanh", "tan") else x


@tried_on((n(3), 2), (n(3), 2.0), (n(3), True), (n(3), float("nan")), (n(3), -0.0), (n(3), 0.0))
def number_kinds(x, a):
    return x * a, a, x + 1 if a == 0 else x


@tried_on((n(3),), (n(3), 5), (n(3), 5, 6))
def defaults(x, k=2, m=3):
    return x * k + m


def _helper(x, scale=2, *, shift=0):
    return F.relu(x) * scale + shift


@tried_on((n(3),))
def calls_inside(x):
    return _helper(x) + _helper(x, 3) - _helper(x, shift=1)


def _powers(x, count):
    return x if count == 0 else _powers(x, count - 1) * 2


@tried_on((n(3), 3), (n(3), 30))
def recursion(x, count):
    return _powers(x, count)


@tried_on((n(3),))
def conditions_chained(x):
    size = x.shape[0]
    return x if 1 < size < 10 else -x


@tried_on((n(3),))
def and_or(x):
    k = x.shape[0] and 5 or 7
    return x * k, not k, (0 or None)


@tried_on((n(3),), (n(2, 2),))
def checked_and_failing(x):
    assert x.dim() == 2, "two dimensions"
    return x + 1


@tried_on((n(3),))
def raises(x):
    raise ValueError("boom")


@tried_on((n(3),))
def isinstance_asked(x):
    return isinstance(x, torch.Tensor), isinstance(x, int), isinstance(3, (int, float))


@tried_on((2, 3), ("a", "b"), ((1,), (2,)), (1, "b"))
def no_tensor_at_all(a, b):
    return a + b


@tried_on((n(3), slice(0, 2)), (n(3), ...), (n(3), None))
def any_index(x, at):
    return x[at]


@tried_on((n(3), torch.float64), (n(3), torch.int32))
def a_dtype_as_argument(x, kind):
    return x.to(kind), kind is torch.float64


@tried_on((n(3), torch.Size([3, 1])), (n(3), (3, 1)), (n(3), [1, 3]))
def a_size_as_argument(x, size):
    return x.reshape(size)

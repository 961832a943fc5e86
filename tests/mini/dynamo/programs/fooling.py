"""Cases built to fool a tracer: mutation, aliasing, identity, modes, state, and what it refuses."""

import math

import torch
import torch.nn.functional as F  # noqa: N812

from tests.mini.dynamo.comparing import numbers as n
from tests.mini.dynamo.comparing import tried_on

X = (n(3),)


def _twice_the_same():
    x = n(3)
    return x, x


@tried_on(X, (2,), ([n(3)],))
def augmented_anything(x):
    y = x
    x += x
    return x, y


@tried_on(X)
def item_stored_in_a_copy(x):
    y = x.clone()
    z = y[1:]
    y[1] = 9
    return y, z


@tried_on(X)
def in_place_flag(x):
    y = F.relu(x, inplace=True)
    return y, x, y is x


@tried_on(_twice_the_same(), (n(3), n(3)))
def the_same_twice(x, y):
    return x + y, x is y


@tried_on(X)
def identity_after_an_operation(x):
    return x.contiguous() is x, x.to(torch.float32) is x, x.view(3) is x, (x + 0) is x


@tried_on((n(3), -0.0), (n(3), 0.0), (n(3), 0), (n(3), False))
def signed_zero(x, a):
    return torch.copysign(x, torch.tensor(a, dtype=torch.float32)), x / a, math.copysign(1, a)


@tried_on(X)
def constant_zeros(x):
    return x * 0.0, x * -0.0, -0.0, 0.0, (0.0, -0.0)


@tried_on((torch.nn.Parameter(n(3)),), (n(3).requires_grad_(),), X)
def parameter(x):
    return x * 2, isinstance(x, torch.nn.Parameter), type(x)


@tried_on(X)
def many(*xs):
    return sum(xs)


@tried_on(X)
def tried(x):
    try:
        return x.sum() / 0 + x.missing
    except AttributeError as error:
        return type(error).__name__


@tried_on(X)
def under_no_grad(x):
    with torch.no_grad():
        return x + 1


@tried_on(X)
def inner_function(x):
    k = 3

    def inner(y):
        return y * k

    return inner(x)


@tried_on(X)
def looks_at_its_frame(x):
    y = x + 1
    return sorted(locals())


@tried_on(X)
def iterates_a_tensor(x):
    total = 0
    for t in x:
        total = total + t
    return total


@tried_on((n(3), [1, 2]), (n(3), []))
def argument_list_changed(x, xs):
    ys = xs
    xs += [3]
    return ys is xs, xs, x


@tried_on((n(3), "1"), (n(3), None), (n(3), object))
def raises_on_types(x, y):
    return x + y


@tried_on((torch.tensor(3.0), 2), (torch.tensor(3), 2), (torch.tensor(True), 2))
def scalars_as_tensors(x, k):
    return x * k, x + 0.5, -x if x.dtype != torch.bool else x

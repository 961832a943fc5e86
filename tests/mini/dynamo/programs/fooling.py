"""Cases built to fool a tracer: mutation, aliasing, identity, modes, state, and what it refuses."""

import contextlib
import math
import random

import torch
import torch.nn.functional as F  # noqa: N812

from tests.mini.dynamo.table import numbers as n
from tests.mini.dynamo.table import tried_on

X = (n(3),)


class Sub(torch.Tensor):
    """A subclass that does nothing of its own."""


class Counting(torch.Tensor):
    """A subclass that tells of every call."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is torch.Tensor.mul:
            print("called", func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


def _aliased():
    x = n(4)
    return x, x[1:3]


def _twice_the_same():
    x = n(3)
    return x, x


def _with_a_hook():
    x = n(3).requires_grad_()
    x.register_hook(lambda grad: grad * 100)
    return (x,)


def _marked():
    x = n(3)
    x.label = "mine"
    return (x,)


@tried_on(X, (n(3).requires_grad_(),))
def added_in_place(x):
    y = x * 1
    y.add_(1)
    return y * 2


@tried_on(X)
def argument_changed(x):
    x.mul_(3)
    return x


@tried_on(X, (n(3).requires_grad_(),))
def augmented(x):
    x += 1
    return x * 2


@tried_on(X, (2,), ([n(3)],))
def augmented_anything(x):
    y = x
    x += x
    return x, y


@tried_on(X)
def local_augmented(x):
    y = x * 1
    z = y
    y += 5
    return y, z, y is z


@tried_on(X)
def item_stored(x):
    x[0] = 9
    return x + 1


@tried_on(X)
def item_stored_in_a_copy(x):
    y = x.clone()
    z = y[1:]
    y[1] = 9
    return y, z


@tried_on((n(3), n(3)), (n(3), n(1)))
def out_argument(x, o):
    torch.add(x, 1, out=o)
    return o


@tried_on(X)
def in_place_flag(x):
    y = F.relu(x, inplace=True)
    return y, x, y is x


@tried_on(_aliased())
def view_of_an_argument_changed(x, view):
    x.add_(1)
    return x + 0, view + 0


@tried_on(_aliased())
def changed_through_a_view(x, view):
    y = x * 2
    view.zero_()
    return y, x * 2


@tried_on(_twice_the_same(), (n(3), n(3)))
def the_same_twice(x, y):
    return x + y, x is y


@tried_on(_twice_the_same(), (n(3), n(3)))
def the_same_twice_changed(x, y):
    x.add_(1)
    return x * y


@tried_on(_twice_the_same(), (n(3), None))
def returned_both(x, y):
    return x, y, [x, y]


@tried_on(X)
def identity_after_an_operation(x):
    return x.contiguous() is x, x.to(torch.float32) is x, x.view(3) is x, (x + 0) is x


@tried_on((n(3), 1000), (n(3), 5), (n(3), "abc"))
def identity_of_a_number(x, k):
    m = k
    return m is k, k is None, x


@tried_on((n(3), float("nan")), (n(3), math.nan), (n(3), 1.0))
def not_a_number(x, a):
    return a == a, a != a, x * a, a in (math.nan, 1.0)


@tried_on((n(3), -0.0), (n(3), 0.0), (n(3), 0), (n(3), False))
def signed_zero(x, a):
    return torch.copysign(x, torch.tensor(a, dtype=torch.float32)), x / a, math.copysign(1, a)


@tried_on(X)
def constant_zeros(x):
    return x * 0.0, x * -0.0, -0.0, 0.0, (0.0, -0.0)


@tried_on((n(3), 0.0, -0.0), (n(3), -0.0, 0.0))
def zeros_of_two_kinds(x, a, b):
    return str(a), str(b), x * a + b


@tried_on(lambda: (n(3).as_subclass(Sub),), X)
def subclass(x):
    return x + 1


@tried_on(lambda: (n(3).as_subclass(Counting),), X)
def subclass_that_tells(x):
    return x * 2 + 1


@tried_on((torch.nn.Parameter(n(3)),), (n(3).requires_grad_(),), X)
def parameter(x):
    return x * 2, isinstance(x, torch.nn.Parameter), type(x)


@tried_on(_with_a_hook, (n(3).requires_grad_(),))
def hooked_tensor(x):
    return x * 2


@tried_on(_marked, X)
def tensor_with_an_attribute(x):
    return getattr(x, "label", None), x + 1


@tried_on((n(3).to_sparse(),), X)
def sparse(x):
    return x * 2


@tried_on((n(3).to(torch.complex64).conj(),), (n(3).to(torch.complex64),))
def lazily_conjugated(x):
    return x * 2, x.is_conj()


@tried_on(X)
def many(*xs):
    return sum(xs)


@tried_on(X)
def named(x, **more):
    return x, more


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
def suppressed(x):
    with contextlib.suppress(ValueError):
        raise ValueError(x)
    return x


@tried_on(X)
def comprehended(x):
    return [x + i for i in range(3)], {i: x * i for i in range(2)}


@tried_on(X)
def summed_up(x):
    return sum(t for t in x)


@tried_on(X)
def set_of_tensors(x):
    return len({x, x, x + 1})


@tried_on(X)
def dict_made(x):
    return {"a": x + 1, "b": [x]}


@tried_on(X)
def inner_function(x):
    k = 3

    def inner(y):
        return y * k

    return inner(x)


@tried_on(X)
def lambda_called(x):
    return (lambda y: y + 1)(x)


@tried_on(X)
def imported_inside(x):
    import math as m

    return x * m.pi


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


@tried_on(X)
def unpacks_a_tensor(x):
    a, b, c = x
    return a + b - c


@tried_on(X)
def python_random(x):
    random.seed(3)
    return x * random.random() + random.random()


@tried_on(X)
def random_twice(x):
    a = torch.rand(3)
    print(a)
    return a + torch.rand(3)


@tried_on(X)
def pops_from_an_iterator(x):
    items = iter([1, 2, 3])
    first = next(items)
    return x * first, list(items)


@tried_on(X)
def iterators_gone_through_twice(x):
    pairs = enumerate([x, x + 1])
    first = list(pairs)
    again = list(pairs)
    twos = zip([1, 2, 3, 4], [5, 6, 7, 8])
    for a, _ in twos:
        x = x * a
        break
    return first, again, list(twos), x


@tried_on(X)
def an_iterator_zipped_with_itself(x):
    items = enumerate([x, x, x, x])
    return list(zip(items, items))


@tried_on((n(3), [n(3), n(3)]))
def one_iterator_in_two_loops(x, xs):
    items = reversed(xs)
    for item in items:
        x = x + item
        break
    for item in items:
        x = x * item
    return x


@tried_on((n(3), [n(3)], [n(3)]))
def lists_joined_and_sliced(x, xs, ys):
    zs = xs + ys
    head = xs[:]
    head.append(x)
    return zs, head, xs, head is xs


@tried_on(X)
def enumerated_list(x):
    return list(enumerate([x, x]))


@tried_on((n(3), [1, 2]), (n(3), []))
def argument_list_changed(x, xs):
    ys = xs
    xs += [3]
    return ys is xs, xs, x


@tried_on(
    (n(3), [[1], [2]]),
)
def inner_list_kept(x, xs):
    inner = xs[0]
    return inner, [inner, inner], inner is xs[0], x + 1


@tried_on((n(3), (1, 2)))
def tuple_kept(x, pair):
    return pair, pair is pair, x


@tried_on((n(3).double(), 2), (n(3), 2), (n(3).to(torch.bfloat16), 2), (n(0), 2))
def many_kinds(x, k):
    return (x * k).mean(), x.sum(0), x.dtype


@tried_on((n(3), 2**70), (n(3), 1e308), (n(3), -(2**63)))
def overflowing(x, k):
    return x * k


@tried_on((n(3).long(), 2**40), (torch.tensor([250], dtype=torch.uint8), 10))
def wrapping(x, k):
    return x + k


@tried_on((n(3), "1"), (n(3), None), (n(3), object))
def raises_on_types(x, y):
    return x + y


@tried_on((torch.tensor(3.0), 2), (torch.tensor(3), 2), (torch.tensor(True), 2))
def scalars_as_tensors(x, k):
    return x * k, x + 0.5, -x if x.dtype != torch.bool else x


@tried_on((n(3), "x"), (n(3), ""))
def f_strings_of_tensors(x, word):
    return f"{word}: {x.sum()} {x.shape}"


@tried_on((n(3),))
def shadows(type):
    return type * 2


@tried_on((n(3), n(3)))
def hides_torch(torch, len):
    return torch + len


@tried_on(X)
def reads_grad(x):
    return x.grad, x.is_leaf, x.data_ptr() == x.data_ptr(), x.data + 1


@tried_on((n(3).requires_grad_(),))
def goes_backward(x):
    (x * x).sum().backward()
    return x.grad + 1


@tried_on((n(3).requires_grad_(),))
def detached_shares(x):
    y = x.detach()
    return y, x * y, y.requires_grad


@tried_on((n(2, 2),))
def column_changed(x):
    y = x.t()
    y[0, 1] = 7
    return x, y


@tried_on((n(4),))
def expanded(x):
    return x.expand(2, 4), x.unsqueeze(0).repeat(2, 1)


@tried_on((torch.tensor([float("nan"), 1.0, -0.0]),))
def nan_inside(x):
    return x.max(), x == x, x.nan_to_num(), x * 1, torch.sort(x).values

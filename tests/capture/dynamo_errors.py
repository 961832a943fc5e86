"""Calls under torch.compile that end in an error of torch, or in a break with a long message."""

import torch
from torch import nn

ONES = torch.ones(4, 3)


def marked_dynamic():
    x = torch.ones(4, 3)
    torch._dynamo.mark_dynamic(x, 0)
    return lambda x: x + torch.ones(4, 3), (x,)


def marked_and_branched():
    x = torch.ones(4, 3)
    torch._dynamo.mark_dynamic(x, 0)

    def sized(x):
        if x.shape[0] == 4:
            return x.sin()
        return x.cos()

    return sized, (x,)


def wrong_shapes():
    return lambda x: x @ x, (ONES,)


def wrong_dtype():
    return lambda x: nn.functional.embedding(x, torch.ones(3, 2)), (ONES,)


def data_dependent():
    def depends(x):
        n = x.sum().item()
        torch._check(n > 0)
        if n > 3:
            return x[: int(n)]
        return x

    return depends, (torch.ones(4, dtype=torch.int64),)


def nonzero_shape():
    def shaped(x):
        y = x.nonzero()
        if y.shape[0] > 2:
            return y + 1
        return y

    return shaped, (ONES,)


def own_error():
    def fails(x):
        y = x.sin()
        raise ValueError(f"first line\nthe rest for {y.ndim}")

    return fails, (ONES,)


def name_error():
    return lambda x: x + no_such_name, (ONES,)  # noqa: F821


def attribute_error():
    return lambda x: x.no_such_method(), (ONES,)


def custom_error_class():
    class Missing(KeyError):
        pass

    def fails(x):
        x.sin()
        raise Missing("what", x.ndim)

    return fails, (ONES,)


def fullgraph_inside():
    @torch.compile(fullgraph=True, backend="eager")
    def inside(x):
        print("halfway")
        return x.sin()

    def outer(x):
        print("before")
        return inside(x)

    return outer, (ONES,)


def backend_fails():
    def broken(graph, inputs):
        raise RuntimeError("the backend has no kernel\nfor this op")

    inside = torch.compile(lambda x: x.sin(), backend=broken)

    def outer(x):
        print("before")
        return inside(x)

    return outer, (ONES,)


def backend_returns_nothing():
    inside = torch.compile(lambda x: x.sin(), backend=lambda graph, inputs: None)

    def outer(x):
        print("before")
        return inside(x)

    return outer, (ONES,)


def printing():
    def printed(x):
        print("a", x.ndim)
        return x.sin()

    return printed, (ONES,)


def item():
    return lambda x: x / x.abs().max().item(), (ONES,)


def branch():
    def branched(x):
        if x.sum() > 0:
            return x.sin()
        return x.cos()

    return branched, (ONES,)


def asserting():
    def asserted(x):
        assert x.sum() > 100, f"too small: {x.sum()}"
        return x.sin()

    return asserted, (ONES,)


def unpickling():
    import pickle

    return lambda x: x * pickle.loads(pickle.dumps(2)), (ONES,)


def saving():
    import io

    def saved(x):
        torch.save(x, io.BytesIO())
        return x + 1

    return saved, (ONES,)


def breaking():
    def broken(x):
        torch._dynamo.graph_break("because I say so")
        return x.sin()

    return broken, (ONES,)


def in_a_try():
    def tried(x):
        try:
            print("in it")
            return x.sin()
        finally:
            x.cos()

    return tried, (ONES,)


def in_a_loop():
    def looped(x):
        for _ in range(2):
            print("again")
            x = x.sin()
        return x

    return looped, (ONES,)


def numpy_random():
    import numpy as np

    def drawn(x):
        return x * float(np.random.default_rng(3).random())

    return drawn, (ONES,)


def lstm():
    return nn.LSTM(3, 2), (ONES,)


def compiled_generator():
    def rows(x):
        for row in x:
            print("a row")
            yield row.sin()

    return lambda x: sum(rows(x)), (ONES,)


def mapped():
    return lambda x: torch.func.vmap(lambda row: row.nonzero())(x), (ONES,)


def conditional():
    def chosen(x):
        return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos()[0], (x,))

    return chosen, (ONES,)


def deep_recursion():
    def never(x):
        return never(x + 1)

    return never, (ONES,)


def hooked_tensor():
    def hooked(x):
        y = x * 2
        y.register_hook(print)
        return y.sum()

    return hooked, (torch.ones(3, requires_grad=True),)


def inplace_on_a_leaf():
    return lambda x: x.add_(1), (torch.ones(3, requires_grad=True),)


def deep_in_helpers():
    def checked(x):
        torch._check_value(x.ndim == 7, lambda: "not seven\nbut a second line")
        return x

    return lambda x: checked(x.sin()), (ONES,)


def own_operator_fails():
    @torch.library.custom_op("course_tests::refused", mutates_args=())
    def refused(x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    return lambda x: refused(x) + 1, (ONES,)


def set_of_tensors():
    return lambda x: len({x, x + 1, *x}), (ONES,)


def unsupported_with():
    import contextlib

    @contextlib.contextmanager
    def noisy():
        print("in")
        yield
        print("out")

    def inside(x):
        with noisy():
            return x.sin()

    return inside, (ONES,)


PROGRAMS = {
    name: value
    for name, value in [*globals().items()]
    if getattr(value, "__module__", "") == __name__ and not value.__code__.co_argcount
}

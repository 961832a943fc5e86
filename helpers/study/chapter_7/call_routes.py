"""One function of torch -> the routes by which a call of it can come; and another one's call.

The graph and the compiled function are recorded here, before anybody gets hold of the call.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import FunctionType, ModuleType

from helpers.internals import torch_private

OTHER = "torch.float64"  # what the other call gives
HEADINGS = {
    "name": "by its name",
    "alias": "an alias",
    "imported": "from … import",
    "mapped": "a C caller",
    "thread": "another thread",
    "recorded": "a recorded graph",
    "compiled": "compiled, eager",
}


def the_call():
    """Call `torch.nn.functional.softsign` by its name."""
    import torch

    return torch.nn.functional.softsign(torch.tensor([-1.0, 3.0]))


def the_call_by_keyword():
    """Call it by its name, and its argument by that one's."""
    import torch

    return torch.nn.functional.softsign(input=torch.tensor([-1.0, 3.0]))


def another_call() -> str:
    """Call another function of the module with a keyword, and two ops; return the dtype."""
    import torch

    x = torch.full((2,), 3.0, dtype=torch.float64)
    return str((torch.nn.functional.tanhshrink(input=x) / 2 + 1).dtype)


def call_of_a_namesake():
    """Call a function of the same name that is ours, of which torch tells its modes as well."""
    import torch
    from torch.overrides import handle_torch_function, has_torch_function_unary

    def softsign(input):
        if has_torch_function_unary(input):
            return handle_torch_function(softsign, (input,), input)
        return input.tanh()

    return softsign(torch.tensor([-1.0, 3.0]))


def call_routes() -> dict[str, Callable[[], object]]:
    """Return a function for each route: it calls softsign that way."""
    torch_private.refuse_late_dynamo()
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.nn import functional

    x, alias, borrower = torch.tensor([-1.0, 3.0]), functional.softsign, ModuleType("borrower")
    exec(
        "from torch.nn.functional import softsign\ndef call(x): return softsign(x)", vars(borrower)
    )

    def softened(x):
        return functional.softsign(x)

    graph, compiled = make_fx(softened)(x), torch.compile(_copy(softened), backend="eager")
    compiled(x)
    return {
        "name": the_call,
        "alias": lambda: alias(x),
        "imported": lambda: borrower.call(x),
        "mapped": lambda: next(map(alias, [x])),
        "thread": _in_a_thread,
        "recorded": lambda: graph(x),
        "compiled": lambda: compiled(x),
    }


def _in_a_thread():
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(the_call).result()


def _copy(fn: FunctionType) -> FunctionType:
    """Return the function with a code object of its own: Dynamo keeps what it makes by that."""
    return FunctionType(
        fn.__code__.replace(), fn.__globals__, None, fn.__defaults__, fn.__closure__
    )

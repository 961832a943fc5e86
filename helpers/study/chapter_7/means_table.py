"""Techniques to intercept a call -> which of its routes each notices, and what each costs.

A technique makes a context manager with notes. If a call adds a note, the technique noticed it.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import make_dataclass
from statistics import median
from time import thread_time
from types import FunctionType

from helpers.capture.text.value import plain
from helpers.exhibit import Exhibit
from helpers.internals import torch_private
from helpers.model.tables import Column, Listing
from helpers.safety import progress
from helpers.safety.arguments import real_type_name
from helpers.safety.restoring import preserves_interpreter_state, running_user_code
from helpers.study.engine import torch
from helpers.view.table_view import table

HEADINGS = {
    "name": "by its name",
    "alias": "an alias",
    "imported": "from … import",
    "mapped": "a C caller",
    "thread": "another thread",
    "recorded": "a recorded graph",
    "compiled": "compiled, eager",
}
ROUNDS = 7
SHORTEST = 0.005  # seconds for which a call is repeated, so that the clock can measure it
UNTRIED = "…"
NOTE = (
    "A route is noticed if the technique made a note while it ran. The cost is the time of a call "
    "by its name in the block, divided by its time outside: the median of {} rounds, and the range."
)
TO_WRITE = f" {UNTRIED} means not written yet."

Reached = make_dataclass("Reached", [("means", str), *HEADINGS, ("cost", str)], frozen=True)


@preserves_interpreter_state
def watch_means(means) -> Exhibit:
    """Run one call of torch by seven routes, and show which technique notices it, at what cost.

    `means`: name -> what makes a context manager that notes the calls of
    `torch.nn.functional.softsign`. `...` is skipped. Errors in a technique are raised.
    """
    if not isinstance(means, dict):
        raise TypeError(f"means must be a dict, not {real_type_name(means)}")
    return Exhibit(reach_listing(means), table)


def reach_listing(means: dict[str, Callable]) -> Listing:
    """Return a row per technique: yes or no for each route, and what a call costs in its block."""
    routes = call_routes()
    rows = []
    for name, make in progress.counted("trying techniques", means.items()):
        seen = [UNTRIED] * (len(routes) + 1)
        if make is not ...:
            seen = [*(_noticed(make, route) for route in routes.values())]
            seen.append(_cost(make, routes["name"]))
        rows.append(Reached(plain(name), *seen))
    names = {"means": "technique", **HEADINGS, "cost": "cost"}
    columns = tuple(Column(*pair) for pair in names.items())
    note = NOTE.format(ROUNDS) + TO_WRITE * any(make is ... for make in means.values())
    return Listing("Who notices the call?", columns, tuple(rows), note)


def _noticed(make, route) -> str:
    with running_user_code(), make() as notes:
        before = len(notes)
        try:
            route()
        except Exception as error:
            return real_type_name(error)
        return "yes" if len(notes) > before else "no"


def _cost(make, call) -> str:
    ratios = []
    for _ in range(ROUNDS):
        bare = _seconds(call)
        with running_user_code(), make():
            ratios.append(_seconds(call) / bare)
    return f"{median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})"


def _seconds(call) -> float:
    """Return the processor seconds of a call, without the time of other programs."""
    call()
    calls, passed, start = 0, 0.0, thread_time()
    while passed < SHORTEST:
        call()
        calls += 1
        passed = thread_time() - start
    return passed / calls


def the_call(*names: str):
    """Call softsign by its name, and pass its argument by name, if one is given."""
    x = torch.tensor([-1.0, 3.0])
    softsign = torch.nn.functional.softsign
    return softsign(**dict.fromkeys(names, x)) if names else softsign(x)


def call_routes() -> dict[str, Callable[[], object]]:
    """Return a function for each route that calls softsign that way."""
    torch_private.refuse_late_dynamo()
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.nn import functional

    x, alias, borrower = torch.tensor([-1.0, 3.0]), functional.softsign, {}
    exec("from torch.nn.functional import softsign\ndef call(x): return softsign(x)", borrower)

    def softened(x):
        return functional.softsign(x)

    # It has its own code object, because Dynamo keeps what it compiles by that.
    again = FunctionType(softened.__code__.replace(), globals(), None, None, softened.__closure__)
    graph, compiled = make_fx(softened)(x), torch.compile(again, backend="eager")
    compiled(x)
    return {
        "name": the_call,
        "alias": lambda: alias(x),
        "imported": lambda: borrower["call"](x),
        "mapped": lambda: next(map(alias, [x])),
        "thread": lambda: ThreadPoolExecutor(1).submit(the_call).result(),
        "recorded": lambda: graph(x),
        "compiled": lambda: compiled(x),
    }

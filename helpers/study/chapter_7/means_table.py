"""Techniques to intercept a call -> which of its routes each notices, and what each costs.

A technique makes a context manager with notes. If a call adds a note, the technique noticed it.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import median
from time import thread_time
from types import FunctionType

from helpers.capture.text.value import format_text
from helpers.exhibit import Exhibit
from helpers.internals import torch_private
from helpers.model.tables import Column, Listing
from helpers.safety import progress
from helpers.safety.arguments import real_type_name
from helpers.safety.restoring import preserves_interpreter_state, running_user_code
from helpers.study.frameworks import torch
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
UNTRIED = "…"  # a cell of a technique that the learner has not written yet
NOTE = (
    "A route is noticed if the technique made a note while it ran. The cost is the time of a call "
    "by its name in the block, divided by its time outside: the median of {} rounds, and the range."
)
TO_WRITE = f" {UNTRIED} means not written yet."

COLUMNS = (
    Column("means", "technique"),
    *(Column(route, heading) for route, heading in HEADINGS.items()),
    Column("cost", "cost"),
)


@dataclass(frozen=True)
class Reached:
    """What one technique notices, route by route: "yes", "no", an error's name, or UNTRIED."""

    #: The name of the technique.
    means: str
    #: A call by the function's name.
    name: str
    #: A call by another name in the same module.
    alias: str
    #: A call by a name that a module has imported.
    imported: str
    #: A call that C makes.
    mapped: str
    #: A call in another thread.
    thread: str
    #: A call of a graph that was recorded before.
    recorded: str
    #: A call of a compiled function.
    compiled: str
    #: How many times longer a call takes in the block.
    cost: str


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
    """Return a table with a row per technique: what it notices by each route, and what it costs.

    `means`: name -> a function that makes the technique's context manager, or `...`.
    """
    routes = call_routes()
    rows = []
    for name, make in progress.counted("trying techniques", means.items()):
        if make is ...:
            cells = dict.fromkeys([*routes, "cost"], UNTRIED)
        else:
            cells = {route: _try_route(make, call) for route, call in routes.items()}
            cells["cost"] = _measure_cost(make, routes["name"])
        rows.append(Reached(format_text(name), **cells))

    note = NOTE.format(ROUNDS)
    if any(make is ... for make in means.values()):
        note += TO_WRITE
    return Listing("Who notices the call?", COLUMNS, tuple(rows), note)


def _try_route(make: Callable, call: Callable) -> str:
    """Return whether a technique makes a note of a call, or the name of the call's error."""
    with running_user_code(), make() as notes:
        earlier_count = len(notes)
        try:
            call()
        except Exception as error:
            return real_type_name(error)
        return "yes" if len(notes) > earlier_count else "no"


def _measure_cost(make: Callable, call: Callable) -> str:
    """Return the median and the range of a call's time in the block, divided by that outside."""
    ratios = []
    for _ in range(ROUNDS):
        outside = _measure_seconds(call)
        with running_user_code(), make():
            ratios.append(_measure_seconds(call) / outside)
    return f"{median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})"


def _measure_seconds(call) -> float:
    """Return the processor seconds of a call, without the time of other programs."""
    call()  # the first call may prepare something, so it is not measured
    call_count = 0
    passed_seconds = 0.0
    start = thread_time()
    while passed_seconds < SHORTEST:
        call()
        call_count += 1
        passed_seconds = thread_time() - start
    return passed_seconds / call_count


def the_call(*names: str):
    """Call softsign by its name. The argument is passed by position, or by the name in `names`."""
    x = torch.tensor([-1.0, 3.0])
    softsign = torch.nn.functional.softsign
    if names:
        return softsign(**dict.fromkeys(names, x))
    return softsign(x)


def call_routes() -> dict[str, Callable[[], object]]:
    """Return a function for each route that calls softsign that way."""
    torch_private.refuse_late_dynamo()
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.nn import functional

    x = torch.tensor([-1.0, 3.0])
    alias = functional.softsign
    borrower = {}  # the globals of a module that imports the function by name
    exec("from torch.nn.functional import softsign\ndef call(x): return softsign(x)", borrower)

    def softened(x):
        return functional.softsign(x)

    graph = make_fx(softened)(x)
    # The compiled function gets a new code object each time. Dynamo keeps compiled code by code
    # object, so what earlier calls of this function compiled does not matter.
    own_code = softened.__code__.replace()
    again = FunctionType(own_code, globals(), closure=softened.__closure__)
    compiled = torch.compile(again, backend="eager")
    compiled(x)  # compiles now, before a technique is active
    return {
        "name": the_call,
        "alias": lambda: alias(x),
        "imported": lambda: borrower["call"](x),
        "mapped": lambda: next(map(alias, [x])),
        "thread": lambda: ThreadPoolExecutor(1).submit(the_call).result(),
        "recorded": lambda: graph(x),
        "compiled": lambda: compiled(x),
    }

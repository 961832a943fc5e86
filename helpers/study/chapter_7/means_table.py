"""Techniques to intercept a call -> a table: which routes each one notices, and what it costs. The
call is that of torch's `softsign`. A *route* is a way to make the call: by its name, by an alias,
in another thread, and so on. A technique is a function that makes a context manager, which yields a
list of notes. If the list grows during a call in the block, the technique has noticed the call.
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

# The name of a route, which is also a field of `Reached` -> the heading of its column.
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
    return Exhibit(list_noticed_routes(means), table)


def list_noticed_routes(means: dict[str, Callable]) -> Listing:
    """Return a table with a row per technique: what it notices on each route, and what it costs.

    `means` maps the name of a technique to a function that makes its context manager. The value may
    be `...` for a technique that the learner has not written yet.
    """
    routes = build_route_calls()  # name of a route -> a function that calls softsign on it
    rows = []
    for name, make in progress.report_each("trying techniques", means.items()):
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
    """Return "yes" or "no": whether a technique notices a call; an error's name if it raises."""
    with running_user_code(), make() as notes:
        earlier_count = len(notes)
        try:
            call()
        except Exception as error:
            return real_type_name(error)
        return "yes" if len(notes) > earlier_count else "no"


def _measure_cost(make: Callable, call: Callable) -> str:
    """Return how many times longer a call takes in the block, as in "3.1 (2.9 to 3.4)".

    It is the median of ROUNDS measurements, and their range.
    """
    ratios = []
    for _ in range(ROUNDS):
        outside = _measure_seconds(call)
        with running_user_code(), make():
            ratios.append(_measure_seconds(call) / outside)
    return f"{median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})"


def _measure_seconds(call) -> float:
    """Return the mean time of one call, in seconds of this thread on the processor.

    The call is repeated for at least SHORTEST seconds.
    """
    call()  # the first call may prepare something, so it is not measured
    call_count = 0
    passed_seconds = 0.0
    start = thread_time()
    while passed_seconds < SHORTEST:
        call()
        call_count += 1
        passed_seconds = thread_time() - start
    return passed_seconds / call_count


def call_softsign(*names: str):
    """Call softsign by its name, and return the result.

    The argument is passed by position, or by keyword if `names` has the name of the parameter.
    """
    x = torch.tensor([-1.0, 3.0])
    softsign = torch.nn.functional.softsign
    if names:
        return softsign(**dict.fromkeys(names, x))
    return softsign(x)


def build_route_calls() -> dict[str, Callable[[], object]]:
    """Return the name of a route -> a function that calls softsign on that route.

    What a route needs, such as a recorded graph, is prepared here, before a technique is active.
    """
    torch_private.refuse_late_dynamo()
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.nn import functional

    x = torch.tensor([-1.0, 3.0])
    alias = functional.softsign
    borrower = {}  # the globals of a module that imports the function by name
    exec("from torch.nn.functional import softsign\ndef call(x): return softsign(x)", borrower)

    def softened(x):
        """Call softsign. This function is recorded as a graph, and compiled."""
        return functional.softsign(x)

    graph = make_fx(softened)(x)  # runs the function once, and records its ops as a graph
    # Dynamo stores compiled code with the code object of a function. So the function to compile
    # gets a new code object, for which nothing has been compiled by an earlier call of
    # `build_route_calls`.
    own_code = softened.__code__.replace()
    again = FunctionType(own_code, globals(), closure=softened.__closure__)
    compiled = torch.compile(again, backend="eager")
    compiled(x)  # compiles now, before a technique is active
    return {
        "name": call_softsign,
        "alias": lambda: alias(x),
        "imported": lambda: borrower["call"](x),
        "mapped": lambda: next(map(alias, [x])),  # `map` calls the function from C
        "thread": lambda: ThreadPoolExecutor(1).submit(call_softsign).result(),
        "recorded": lambda: graph(x),
        "compiled": lambda: compiled(x),
    }

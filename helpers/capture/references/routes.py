"""Run a function on several routes under several interventions, and record which code each route
runs. A *route* is one way to call the function, such as by an alias (`lambda: alias(x)`). An
*intervention* is a context manager that changes something, such as a rebinding. A *judge* is a
function that runs a route and returns a word for its result.

Each route runs, and what it is about to call is read, inside each intervention. So everything that
is shown was measured.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from types import CodeType, FunctionType

from ...model.phrase import describe_interruption
from ...model.reference_records import UNKNOWN, Function, Route, RouteMap
from ...model.tables import Entry, Ledger, Verdict
from ...safety import progress
from ...safety.arguments import real_type_name, require_dict
from ...safety.restoring import note_interrupt, raise_after_verb
from ..text.error import describe_error
from ..text.source import find_source
from ..text.value import format_label, format_name
from .places import HiddenList
from .route_sources import (
    LONGEST_LINE,
    find_differing_lines,
    find_holder_kind,
    format_call,
    format_intervention,
)

NOTHING = "nothing"  # the heading of the run without an intervention
MOST_ROUTES = 1000
HOLDER_KINDS = ("name", "function", "object")  # in the order in which a map shows them


def record_callers(
    routes: Mapping[str, Callable[[], object]],
    judge: Callable[[Callable[[], object]], object],
    interventions: Mapping[str, Callable[[], AbstractContextManager]],
) -> Ledger:
    """Run every route under every intervention; return a table of the judge's words.

    After Ctrl-C the table has the columns that were complete.

    Parameters
    ----------
    routes : mapping
        Name of a route -> a callable without arguments.
    judge : callable
        `judge(route)` is called for each route under each intervention. It returns a word.
    interventions : mapping
        Heading of a column -> a callable that returns a context manager.

    Returns
    -------
    Ledger
        A row for each route, with a verdict in each column. The first column, with the heading
        `NOTHING`, is without an intervention.
    """
    named_routes = _require_callables("routes", routes)
    named_interventions = _require_callables("interventions", interventions)
    if NOTHING in named_interventions:
        raise ValueError(f"{NOTHING!r} is already the heading of the run without an intervention")
    if not callable(judge):
        raise TypeError(
            f"judge is a function of a route that returns a word, not {format_label(judge)}"
        )

    runs = {NOTHING: nullcontext, **named_interventions}  # first without an intervention
    columns: list[list[Verdict]] = []  # of each column the verdicts, in the order of the routes
    note = ""
    for heading, intervention in progress.report_each("column", runs.items()):
        try:
            columns.append(_run_column(named_routes, judge, heading, intervention))
        except KeyboardInterrupt as error:
            if not columns:  # there is nothing to show
                raise
            note_interrupt(error)  # it is raised again when the table has been drawn
            note = describe_interruption(len(columns), "column")
            break

    # After an interrupt there are fewer columns than runs.
    headings = tuple(format_name(heading) for heading in runs)[: len(columns)]
    rows = zip(*columns, strict=True)
    entries = [
        Entry(format_name(name), _mark_changes(verdicts))
        for name, verdicts in zip(named_routes, rows, strict=True)
    ]
    return Ledger("What each route runs", "route", headings, tuple(entries), note)


def _require_callables(what: str, value: object) -> dict[str, Callable]:
    """Return `value` as a dict of name -> callable.

    TypeError names the first entry that cannot be called. `what` is the name of the argument, for
    the error.
    """
    callables = dict(require_dict(value, what, of="name -> a callable", most=MOST_ROUTES))
    for name, item in callables.items():
        if not callable(item):
            raise TypeError(
                f"{what}[{format_label(name)}] is {format_label(item)}, which cannot be called"
            )
    return callables


def _run_column(
    routes: Mapping[str, Callable],
    judge: Callable,
    heading: str,
    intervention: Callable[[], AbstractContextManager],
) -> list[Verdict]:
    """Run all routes inside one intervention; return the verdict for each, in order.

    RuntimeError says that the intervention itself raised something. `heading` names the
    intervention in this error.
    """
    verdicts: list[Verdict] = []
    try:
        with intervention():
            verdicts += [_judge_route(judge, route) for route in routes.values()]
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise_after_verb(error)  # whoever runs this verb raises the error again
        # No route raised this error, because `_judge_route` catches what a route raises.
        moment = "left" if verdicts else "entered"
        sentence = f"the intervention {format_label(heading)} could not be {moment}"
        raise RuntimeError(f"{sentence}: {describe_error(error)}") from error
    return verdicts


def _judge_route(judge: Callable, route: Callable) -> Verdict:
    """Return the judge's word for one route as a verdict.

    If the judge or the route raises, the verdict has the type of the error, in the tone "failed".
    """
    try:
        word = judge(route)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise_after_verb(error)
        return Verdict(real_type_name(error), "failed")
    text = format_name(word) if type(word) is str else format_label(word)
    return Verdict(text, "plain")


def _mark_changes(verdicts: tuple[Verdict, ...]) -> tuple[Verdict, ...]:
    """Return the verdicts of one route; those that differ from the first have the tone "changed".

    The first verdict is that of the run without an intervention. Errors keep the tone "failed".
    """
    first, *others = verdicts
    marked = [first]
    for verdict in others:
        is_marked = verdict != first and verdict.tone != "failed"
        marked.append(Verdict(verdict.word, "changed") if is_marked else verdict)
    return tuple(marked)


def record_routes(
    old: object,
    new: object,
    routes: Mapping[str, Callable[[], object]],
    holders: Mapping[str, Callable[[], object]],
    interventions: Mapping[str, Callable[[], AbstractContextManager]],
) -> RouteMap:
    """Run every route under every intervention, and record what each route is about to call.

    Parameters
    ----------
    old, new : object
        The function, and what an intervention replaces it with.
    routes, interventions : mapping
        As in `record_callers`.
    holders : mapping
        Name of a route -> a callable that returns what the route is about to call, such as
        `lambda: module.op`. The names are those of `routes`.

    Returns
    -------
    RouteMap
        The routes in the order in which they notice an intervention.
    """
    named_routes = _require_callables("routes", routes)
    readers = _require_callables("holders", holders)
    if list(named_routes) != list(readers):
        raise ValueError("holders needs the same names as routes, in the same order")

    recorder = _HolderRecorder(HiddenList([old, new]), named_routes, readers)
    # `record_callers` passes only the route to its judge. The recorder needs the name of the route.
    # So each route is replaced by a function that returns the name, and the judge, which is the
    # recorder, runs the real route of this name.
    route_names = {name: _returning(name) for name in named_routes}
    board = record_callers(route_names, recorder.run_route, interventions)
    return _build_route_map(board, recorder, list(interventions.values()))


def _build_route_map(
    board: Ledger, recorder: "_HolderRecorder", interventions: list[Callable]
) -> RouteMap:
    """Return the table `board` with what the recorder has read for each of its columns."""
    # After Ctrl-C there are fewer columns than interventions, and the recorder may have the
    # beginning of one more.
    column_count = len(board.headings)
    found_routes = []
    for name, route in recorder.routes.items():
        found_routes.append(
            Route(
                name=name,
                call=format_call(route),
                kind=find_holder_kind(recorder.readers[name]),
                holds=tuple(recorder.held_by_route[name][:column_count]),
            )
        )
    order = _order_routes(found_routes)

    old, new = recorder.functions
    functions = [
        Function(format_label(old), tuple(recorder.codes_of_old[:column_count])),
        Function(format_label(new), tuple(recorder.codes_of_new[:column_count])),
    ]
    # A code object without a source is shown as "…".
    sources = [find_source(code).text.strip().splitlines() or ["…"] for code in recorder.codes]
    patches = ["", *map(format_intervention, interventions)]  # "": no intervention
    return RouteMap(
        title=board.title,
        subject=board.subject,
        headings=board.headings,
        entries=tuple(board.entries[index] for index in order),
        note=board.note,
        routes=tuple(found_routes[index] for index in order),
        functions=tuple(functions),
        codes=tuple(format_name(line, LONGEST_LINE) for line in find_differing_lines(sources)),
        patches=tuple(patches[:column_count]),
    )


def _returning(name: str) -> Callable[[], str]:
    """Return a function without arguments that returns `name`."""
    return lambda: name


class _HolderRecorder:
    """Runs routes by their names, and reads before each run what the route is about to call.

    Attributes
    ----------
    functions : HiddenList
        The old function and the new one.
    routes, readers : mapping
        Name of a route -> the route, and what returns the function that the route is about to call.
    held_by_route : dict of str to list of int
        The name of a route -> for each run 0 if the route was about to call the old function, 1 for
        the new one, UNKNOWN for anything else.
    codes : HiddenList of CodeType
        The different code objects that the two functions have had. The list is hidden, because a
        rebinding would find and change an ordinary one.
    codes_of_old, codes_of_new : list of int
        For each intervention the position in `codes` of the function's code object.
    """

    def __init__(
        self,
        functions: HiddenList,
        routes: Mapping[str, Callable[[], object]],
        readers: Mapping[str, Callable[[], object]],
    ):
        """Prepare to run `routes`, a dict of name -> callable without arguments.

        `functions` is [the old function, the new function]. `readers` maps the name of each route
        to a callable that returns what the route is about to call.
        """
        self.held_by_route: dict[str, list[int]] = {name: [] for name in routes}
        self.codes = HiddenList()
        self.codes_of_old: list[int] = []
        self.codes_of_new: list[int] = []
        self.functions = functions
        self.routes = routes
        self.readers = readers

    def run_route(self, named_route: Callable[[], str]) -> object:
        """Record what a route is about to call, then run the route; return its result.

        `record_callers` calls this as its judge, for each route under each intervention.
        `named_route()` returns the name of the route.
        """
        name = named_route()
        is_first_of_column = name == next(iter(self.routes))
        # At the first route an intervention has just begun. It may have replaced the code objects.
        if is_first_of_column:
            old, new = self.functions
            self.codes_of_old.append(self._record_code(old))
            self.codes_of_new.append(self._record_code(new))
        self.held_by_route[name].append(self._read_holder(name))
        return self.routes[name]()

    def _record_code(self, function: object) -> int:
        """Return the position of a function's code object in `codes`; add a new one first.

        The position is UNKNOWN for a callable without a code object.
        """
        code: CodeType | None = function.__code__ if type(function) is FunctionType else None
        if code is not None and _find_identical(self.codes, code) == UNKNOWN:
            self.codes.append(code)
        return _find_identical(self.codes, code)

    def _read_holder(self, name: str) -> int:
        """Return 0 if a route is about to call the old function, 1 if the new one, else UNKNOWN."""
        try:
            return _find_identical(self.functions, self.readers[name]())
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # the reader is the learner's own
            raise_after_verb(error)
            return UNKNOWN


def _find_identical(values: HiddenList, target: object) -> int:
    """Return the index of an object in a list, compared by `is`; UNKNOWN if it is not there."""
    for index, value in enumerate(values):
        if value is target:  # `list.index` would call `__eq__`, which may be code of a user
            return index
    return UNKNOWN


def _order_routes(routes: list[Route]) -> list[int]:
    """Return the indexes of the routes in the order in which a map shows them.

    Routes that an early intervention changes come first; routes that none changes come last.
    """

    def sort_key(index: int) -> tuple[int, int]:
        """Return the first column in which the route calls another function, and its kind."""
        route = routes[index]
        # `holds` has for each column the position of the function that the route calls there.
        changed = [column for column, held in enumerate(route.holds) if held != route.holds[0]]
        first_change = changed[0] if changed else len(route.holds)
        return first_change, HOLDER_KINDS.index(route.kind)

    return sorted(range(len(routes)), key=sort_key)

"""Routes that call a function, and interventions -> what each route runs, and who holds what.

A route is one way to call the function, such as an alias. An intervention is a context manager that
changes something, such as a rebinding. Nothing is shown that was not read: each route runs, and
each holder is read, inside each intervention.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from types import CodeType, FunctionType

from ...model.phrase import describe_interruption
from ...model.reference_records import UNKNOWN, Function, Route, RouteMap
from ...model.tables import Entry, Ledger, Verdict
from ...safety import progress
from ...safety.arguments import real_type_name, require_dict
from ...safety.restoring import note_end, note_interrupt
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
    """Run every route under every intervention, and return the judge's words side by side.

    Parameters
    ----------
    routes : mapping
        Name -> a callable without arguments.
    judge : callable
        `judge(route)` is called for each route under each intervention. It returns a word.
    interventions : mapping
        Heading -> a callable that returns a context manager.

    Returns
    -------
    Ledger
        A row for each route, with a verdict under each heading. The first heading is `NOTHING`.
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
    columns: list[list[Verdict]] = []
    note = ""
    for heading, intervention in progress.counted("column", runs.items()):
        try:
            columns.append(_run_column(named_routes, judge, heading, intervention))
        except KeyboardInterrupt as error:
            if not columns:  # there is nothing to show
                raise
            note_interrupt(error)
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
    """Return `value` as a dict of name -> callable; TypeError names the entry that is none.

    `what` is the name of the argument, for the error.
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
    """Return a verdict for each route inside one intervention, which has this heading.

    RuntimeError says that the intervention itself raised something.
    """
    verdicts: list[Verdict] = []
    try:
        with intervention():
            verdicts += [_judge_route(judge, route) for route in routes.values()]
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        note_end(error)
        # A route cannot have raised this: what a route raises is its verdict.
        moment = "left" if verdicts else "entered"
        sentence = f"the intervention {format_label(heading)} could not be {moment}"
        raise RuntimeError(f"{sentence}: {describe_error(error)}") from error
    return verdicts


def _judge_route(judge: Callable, route: Callable) -> Verdict:
    """Return the judge's word for one route, or the type of what the judge or the route raised."""
    try:
        word = judge(route)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        note_end(error)
        return Verdict(real_type_name(error), "failed")
    text = format_name(word) if type(word) is str else format_label(word)
    return Verdict(text, "plain")


def _mark_changes(verdicts: tuple[Verdict, ...]) -> tuple[Verdict, ...]:
    """Return the verdicts of one route, those marked that differ from the first one."""
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
    """Run every route under every intervention, and record what refers to `old` or `new` meanwhile.

    Parameters
    ----------
    old, new : object
        The function, and what an intervention replaces it with.
    routes, interventions : mapping
        As in `record_callers`.
    holders : mapping
        The names of `routes` -> a callable that returns what the route is about to call.

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
    # A judge gets the route and not its name, which the recorder needs to find the reader. So each
    # route is replaced by one that returns its name, and the recorder runs the real one.
    route_names = {name: _returning(name) for name in named_routes}
    board = record_callers(route_names, recorder.run_route, interventions)

    column_count = len(board.headings)  # fewer than the interventions after an interrupt
    found_routes = [
        Route(
            name=name,
            call=format_call(route),
            kind=find_holder_kind(readers[name]),
            holds=tuple(recorder.held_by_route[name][:column_count]),
        )
        for name, route in named_routes.items()
    ]
    order = _order_routes(found_routes)
    sources = [find_source(code).text.strip().splitlines() or ["…"] for code in recorder.codes]
    functions = [
        Function(format_label(old), tuple(recorder.codes_of_old[:column_count])),
        Function(format_label(new), tuple(recorder.codes_of_new[:column_count])),
    ]
    patches = ["", *map(format_intervention, interventions.values())]  # "": no intervention
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
    """Runs routes by their names, and reads before each run what its holder refers to.

    Functions and code objects are recorded as positions in a list, UNKNOWN for anything else.

    Attributes
    ----------
    held_by_route : dict of str to list of int
        The name of a route -> for each run the position of what was held in (old, new).
    codes : HiddenList of CodeType
        The code objects that the two functions have had. The lists that refer to the functions and
        to the codes are hidden, because a rebinding would find and change them.
    codes_of_old, codes_of_new : list of int
        For each intervention the position in `codes` of the function's code.
    """

    def __init__(
        self,
        functions: HiddenList,
        routes: Mapping[str, Callable[[], object]],
        readers: Mapping[str, Callable[[], object]],
    ):
        """Prepare to run `routes`. `functions` is the old one and the new one.

        `readers` maps the same names to callables that return what the route is about to call.
        """
        self.held_by_route: dict[str, list[int]] = {name: [] for name in routes}
        self.codes = HiddenList()
        self.codes_of_old: list[int] = []
        self.codes_of_new: list[int] = []
        self._functions = functions
        self._routes = routes
        self._readers = readers

    def run_route(self, named_route: Callable[[], str]) -> object:
        """Read the holder of a route, then run it; return what the route returns.

        `record_callers` calls this as its judge, for each route under each intervention.
        """
        name = named_route()
        is_first_of_column = name == next(iter(self._routes))
        if is_first_of_column:  # an intervention has just begun; it may have swapped the code
            old, new = self._functions
            self.codes_of_old.append(self._record_code(old))
            self.codes_of_new.append(self._record_code(new))
        self.held_by_route[name].append(self._read_holder(name))
        return self._routes[name]()

    def _record_code(self, function: object) -> int:
        """Return the position of a function's code in `codes`, where it is added if it is new."""
        code: CodeType | None = function.__code__ if type(function) is FunctionType else None
        if code is not None and _find_identical(self.codes, code) == UNKNOWN:
            self.codes.append(code)
        return _find_identical(self.codes, code)

    def _read_holder(self, name: str) -> int:
        """Return the position of what a route is about to call; UNKNOWN if that cannot be read."""
        try:
            return _find_identical(self._functions, self._readers[name]())
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # the reader is the learner's own
            note_end(error)
            return UNKNOWN


def _find_identical(values: HiddenList, target: object) -> int:
    """Return the index at which a list contains the target itself, UNKNOWN if it does not."""
    for index, value in enumerate(values):
        if value is target:  # `==` may be code of a user
            return index
    return UNKNOWN


def _order_routes(routes: list[Route]) -> list[int]:
    """Return the indexes of the routes in the order in which a map shows them.

    A route comes the sooner, the earlier the intervention at which it holds something else.
    """

    def sort_key(index: int) -> tuple[int, int]:
        """Return the first column in which the route holds something else, and its kind."""
        route = routes[index]
        changed = [column for column, held in enumerate(route.holds) if held != route.holds[0]]
        first_change = changed[0] if changed else len(route.holds)
        return first_change, HOLDER_KINDS.index(route.kind)

    return sorted(range(len(routes)), key=sort_key)

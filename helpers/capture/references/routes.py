"""Ways to call a function, and ways to replace it -> who runs what, and who holds what meanwhile.

Nothing is drawn that was not read: each route is run, and each holder is read, inside each patch.
"""

from dis import get_instructions
from functools import partial
from textwrap import dedent
from types import FunctionType, ModuleType

from helpers.capture.cpython.objects import instance_dict
from helpers.capture.cpython.settrace import UNRAISABLE
from helpers.capture.references.callers import NOTHING, callables, watch_callers
from helpers.capture.references.heap import Shelf
from helpers.capture.text.label import label, short_name
from helpers.capture.text.source import source_of
from helpers.model.routes import UNKNOWN, Function, Route, RouteMap
from helpers.safety.interpreter_state import note_end
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS  # a patch may replace the others

LONGEST_CALL, LONGEST_LINE, MOST_LINES = 24, 22, 8  # characters, characters, lines of a patch


def watch_routes(old, new, routes, holders, interventions) -> RouteMap:
    """Run every route under every intervention, and read what each holder holds meanwhile.

    `old` and `new`: what is replaced, and by what. `routes`: name -> callable without arguments
    that returns a word. `holders`: the same names -> callable that returns what the route would
    call. `interventions`: heading -> callable that returns a context manager. The routes come
    ordered by the first heading under which they hold another function. TypeError and ValueError
    as in `watch_callers`, and where the names of holders are not those of the routes.
    """
    ways, readers = callables("routes", routes), callables("holders", holders)
    if list(ways) != list(readers):
        raise ValueError("holders needs the same names as routes, in the same order")
    watch = _Watch(old, new, ways, readers)
    board = watch_callers(watch.routes, watch.judged, interventions)
    made = {NOTHING: None, **interventions}
    found = [
        Route(name, _call(way), _kind(readers[name]), tuple(watch.held[name]))
        for name, way in ways.items()
    ]
    order = sorted(range(len(found)), key=lambda at: _first_change(found[at]))
    entries = tuple(board.entries[at] for at in order)
    return RouteMap(
        board.title,
        board.subject,
        board.headings,
        entries,
        board.note,
        routes=tuple(found[at] for at in order),
        functions=watch.functions(),
        codes=tuple(watch.codes),
        patches=tuple(map(_patch, made.values())),
    )


class _Watch:
    """What is read while the routes run. `held`: route -> which function, per run."""

    def __init__(self, old, new, ways, readers):
        self._both, self._ways, self._readers = Shelf([old, new]), ways, readers
        self._codes, self.codes = Shelf(), []
        self._had: list[list[int]] = [[], []]  # per function its codes, per run
        self.held: dict[str, list[int]] = {name: [] for name in ways}
        self.routes = {name: partial(short_name, name) for name in ways}

    def judged(self, route) -> object:
        """Read the holder of a route, then run it; of the first, read the functions' codes too."""
        name = route()
        if name == next(iter(self._ways)):
            for each, had in zip(self._both, self._had, strict=True):
                had.append(self._code(each))
        self.held[name].append(self._which(name))
        return self._ways[name]()

    def functions(self) -> tuple[Function, ...]:
        """Return both functions with the codes that they had."""
        pairs = zip(self._both, self._had, strict=True)
        return tuple(Function(label(each), tuple(had)) for each, had in pairs)

    def _which(self, name: str) -> int:
        try:
            found = self._readers[name]()
        except UNRAISABLE:
            raise
        except BaseException as error:  # the reader is the learner's own
            note_end(error)
            return UNKNOWN
        return next((at for at, each in enumerate(self._both) if each is found), UNKNOWN)

    def _code(self, function) -> int:
        if type(function) is not FunctionType:
            return UNKNOWN
        code = function.__code__
        if not any(code is other for other in self._codes):
            self._codes.append(code)
            self.codes.append(_last_line(code))
        return next(at for at, other in enumerate(self._codes) if code is other)


def _first_change(route: Route) -> tuple[int, int]:
    changes = [at for at, held in enumerate(route.holds) if held != route.holds[0]]
    return min(changes, default=len(route.holds)), ("name", "function", "object").index(route.kind)


def _call(way) -> str:
    """Return the source of a route: what its lambda returns, or a call of its name."""
    if type(way) is not FunctionType:
        return label(way)
    if way.__name__ != "<lambda>":
        return f"{short_name(way.__name__)}()"
    return short_name(_body(way) or "…", LONGEST_CALL)


def _body(fn: FunctionType) -> str:
    """Return the source of a lambda's expression: the widest place that its code tells of."""
    source = source_of(fn.__code__)
    spans = map(source.span, fn.__code__.co_positions())
    return source.snippet(max(spans, key=lambda span: (span[2] - span[0], span[3] - span[1])))


def _kind(reader) -> str:
    """Return what holds the function that `reader` reads: the first thing that it asks for."""
    if type(reader) is not FunctionType:
        return "object"
    loads = [i for i in get_instructions(reader) if i.opname.startswith("LOAD_")]
    if len(loads) == 1:
        return "name"
    root = _value(reader, loads[0].argval) if loads else None
    return {ModuleType: "name", FunctionType: "function"}.get(type(root), "object")


def _value(reader: FunctionType, name) -> object:
    inner = dict(zip(reader.__code__.co_freevars, reader.__closure__ or (), strict=True))
    if name in inner:
        return inner[name].cell_contents
    return dict.get(reader.__globals__, name) if type(name) is str else None


def _patch(make) -> str:
    """Return the source of what an intervention does; nothing where there is none."""
    if make is None:
        return ""
    inner = (instance_dict(make) or {}).get("__wrapped__", make)
    if type(inner) is not FunctionType:
        return ""
    if inner.__name__ == "<lambda>":
        return short_name(_body(inner), 200)
    lines = [line for line in source_of(inner.__code__).lines if not line.startswith(("@", "def "))]
    return dedent("\n".join(map(short_name, lines[:MOST_LINES])))


def _last_line(code) -> str:
    lines = [line.strip() for line in source_of(code).lines if line.strip()]
    return short_name(lines[-1], LONGEST_LINE) if lines else "…"

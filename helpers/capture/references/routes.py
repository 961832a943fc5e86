"""Ways to call a function, and what is done to it -> who runs what, and who holds what meanwhile.

Nothing is shown that was not read: each route is run, and each holder is read, inside each patch.
"""

import re
from contextlib import nullcontext
from dis import get_instructions
from inspect import getclosurevars
from os.path import commonprefix
from textwrap import dedent
from types import FunctionType, ModuleType

from ...model.phrase import interrupted
from ...model.reference_records import UNKNOWN, Function, Route, RouteMap
from ...model.tables import Entry, Ledger, Verdict
from ...safety import progress
from ...safety.arguments import item_of_type, table
from ...safety.restoring import note_end, note_interrupt
from ..cpython.objects import instance_dict
from ..text.error import error_message
from ..text.source import source_of
from ..text.value import label, short_name, type_name
from .places import HiddenList

NOTHING = "nothing"
MOST_ROUTES = 1000
LONGEST_CALL, LONGEST_LINE, MOST_LINES = 24, 22, 8  # characters, characters, lines of a patch
_ONE_LINE = re.compile(r"def .*?\)[^:]*:\s+(?=\S)")  # the head of a function on one line
KEPT = 8  # characters that two long lines have in common, before what differs


def watch_callers(routes, judge, interventions) -> Ledger:
    """Run every route under every intervention, and show the judge's words side by side."""
    ways = _callables("routes", routes)
    patches = _callables("interventions", interventions)
    if NOTHING in patches:
        raise ValueError(f"{NOTHING!r} is already the heading of the run without an intervention")
    if not callable(judge):
        raise TypeError(f"judge is a function of a route that returns a word, not {label(judge)}")
    runs = {NOTHING: nullcontext, **patches}
    columns, note = [], ""
    for one in progress.counted("column", runs.items()):
        try:
            columns.append(_run(ways, judge, *one))
        except KeyboardInterrupt as error:
            if not columns:
                raise
            note_interrupt(error)
            note = interrupted(len(columns), "column")
            break
    headings = tuple(map(short_name, runs))[: len(columns)]
    entries = []
    for name, (before, *others) in zip(ways, zip(*columns, strict=True), strict=True):
        verdicts = [before]
        for now in others:
            same = now == before or now.tone == "failed"
            verdicts.append(now if same else Verdict(now.word, "changed"))
        entries.append(Entry(short_name(name), tuple(verdicts)))
    return Ledger("What each route runs", "route", headings, tuple(entries), note)


def _callables(what: str, given) -> dict:
    """Return a dict of name -> callable, not empty. TypeError names what is something else."""
    found = dict(table(given, what, "name -> a callable", MOST_ROUTES))
    for name, one in found.items():
        if not callable(one):
            raise TypeError(f"{what}[{label(name)}] is {label(one)}, which cannot be called")
    return found


def _run(ways, judge, heading, make) -> list[Verdict]:
    """Return the word for each route inside one intervention."""
    words: list[Verdict] = []
    try:
        with make():
            words += [_judge_route(judge, route) for route in ways.values()]
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        note_end(error)
        done = f"the intervention {label(heading)} could not be {'left' if words else 'entered'}"
        raise RuntimeError(f"{done}: {error_message(error)}") from error
    return words


def _judge_route(judge, route) -> Verdict:
    try:
        word = judge(route)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        note_end(error)
        return Verdict(type_name(error), "failed")
    return Verdict(short_name(word) if type(word) is str else label(word), "plain")


def watch_routes(old, new, routes, holders, interventions) -> RouteMap:
    """Run every route under every intervention, and record what refers to both meanwhile."""
    ways, readers = _callables("routes", routes), _callables("holders", holders)
    if list(ways) != list(readers):
        raise ValueError("holders needs the same names as routes, in the same order")
    both, codes = HiddenList([old, new]), HiddenList()
    had, held = ([], []), {name: [] for name in ways}  # per function, per route: at each run

    def judge(route):
        name = route()
        if name == next(iter(ways)):
            for each, its_codes in zip(both, had, strict=True):
                code = each.__code__ if type(each) is FunctionType else None
                codes.extend([code] * (code is not None and _position(codes, code) == UNKNOWN))
                its_codes.append(_position(codes, code))
        try:
            holds = _position(both, readers[name]())
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # the reader is the learner's own
            note_end(error)
            holds = UNKNOWN
        held[name].append(holds)
        return ways[name]()

    board = watch_callers({name: lambda name=name: name for name in ways}, judge, interventions)
    many = len(board.headings)  # fewer than the interventions after an interrupt
    found = [Route(n, _call(w), _kind(readers[n]), tuple(held[n][:many])) for n, w in ways.items()]
    changes = [[held != route.holds[0] for held in (*route.holds, None)] for route in found]
    kinds = [("name", "function", "object").index(route.kind) for route in found]
    order = sorted(range(len(found)), key=lambda at: (changes[at].index(True), kinds[at]))
    pairs = zip((old, new), had, strict=True)
    sources = [source_of(code).text.strip().splitlines() or ["…"] for code in codes]
    return RouteMap(
        *(board.title, board.subject, board.headings, tuple(board.entries[at] for at in order)),
        board.note,
        routes=tuple(found[at] for at in order),
        functions=tuple(Function(label(each), tuple(its[:many])) for each, its in pairs),
        codes=tuple(short_name(line, LONGEST_LINE) for line in find_differing(sources)),
        patches=("", *map(_patch, interventions.values()))[:many],
    )


def find_differing(sources: list[list[str]]) -> list[str]:
    """Return of each source a line that not all have; a long one begins near what differs."""
    rests = (lines[1:] or [_ONE_LINE.sub("", lines[0])] for lines in sources)
    bodies = [[line.strip() for line in lines] for lines in rests]
    shared = [line for line in bodies[0] if all(line in body for body in bodies)] if bodies else []
    lines = [next((one for one in body if one not in shared), body[-1]) for body in bodies]
    same = len(commonprefix(lines)) - KEPT
    long = same > 1 and max(map(len, lines), default=0) > LONGEST_LINE
    return [f"…{line[same:]}" if long else line for line in lines]


def _position(things: HiddenList, thing) -> int:
    return next((at for at, each in enumerate(things) if each is thing), UNKNOWN)


def _call(way) -> str:
    """Return the source of a route: what its lambda returns, or a call of its name."""
    if type(way) is FunctionType and way.__name__ == "<lambda>":
        return short_name(_body(way) or "…", LONGEST_CALL)
    return label(way)


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
    known = getclosurevars(reader)
    root = {**known.globals, **known.nonlocals}.get(loads[0].argval) if loads else None
    return item_of_type(root, {ModuleType: "name", FunctionType: "function"}, "object")


def _patch(make) -> str:
    """Return the source of what an intervention does; nothing where there is none."""
    inner = (instance_dict(make) or {}).get("__wrapped__", make)
    if type(inner) is not FunctionType:
        return ""
    if inner.__name__ == "<lambda>":
        return short_name(_body(inner), 200)
    lines = [line for line in source_of(inner.__code__).lines if not line.startswith(("@", "def "))]
    return dedent("\n".join(map(short_name, lines[:MOST_LINES])))

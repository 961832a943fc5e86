"""Ways of calling, and what is done to them -> a ledger of what each way runs then."""

from contextlib import nullcontext
from functools import partial

from helpers.capture.cpython.objects import class_mapping, mro, part
from helpers.capture.cpython.settrace import UNRAISABLE
from helpers.capture.text.label import LONGEST_NAME, label, short_name, type_name
from helpers.model.ledger import Entry, Ledger, Verdict
from helpers.safety import progress
from helpers.safety.arguments import is_a
from helpers.safety.interpreter_state import note_end, theirs
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS  # an intervention may replace the others

NOTHING = "nothing"


def watch_callers(routes, judge, interventions, title="What each route runs") -> Ledger:
    """Run every route under every intervention and record the judge's word for it.

    `routes`: name -> callable. `judge(route)`: runs it and returns a word, such as "old" or
    "new". `interventions`: heading -> a callable that returns a context manager. The first
    heading is always "nothing": the routes as they are. A word that differs from that one has
    the tone "changed"; where the judge raises, the word is the name of the error's type and the
    tone "failed". TypeError or ValueError, one sentence, for arguments of another shape;
    RuntimeError names an intervention that could not be entered or left.
    """
    ways = callables("routes", routes)
    patches = callables("interventions", interventions)
    if NOTHING in patches:
        raise ValueError(f"{NOTHING!r} is the heading of the run without an intervention")
    for name, given in (("route", ways), ("intervention", patches)):
        if not given:
            raise ValueError(f"watch_callers needs at least one {name} to set side by side")
    if not _can_be_called(judge):
        raise TypeError(f"judge is a function of a route that returns a word, not {label(judge)}")
    runs = {NOTHING: nullcontext, **patches}
    columns = [_run(ways, judge, *one) for one in progress.counted("column", runs.items())]
    entries = tuple(
        Entry(short_name(name), tuple(_verdict(column[at], columns[0][at]) for column in columns))
        for at, name in enumerate(ways)
    )
    long = any(len(verdict.word) == LONGEST_NAME for entry in entries for verdict in entry.verdicts)
    note = f"Words are shown up to {LONGEST_NAME} characters." if long else ""
    return Ledger(title, "route", tuple(map(short_name, runs)), entries, note)


def callables(what: str, given) -> dict:
    """Return a plain dict of name -> callable. TypeError names what is something else."""
    wanted = "what makes a context manager" if what == "interventions" else "a callable"
    if not is_a(given, dict):
        raise TypeError(f"{what} is a dict of name: {wanted}, not {label(given)}")
    found = dict(dict.items(given))
    for name, one in found.items():
        if type(name) is not str:
            raise TypeError(f"the names in {what} are str; {label(name)} is none")
        if not _can_be_called(one):
            raise TypeError(f"{what}[{label(name)}] is {label(one)}, which cannot be called")
    return found


def _can_be_called(thing) -> bool:
    """Return whether a call is possible; a `partial` of itself would end the interpreter."""
    met = set()
    while is_a(thing, partial):
        if id(thing) in met:
            return False
        met.add(id(thing))
        thing = part(partial, "func", thing)
    return callable(thing)


def _run(ways, judge, heading, make) -> list[tuple[str, bool]]:
    words: list[tuple[str, bool]] = []
    try:
        manager = make()
    except UNRAISABLE:
        raise
    except BaseException as error:
        raise RuntimeError(_sentence(heading, "made", error)) from error
    if not _is_manager(manager):
        raise TypeError(
            f"the intervention {label(heading)} gave {label(manager)}, "
            "which is no context manager that `with` could enter"
        )
    try:
        with theirs(), manager:
            words += [_judged(judge, route) for route in ways.values()]
    except UNRAISABLE:
        raise
    except BaseException as error:
        raise RuntimeError(_sentence(heading, "left" if words else "entered", error)) from error
    return words


def _is_manager(thing) -> bool:
    """Return whether the type of `thing` has what `with` looks up there; nothing of it is run."""
    names = ("__enter__", "__exit__")
    return all(any(name in class_mapping(cls) for cls in mro(type(thing))) for name in names)


def _sentence(heading, done, error) -> str:
    said = f"{type_name(error)}{_message(error)}"
    return f"the intervention {label(heading)} could not be {done}: {said}"


def _message(error) -> str:
    """Return what an error says, where that is plain text: its own `__str__` is not asked."""
    args = BaseException.__dict__["args"].__get__(error)
    plain = len(args) == 1 and type(args[0]) is str
    return f" ({short_name(args[0], 300)})" if plain else ""


def _judged(judge, route) -> tuple[str, bool]:
    try:
        word = judge(route)
    except UNRAISABLE:
        raise
    except BaseException as error:
        note_end(error)
        return type_name(error), False
    return (short_name(word) if type(word) is str else label(word)), True


def _verdict(now, before) -> Verdict:
    word, ran = now
    if not ran:
        return Verdict(word, "failed")
    return Verdict(word, "plain" if now == before else "changed")

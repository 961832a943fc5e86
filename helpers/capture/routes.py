"""Ways of calling, and what is done to them -> a ledger of what each way runs then."""

from contextlib import nullcontext

from helpers.model.ledger import Entry, Ledger, Verdict

NOTHING = "nothing"


def watch_routes(routes, judge, interventions, title="What each route runs") -> Ledger:
    """Run every route under every intervention and record the judge's word for it.

    `routes`: name -> callable. `judge(route)`: runs it and returns a word, such as "old" or
    "new". `interventions`: heading -> a callable that returns a context manager. The first
    heading is always "nothing": the routes as they are. A word that differs from that one has
    the tone "changed"; where the judge raises, the word is the name of the error's type and the
    tone "failed". An intervention that raises is the caller's mistake and goes through.
    """
    if NOTHING in interventions:
        raise ValueError(f"{NOTHING!r} is the heading of the run without an intervention")
    runs = {NOTHING: nullcontext, **interventions}
    columns = [_run(routes, judge, make) for make in runs.values()]
    entries = tuple(
        Entry(name, tuple(_verdict(column[at], columns[0][at]) for column in columns))
        for at, name in enumerate(routes)
    )
    return Ledger(title, "route", tuple(runs), entries)


def _run(routes, judge, make) -> list[tuple[str, bool]]:
    with make():
        return [_judged(judge, route) for route in routes.values()]


def _judged(judge, route) -> tuple[str, bool]:
    try:
        return str(judge(route)), True
    except Exception as error:
        return type(error).__name__, False


def _verdict(now, before) -> Verdict:
    word, ran = now
    if not ran:
        return Verdict(word, "failed")
    return Verdict(word, "plain" if now == before else "changed")

"""A map of routes -> a matrix of dots with a sentence per setting, or a picture to choose in."""

from dataclasses import replace

from helpers.model.phrase import counted, ended
from helpers.model.routes import RouteMap
from helpers.view import dots, ledger, row_limit
from helpers.view.diagram.routes import picture
from helpers.view.markup import grid, joined, one_line, render
from helpers.view.picture import pictured
from helpers.view.widgets.base import read, widget_class

FEW = 3  # routes that are called by their names
MOST = 60  # routes in the picture
SMALLEST = 0.8  # of its natural size, where letters have 10 pixels


def text(model: RouteMap) -> str:
    """Return calls and holders with a dot per setting, then what happened in each setting."""
    said = [f"{one_line(h)}: {say(model, at)}" for at, h in enumerate(model.headings)]
    if not dots.fits(model):
        return joined(ledger.text(model), *said)
    headings = ["call", "who holds the function", *model.headings]
    rows = [
        [route.call, route.name, *(dots.MARKS[v.tone] for v in entry.verdicts)]
        for route, entry in zip(model.routes, model.entries, strict=True)
    ]
    rows.append([f"● of {len(rows)}", "", *map(str, dots.counts(model))])
    return joined(model.title, dots.legend(model), grid(headings, rows), model.note, *said)


def html(model: RouteMap) -> str:
    """Return the matrix, the sentences, and the picture of the setting that moves most arrows."""
    said = [(heading, say(model, at)) for at, heading in enumerate(model.headings)]
    moved = [len(model.moved(heading)) for heading in model.headings]
    most = moved.index(max(moved))
    # What follows there is for what moves and clicks.
    style = read("picture.css").partition(".course-picture {")[0]
    style += read("routes.css").partition(".course-route-map")[0]
    still = picture(_first(model)).still(most, style)
    alt = f"{one_line(model.headings[most])}: {said[most][1]}"
    return render(
        "routes.html", matrix=dots.html(model), said=said, alt=alt, **pictured(still, SMALLEST)
    )


def say(model: RouteMap, setting: int) -> str:
    """Return what a setting did, in plain sentences; all of it was counted."""
    old, new = (one_line(function.label) for function in model.functions)
    heading, total = model.headings[setting], len(model.routes)
    moved, noticed = model.moved(heading), model.noticed(heading)
    held = {route.name for route in model.routes if route.holds[0] == 0}
    if not setting:
        some = f"of which {len(held):,} {'ends' if len(held) == 1 else 'end'}"
        ends = "and each ends" if len(held) == total else some
        return f"Nothing is replaced: {counted(total, 'call')}, {ends} at {ended(old)}"
    parts = [f"{_arrows(len(moved), total)} to {ended(new)}" if moved else "No arrow moves."]
    codes = model.functions[0].codes
    if codes[setting] != codes[0]:
        parts.append(f"{old} is the same function with other code, so whoever holds it runs that.")
    rest = [route.name for route in model.routes if route.name not in noticed]
    if rest and len(rest) <= FEW:
        parts.append(ended(f"Not reached: {', '.join(map(one_line, rest))}"))
    elif rest:
        why = f": what holds {old} for them was left alone" * held.issuperset(rest)
        parts.append(f"{len(rest)} calls do not notice{why}.")
    return " ".join(parts)


def _arrows(count: int, total: int) -> str:
    return f"{count} of {total} arrows lead" if count > 1 else f"1 of {total} arrows leads"


def widget(model: RouteMap):
    """Return an anywidget with the picture of all settings; `index` is the one on show."""
    drawn, legend = picture(_first(model)), dots.legend(model).split("   ")
    left_out = row_limit.Part(min(MOST, len(model.routes)), 0, len(model.routes))
    return _widget_class()(
        title=one_line(model.title),
        svg=drawn.svg,
        states=drawn.states,
        headings=[one_line(heading) for heading in model.headings],
        says=[say(model, at) for at in range(len(model.headings))],
        patches=list(model.patches),
        counts=dots.counts(model),
        total=len(model.routes),
        legend=[*legend, *filter(None, [left_out.says(ledger.ALL, "Routes")])],
    )


def _first(model: RouteMap) -> RouteMap:
    """Return the map of as many routes as can be drawn."""
    return replace(model, routes=model.routes[:MOST], entries=model.entries[:MOST])


_widget_class = widget_class(
    __file__,
    styles=("picture.css", "routes.css"),
    says=lambda w: f"{w.title!r}, {len(w.headings)} settings",
    traits=lambda t: {
        "title": t.Unicode(),
        "svg": t.Unicode(),
        "states": t.List(),
        "headings": t.List(t.Unicode()),
        "says": t.List(t.Unicode()),
        "patches": t.List(t.Unicode()),
        "counts": t.List(t.Int()),
        "total": t.Int(),
        "legend": t.List(t.Unicode()),
        "index": t.Int(0),
    },
    scripts=("picture.js",),
)

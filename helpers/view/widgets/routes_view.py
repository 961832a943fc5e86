"""A map of routes -> a matrix of dots with a sentence per setting, or a picture."""

from dataclasses import replace

from ...model.phrase import counted, ended
from ...model.reference_records import UNKNOWN, RouteMap
from .. import View, ink
from ..ceilings import limit_rows
from ..diagram.animated_graph import Picture
from ..dot_matrix import count_changed, explain_dots, render_dots_text
from ..images import embed_picture
from ..ledger_table import ENTRIES
from ..markup import render
from ..plain_text import join_parts, spell_in_one_line
from ..shapes import LETTER, draw_shape, measure_text
from ..table_view import dots
from . import make_widget, read

FEW = 3  # routes that are called by their names
MOST = 60  # routes in the picture
SMALLEST = 0.8  # of its natural size, where letters have 10 pixels
ROW, CAPTION, TOP, WORD = 27, 22, 30, 7.1  # pixels: a row, what heads a group, all; a letter
ARROWS, FUNCTION = 116, 158  # width of the room for arrows and of a function, at least
GROUPS = {"name": "in modules", "function": "in functions", "object": "in objects"}


def _text(model: RouteMap) -> str:
    said = [f"{spell_in_one_line(h)}: {_say(model, at)}" for at, h in enumerate(model.headings)]
    columns = {"call": [route.call for route in model.routes]}
    columns["what refers to the function"] = [route.name for route in model.routes]
    return join_parts(render_dots_text(model, columns), *said)


def _html(model: RouteMap) -> str:
    said = [(heading, _say(model, at)) for at, heading in enumerate(model.headings)]
    most = _telling(model)
    # What follows there is for what moves and clicks.
    style = read("picture.css").partition(".course-picture {")[0]
    style += read("routes.css").partition(".course-route-map")[0]
    still = embed_picture(routes_picture(model).still(most, style), SMALLEST)
    alt = f"{spell_in_one_line(model.headings[most])}: {said[most][1]}"
    return render("routes.html", matrix=dots.html(model), said=said, alt=alt, **still)


def _telling(model: RouteMap) -> int:
    """Return the setting to open on: most arrows move, but not all of them if that is possible."""
    moved = [len(model.moved(heading)) for heading in model.headings]
    return max(range(len(moved)), key=lambda at: (moved[at] < len(model.routes), moved[at]))


def _say(model: RouteMap, setting: int) -> str:
    old, new = (spell_in_one_line(function.label) for function in model.functions)
    heading, total = model.headings[setting], len(model.routes)
    moved, noticed = model.moved(heading), model.noticed(heading)
    held = {route.name for route in model.routes if route.holds[0] == 0}
    if not setting:
        some = f"of which {len(held):,} {'ends' if len(held) == 1 else 'end'}"
        ends = "and each ends" if len(held) == total else some
        return f"Nothing is replaced: {counted(total, 'call')}, {ends} at {ended(old)}"
    arrows = f"{len(moved)} of {total} arrows {'leads' if len(moved) == 1 else 'lead'}"
    parts = [f"{arrows} to {ended(new)}" if moved else "No arrow moves."]
    codes = model.functions[0].codes
    if codes[setting] != codes[0]:
        parts.append(f"{old} is the same function with new code, so every holder runs that code.")
    rest = [route.name for route in model.routes if route.name not in noticed]
    if rest and len(rest) <= FEW:
        parts.append(ended(f"Not reached: {', '.join(map(spell_in_one_line, rest))}"))
    elif rest:
        why = ", because what they read was not changed" * held.issuperset(rest)
        parts.append(f"{len(rest)} calls still run {old}{why}.")
    return " ".join(parts)


def _widget(model: RouteMap):
    drawn = routes_picture(model)
    left_out = limit_rows(model.routes, ENTRIES, "Routes", MOST)[1]
    state = {"title": spell_in_one_line(model.title), "svg": drawn.svg, "states": drawn.states}
    state["headings"] = [spell_in_one_line(heading) for heading in model.headings]
    state["says"] = [_say(model, at) for at in range(len(model.headings))]
    state |= {"patches": list(model.patches), "counts": count_changed(model)}
    state["legend"] = [*explain_dots(model), *([left_out] if left_out else [])]
    state |= {"total": len(model.routes), "index": _telling(model)}
    says = f"{state['title']!r}, {len(model.headings)} settings"
    return make_widget("routes", "picture routes", says, state, "picture")


def routes_picture(model: RouteMap) -> Picture:
    """Return the picture of the routes; what differs from the first setting is `new`."""
    model = replace(model, routes=model.routes[:MOST], entries=model.entries[:MOST])
    words = [list(dict.fromkeys(v.word for v in entry.verdicts)) for entry in model.entries]
    answer = 42 + _wide((r.call for r in model.routes), LETTER)
    answer += max(_wide((word for each in words for word in each), LETTER), 44)
    left = answer + 34
    right = left + _wide((r.name for r in model.routes), WORD) + 34
    functions = right + ARROWS
    labels = _wide((f.label for f in model.functions), 11) + 40
    wide = max(FUNCTION, labels, _wide(model.codes, LETTER) + 64)
    captions, rows, low = [], [], TOP
    for at, route in enumerate(model.routes):
        if not at or route.kind != model.routes[at - 1].kind:
            captions.append((low + 14, GROUPS[route.kind]))
            low += CAPTION
        y, shape = low + ROW // 2, ink.KINDS[route.kind].shape
        row = {
            "key": f"r{at}",
            "y": y,
            "call": spell_in_one_line(route.call),
            "name": spell_in_one_line(route.name),
        }
        row["outline"] = draw_shape(shape, left, y - 11, right - left, 22)
        rows.append(row | {"ink": route.kind, "words": words[at]})
        low += ROW
    height = max(low, 376) + 8
    high = min(146, (height - 110) // 2)
    ends = (height - high - 8, 46)  # the upper edges: the old function below, the new one above
    arrows, boxes = [], []
    count, half = max(len(rows) - 1, 1), (right + functions) // 2
    for at, (route, row) in enumerate(zip(model.routes, rows, strict=True)):
        for held in sorted(set(route.holds) - {UNKNOWN}):
            y, end, tip = row["y"], ends[held] + 14 + (high - 28) * at // count, functions - 9
            line = f"M{right} {y}C{half} {y} {half - 9} {end} {tip} {end}"
            said = f"{route.name} refers to {model.functions[held].label}"
            arrow = {"key": f"a{at}.{held}", "slot": at, "words": said, "line": line}
            arrows.append(arrow | {"start": (right, y), "tip": (functions, end)})
    for at, function in enumerate(model.functions):
        sheet = (functions + 18, ends[at] + high - 80, wide - 36, 66)
        codes = [code for code in dict.fromkeys(function.codes) if code != UNKNOWN]
        box = {
            "key": f"f{at}",
            "y": ends[at],
            "label": spell_in_one_line(function.label),
            "corner": sheet,
        }
        box["outline"] = draw_shape("round box", functions, ends[at], wide, high)
        box["codes"] = {f"f{at}.{code}": spell_in_one_line(model.codes[code]) for code in codes}
        boxes.append(box | {"sheet": draw_shape("sheet", *sheet)})
    drawn = {"captions": captions, "rows": rows, "arrows": arrows, "boxes": boxes}
    drawn |= {"answer": answer, "left": left, "right": right, "functions": functions}
    drawn |= {"width": functions + wide + 8, "height": height}
    drawn["same"] = {"x": functions + wide - 30, "top": 46 + high, "low": ends[0]}
    drawn["same"]["middle"] = (46 + high + ends[0]) // 2
    svg = render("routes.svg", model=model, **drawn)
    return Picture(svg, [_state(model, words, at) for at in range(len(model.headings))])


def _state(model: RouteMap, words: list[list[str]], setting: int) -> dict[str, str]:
    state = {}
    for at, (route, entry) in enumerate(zip(model.routes, model.entries, strict=True)):
        verdict = entry.verdicts[setting]
        tone = {"plain": "shown", "changed": "new"}.get(verdict.tone, "failed")
        state |= {f"r{at}": tone, f"r{at}.{words[at].index(verdict.word)}": tone}
        if route.holds[setting] != UNKNOWN:
            state[f"a{at}.{route.holds[setting]}"] = tone
    codes = [function.codes[setting] for function in model.functions]
    for at, code in enumerate(codes):
        state[f"f{at}"] = "shown" if code == model.functions[at].codes[0] else "new"
        state |= {f"f{at}.{code}": state[f"f{at}"]} if code != UNKNOWN else {}
    return state | ({"same": "new"} if codes[0] == codes[1] != UNKNOWN else {})


def _wide(words, letter: float) -> int:
    return max((measure_text(spell_in_one_line(word), letter) for word in words), default=0)


routes = View(_text, _html, _widget)

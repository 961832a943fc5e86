"""A map of routes -> its picture: calls at the left, holders in the middle, functions at the right.
A *route* is a call that reaches a function through a *holder*: something that refers to the
function, such as a name in a module. Function 0 is the old one, function 1 replaces it. A *setting*
is a number: in setting 0 nothing is replaced, and in each other one something is. One picture has
all settings; each of its parts has a state, such as `shown` or `new`, in each setting.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ...model.reference_records import UNKNOWN, RouteMap
from ...model.tables import Entry
from .. import ink
from ..diagram.animated_graph import Picture
from ..markup import render
from ..plain_text import escape_to_one_line
from ..shapes import LETTER, draw_shape, measure_text

MOST_ROUTES = 60  # rows of the picture
TOP = 30  # pixels above the first row
ROW_HEIGHT = 27  # pixels
CAPTION_HEIGHT = 22  # pixels: what heads a group of holders
HOLDER_HEIGHT = 22  # pixels: the box of a holder
HOLDER_LETTER = 7.1  # pixels: the width of a letter in it
FUNCTION_LETTER = 11
ARROWS_WIDTH = 116  # pixels between holders and functions
FUNCTION_WIDTH = 158  # pixels, at least
FUNCTION_HEIGHT = 146  # pixels, at most
FUNCTION_TOP = 46  # the upper edge of the new function
LEAST_HEIGHT = 376  # pixels of the picture without its margin
MARGIN = 8
CALL_LEFT = 42  # pixels left of the words of a call, with the gap before its answer
LEAST_ANSWER = 44  # pixels
GAP = 34  # pixels between columns
SHEET_HEIGHT = 66
HEAD_LENGTH = 9

GROUPS = {"name": "in modules", "function": "in functions", "object": "in objects"}
# The tone of a call's verdict -> the state of its parts; for any other tone, `failed`.
STATES = {"plain": "shown", "changed": "new"}


@dataclass(frozen=True)
class RouteColumns:
    """Where the columns of the picture are, in pixels from the left."""

    answer: int
    """The right side of the answers."""
    left: int
    """The left side of the holders."""
    right: int
    """The right side of the holders."""
    functions: int
    """The left side of the functions."""
    function_width: int
    """How wide a function is."""


@dataclass(frozen=True)
class RouteRow:
    """A row of the picture: a call, its answers, and who holds the function for it."""

    key: str
    """Its `data-key`."""
    y: int
    """Its middle."""
    call: str
    """The source of the call."""
    name: str
    """Who holds the function."""
    words: list[str]
    """All answers that the call gives in some setting, each once."""
    ink: str
    """The kind of the holder, a key of `ink.KINDS`."""
    outline: str
    """The outline of the holder as an SVG path."""


@dataclass(frozen=True)
class FunctionBox:
    """One of the two functions."""

    key: str
    """Its `data-key`."""
    y: int
    """Its upper edge."""
    label: str
    """Its name."""
    outline: str
    """Its outline as an SVG path."""
    corner: tuple[int, int, int, int]
    """Where the sheet with its code is: x, y, width, height."""
    sheet: str
    """The outline of that sheet."""
    codes: dict[str, str]
    """`data-key` -> the last line of a code object that the function has in some setting."""


def draw_routes(model: RouteMap) -> Picture:
    """Return the picture of the first `MOST_ROUTES` routes, with the states for each setting.

    A part is `new` in a setting if it differs from setting 0.
    """
    model = replace(model, routes=model.routes[:MOST_ROUTES], entries=model.entries[:MOST_ROUTES])
    answers_by_row = [_list_answers(entry) for entry in model.entries]
    columns = _measure_columns(model, answers_by_row)
    captions, rows, bottom = _place_rows(model, answers_by_row, columns)

    height = max(bottom, LEAST_HEIGHT) + MARGIN
    # 110 pixels are for the captions and for the gap between the two functions.
    function_height = min(FUNCTION_HEIGHT, (height - 110) // 2)
    # The upper edges of function 0, the old one, which is below, and of function 1.
    tops = (height - function_height - MARGIN, FUNCTION_TOP)
    # The sign between the functions, shown while both have the same code.
    same_top = FUNCTION_TOP + function_height
    svg = render(
        "routes.svg",
        model=model,
        captions=captions,
        rows=rows,
        arrows=_draw_route_arrows(model, rows, columns, tops, function_height),
        boxes=_draw_functions(model, columns, tops, function_height),
        answer=columns.answer,
        left=columns.left,
        right=columns.right,
        functions=columns.functions,
        width=columns.functions + columns.function_width + MARGIN,
        height=height,
        same={  # where the sign is, and its line from `top` to `low`
            "x": columns.functions + columns.function_width - 30,
            "top": same_top,
            "low": tops[0],
            "middle": (same_top + tops[0]) // 2,
        },
    )
    states = []
    for setting in range(len(model.headings)):
        states.append(_list_states(model, answers_by_row, setting))
    return Picture(svg, states)


def _list_answers(entry: Entry) -> list[str]:
    """Return the answers that a call gives in all settings, each once."""
    return list(dict.fromkeys(verdict.word for verdict in entry.verdicts))


def _measure_columns(model: RouteMap, answers_by_row: list[list[str]]) -> RouteColumns:
    """Return where the columns are, each as wide as its longest text.

    `answers_by_row` has for each route the answers that its call gives.
    """
    calls_width = _measure_widest_text((route.call for route in model.routes), LETTER)
    all_answers = [word for answers in answers_by_row for word in answers]
    answers_width = max(_measure_widest_text(all_answers, LETTER), LEAST_ANSWER)
    answer = CALL_LEFT + calls_width + answers_width
    left = answer + GAP
    names_width = _measure_widest_text((route.name for route in model.routes), HOLDER_LETTER)
    right = left + names_width + GAP

    labels = [function.label for function in model.functions]
    labels_width = _measure_widest_text(labels, FUNCTION_LETTER) + 40
    codes_width = _measure_widest_text(model.codes, LETTER) + 64
    return RouteColumns(
        answer=answer,
        left=left,
        right=right,
        functions=right + ARROWS_WIDTH,
        function_width=max(FUNCTION_WIDTH, labels_width, codes_width),
    )


def _measure_widest_text(texts: Iterable[str], letter: float) -> int:
    """Return the width of the longest text in pixels, if a letter is `letter` pixels wide."""
    widths = [measure_text(escape_to_one_line(text), letter) for text in texts]
    return max(widths, default=0)


def _place_rows(
    model: RouteMap, answers_by_row: list[list[str]], columns: RouteColumns
) -> tuple[list[tuple[int, str]], list[RouteRow], int]:
    """Return the captions as (y, text), the rows, and the y at which the last row ends.

    A caption stands above neighbouring routes whose holders are of one kind. `answers_by_row` has
    for each route the answers that its call gives.
    """
    captions = []
    rows = []
    y = TOP
    previous_kind = None
    for number, route in enumerate(model.routes):
        if route.kind != previous_kind:
            captions.append((y + 14, GROUPS[route.kind]))
            y += CAPTION_HEIGHT
            previous_kind = route.kind

        middle = y + ROW_HEIGHT // 2
        shape = ink.KINDS[route.kind].shape
        holder_top = middle - HOLDER_HEIGHT // 2
        holder_width = columns.right - columns.left
        row = RouteRow(
            key=f"r{number}",
            y=middle,
            call=escape_to_one_line(route.call),
            name=escape_to_one_line(route.name),
            words=answers_by_row[number],
            ink=route.kind,
            outline=draw_shape(shape, columns.left, holder_top, holder_width, HOLDER_HEIGHT),
        )
        rows.append(row)
        y += ROW_HEIGHT
    return captions, rows, y


def _draw_route_arrows(
    model: RouteMap,
    rows: list[RouteRow],
    columns: RouteColumns,
    tops: tuple[int, int],
    function_height: int,
) -> list[dict]:
    """Return an arrow from each holder to each function that it refers to in some setting.

    `tops` are the upper edges of the functions, and `function_height` is their height in pixels.
    """
    last = max(len(rows) - 1, 1)  # the number of the last row; not 0, because it divides
    half = (columns.right + columns.functions) // 2
    tip = columns.functions - HEAD_LENGTH
    arrows = []
    for number, (route, row) in enumerate(zip(model.routes, rows, strict=True)):
        # How far below the upper edge an arrow ends: arrows of later rows end farther down.
        offset = 14 + (function_height - 28) * number // last
        # `route.holds` has for each setting the number of the function that the holder refers to.
        for function in sorted(set(route.holds) - {UNKNOWN}):
            end = tops[function] + offset
            curve = f"C{half} {row.y} {half - HEAD_LENGTH} {end} {tip} {end}"
            arrow = {
                "key": f"a{number}.{function}",
                "slot": number,
                "words": f"{route.name} refers to {model.functions[function].label}",
                "line": f"M{columns.right} {row.y}{curve}",
                "start": (columns.right, row.y),
                "tip": (columns.functions, end),
            }
            arrows.append(arrow)
    return arrows


def _draw_functions(
    model: RouteMap, columns: RouteColumns, tops: tuple[int, int], function_height: int
) -> list[FunctionBox]:
    """Return the box of each function, with a sheet in it that shows the function's code.

    `tops` are the upper edges of the boxes, and `function_height` is their height, in pixels.
    """
    boxes = []
    for number, function in enumerate(model.functions):
        top = tops[number]
        place = (columns.functions, top, columns.function_width, function_height)
        sheet_left = columns.functions + 18
        sheet_top = top + function_height - 80
        sheet = (sheet_left, sheet_top, columns.function_width - 36, SHEET_HEIGHT)

        codes = {}  # `data-key` -> the last line of the code object
        for code in function.codes:  # for each setting, the number of a code object
            if code != UNKNOWN:
                codes[f"f{number}.{code}"] = escape_to_one_line(model.codes[code])
        box = FunctionBox(
            key=f"f{number}",
            y=top,
            label=escape_to_one_line(function.label),
            outline=draw_shape("round box", *place),
            corner=sheet,
            sheet=draw_shape("sheet", *sheet),
            codes=codes,
        )
        boxes.append(box)
    return boxes


def _list_states(model: RouteMap, answers_by_row: list[list[str]], setting: int) -> dict[str, str]:
    """Return `data-key` -> state, for each part of the picture that is there in a setting.

    The keys are `r2` for row 2, `r2.0` for its first answer, `a2.1` for the arrow from row 2 to
    function 1, `f1` for function 1, `f1.0` for its code 0, and `same` for the sign that both
    functions have the same code.
    """
    states = {}
    for number, (route, entry) in enumerate(zip(model.routes, model.entries, strict=True)):
        verdict = entry.verdicts[setting]  # what the call answered in this setting
        state = STATES.get(verdict.tone, "failed")
        states[f"r{number}"] = state
        answer_number = answers_by_row[number].index(verdict.word)
        states[f"r{number}.{answer_number}"] = state
        if route.holds[setting] != UNKNOWN:
            states[f"a{number}.{route.holds[setting]}"] = state

    for number, function in enumerate(model.functions):
        code = function.codes[setting]
        state = "shown" if code == function.codes[0] else "new"
        states[f"f{number}"] = state
        if code != UNKNOWN:
            states[f"f{number}.{code}"] = state

    old_code, new_code = [function.codes[setting] for function in model.functions]
    if old_code == new_code != UNKNOWN:
        states["same"] = "new"
    return states

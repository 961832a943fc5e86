"""Ratios -> bars that leave a line at 1: what is less to the left, what is more to the right.

The scale is logarithmic, so half as long and twice as long are bars of one length.
"""

import math

from helpers.model.phrase import clipped
from helpers.view import row_limit
from helpers.view.markup import grid, joined, one_line, render
from helpers.view.picture import pictured

MOST_BARS = 60
SMALLEST, LARGEST = 1e-30, 1e30
LONGEST_NAME = 60  # characters beside a bar
ALL = "the plot has all of them (`.ratios`)"
WIDTH, TOP, ROW = 400, 44, 26  # of the bars; of the scale; of a row: pixels
LETTER, ROOM, GAP = 7.9, 62, 8  # of a name; for a number beside a bar
FITS = 0.84  # of its natural size, where letters have 10 pixels; a narrower window scrolls
MOST_TICKS = 7
SCALE = "The scale is logarithmic: twice and half are bars of one length."


class Plot:
    """A picture of ratios by name, `.ratios`. Its text form and its alt text give the numbers.

    The numbers are measured, so a cell that ends in a plot is not compared by the tests.
    """

    def __init__(self, title: str, ratios: dict[str, float]):
        self.title, self.ratios = title, ratios

    def __repr__(self) -> str:
        rows = [[row_limit.cut(name), _rounded(ratio)] for name, ratio in self.ratios.items()]
        headings = ["bar", "ratio"]
        part = row_limit.text_fold(headings, rows, row_limit.TEXT_ROOM)
        body = grid(headings, part.of(rows, lambda: row_limit.dots(headings)))
        return joined(row_limit.cut(self.title), body, part.says(ALL))

    def _repr_mimebundle_(self, include=None, exclude=None):
        shown = list(self.ratios.items())[:MOST_BARS]
        words = ", ".join(f"{_short(name)} {_rounded(ratio)}" for name, ratio in shown)
        rest = self._part().says(ALL, "Bars")
        title = _short(self.title, 200)
        alt = f"{title}: {words}{f'. {rest}' if rest else ''}"
        image = pictured(self.svg(), FITS)
        html = render("plot.html", title=title, alt=alt, scale=SCALE, left_out=rest, **image)
        return {"text/plain": repr(self), "text/html": html}

    def _part(self) -> row_limit.Part:
        return row_limit.Part(min(len(self.ratios), MOST_BARS), 0, len(self.ratios))

    def svg(self) -> str:
        """Return the plot as SVG text: one bar per ratio, and a line where both take as long."""
        shown = [(_short(name), ratio) for name, ratio in list(self.ratios.items())[:MOST_BARS]]
        low, high = _ends([ratio for _, ratio in shown])
        names = round(max(len(name) for name, _ in shown) * LETTER) + 2 * GAP
        left = names + GAP + (ROOM if low < 0 else 0)

        def place(ratio: float) -> int:
            return left + round(WIDTH * (math.log10(ratio) - low) / (high - low))

        bars = [_bar(n, name, ratio, place) for n, (name, ratio) in enumerate(shown)]
        sides = [("◀ less", (left + place(1)) // 2)] if low < 0 else []
        sides += [("more ▶", (place(1) + left + WIDTH) // 2)] if high > 0 else []
        return render(
            "plot.svg",
            width=left + WIDTH + (ROOM if high > 0 else GAP),
            height=TOP + ROW * len(bars) + GAP,
            top=TOP,
            names=names,
            bars=bars,
            sides=sides,
            ticks=[(place(tick), f"{tick:,g}") for tick in _ticks(low, high)],
        )


def _ends(ratios: list[float]) -> tuple[float, float]:
    """Return the exponents at both ends of the scale: 1 is between them, or one of them."""
    low, high = (math.log10(edge(1.0, *ratios)) for edge in (min, max))
    return (low, high) if low < high else (-0.3, 0.3)


def _ticks(low: float, high: float) -> list[float]:
    """Return 1 and the powers of ten that there is room for; or halves and doubles."""
    if high - low < 1:
        return [tick for tick in (0.2, 0.5, 1.0, 2.0, 5.0) if low <= math.log10(tick) <= high]
    step = math.ceil((high - low) / MOST_TICKS)
    powers = range(math.ceil(low), math.floor(high) + 1)
    return [10.0**power for power in powers if power % step == 0]


def _bar(number: int, name: str, ratio: float, place) -> dict:
    one, end = place(1), place(ratio)
    side = "less" if ratio < 1 else "more"
    return {
        "name": name,
        "number": _rounded(ratio),
        "side": side,
        "y": TOP + ROW * number,
        "x": min(one, end),
        "width": max(abs(end - one), 2),
        "said": end - GAP if side == "less" else end + GAP,
    }


def plot(title: str, ratios: dict[str, float]) -> Plot:
    """Return a bar plot of positive ratios by name.

    TypeError for what is no dict of str -> float or int. ValueError names a ratio that is not
    positive, or not finite.
    """
    if not issubclass(type(title), str):
        raise TypeError(f"the title of a plot must be a str, not {_kind(title)}")
    if not issubclass(type(ratios), dict):
        raise TypeError(f"ratios must be a dict of name -> number, not {_kind(ratios)}")
    checked = {}
    for name, ratio in dict.items(ratios):
        if not issubclass(type(name), str):
            raise TypeError(f"the name of a bar must be a str, not {_kind(name)}")
        name = str.__str__(name)
        checked[name] = _number(name, ratio)
    if not checked:
        raise ValueError("a plot needs at least one ratio")
    return Plot(str.__str__(title), checked)


def _number(name: str, ratio: object) -> float:
    words = repr(_short(name))
    if issubclass(type(ratio), float):
        number = float.__float__(ratio)
    elif issubclass(type(ratio), int) and type(ratio) is not bool:
        try:
            number = int.__float__(ratio)
        except OverflowError:
            raise ValueError(f"{words} is too large; a bar needs a positive number") from None
    else:
        raise TypeError(
            f"{words} is of type {_kind(ratio)}; a bar needs a positive number: float(…)"
        )
    if not SMALLEST <= number <= LARGEST:
        raise ValueError(
            f"{words} is {number}; a bar needs a positive number, from {SMALLEST:g} to {LARGEST:g}"
        )
    return number


def _kind(value: object) -> str:
    return _short(type.__dict__["__name__"].__get__(type(value)))


def _short(words: str, most: int = LONGEST_NAME) -> str:
    words = one_line(words)
    return clipped(words, most)


def _rounded(ratio: float) -> str:
    """Return two digits of it, and a large one without an exponent."""
    return f"{float(f'{ratio:.2g}'):,.0f}" if ratio >= 100 else f"{ratio:.2g}"

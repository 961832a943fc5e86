"""Ratios -> a bar plot on a logarithmic scale, with its numbers for those who do not see it."""

import base64
import io
import warnings

from helpers.model.phrase import clipped
from helpers.view import ink, row_limit
from helpers.view.markup import grid, joined, one_line, render

MOST_BARS = 60
SMALLEST, LARGEST = 1e-30, 1e30
LONGEST_NAME = 60  # characters beside a bar
ALL = "the plot has all of them (`.ratios`)"
INK, _ = ink.PAPER["edge"]  # seen on light and on dark; the bars' words stand beside them


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
        image = f"data:image/png;base64,{base64.b64encode(self.png()).decode()}"
        shown = list(self.ratios.items())[:MOST_BARS]
        words = ", ".join(f"{_short(name)} {_rounded(ratio)}" for name, ratio in shown)
        rest = self._part().says(ALL, "Bars")
        alt = f"{_short(self.title, 200)}: {words}{f'. {rest}' if rest else ''}"
        html = render("plot.html", image=image, alt=alt, left_out=rest)
        return {"text/plain": repr(self), "text/html": html}

    def _part(self) -> row_limit.Part:
        return row_limit.Part(min(len(self.ratios), MOST_BARS), 0, len(self.ratios))

    def png(self) -> bytes:
        """Return the plot as PNG: one bar per ratio, and a line where both take as long."""
        import matplotlib  # heavy, and rarely needed
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        written = io.BytesIO()
        # A name is no formula, whatever stands in it; and a letter that no font has is no warning.
        with matplotlib.rc_context({"text.parse_math": False}), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            FigureCanvasAgg(self.figure()).print_png(written)
        return written.getvalue()

    def figure(self):
        """Return the plot as matplotlib's Figure, without a canvas."""
        from matplotlib.figure import Figure

        names = [_short(name) for name in self.ratios][:MOST_BARS][::-1]
        ratios = list(self.ratios.values())[:MOST_BARS][::-1]
        figure = Figure(figsize=(7, 0.8 + 0.42 * len(names)), layout="constrained")
        axes = figure.add_subplot()
        bars = axes.barh(range(len(names)), ratios, color=INK)
        axes.set_yticks(range(len(names)), names)
        axes.bar_label(bars, [_rounded(ratio) for ratio in ratios], padding=3)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")  # the usual one writes formulas
        axes.xaxis.set_minor_formatter("")
        axes.axvline(1, color=INK, linewidth=1)
        axes.set_title(_short(self.title, 100), loc="left", fontsize=10)
        axes.margins(x=0.15)
        axes.spines[["top", "right"]].set_visible(False)
        return figure


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

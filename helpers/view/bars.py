"""Ratios -> a bar plot on a logarithmic scale, with its numbers for those who do not see it."""

import base64
import io

from helpers.view.ink import grid, render

INK = "#5f7f9f"  # seen on light and on dark; the bars' words stand beside them


class Plot:
    """A picture of ratios by name, `.ratios`. Its text form and its alt text give the numbers.

    The numbers are measured, so a cell that ends in a plot is not compared by the tests.
    """

    def __init__(self, title: str, ratios: dict[str, float]):
        self.title, self.ratios = title, ratios

    def __repr__(self) -> str:
        rows = [[name, _rounded(ratio)] for name, ratio in self.ratios.items()]
        return f"{self.title}\n{grid(['bar', 'ratio'], rows)}"

    def _repr_mimebundle_(self, include=None, exclude=None):
        image = f"data:image/png;base64,{base64.b64encode(self.png()).decode()}"
        words = ", ".join(f"{name} {_rounded(ratio)}" for name, ratio in self.ratios.items())
        html = render("plot.html", image=image, alt=f"{self.title}: {words}")
        return {"text/plain": repr(self), "text/html": html}

    def png(self) -> bytes:
        """Return the plot as PNG: one bar per ratio, and a line where both take as long."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # heavy, and rarely needed
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7, 0.8 + 0.42 * len(self.ratios)), layout="constrained")
        axes = figure.add_subplot()
        names = list(self.ratios)[::-1]
        bars = axes.barh(names, [self.ratios[name] for name in names], color=INK)
        axes.bar_label(bars, [_rounded(self.ratios[name]) for name in names], padding=3)
        axes.set_xscale("log")
        axes.axvline(1, color="#404040", linewidth=1)
        axes.set_title(self.title, loc="left", fontsize=10)
        axes.margins(x=0.15)
        axes.spines[["top", "right"]].set_visible(False)
        written = io.BytesIO()
        FigureCanvasAgg(figure).print_png(written)
        return written.getvalue()


def plot(title: str, ratios: dict[str, float]) -> Plot:
    """Return a bar plot of positive ratios by name. ValueError names a ratio that is not."""
    for name, ratio in ratios.items():
        if not 0 < ratio < float("inf"):
            raise ValueError(f"{name!r} is {ratio}; a bar needs a positive number")
    return Plot(title, dict(ratios))


def _rounded(ratio: float) -> str:
    """Return two digits of it, and a large one without an exponent."""
    return f"{float(f'{ratio:.2g}'):,.0f}" if ratio >= 100 else f"{ratio:.2g}"

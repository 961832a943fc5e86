"""Costs -> a bar plot on a logarithmic scale: a PNG, its words for those who do not see it."""

import io

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

INK = "#5f7f9f"  # seen on light and on dark; the bars' words stand beside them


class Plot:
    """A picture of ratios. Its text form names the bars; the numbers stand in the alt text.

    The text is the same in every run, which measured numbers are not.
    """

    def __init__(self, title: str, ratios: dict[str, float]):
        self.title, self.ratios = title, ratios

    def __repr__(self) -> str:
        return f"{self.title}: a bar each for {', '.join(self.ratios)}"

    def _repr_mimebundle_(self, include=None, exclude=None):
        words = ", ".join(f"{name} {ratio:.2g}" for name, ratio in self.ratios.items())
        data = {"text/plain": repr(self), "image/png": self.png()}
        return data, {"image/png": {"alt": f"{self.title}: {words}"}}

    def png(self) -> bytes:
        """Return the plot as PNG: one bar per ratio, and a line where both take as long."""
        figure = Figure(figsize=(7, 0.8 + 0.42 * len(self.ratios)), layout="constrained")
        axes = figure.add_subplot()
        names = list(self.ratios)[::-1]
        bars = axes.barh(names, [self.ratios[name] for name in names], color=INK)
        axes.bar_label(bars, [f"{self.ratios[name]:.2g}" for name in names], padding=3)
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

"""Numbers -> a bar plot of ratios, or a curve; both say the numbers in words too."""

from collections.abc import Mapping
from numbers import Real

from ..model.noise import Ratio
from ..model.phrase import clip_text
from . import View
from .bar_plot import render_bars_html, render_bars_text, shorten_name
from .curve_plot import Curve, render_curve_html, render_curve_text

LONGEST_TITLE = 200
LONGEST_CURVE_WORDS = 100
LEAST_RATIO = 1e-30
GREATEST_RATIO = 1e30
GREATEST_NUMBER = 1e300


class Plot:
    """Ratios by name as a picture and as text. A ratio whose rounds spread too far says so."""

    def __init__(self, title: str, ratios: dict[str, float]):
        self.title = title
        self.ratios = ratios

    def __repr__(self) -> str:
        return render_bars_text(self.title, self.ratios)

    def _repr_mimebundle_(self, include=None, exclude=None):
        """Return the text and the HTML by their MIME types, as Jupyter asks for them."""
        html = render_bars_html(self.title, self.ratios)
        return {"text/plain": repr(self), "text/html": html}


def plot(title: str, ratios: Mapping[str, float]) -> Plot:
    """Return a bar plot of `ratios`, name -> positive number.

    TypeError for a name that is no text or a ratio that is no number, ValueError for a ratio that
    is not positive.
    """
    if not isinstance(title, str) or not isinstance(ratios, dict) or not ratios:
        raise TypeError("a plot needs a title and a dict of name -> number")

    checked = {}
    for name, ratio in ratios.items():
        _require_ratio(name, ratio)
        checked[name] = ratio if isinstance(ratio, Ratio) else float(ratio)
    return Plot(shorten_name(title, LONGEST_TITLE), checked)


def _require_ratio(name: object, ratio: object) -> None:
    """Raise TypeError for a name or a ratio of a wrong type, ValueError for one out of range."""
    if not isinstance(name, str) or not _is_number(ratio):
        raise TypeError("a bar needs a str as its name, and a positive number: float(…)")
    if not LEAST_RATIO <= ratio <= GREATEST_RATIO:
        shown = f"{shorten_name(name)!r} is {clip_text(str(ratio), 30)}"
        raise ValueError(f"{shown}; a bar needs a positive number, from 1e-30 to 1e+30")


def _is_number(value: object) -> bool:
    """Return whether a value is a real number; True and False are none, though Python says so."""
    return isinstance(value, Real) and not isinstance(value, bool)


def make_curve(title: str, numbers, step: str = "step", number: str = "number") -> Curve:
    """Return a curve of numbers, none of them below 0; `step` and `number` name the two axes.

    TypeError for arguments of a wrong type, ValueError for numbers out of range or for none.
    """
    if not all(isinstance(words, str) for words in (title, step, number)):
        raise TypeError("the title and the words for a step and a number must be text")
    if not isinstance(numbers, list | tuple) or not all(map(_is_number, numbers)):
        raise TypeError("a curve needs a list or a tuple of numbers: int or float")
    if not numbers or not all(0 <= each < GREATEST_NUMBER for each in numbers):
        raise ValueError("a curve needs 1 number or more, from 0 to 1e300")

    return Curve(
        title=shorten_name(title, LONGEST_CURVE_WORDS),
        numbers=tuple(map(float, numbers)),
        step=shorten_name(step, LONGEST_CURVE_WORDS),
        number=shorten_name(number),
    )


curve = View(render_curve_text, render_curve_html)

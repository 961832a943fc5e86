"""A kind of thing -> its one colour, shape and word in all pictures; and the style that they share.

Colour names the kind, the shape repeats it, the word says it: nothing is told by colour alone.
Every hexadecimal colour of the course stands here.
"""

from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True)
class Kind:
    """One kind of thing. `mark` is its shape as a letter, for where nothing can be drawn."""

    word: str
    light: str
    dark: str
    shape: str
    mark: str


KINDS = {
    kind.word: kind
    for kind in (
        Kind("name", "#1f5fa8", "#8ab8f0", "tag", "▷"),
        Kind("object", "#4d5761", "#b4bdc7", "box", "□"),
        Kind("function", "#6a3fb0", "#c0a3f5", "round box", "▢"),
        Kind("code", "#8a2f7d", "#e79bd8", "sheet", "▤"),
        Kind("frame", "#3c4a9e", "#a3b0f5", "window", "▣"),
        Kind("cell", "#0b6767", "#6fd0cb", "pill", "◎"),
        Kind("op", "#725600", "#e0c050", "round ends", "○"),
        Kind("kernel", "#4d5761", "#b4bdc7", "hexagon", "⬡"),
        Kind("guard", "#4a6600", "#b6d36b", "shield", "▽"),
        Kind("tensor", "#2a6b2d", "#8fd08f", "slanted box", "▱"),
        Kind("output", "#2a6b2d", "#8fd08f", "double slanted box", "▰"),
        Kind("constant", "#665c4d", "#cdbfa8", "square", "▪"),
        Kind("forward", "#00627a", "#6cc8e0", "solid arrow", "→"),
        Kind("backward", "#a81e2e", "#f794a0", "dashed arrow", "⇠"),
        Kind("update", "#b0400a", "#ffa36b", "filled mark", "▲"),
    )
}
# What a page is made of, and how a judgement is told; each with a word or a mark beside it.
PAPER = {
    "paper": ("#ffffff", "#111111"),
    "wash": ("#f0ede5", "#1f242b"),
    "line": ("#c9c5bb", "#444b55"),
    "edge": ("#7d8590", "#7d8590"),
}
WORDS = {
    "ink": ("#1d2024", "#ebe8e2"),
    "quiet": ("#5c636b", "#a3aab3"),
    "passed": ("#1a6a33", "#86d49a"),
    "failed": ("#a81e2e", "#f794a0"),
}
# A stage's own: amber means "now" and nothing else; a kind of instruction is also a lane.
STAGE = {
    "now": ("#ffe9a8", "#4d3a05"),
    "now-edge": ("#8a5a00", "#e8b73f"),
    "band": ("#fff7de", "#292415"),
    "load": ("#0b61c4", "#6cb2ff"),
    "store": ("#8a3fa0", "#d49bea"),
    "operate": ("#b04600", "#f5a35c"),
    "call": ("#0a734a", "#5ccb94"),
    "jump": ("#c0254a", "#ff8aa0"),
    "value": ("#e9f1fb", "#1b2f4a"),
    "value-edge": ("#3f76b5", "#5e95d6"),
}
# JupyterLab drops a colour from an untrusted page unless a name that it knows stands in it: hence
# `black` and `white`. `var(…)` stays in `background-color` and `border-color`, and is dropped from
# `background` and `border`.
TEXT = "var(--jp-content-font-color0,var(--black,CanvasText))"
PAGE = "var(--jp-layout-color0,var(--white,Canvas))"
EDGE = "#7d859080"  # half seen through: a rule between rows, on either page
PALE = f"color-mix(in srgb,{TEXT} 60%,transparent)"  # of words beside others that say more
_WASH = 12  # per cent of a colour in what words stand on
_SHARE = 62  # per cent of the hue where a page has no style sheet: the rest is the page's text


def colours(dark: bool) -> dict[str, str]:
    """Return every colour of a theme by name."""
    kinds = {word: kind.dark if dark else kind.light for word, kind in KINDS.items()}
    return {**kinds, **{word: pair[dark] for word, pair in (WORDS | PAPER).items()}}


def declared(dark: bool) -> dict[str, str]:
    """Return every colour of a theme by name, and the fill of each kind and word."""
    named, paper = colours(dark), PAPER["paper"][dark]
    return {**named, **{f"{name}-fill": _mixed(named[name], paper) for name in (*KINDS, *WORDS)}}


def variables(dark: bool) -> str:
    """Return the declarations of a theme: `--who-<name>` for each colour, `--who-<name>-fill`."""
    stage = "".join(f"--stage-{name}:{pair[dark]};" for name, pair in STAGE.items())
    return "".join(f"--who-{name}:{value};" for name, value in declared(dark).items()) + stage


def _mixed(hue: str, paper: str) -> str:
    parts = zip(*(bytes.fromhex(one[1:]) for one in (hue, paper)), strict=True)
    shown = (round((a * _WASH + b * (100 - _WASH)) / 100) for a, b in parts)
    return "#" + bytes(shown).hex()


def stylesheet() -> str:
    """Return the style sheet of a page: light, or dark as JupyterLab or the reader's system is."""
    dark = variables(True)
    return (
        f":root{{{variables(False)}}}\n"
        "@media (prefers-color-scheme:dark){"
        f":root:not(:has([data-jp-theme-light])){{{dark}}}}}\n"
        f'[data-jp-theme-light="false"]{{{dark}}}\n'
    )


def picture_style() -> str:
    """Return the style of an SVG that stands in an image: there it is asked for no page's theme.

    It follows the reader's system, and is read on a page of the other theme all the same: what it
    shows stands on grounds of its own.
    """
    light, dark = (f":root{{{variables(theme)}}}" for theme in (False, True))
    return f"{light}@media (prefers-color-scheme:dark){{{dark}}}"


def colour(name: str) -> str:
    """Return the colour as CSS for a `style` attribute, where there may be no style sheet.

    Without one it is the light colour mixed with the page's text, so it is read in either theme.
    KeyError for a name that is no kind and no word.
    """
    if name == "ink":
        return f"var(--who-ink,{TEXT})"
    light = KINDS[name].light if name in KINDS else WORDS[name][0]
    return f"var(--who-{name},color-mix(in srgb,{light} {_SHARE}%,{TEXT}))"


def fill(name: str) -> str:
    """Return a faint wash of the colour as CSS for `background-color` in a `style` attribute."""
    light = KINDS[name].light if name in KINDS else WORDS[name][0]
    return f"var(--who-{name}-fill,color-mix(in srgb,{light} {_WASH}%,{PAGE}))"


def tint(name: str) -> str:
    """Return the same wash, through which what lies behind is seen, such as a shade at an edge."""
    return f"color-mix(in srgb,{colour(name)} {_WASH}%,transparent)"


def legend(words: dict[str, str]) -> Markup:
    """Return one line of HTML: each word (-> its kind), with the mark and in the kind's colour."""
    item = Markup(
        '<span style="color:{};margin-right:14px"><span aria-hidden="true">{} </span>{}</span> '
    )
    items = (item.format(colour(kind), KINDS[kind].mark, word) for word, kind in words.items())
    return Markup('<p style="margin:2px 0 6px 0">{}</p>').format(Markup("").join(items))


def outline(shape: str, x: float, y: float, width: float, height: float) -> str:
    """Return the outline of a shape as an SVG path; an arrow's and a mark's are a plain box."""
    half, right, low = height / 2, x + width, y + height
    if shape == "tag":
        tip = min(12, width / 4)
        return f"M{x:g} {y:g}H{right - tip:g}L{right:g} {y + half:g}L{right - tip:g} {low:g}H{x:g}z"
    if shape == "hexagon":
        cut = min(10, width / 4)
        return (
            f"M{x + cut:g} {y:g}H{right - cut:g}L{right:g} {y + half:g}L{right - cut:g} {low:g}"
            f"H{x + cut:g}L{x:g} {y + half:g}z"
        )
    if shape == "slanted box":
        return _slanted(x, y, width, height, min(8, width / 4))
    if shape == "double slanted box":
        inner = _slanted(x + 4, y + 3, width - 8, height - 6, min(7, width / 4))
        return _slanted(x, y, width, height, min(8, width / 4)) + inner
    if shape == "shield":
        cut = min(10, half)
        return (
            f"M{x:g} {y:g}H{right:g}V{low - cut:g}L{right - cut:g} {low:g}H{x + cut:g}"
            f"L{x:g} {low - cut:g}z"
        )
    if shape == "sheet":
        fold = min(10, half)
        corner = f"M{right - fold:g} {y:g}V{y + fold:g}H{right:g}"
        return f"M{x:g} {y:g}H{right - fold:g}L{right:g} {y + fold:g}V{low:g}H{x:g}z{corner}"
    if shape == "window":
        return f"{_rounded(x, y, width, height, 3)}M{x:g} {y + 4:g}H{right:g}"
    if shape == "pill":
        inner = _rounded(x + 3, y + 3, width - 6, height - 6, half - 3)
        return _rounded(x, y, width, height, half) + inner
    radius = {"round box": 14, "round ends": half, "square": 0}.get(shape, 3)
    return _rounded(x, y, width, height, min(radius, half))


def _slanted(x: float, y: float, width: float, height: float, lean: float) -> str:
    right, low = x + width, y + height
    return f"M{x + lean:g} {y:g}H{right:g}L{right - lean:g} {low:g}H{x:g}z"


def _rounded(x: float, y: float, width: float, height: float, r: float) -> str:
    across, down = width - 2 * r, height - 2 * r
    return (
        f"M{x + r:g} {y:g}h{across:g}a{r:g} {r:g} 0 0 1 {r:g} {r:g}v{down:g}"
        f"a{r:g} {r:g} 0 0 1 {-r:g} {r:g}h{-across:g}a{r:g} {r:g} 0 0 1 {-r:g} {-r:g}"
        f"v{-down:g}a{r:g} {r:g} 0 0 1 {r:g} {-r:g}z"
    )

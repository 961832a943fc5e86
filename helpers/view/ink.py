"""A kind of thing, such as `op` or `tensor` -> its one colour, shape and word in all pictures.
A *theme* is light or dark. Nothing is shown by colour alone. Every hexadecimal colour of the course
is here.
"""

from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True)
class Kind:
    """One kind of thing, as pictures show it."""

    word: str
    """Its name."""
    light: str
    """Its colour on a light page."""
    dark: str
    """Its colour on a dark page."""
    shape: str
    """Its shape in a picture."""
    mark: str
    """Its shape as a letter, for where nothing can be drawn."""


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
        Kind("output", "#2a6b2d", "#8fd08f", "double slanted box", "◈"),
        Kind("constant", "#665c4d", "#cdbfa8", "square", "▪"),
        Kind("forward", "#00627a", "#6cc8e0", "solid arrow", "→"),
        Kind("backward", "#a81e2e", "#f794a0", "dashed arrow", "⇠"),
        Kind("update", "#b0400a", "#ffa36b", "filled mark", "▲"),
    )
}

BOX_MARKS = {"solid arrow": "□", "dashed arrow": "⬚"}  # kinds whose own mark is an arrow

# What a page is made of, and how a judgement is shown; each with a word or a mark beside it.
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

# JupyterLab drops a colour from an untrusted page unless it contains a name that it knows: hence
# `black` and `white`. `var(…)` stays in `background-color` and `border-color`, and is dropped from
# `background` and `border`.
TEXT = "var(--jp-content-font-color0,var(--black,CanvasText))"
PAGE = "var(--jp-layout-color0,var(--white,Canvas))"
EDGE = "#7d859080"  # half seen through: a rule between rows, on either page
_WASH = 12  # per cent of a colour behind words
_SHARE = 62  # per cent of the hue where a page has no style sheet: the rest is the page's text


def list_colours(dark: bool) -> dict[str, str]:
    """Return name -> colour, such as `#1f5fa8`, of the dark theme or of the light one.

    The names are those of `KINDS`, `WORDS` and `PAPER`. Each name of `KINDS` and `WORDS` is also
    there as `<name>-fill`: a faint wash of its colour, for the ground behind words.
    """
    # The second of a pair of colours is the dark one: `pair[True]` is `pair[1]`.
    own_colours = {word: kind.dark if dark else kind.light for word, kind in KINDS.items()}
    own_colours |= {word: pair[dark] for word, pair in WORDS.items()}

    colours = own_colours | {word: pair[dark] for word, pair in PAPER.items()}
    for name, colour in own_colours.items():
        colours[f"{name}-fill"] = _mix_colours(colour, colours["paper"])
    return colours


def _mix_colours(colour: str, ground: str) -> str:
    """Return a colour mixed with much of a ground, such as paper; each is text like `#1f5fa8`."""
    mixed = []
    channels = zip(bytes.fromhex(colour[1:]), bytes.fromhex(ground[1:]), strict=True)
    for own, below in channels:  # red, green, blue
        mixed.append(round((own * _WASH + below * (100 - _WASH)) / 100))
    return f"#{bytes(mixed).hex()}"


def render_variables(dark: bool) -> str:
    """Return the CSS variables of a theme: `--who-<name>` for each colour, `--stage-<name>`."""
    colours = [f"--who-{name}:{value};" for name, value in list_colours(dark).items()]
    stage = [f"--stage-{name}:{pair[dark]};" for name, pair in STAGE.items()]
    return "".join(colours + stage)


def render_stylesheet() -> str:
    """Return the style sheet of a page, light or dark.

    JupyterLab says in an attribute of the page which theme it has. Elsewhere the reader's system
    decides.
    """
    dark = render_variables(dark=True)
    return (
        f":root{{{render_variables(dark=False)}}}\n"
        "@media (prefers-color-scheme:dark){"
        f":root:not(:has([data-jp-theme-light])){{{dark}}}}}\n"
        f'[data-jp-theme-light="false"]{{{dark}}}\n'
    )


def format_colour(name: str) -> str:
    """Return the CSS of a colour: the variable of the course's style sheet, else a fixed colour.

    A page without the style sheet gets the light colour, mixed with the colour of the page's text,
    so that it can be read on a dark page too.
    """
    if name == "ink":  # the colour of text; a page has a variable of its own for it
        return f"var(--who-ink,{TEXT})"

    light = list_colours(dark=False)[name]
    return f"var(--who-{name},color-mix(in srgb,{light} {_SHARE}%,{TEXT}))"


def format_fill(name: str) -> str:
    """Return a faint wash of the colour as CSS for `background-color` in a `style` attribute."""
    light = list_colours(dark=False)[name]
    return f"var(--who-{name}-fill,color-mix(in srgb,{light} {_WASH}%,{PAGE}))"


def format_tint(name: str) -> str:
    """Return a faint wash of the colour as CSS, through which what lies behind it is seen."""
    return f"color-mix(in srgb,{format_colour(name)} {_WASH}%,transparent)"


_LEGEND = Markup('<p style="margin:2px 0 6px 0">{}</p>')
_LEGEND_ITEM = Markup(
    '<span style="color:{};margin-right:14px;white-space:nowrap">'
    '<span aria-hidden="true">{} </span>{}</span> '
)


def render_legend(kinds_by_word: dict[str, str]) -> Markup:
    """Return a line of HTML with each word after its mark.

    `kinds_by_word` has word -> kind, a key of `KINDS`, which gives the mark and the colour.
    """
    items = []
    for word, name in kinds_by_word.items():
        kind = KINDS[name]
        mark = BOX_MARKS.get(kind.shape, kind.mark)
        items.append(_LEGEND_ITEM.format(format_colour(name), mark, word))
    return _LEGEND.format(Markup("").join(items))

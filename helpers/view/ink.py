"""A kind of thing -> its one colour, shape and word in all pictures; an SVG -> an image with them.

Nothing is shown by colour alone. Every hexadecimal colour of the course is here. Where scripts
may run, `inline_picture.js` replaces an image by the SVG in it, in the colours of the page's theme.
"""

import base64
import re
from collections import namedtuple
from pathlib import Path

from markupsafe import Markup

# One kind of thing. `mark` is its shape as a letter, for where nothing can be drawn.
Kind = namedtuple("Kind", ["word", "light", "dark", "shape", "mark"])
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
BOXES = {"solid arrow": "□", "dashed arrow": "⬚"}  # the marks of their boxes
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
LETTER, SMALL = 7.9, 7.0  # width of a letter at 13 and at 11.5 pixels
SMALLEST = 0.872  # of its natural size, where letters have 10 pixels; a narrower window scrolls
_USED = re.compile(r"var\(--who-([a-z-]+)")
_OF_THE_PAGE = {"paper": "--jp-layout-color0", "ink": "--jp-content-font-color0"}


def colours(dark: bool) -> dict[str, str]:
    """Return every colour of a theme by name, and the fill of each kind and word."""
    named = {word: kind.dark if dark else kind.light for word, kind in KINDS.items()}
    named |= {word: pair[dark] for word, pair in WORDS.items()}
    found = named | {word: pair[dark] for word, pair in PAPER.items()}
    for name, hue in named.items():
        parts = zip(bytes.fromhex(hue[1:]), bytes.fromhex(found["paper"][1:]), strict=True)
        mixed = bytes(round((a * _WASH + b * (100 - _WASH)) / 100) for a, b in parts)
        found[f"{name}-fill"] = f"#{mixed.hex()}"
    return found


def variables(dark: bool) -> str:
    """Return the declarations of a theme: `--who-<name>` for each colour, `--who-<name>-fill`."""
    stage = "".join(f"--stage-{name}:{pair[dark]};" for name, pair in STAGE.items())
    return "".join(f"--who-{name}:{value};" for name, value in colours(dark).items()) + stage


def stylesheet() -> str:
    """Return the style sheet of a page: light, or dark as JupyterLab or the reader's system is."""
    dark = variables(True)
    return (
        f":root{{{variables(False)}}}\n"
        "@media (prefers-color-scheme:dark){"
        f":root:not(:has([data-jp-theme-light])){{{dark}}}}}\n"
        f'[data-jp-theme-light="false"]{{{dark}}}\n'
    )


def colour(name: str) -> str:
    """Return the colour as CSS; without a style sheet the light one, mixed with the page's text."""
    if name == "ink":
        return f"var(--who-ink,{TEXT})"
    return f"var(--who-{name},color-mix(in srgb,{colours(False)[name]} {_SHARE}%,{TEXT}))"


def fill(name: str) -> str:
    """Return a faint wash of the colour as CSS for `background-color` in a `style` attribute."""
    return f"var(--who-{name}-fill,color-mix(in srgb,{colours(False)[name]} {_WASH}%,{PAGE}))"


def tint(name: str) -> str:
    """Return the same wash, through which what lies behind is seen, such as a shade at an edge."""
    return f"color-mix(in srgb,{colour(name)} {_WASH}%,transparent)"


def legend(words: dict[str, str]) -> Markup:
    """Return one line of HTML: each word (-> its kind), with the mark and in the kind's colour."""
    item = Markup(
        '<span style="color:{};margin-right:14px;white-space:nowrap">'
        '<span aria-hidden="true">{} </span>{}</span> '
    )
    marks = {name: BOXES.get(kind.shape, kind.mark) for name, kind in KINDS.items()}
    items = (item.format(colour(kind), marks[kind], word) for word, kind in words.items())
    return Markup('<p style="margin:2px 0 6px 0">{}</p>').format(Markup("").join(items))


def outline(shape: str, x: float, y: float, width: float, height: float) -> str:
    """Return the outline of a shape as an SVG path; an arrow's and a mark's are a plain box."""
    half, right, low = height / 2, x + width, y + height
    side, cut, lean = min(12, width / 4), min(10, width / 4, half), min(8, width / 4)
    near, far, base = x + cut, right - cut, low - cut
    corners = {
        "tag": ((x, y), (right - side, y), (right, y + half), (right - side, low), (x, low)),
        "slanted box": ((x + lean, y), (right, y), (right - lean, low), (x, low)),
        "shield": ((x, y), (right, y), (right, base), (far, low), (near, low), (x, base)),
        "hexagon": ((near, y), (far, y), (right, y + half), (far, low), (near, low), (x, y + half)),
        "sheet": ((x, y), (far, y), (right, y + cut), (right, low), (x, low)),
    }
    inside = {  # the second line of a shape
        "sheet": f"M{right - cut:g} {y:g}V{y + cut:g}H{right:g}",
        "window": f"M{x:g} {y + 4:g}H{right:g}",
    }
    inner = (x + 4, y + 3, width - 8, height - 6)
    if shape.startswith("double "):
        single = shape.removeprefix("double ")
        return outline(single, x, y, width, height) + outline(single, *inner)
    if shape == "pill":
        return _rounded(x, y, width, height, half) + _rounded(*inner, half - 3)
    if shape in corners:
        path = "L".join(f"{u:g} {v:g}" for u, v in corners[shape])
        return f"M{path}z{inside.get(shape, '')}"
    radius = {"round box": 14, "round ends": half, "square": 0}.get(shape, 3)
    return _rounded(x, y, width, height, min(radius, half)) + inside.get(shape, "")


def _rounded(x: float, y: float, width: float, height: float, r: float) -> str:
    across, down = width - 2 * r, height - 2 * r
    arc = f"a{r:g} {r:g} 0 0 1"
    return (
        f"M{x + r:g} {y:g}h{across:g}{arc} {r:g} {r:g}v{down:g}{arc} {-r:g} {r:g}"
        f"h{-across:g}{arc} {-r:g} {-r:g}v{-down:g}{arc} {r:g} {-r:g}z"
    )


def drawn_width(words: str, letter: float = SMALL) -> int:
    """Return how wide words are in a picture, in pixels."""
    return round(len(words) * letter)


def pictured(svg: str, smallest: float = SMALLEST) -> dict:
    """Return an SVG as an image, and its least width on a page (px): `smallest` of its own."""
    width = int(svg.partition('width="')[2].partition('"')[0])
    return {"image": as_image(svg), "least": round(smallest * width)}


def as_image(svg: str) -> str:
    """Return the address of an image (ASCII, for `atob`), with colours of both themes."""
    light, dark, plain, both = colours(False), colours(True), "", ""
    for name in sorted({"paper", *_USED.findall(svg)}):
        one, other, page = light[name], dark[name], _OF_THE_PAGE.get(name)
        own = one if one == other else f"light-dark({one},{other})"
        plain += f"--who-{name}:{one};"  # paper and ink are the page's own where it has them
        both += f"--who-{name}:{f'var({page},{own})' if page else own};"
    style = (
        f"<style>svg{{{plain}}}@supports(color:light-dark(red,red)){{svg{{{both}}}}}"
        ":root{color-scheme:light dark;background:var(--who-paper)}</style>"
    )
    opening, end, rest = svg.partition(">")
    whole = f"{opening}{end}{style}{rest}".encode("ascii", "xmlcharrefreplace")
    return f"data:image/svg+xml;base64,{base64.b64encode(whole).decode()}"


def script(name: str) -> str:
    """Return a bundle of `templates/` that an image runs once it is there, without its first line.

    That line says where the bundle comes from.
    """
    bundle = (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")
    return bundle.partition("\n")[2].rstrip("\n")

"""An SVG -> an image that shows everywhere, and that a trusted page turns into a part of itself.

An untrusted page and a code host show the image: it brings its own paper, and its colours follow
the page where that says whether it is dark. Where scripts may run, `inline.js` replaces the image
by the SVG in it, in a shadow root of its own: then its text can be selected and found, its
tooltips show, and paper and ink are those of the page's theme. What is wider than its window fades
at each edge behind which there is more, boxes and all.
"""

import base64
import re
from pathlib import Path

from helpers.view import ink

_USED = re.compile(r"var\(--who-([a-z-]+)")
# of the script: signs and the blanks around them
_SPACED = re.compile(r" ?([!=]==|=>|-=|&&|[=;<>?:+{,-]) ")
_PAGE = {"paper": "--jp-layout-color0", "ink": "--jp-content-font-color0"}
_HERE = Path(__file__).parent
LETTER, SMALL = 7.9, 7.0  # width of a letter at 13 and at 11.5 pixels
SMALLEST = 0.88  # of its natural size, where letters have 10 pixels; a narrower window scrolls


def drawn_width(words: str, letter: float = SMALL) -> int:
    """Return how wide words are in a picture, in pixels."""
    return round(len(words) * letter)


def pictured(svg: str, smallest: float) -> dict:
    """Return an SVG as an image, and its least width on a page (px): `smallest` of its own."""
    return {"image": as_image(svg), "least": round(smallest * width(svg))}


def width(svg: str) -> int:
    """Return the width of an SVG in pixels."""
    return int(svg.partition('width="')[2].partition('"')[0])


def as_image(svg: str) -> str:
    """Return the address of a picture that holds all of it; it is of ASCII, as `atob` reads it."""
    plain = dressed(svg).encode("ascii", "xmlcharrefreplace")
    return f"data:image/svg+xml;base64,{base64.b64encode(plain).decode()}"


def dressed(svg: str) -> str:
    """Return an SVG with the colours of `ink` that it uses as `var(--who-…)`, for both themes.

    What stands under `:root` counts for an image alone: no root of a page is inside of a picture.
    """
    used = sorted({"paper", *_USED.findall(svg)})
    light, dark = (ink.declared(dark) for dark in (False, True))
    plain = "".join(f"--who-{name}:{light[name]};" for name in used)
    both = ""
    for name in used:  # paper and ink are the page's own where it has them
        one, other = light[name], dark[name]
        own = one if one == other else f"light-dark({one},{other})"
        both += f"--who-{name}:{f'var({_PAGE[name]},{own})' if name in _PAGE else own};"
    style = (
        f"<style>svg{{{plain}}}@supports(color:light-dark(red,red)){{svg{{{both}}}}}"
        ":root{color-scheme:light dark;background:var(--who-paper)}</style>"
    )
    opening, end, rest = svg.partition(">")
    return f"{opening}{end}{style}{rest}"


def inlining() -> str:
    """Return the script that an image runs once it is there, as one short line."""
    script = (_HERE / "templates" / "inline.js").read_text(encoding="utf-8")
    line = " ".join(line.strip() for line in script.splitlines())
    return _SPACED.sub(r"\1", line)

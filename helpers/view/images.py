"""An SVG -> an image with the colours of both themes, which shows where no script may run.

Where scripts may run, `inline_picture.js` replaces the image by the SVG in it, in the colours of
the page.
"""

import base64
import re
from pathlib import Path

from .ink import list_colours

SMALLEST = 0.872  # of its natural size, where letters have 10 pixels; a narrower window scrolls
_USED = re.compile(r"var\(--who-([a-z-]+)")
_OF_THE_PAGE = {"paper": "--jp-layout-color0", "ink": "--jp-content-font-color0"}


def embed_picture(svg: str, smallest: float = SMALLEST) -> dict:
    """Return an SVG as an image, and its least width on a page (px): `smallest` of its own."""
    width = int(svg.partition('width="')[2].partition('"')[0])
    return {"image": encode_image(svg), "least": round(smallest * width)}


def encode_image(svg: str) -> str:
    """Return the address of an image (ASCII, for `atob`), with colours of both themes."""
    opening, end, rest = svg.partition(">")
    image = f"{opening}{end}{_render_theme_colours(svg)}{rest}"
    encoded = base64.b64encode(image.encode("ascii", "xmlcharrefreplace"))
    return f"data:image/svg+xml;base64,{encoded.decode()}"


def _render_theme_colours(svg: str) -> str:
    """Return a style element with the colours that an SVG uses."""
    light_colours = list_colours(False)
    dark_colours = list_colours(True)
    light_only = ""
    both_themes = ""

    for name in sorted({"paper", *_USED.findall(svg)}):
        light = light_colours[name]
        dark = dark_colours[name]
        light_only += f"--who-{name}:{light};"

        colour = light if light == dark else f"light-dark({light},{dark})"
        if name in _OF_THE_PAGE:  # paper and ink are the page's own where it has them
            colour = f"var({_OF_THE_PAGE[name]},{colour})"
        both_themes += f"--who-{name}:{colour};"

    return (
        f"<style>svg{{{light_only}}}@supports(color:light-dark(red,red)){{svg{{{both_themes}}}}}"
        ":root{color-scheme:light dark;background:var(--who-paper)}</style>"
    )


def read_image_script(name: str) -> str:
    """Return a bundle of `templates/` that an image runs once it is there, without its first line.

    That line says where the bundle comes from.
    """
    path = Path(__file__).parent / "templates" / name
    _, _, script = path.read_text(encoding="utf-8").partition("\n")
    return script.rstrip("\n")

"""An SVG -> an image with the colours of both themes, which shows where no script may run.
A *theme* is light or dark. An SVG names its colours by variables such as `var(--who-op)`.

Where scripts may run, `inline_picture.js` replaces the image by the SVG in it, in the colours of
the page.
"""

import base64
import re
from pathlib import Path

from .ink import list_colours

SMALLEST = 0.872  # of its natural size, where letters have 10 pixels; a narrower window scrolls
_USED_COLOUR = re.compile(r"var\(--who-([a-z-]+)")
# JupyterLab's own variables for the page's background and text.
_VARIABLES_OF_PAGE = {"paper": "--jp-layout-color0", "ink": "--jp-content-font-color0"}


def embed_picture(svg: str, smallest: float = SMALLEST) -> dict:
    """Return what a template needs of a picture: `image` and `least`.

    `image` is the `data:` address of the picture. `least` is the least width in pixels at which a
    page shows it: `smallest` times its natural width.
    """
    # The first attribute `width` is that of the `<svg>` element itself.
    _, _, from_width = svg.partition('width="')
    width = int(from_width.partition('"')[0])
    return {"image": encode_image(svg), "least": round(smallest * width)}


def encode_image(svg: str) -> str:
    """Return an SVG, with the colours of both themes in it, as a `data:` address of an image."""
    # The colours stand right behind the opening tag `<svg …>`.
    opening, end, rest = svg.partition(">")
    image = f"{opening}{end}{_render_theme_colours(svg)}{rest}"
    # ASCII, because the script that decodes it with `atob` gets one character for each byte.
    encoded = base64.b64encode(image.encode("ascii", "xmlcharrefreplace"))
    return f"data:image/svg+xml;base64,{encoded.decode()}"


def _render_theme_colours(svg: str) -> str:
    """Return a style element that gives each colour variable of an SVG its value.

    Where CSS has `light-dark()`, the browser chooses between the light and the dark colour. Older
    browsers get the light colour.
    """
    light_colours = list_colours(dark=False)
    dark_colours = list_colours(dark=True)
    light_only = ""
    both_themes = ""

    for name in sorted({"paper", *_USED_COLOUR.findall(svg)}):
        light = light_colours[name]
        dark = dark_colours[name]
        light_only += f"--who-{name}:{light};"

        colour = light if light == dark else f"light-dark({light},{dark})"
        if name in _VARIABLES_OF_PAGE:  # JupyterLab's own colour, where there is one
            colour = f"var({_VARIABLES_OF_PAGE[name]},{colour})"
        both_themes += f"--who-{name}:{colour};"

    return (
        f"<style>svg{{{light_only}}}@supports(color:light-dark(red,red)){{svg{{{both_themes}}}}}"
        ":root{color-scheme:light dark;background:var(--who-paper)}</style>"
    )


def read_image_script(name: str) -> str:
    """Return a script of `templates/` for the `onload` attribute of an image.

    A notebook page runs such a script once it has loaded the image.
    """
    path = Path(__file__).parent / "templates" / name
    # The first line only says where the bundle comes from.
    _, _, script = path.read_text(encoding="utf-8").partition("\n")
    return script.rstrip("\n")

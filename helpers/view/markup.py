"""A template and its values -> HTML or SVG in which every value is escaped."""

import re

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from . import ink
from .images import read_image_script
from .plain_text import escape_invisible

MONO = "Menlo,Consolas,monospace"
TONE_MARKS = {"plain": "", "good": "✓", "changed": "●", "refused": "⊘", "failed": "✕"}
ARROW = "→ "

# A joint is a position in a text at which it may wrap: after a dot or slash before a letter.
_JOINT = re.compile(r"(?<=[^\s./][./])(?=[^\W\d]|<)")
_JOINT_OF_NAMES = re.compile(rf"{_JOINT.pattern}|(?<=\w_)(?=[^\W_])")
_ADDRESS = re.compile(r"https://[\w./#-]*\w")
_LINK = r'<a href="\g<0>" style="display:inline-block;text-decoration:underline">\g<0></a>'
_CODE = Markup("<code>{}</code>")
_BREAK = Markup("<wbr/>")
_FADE = "linear-gradient(270deg,{},transparent) 100% 0/{}px 100% no-repeat {}"

# A shade at the right of what scrolls, and paper that goes along with the content and hides it at
# the end: where a shade is seen, there is more.
FADES = ",".join(
    [
        _FADE.format(f"{ink.PAGE} 40%", 30, "local"),
        _FADE.format(ink.EDGE, 14, "scroll"),
    ]
)


def mark_code(text: str, breaks_names: bool = False) -> Markup:
    """Return a text as HTML: what is between `backticks` is code, and an address is a link.

    With `breaks_names`, names may wrap after a dot, a slash or an underscore.
    """
    parts = escape_invisible(text).split("`")
    if len(parts) % 2 == 0:  # an odd number of backticks: they do not mark code
        return escape(escape_invisible(text))

    marked = Markup("")
    for number, part in enumerate(parts):
        has_address = "://" in part  # breaks in it would cut the link
        if breaks_names and not has_address:
            escaped = allow_breaks(part, in_names=True)
        else:
            escaped = escape(part)

        is_code = number % 2 == 1  # the parts between two backticks are the second, fourth, …
        if is_code:
            marked += _CODE.format(escaped)
        else:
            marked += Markup(_ADDRESS.sub(_LINK, str(escaped)))
    return marked


def allow_breaks(text: str, in_names: bool = False) -> Markup:
    """Return a text as HTML that may wrap after a dot or slash; with `in_names`, after `_` too.

    A text that begins with an arrow names an instruction, such as `→ BINARY_OP_ADD_INT`, so it
    may wrap after an underscore. The arrow stays in one line with the beginning of the name.
    """
    begins_with_arrow = text.startswith(ARROW)
    joint = _JOINT_OF_NAMES if in_names or begins_with_arrow else _JOINT
    marked = _BREAK.join(joint.split(escape_invisible(text)))
    if begins_with_arrow:
        return marked.replace(ARROW, Markup("→&nbsp;"))
    return marked


_templates = Environment(
    loader=PackageLoader(__package__),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=escape_invisible,
    trim_blocks=True,
    lstrip_blocks=True,
    optimized=False,  # templates have no constants to fold, and compile faster
)
_templates.filters.update(visible=escape_invisible, coded=mark_code, jointed=allow_breaks)
_templates.globals.update(
    MONO=MONO,
    TONE_MARKS=TONE_MARKS,
    EDGE=ink.EDGE,
    FADES=FADES,
    PAGE=ink.PAGE,
    INLINING=read_image_script("inline_picture.js"),
    colour=ink.format_colour,
    fill=ink.format_fill,
    tint=ink.format_tint,
)


def render(template: str, **values) -> str:
    """Return the named template of `helpers/view/templates` filled in, every value escaped."""
    return _templates.get_template(template).render(**values).strip()

"""A shape's name and place -> its outline as an SVG path; words -> their width in a picture."""

LETTER = 7.9  # pixels: the width of a letter whose height is 13 pixels
SMALL = 7.0  # the same of 11.5 pixels
BETWEEN_LINES = (4, 3)  # pixels across and down between the two lines of a double shape
RADII = {"round box": 14, "square": 0}  # pixels; other boxes have the usual one
USUAL_RADIUS = 3


def measure_text(text: str, letter: float = SMALL) -> int:
    """Return how wide a text is in a picture, in pixels."""
    return round(len(text) * letter)


def draw_shape(shape: str, x: float, y: float, width: float, height: float) -> str:
    """Return the outline of a shape as an SVG path.

    `shape` is a name from `ink.KINDS`, such as `pill` or `double slanted box`. A shape without room
    for words, such as an arrow, is drawn as a plain box. `x` and `y` are the upper left corner.
    """
    across, down = BETWEEN_LINES
    # The inner line of a shape that has two lines.
    inner = (x + across, y + down, width - 2 * across, height - 2 * down)

    if shape.startswith("double "):
        single = shape.removeprefix("double ")
        return draw_shape(single, x, y, width, height) + draw_shape(single, *inner)

    if shape == "pill":
        outer_line = _draw_rounded_box(x, y, width, height, height / 2)
        return outer_line + _draw_rounded_box(*inner, height / 2 - down)

    corners = _list_corners(shape, x, y, width, height)
    if corners:
        outline = f"M{'L'.join(corners)}z"
    else:
        radius = height / 2 if shape == "round ends" else RADII.get(shape, USUAL_RADIUS)
        outline = _draw_rounded_box(x, y, width, height, min(radius, height / 2))
    return outline + _draw_inner_line(shape, x, y, width, height)


def _list_corners(shape: str, x: float, y: float, width: float, height: float) -> list[str]:
    """Return the corners of a shape with straight sides, clockwise: `["0 0", "40 0", …]`.

    The list is empty for any other shape.
    """
    right = x + width
    bottom = y + height
    middle = y + height / 2

    point = right - min(12, width / 4)  # where the point of a tag begins
    lean = min(8, width / 4)  # how far the upper side of a slanted box is moved to the right
    cut = min(10, width / 4, height / 2)  # how much of a corner is cut off
    near = x + cut  # where the left cut ends
    far = right - cut  # where the right cut begins

    if shape == "tag":
        corners = [
            (x, y),
            (point, y),
            (right, middle),
            (point, bottom),
            (x, bottom),
        ]
    elif shape == "slanted box":
        corners = [
            (x + lean, y),
            (right, y),
            (right - lean, bottom),
            (x, bottom),
        ]
    elif shape == "shield":
        base = bottom - cut
        corners = [
            (x, y),
            (right, y),
            (right, base),
            (far, bottom),
            (near, bottom),
            (x, base),
        ]
    elif shape == "hexagon":
        corners = [
            (near, y),
            (far, y),
            (right, middle),
            (far, bottom),
            (near, bottom),
            (x, middle),
        ]
    elif shape == "sheet":
        corners = [
            (x, y),
            (far, y),
            (right, y + cut),
            (right, bottom),
            (x, bottom),
        ]
    else:
        corners = []
    return [f"{corner_x:g} {corner_y:g}" for corner_x, corner_y in corners]


def _draw_inner_line(shape: str, x: float, y: float, width: float, height: float) -> str:
    """Return the line of a sheet's folded corner or of a window's title bar, as an SVG path.

    The path is empty for other shapes.
    """
    right = x + width
    if shape == "sheet":
        cut = min(10, width / 4, height / 2)
        return f"M{right - cut:g} {y:g}V{y + cut:g}H{right:g}"
    if shape == "window":
        return f"M{x:g} {y + 4:g}H{right:g}"
    return ""


def _draw_rounded_box(x: float, y: float, width: float, height: float, radius: float) -> str:
    """Return the outline of a box whose corners are quarters of a circle, as an SVG path."""
    across = width - 2 * radius
    down = height - 2 * radius
    arc = f"a{radius:g} {radius:g} 0 0 1"
    return (
        f"M{x + radius:g} {y:g}"
        f"h{across:g}{arc} {radius:g} {radius:g}"
        f"v{down:g}{arc} {-radius:g} {radius:g}"
        f"h{-across:g}{arc} {-radius:g} {-radius:g}"
        f"v{-down:g}{arc} {radius:g} {-radius:g}z"
    )

"""An SVG picture -> where its boxes are: the bounds of their outlines."""

import re

STEPS = re.compile(r"([MLHVhvaz])([^MLHVhvaz]*)")


def boxes(tree) -> list[tuple[float, float, float, float]]:
    """Return left, top, width and height of each box that is drawn."""
    found = [e for e in tree.findall(".//{*}path") if "box" in e.get("class", "").split()]
    return [bounds(e.get("d")) for e in found]


def bounds(path: str) -> tuple[float, float, float, float]:
    """Return left, top, width and height of an outline as `ink.outline` writes it."""
    x = y = 0.0
    xs, ys = [], []
    for step, words in STEPS.findall(path):
        numbers = [float(word) for word in words.split()]
        if step in "ML":
            x, y = numbers
        elif step in "Hh":
            x = numbers[0] + (x if step == "h" else 0)
        elif step in "Vv":
            y = numbers[0] + (y if step == "v" else 0)
        elif step == "a":
            x, y = x + numbers[-2], y + numbers[-1]
        xs.append(x)
        ys.append(y)
    return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)

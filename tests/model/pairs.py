"""Lines of two texts side by side: those on the right that came from one on the left, or none."""


def right_of(model, left: int) -> tuple[str, ...]:
    """Return the lines on the right that came from this line (number) on the left."""
    return tuple(pair.right_text for pair in model.pairs if pair.left == left and pair.right)


def made_up(model) -> tuple[str, ...]:
    """Return the lines on the right that came from no line on the left."""
    return tuple(pair.right_text for pair in model.pairs if pair.right and not pair.left)

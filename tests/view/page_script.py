"""What the page does with the script of a stage, done in Python."""

import base64


def whole(told, strings: list[str], groups) -> str:
    """Return the markup that a panel was told by, put together as the page does it."""
    parts = ["".join(strings[n] for group in part for n in groups[group]) for part in told]
    for at in range(1, len(parts), 2):
        data = base64.b64encode(parts[at].encode()).decode()
        parts[at] = f"data:image/svg+xml;base64,{data}"
    return "".join(parts)


def played(tracks: dict[str, list], total: int) -> list[dict]:
    """Return the steps that the tracks were made of, as the page plays them."""
    steps = [{} for _ in range(total)]
    for name, track in tracks.items():
        changes, at = {}, 0
        for gap, value in zip(track[::2], track[1::2], strict=True):
            at += gap
            changes[at] = value
        last, known = None, []
        for n, step in enumerate(steps):
            if n in changes:
                last = changes[n]
                if isinstance(last, list):
                    last = known = [*known[: last[0]], *last[1:]]
            step[name] = last
    return steps

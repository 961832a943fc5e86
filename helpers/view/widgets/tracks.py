"""Steps that differ in little -> tracks: per field, only the steps at which it changes.

A track is a flat list: how many steps after the last change, the new value, and so on. A list is
told by how many of its first items stay, then the others. `stage_script.js` plays them back.
"""

from collections.abc import Sequence


def recorded(steps: Sequence[dict]) -> dict[str, list]:
    """Return a track for every field that any step has; a field that a step lacks is None there."""
    fields = dict.fromkeys(name for step in steps for name in step)
    return {name: _track([step.get(name) for step in steps]) for name in fields}


def _track(values: list) -> list:
    track, last, since, known = [], None, 0, []
    for value in values:
        if value == last:
            since += 1
            continue
        if isinstance(value, list):
            keep = _same(known, value)
            track += [since, [keep, *value[keep:]]]
            known = value
        else:
            track += [since, value]
        last, since = value, 1
    return track


def _same(before: list, after: list) -> int:
    pairs = enumerate(zip(before, after, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(before), len(after)))


def played(tracks: dict[str, list], total: int) -> list[dict]:
    """Return the steps that `recorded` was given, every field in each, as the script plays them."""
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

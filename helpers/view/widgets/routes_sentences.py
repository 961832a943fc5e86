"""A map of routes -> a sentence for each setting: what was replaced, and which calls noticed.

A setting is the number of one of the map's headings; in the first, 0, nothing is replaced. A route
is a call and what refers to the function that it calls: the holder of the function.
"""

from ...model.phrase import end_sentence, format_count
from ...model.reference_records import RouteMap
from ..plain_text import spell_in_one_line

FEW = 3  # routes that are called by their names


def describe_setting(model: RouteMap, setting: int) -> str:
    """Return the sentences on a setting: arrows that moved, new code, and calls not reached."""
    if setting == 0:
        return _describe_start(model)

    old, new = [spell_in_one_line(function.label) for function in model.functions]
    sentences = [_describe_moved(model, setting, new)]
    codes = model.functions[0].codes
    if codes[setting] != codes[0]:
        sentence = f"{old} is the same function with new code, so every holder runs that code."
        sentences.append(sentence)

    unreached = _describe_unreached(model, setting, old)
    if unreached:
        sentences.append(unreached)
    return " ".join(sentences)


def _describe_start(model: RouteMap) -> str:
    """Return how many of the calls end at the old function when nothing is replaced."""
    old = spell_in_one_line(model.functions[0].label)
    total = len(model.routes)
    count = len(_find_holders(model))
    if count == total:
        ends = "and each ends"
    else:
        ends = f"of which {count:,} {'ends' if count == 1 else 'end'}"
    return f"Nothing is replaced: {format_count(total, 'call')}, {ends} at {end_sentence(old)}"


def _find_holders(model: RouteMap) -> set[str]:
    """Return the names of the routes that refer to the old function when nothing is replaced."""
    return {route.name for route in model.routes if route.holds[0] == 0}


def _describe_moved(model: RouteMap, setting: int, new: str) -> str:
    """Return how many arrows lead to another function than at first; `new` is its name."""
    count = len(model.moved(model.headings[setting]))
    if count == 0:
        return "No arrow moves."
    verb = "leads" if count == 1 else "lead"
    return f"{count} of {len(model.routes)} arrows {verb} to {end_sentence(new)}"


def _describe_unreached(model: RouteMap, setting: int, old: str) -> str:
    """Return which calls still run the old function, whose name is `old`; empty if none does."""
    noticed = model.noticed(model.headings[setting])
    names = [route.name for route in model.routes if route.name not in noticed]
    if not names:
        return ""
    if len(names) <= FEW:
        return end_sentence(f"Not reached: {', '.join(map(spell_in_one_line, names))}")

    reason = ""
    if _find_holders(model).issuperset(names):
        reason = ", because what they read was not changed"
    return f"{len(names)} calls still run {old}{reason}."

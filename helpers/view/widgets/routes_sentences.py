"""A map of routes -> a sentence for each setting: what was replaced, and which calls noticed it.
A *route* is a call that reaches a function through a *holder*: something that refers to the
function. An *arrow* leads from a holder to its function. Function 0 is the old one, function 1
replaces it. A *setting* is a number: in setting 0 nothing is replaced, in each other one something
is.
"""

from ...model.phrase import end_sentence, format_count
from ...model.reference_records import RouteMap
from ..plain_text import escape_to_one_line

FEW = 3  # so many routes are listed by their names; more are counted


def describe_setting(model: RouteMap, setting: int) -> str:
    """Return the sentences on a setting: arrows that moved, new code, and calls not reached.

    A call is not reached if it still runs the old function with its old code.
    """
    if setting == 0:
        return _describe_start(model)

    old, new = [escape_to_one_line(function.label) for function in model.functions]
    sentences = [_describe_moved(model, setting, new)]
    codes = model.functions[0].codes  # of the old function: its code object in each setting
    if codes[setting] != codes[0]:
        sentence = f"{old} is the same function with new code, so every holder runs that code."
        sentences.append(sentence)

    unreached = _describe_unreached(model, setting, old)
    if unreached:
        sentences.append(unreached)
    return " ".join(sentences)


def _describe_start(model: RouteMap) -> str:
    """Return how many of the calls end at the old function when nothing is replaced."""
    old = escape_to_one_line(model.functions[0].label)
    total = len(model.routes)
    count = len(_find_holders_of_old(model))
    if count == total:
        ends = "and each ends"
    else:
        ends = f"of which {count:,} {'ends' if count == 1 else 'end'}"
    return f"Nothing is replaced: {format_count(total, 'call')}, {ends} at {end_sentence(old)}"


def _find_holders_of_old(model: RouteMap) -> set[str]:
    """Return the names of the routes whose holder refers to the old function in setting 0."""
    return {route.name for route in model.routes if route.holds[0] == 0}


def _describe_moved(model: RouteMap, setting: int, new: str) -> str:
    """Return how many arrows lead elsewhere than in setting 0: to the new function, named `new`."""
    count = len(model.moved(model.headings[setting]))
    if count == 0:
        return "No arrow moves."
    verb = "leads" if count == 1 else "lead"
    return f"{count} of {len(model.routes)} arrows {verb} to {end_sentence(new)}"


def _describe_unreached(model: RouteMap, setting: int, old: str) -> str:
    """Return which calls still run the old function, whose name is `old`.

    The text is empty if no call does. More than `FEW` calls are counted, not named.
    """
    noticed = model.noticed(model.headings[setting])  # routes whose call answers something new
    names = [route.name for route in model.routes if route.name not in noticed]
    if not names:
        return ""
    if len(names) <= FEW:
        return end_sentence(f"Not reached: {', '.join(map(escape_to_one_line, names))}")

    reason = ""
    # The reason below holds only for routes that referred to the old function at first.
    if _find_holders_of_old(model).issuperset(names):
        reason = ", because what they read was not changed"
    return f"{len(names)} calls still run {old}{reason}."

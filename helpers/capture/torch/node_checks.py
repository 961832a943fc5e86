"""What torch checks in a node of the guard tree itself: a dict's type, its size, a key in it.

A node for a dict whose keys are guarded in their order has no leaf for these. torch names one only
where it is the first to fail, so a copy of the tree with nothing but such dicts is asked for more.
"""

import re

from ...model.torch_records import Failure
from ..text.value import short_repr, type_name
from .guard_words import check_of, plain_source, quoted
from .source_values import MISSING, length, value_of

KEY = re.compile(r"KeyError on (.+)\[([^][]+)\]")
LENGTH = re.compile(r"len\((.+)\) != (\d+)")
TYPE = re.compile(r"TYPE_MISMATCH\((.+)\)")
NO_REASON = "unknown: torch refuses this entry without a reason"
NOT_LOOKED_AT = "unknown whether its length is that of the entry, as torch looks at its settings "
NOT_LOOKED_AT += "first and they differ"


def children(manager) -> list:
    """Return the nodes below one node; those on a dict's keys and values are among them."""
    pairs = getattr(manager, "get_key_value_managers", dict)()
    found = [*manager.get_child_managers(), *(part for pair in pairs.values() for part in pair)]
    return [part for part in found if part is not None]


def refuses_type(manager, value) -> bool:
    """Return whether this is a node for a dict, and torch refuses the type of a value by it."""
    is_of_dict = hasattr(manager, "get_key_value_managers")
    return is_of_dict and type(value) is not manager.get_type_of_guarded_value()


def failure_of_node(number: int, part: str, entry, scope: dict) -> Failure:
    """Return what torch says of a failure for which it keeps no guard that can be asked."""
    words = check_of(part)
    if found := LENGTH.fullmatch(words):
        return _other_length(number, found[1], found[2], scope)
    if found := TYPE.fullmatch(words):
        nodes = _below(entry.guard_manager.root)
        asked = [one for one in nodes if one.get_source() == found[1]]
        if asked:
            return _other_type(number, asked[0], scope)
    if found := KEY.fullmatch(words):
        source, key = plain_source(found[1]), found[2]
        return Failure(number, source, "", f"it has the key {key}", "", f"without the key {key}")
    return Failure(number, "", "", quoted(words) if words else NO_REASON)


def failures_of_dicts(number: int, entry, scope: dict, refused: set[str]) -> list[Failure]:
    """Return which dicts have another type or another length than a cache entry is for.

    Parameters
    ----------
    number : int
        The number of the entry, from 1.
    scope : dict
        `L` and `G`, the locals and globals of the call.
    refused : set of str
        The sources of which a guard fails. torch does not look at what is below them.
    """
    root, found = entry.guard_manager.root, []
    paths = {}  # node for a dict -> the sources from the root to it
    for node, path in _dicts(root, scope, refused):
        if refuses_type(node, value_of(node.get_source(), scope)):
            found.append(_other_type(number, node, scope))
        else:
            paths[node] = path
    if "L" in refused:  # a setting of torch differs, and torch looks no further
        return found + _by_guarded_keys(number, paths, scope)
    while paths:
        chosen = {source for path in paths.values() for source in path}
        copy = root.clone_manager(lambda node: node.get_source() in chosen)  # noqa: B023
        answer = copy.check_verbose(scope["L"])
        differs = LENGTH.fullmatch("".join(answer.verbose_code_parts))
        if answer.result or not differs or differs[1] not in chosen:
            break
        found.append(_other_length(number, *differs.groups(), scope))
        paths = {node: path for node, path in paths.items() if differs[1] not in path}
    return found


def _dicts(manager, scope: dict, refused: set[str], path=("L",)):
    """Yield (node, path) of each node for a dict that torch looks at if all else holds."""
    for node in children(manager):
        source = node.get_source()
        if source in refused:
            continue
        if hasattr(node, "get_key_value_managers"):
            value = value_of(source, scope)
            if value is MISSING:
                continue
            yield node, (*path, source)
            if refuses_type(node, value):
                continue
        yield from _dicts(node, scope, refused, (*path, source))


def _by_guarded_keys(number: int, paths: dict, scope: dict) -> list[Failure]:
    """Return which dicts have fewer keys than are guarded, and which may have too many."""
    found = []
    for node in paths:
        source, guarded = node.get_source(), len(node.get_key_value_managers())
        now = length(value_of(source, scope))
        if now < guarded:
            found.append(_other_length(number, source, f"{guarded} or more", scope))
        elif now > guarded:
            found.append(Failure(number, plain_source(source), "DICT_LENGTH", NOT_LOOKED_AT))
    return found


def _other_length(number: int, source: str, asked: str, scope: dict) -> Failure:
    value, kind = value_of(source, scope), "LENGTH_CHECK"
    now = "" if value is MISSING else length_words(value)
    return Failure(number, plain_source(source), kind, f"its length is {asked}", "", now)


def _other_type(number: int, node, scope: dict) -> Failure:
    source, asked = node.get_source(), node.get_type_of_guarded_value()
    value, checks = value_of(source, scope), f"its type is {asked.__name__} itself"
    now = "" if value is MISSING else type_words(value, checks)
    return Failure(number, plain_source(source), "TYPE_MATCH", checks, "", now)


def _below(manager):
    for node in children(manager):
        yield node
        yield from _below(node)


def length_words(value) -> str:
    """Return the length of a container in words; something else in brief."""
    found = length(value)
    return short_repr(value) if found is MISSING else f"of length {found}"


def type_words(value, checks: str) -> str:
    """Return the type of a value in words; `checks`: those of the guard that it fails."""
    name = type_name(value)
    is_namesake = checks == f"its type is {name} itself"
    return f"of type {name}, another class of the same name" if is_namesake else f"of type {name}"

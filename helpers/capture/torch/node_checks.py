"""What torch checks in a node of the guard tree itself: a dict's type, its size, a key in it.

A node for a dict whose keys are guarded in their order has no leaf for these. Torch names one only
where it is the first to fail. So a copy of the tree that contains only such dicts is asked for the
others.
"""

import re
from collections.abc import Iterator

from ...model.guard_failures import Failure
from .guard_leaves import is_of_dict, list_children, walk_nodes
from .guard_words import format_source, quote_torch, strip_remarks
from .lookup import MISSING, read_length
from .source_values import evaluate_source
from .value_words import describe_length, describe_type

MISSING_KEY = re.compile(r"KeyError on (.+)\[([^][]+)\]")  # KeyError on L['d']['k']
OTHER_LENGTH = re.compile(r"len\((.+)\) != (\d+)")  # len(L['d']) != 2
OTHER_TYPE = re.compile(r"TYPE_MISMATCH\((.+)\)")  # TYPE_MISMATCH(L['d'])
NO_REASON = "unknown: torch refuses this entry without a reason"
NOT_LOOKED_AT = (
    "unknown whether its length is that of the entry, as torch looks at its settings "
    "first and they differ"
)


def is_type_refused(node, value: object) -> bool:
    """Return whether this is a node for a dict, and torch refuses the type of a value by it."""
    return is_of_dict(node) and type(value) is not node.get_type_of_guarded_value()


def build_node_failure(number: int, part: str, entry, scope: dict) -> Failure:
    """Return a Failure for what torch says where no leaf of the guard tree fails, but a node.

    A node of the tree refuses a value of another length or type, or a dict without a key.

    Parameters
    ----------
    number : int
        The number of the cache entry, from 1.
    part : str
        What torch says; "" if it says nothing.
    entry : torch's cache entry
        The entry that refuses the call.
    scope : dict
        `L` and `G`, the locals and globals of the call.
    """
    text = strip_remarks(part)
    length_match = OTHER_LENGTH.fullmatch(text)
    if length_match:
        source, expected_length = length_match.groups()
        return _build_length_failure(number, source, expected_length, scope)

    type_match = OTHER_TYPE.fullmatch(text)
    if type_match:
        node = _find_node(entry.guard_manager.root, type_match[1])
        if node is not None:
            return _build_type_failure(number, node, scope)

    key_match = MISSING_KEY.fullmatch(text)
    if key_match:
        source, key = key_match.groups()
        return Failure(
            entry=number,
            source=format_source(source),
            kind="",
            checks=f"it has the key {key}",
            value=f"without the key {key}",
        )
    return Failure(
        entry=number, source="", kind="", checks=quote_torch(text) if text else NO_REASON
    )


def _find_node(root, source: str):
    """Return the first node below the root that looks at this source, or None."""
    for node in walk_nodes(root):
        if node is not root and node.get_source() == source:
            return node
    return None


def list_dict_failures(number: int, entry, scope: dict, refused: set[str]) -> list[Failure]:
    """Return which dicts have another type or another length than a cache entry is for.

    Parameters
    ----------
    number : int
        The number of the entry, from 1.
    entry : torch's cache entry
        The entry that refuses the call.
    scope : dict
        `L` and `G`, the locals and globals of the call.
    refused : set of str
        The sources of which a guard fails. Torch does not look at what is below them.
    """
    root = entry.guard_manager.root
    failures = []
    paths_by_node = {}  # node for a dict -> the sources from the root to it
    for node, path in _walk_dicts(root, scope, refused):
        if is_type_refused(node, evaluate_source(node.get_source(), scope)):
            failures.append(_build_type_failure(number, node, scope))
        else:
            paths_by_node[node] = path

    if "L" in refused:  # a setting of torch differs, and torch looks no further
        return failures + _compare_with_guarded_keys(number, paths_by_node, scope)
    return failures + _ask_copies(number, root, paths_by_node, scope)


def _ask_copies(number: int, root, paths_by_node: dict, scope: dict) -> list[Failure]:
    """Return which dicts have another length, as torch says of copies of the guard tree.

    A copy has the nodes on the way to these dicts, and no other. Torch names the first dict whose
    length differs. The next copy is made without that dict and what is below it.
    """
    failures = []
    while paths_by_node:
        sources = {source for path in paths_by_node.values() for source in path}
        # Torch calls the function with each node, and drops the node if the answer is False.
        copy = root.clone_manager(lambda node, kept=sources: node.get_source() in kept)
        answer = copy.check_verbose(scope["L"])
        match = OTHER_LENGTH.fullmatch("".join(answer.verbose_code_parts))
        if answer.result or not match or match[1] not in sources:
            break

        source, expected_length = match.groups()
        failures.append(_build_length_failure(number, source, expected_length, scope))
        paths_by_node = {node: path for node, path in paths_by_node.items() if source not in path}
    return failures


def _walk_dicts(
    node, scope: dict, refused: set[str], path: tuple[str, ...] = ("L",)
) -> Iterator[tuple[object, tuple[str, ...]]]:
    """Yield each node for a dict that torch looks at if all else holds, and the path to it.

    The path has the sources from the root, which is `L`, to the node.
    """
    for child in list_children(node):
        source = child.get_source()
        if source in refused:
            continue
        if is_of_dict(child):
            value = evaluate_source(source, scope)
            if value is MISSING:
                continue
            yield child, (*path, source)
            if is_type_refused(child, value):
                continue
        yield from _walk_dicts(child, scope, refused, (*path, source))


def _compare_with_guarded_keys(number: int, nodes, scope: dict) -> list[Failure]:
    """Return which dicts have fewer keys than are guarded, and which may have too many."""
    failures = []
    for node in nodes:
        source = node.get_source()
        guarded_count = len(node.get_key_value_managers())
        length = read_length(evaluate_source(source, scope))
        if length < guarded_count:
            expected_length = f"{guarded_count} or more"
            failures.append(_build_length_failure(number, source, expected_length, scope))
        elif length > guarded_count:
            failure = Failure(
                entry=number,
                source=format_source(source),
                kind="DICT_LENGTH",
                checks=NOT_LOOKED_AT,
            )
            failures.append(failure)
    return failures


def _build_length_failure(number: int, source: str, expected_length: str, scope: dict) -> Failure:
    """Return the record of a dict of another length than cache entry `number` is for."""
    value = evaluate_source(source, scope)
    return Failure(
        entry=number,
        source=format_source(source),
        kind="LENGTH_CHECK",
        checks=f"its length is {expected_length}",
        value="" if value is MISSING else describe_length(value),
    )


def _build_type_failure(number: int, node, scope: dict) -> Failure:
    """Return the record of a dict of another type than the node of cache entry `number` is for."""
    source = node.get_source()
    expected_type = node.get_type_of_guarded_value()
    checks = f"its type is {expected_type.__name__} itself"
    value = evaluate_source(source, scope)
    return Failure(
        entry=number,
        source=format_source(source),
        kind="TYPE_MATCH",
        checks=checks,
        value="" if value is MISSING else describe_type(value, checks),
    )

"""Checks of a dict that are no guards of their own -> records of those that a call fails.

Torch keeps guards in a tree. A node stands for a value, such as `L['d']`. For a dict whose keys are
guarded in their order, the node itself checks three things: the type of the dict, its length, and
that a key exists. Torch names such a check only if it is the first that fails. To find the others,
a copy of the tree is checked that contains only such nodes.
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
    """Return whether `node` is for a dict, and torch refuses `value` because of its type."""
    return is_of_dict(node) and type(value) is not node.get_type_of_guarded_value()


def build_node_failure(entry_number: int, part: str, entry, scope: dict) -> Failure:
    """Return a record of what torch says if a node of the guard tree refuses a call.

    Torch's text is `len(L['d']) != 2`, `TYPE_MISMATCH(L['d'])` or `KeyError on L['d']['k']`. A text
    of another form is quoted.

    Parameters
    ----------
    entry_number : int
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
        source, expected_length = length_match.groups()  # torch writes the length that it expects
        return _build_length_failure(entry_number, source, expected_length, scope)

    type_match = OTHER_TYPE.fullmatch(text)
    if type_match:
        node = _find_node(entry.guard_manager.root, type_match[1])
        if node is not None:
            return _build_type_failure(entry_number, node, scope)

    key_match = MISSING_KEY.fullmatch(text)
    if key_match:
        source, key = key_match.groups()
        return Failure(
            entry=entry_number,
            source=format_source(source),
            kind="",
            checks=f"it has the key {key}",
            value=f"without the key {key}",
        )
    return Failure(
        entry=entry_number, source="", kind="", checks=quote_torch(text) if text else NO_REASON
    )


def _find_node(root, source: str):
    """Return the first node below the root that looks at this source, or None."""
    for node in walk_nodes(root):
        if node is not root and node.get_source() == source:
            return node
    return None


def list_dict_failures(entry_number: int, entry, scope: dict, refused: set[str]) -> list[Failure]:
    """Return records of the dicts that have another type or length than a cache entry requires.

    Parameters
    ----------
    entry_number : int
        The number of the entry, from 1.
    entry : torch's cache entry
        The entry that refuses the call.
    scope : dict
        `L` and `G`, the locals and globals of the call.
    refused : set of str
        The sources, such as `L['d']`, with a guard that fails. Torch does not look below them.
    """
    root = entry.guard_manager.root
    failures = []
    # node for a dict -> the sources from the root to it, such as ("L", "L['d']", "L['d']['k']")
    paths_by_node = {}
    for node, path in _walk_dicts(root, scope, refused):
        if is_type_refused(node, evaluate_source(node.get_source(), scope)):
            failures.append(_build_type_failure(entry_number, node, scope))
        else:
            paths_by_node[node] = path

    # A guard on the root `L` is about a setting of torch. If it fails, torch would refuse each copy
    # of the tree at once, and could not tell the length of a dict.
    if "L" in refused:
        return failures + _compare_with_guarded_keys(entry_number, paths_by_node, scope)
    return failures + _find_length_failures(entry_number, root, paths_by_node, scope)


def _find_length_failures(
    entry_number: int, root, paths_by_node: dict, scope: dict
) -> list[Failure]:
    """Return records of the dicts of another length, found by checks of copies of the guard tree.

    A copy has only the nodes on the way to these dicts. Torch names the first dict whose length
    differs. The next copy is made without that dict and without what is below it. `paths_by_node`
    has the nodes of the dicts to check, each with the sources from the root to it.
    """
    failures = []
    while paths_by_node:
        # the sources of all nodes that the copy contains
        sources = {source for path in paths_by_node.values() for source in path}
        # Torch calls the function with each node, and keeps the node if the result is True. The
        # default argument binds the sources of this turn of the loop.
        copy = root.clone_manager(lambda node, kept=sources: node.get_source() in kept)
        answer = copy.check_verbose(scope["L"])
        match = OTHER_LENGTH.fullmatch("".join(answer.verbose_code_parts))
        # No dict has another length, or torch says something else.
        if answer.result or not match or match[1] not in sources:
            break

        source, expected_length = match.groups()
        failures.append(_build_length_failure(entry_number, source, expected_length, scope))
        paths_by_node = {node: path for node, path in paths_by_node.items() if source not in path}
    return failures


def _walk_dicts(
    node, scope: dict, refused: set[str], path: tuple[str, ...] = ("L",)
) -> Iterator[tuple[object, tuple[str, ...]]]:
    """Yield each node for a dict below `node`, and the path to it.

    Left out are nodes that torch would not check, because a value above them is refused. The path
    has the sources from the root, which is `L`, to the node. The argument `path` is the path to
    `node`.
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
            if is_type_refused(child, value):  # torch does not look at the items
                continue
        yield from _walk_dicts(child, scope, refused, (*path, source))


def _compare_with_guarded_keys(entry_number: int, nodes, scope: dict) -> list[Failure]:
    """Return records of the dicts that have another number of keys than torch guards.

    A dict with fewer keys has another length than the entry requires. For one with more keys this
    is unknown, because torch guards only the keys that the function used.
    """
    failures = []
    for node in nodes:
        source = node.get_source()
        guarded_count = len(node.get_key_value_managers())
        length = read_length(evaluate_source(source, scope))
        if length < guarded_count:
            expected_length = f"{guarded_count} or more"
            failures.append(_build_length_failure(entry_number, source, expected_length, scope))
        elif length > guarded_count:
            failure = Failure(
                entry=entry_number,
                source=format_source(source),
                kind="DICT_LENGTH",
                checks=NOT_LOOKED_AT,
            )
            failures.append(failure)
    return failures


def _build_length_failure(
    entry_number: int, source: str, expected_length: str, scope: dict
) -> Failure:
    """Return the record of a dict of another length than a cache entry requires.

    `source` is what torch calls the dict, such as `L['d']`.
    """
    value = evaluate_source(source, scope)
    return Failure(
        entry=entry_number,
        source=format_source(source),
        kind="LENGTH_CHECK",
        checks=f"its length is {expected_length}",
        value="" if value is MISSING else describe_length(value),
    )


def _build_type_failure(entry_number: int, node, scope: dict) -> Failure:
    """Return the record of a dict of another type than its node in the guard tree requires."""
    source = node.get_source()
    expected_type = node.get_type_of_guarded_value()
    checks = f"its type is {expected_type.__name__} itself"
    value = evaluate_source(source, scope)
    return Failure(
        entry=entry_number,
        source=format_source(source),
        kind="TYPE_MATCH",
        checks=checks,
        value="" if value is MISSING else describe_type(value, checks),
    )

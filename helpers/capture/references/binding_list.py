"""An object -> the table and the graph of the places that refer to it.

The words below the table say what kind of reference nobody can see, which places are garbage, and
what torch counts in C++.
"""

import types

from ...model.code_records import build_columns
from ...model.graphs import Edge, Graph, Node
from ...model.phrase import format_names
from ...model.reference_records import Binding
from ...model.tables import Listing
from ...safety.arguments import is_exactly
from ...safety.users_frames import is_library
from ..text.source import format_place
from .holder_graph import HolderGraph
from .holder_search import find_places, scan_modules
from .loaded_modules import format_module_name, read_module_name
from .owner_names import NOT_FOUND, describe_by_type, describe_object
from .places import HiddenList, Place
from .tensor_holders import (
    describe_hidden_references,
    describe_sharers,
    find_keepers,
    find_saving,
    find_sharers,
    is_plain_tensor,
)
from .unreachable import no_collection

MOST_HOLDERS = 2000  # that are named and listed; a rebinding has no such limit
MOST_TENSORS = 5  # with the same storage, or with a graph, that are named
MOST_NAMED = 2  # holders of an exception that a reason names
UNSEEN = (
    "The search does not list what only a running call (see show_frame) keeps, or what is "
    "kept in C where the collector does not look."
)
CYCLE = "It is in a cycle of references, and nothing else that the search sees keeps it."
ONLY_COLLECTOR = "Only the collector (gc.collect) can free it."
IN_TORCH = "torch keeps it in C++"
# Functions, classes and modules are in cycles with themselves (a class is in its own `__mro__`).
# These cycles say nothing about them, and are not listed if there is any other place.
_CYCLIC_TYPES = (types.FunctionType, types.ModuleType, type)
COLUMNS = build_columns(
    "owner name",  # these two are code
    kind="kind",
    owner="owner",
    name="name",
    scan="scan finds it",
    verdict="can be rebound",
)


def list_bindings(obj: object) -> Listing:
    """List the places that refer to `obj` in this process, and which of them a scan finds."""
    with no_collection():
        return _list_bindings(obj)


def _list_bindings(obj: object) -> Listing:
    """Return the table of `list_bindings`, with a sentence on each thing that it cannot show.

    The caller keeps the collector from running, because it would free garbage that is listed.
    """
    graph = HolderGraph(HiddenList([obj]), MOST_HOLDERS)
    # This counts references. A place refers to its holder, which would then look reachable: so
    # garbage is marked before there are places.
    graph.mark_garbage()
    places = find_places(obj, graph)
    # Lists of live objects are HiddenLists, because the search would find plain ones as holders.
    garbage = HiddenList(place for place in places if graph.is_garbage(place))
    reachable = HiddenList(place for place in places if not graph.is_garbage(place))
    if reachable and is_exactly(obj, *_CYCLIC_TYPES):
        garbage = HiddenList()

    suffixes_by_error: dict[int, str] = {}
    rows = [_build_row(place, suffixes_by_error) for place in reachable]
    rows += [_build_row(place, suffixes_by_error, is_garbage=True) for place in garbage]
    torch_sentences = ""
    if is_plain_tensor(obj):
        torch_rows, torch_sentences = _find_torch_holders(obj)
        rows += torch_rows

    sentences = [_describe_place_counts(rows), UNSEEN]
    if graph.left_out_count:
        sentences.append(f"{graph.left_out_count:,} more objects hold it and are not listed.")
    # With holders left out, a closed graph proves nothing: one of them may have a name.
    if reachable and not graph.left_out_count and graph.is_closed:
        sentences.append(CYCLE)
    sentences.append(torch_sentences)
    if garbage:
        sentences.append(_describe_garbage(len(garbage), len(rows)))
    title = f"Places that refer to {describe_object(obj)}{_format_origin(obj)}"
    return Listing(title, COLUMNS, tuple(rows), " ".join(filter(None, sentences)))


def _describe_place_counts(rows: list[Binding]) -> str:
    """Return the sentence on how many places each search finds: all rows, and those of the scan."""
    if not rows:
        return "Neither search finds a place that holds it."
    scan_count = sum(row.scan for row in rows)
    found = "this 1 place" if len(rows) == 1 else f"these {len(rows)} places"
    return f"The thorough search finds {found}; the fast scan of the modules finds {scan_count}."


def _describe_garbage(garbage_count: int, row_count: int) -> str:
    """Return the sentences on the places that are garbage: at least one of the rows."""
    if row_count == 1:
        subject = "It is"
    elif garbage_count == row_count:
        subject = "They are"
    else:
        subject = f"{garbage_count} of them are"
    return f"{subject} in a cycle of references that nothing else reaches. {ONLY_COLLECTOR}"


def _find_torch_holders(tensor) -> tuple[list[Binding], str]:
    """Return what torch keeps in C++, where the collector sees nothing.

    These are a row for each tensor whose `_base` or `grad` this tensor is, and sentences on the
    references that torch counts without names and on tensors with the same storage.
    """
    keepers, attributes = find_keepers(tensor)
    sharers = find_sharers(tensor)
    saving = find_saving(tensor)
    # Hidden lists, because the search for paths would find plain ones as holders.
    named_sharers = HiddenList(sharers[:MOST_TENSORS])
    named_saving = HiddenList(saving[:MOST_TENSORS])

    # One search for all three lists, because each search looks through the whole heap. Its paths
    # are in the order of the objects, and are split again below.
    paths = _find_paths(HiddenList([*keepers, *named_sharers, *named_saving]))
    keeper_paths = paths[: len(keepers)]
    sharer_paths = paths[len(keepers) : len(keepers) + len(named_sharers)]
    saving_paths = paths[len(keepers) + len(named_sharers) :]

    rows: list[Binding] = []
    for keeper, path, attribute in zip(keepers, keeper_paths, attributes, strict=True):
        rows.append(
            Binding(
                kind="C-level holder",
                owner=path or describe_by_type(keeper),
                name=attribute,
                scan=False,
                rebindable=False,
                reason=IN_TORCH,
            )
        )

    known_sharers = sorted(filter(None, sharer_paths))
    known_saving = sorted(filter(None, saving_paths))
    sentences = (
        describe_hidden_references(tensor, len(keepers), known_saving),
        describe_sharers(known_sharers, len(sharers) - len(known_sharers)),
    )
    rows.sort(key=lambda row: (row.owner, row.name))
    return rows, " ".join(filter(None, sentences))


def _find_paths(values: HiddenList) -> list[str]:
    """Return the shortest path to each object, in their order; "" for an object without one.

    The fast scan is enough where it finds an object. The thorough search is for the others.
    """
    paths_by_index = [_list_paths(scan_modules(value)) for value in values]
    if not all(paths_by_index):  # the scan has missed at least one object
        graph = HolderGraph(values)
        for index, value in enumerate(values):
            if not paths_by_index[index]:
                paths_by_index[index] = _list_paths(find_places(value, graph))

    shortest = []
    for paths in paths_by_index:
        known = [path for path in paths if NOT_FOUND not in path]
        shortest.append(min(known, key=len, default=""))
    return shortest


def _list_paths(places: tuple[Place, ...]) -> list[str]:
    """Return the path of each place."""
    return [place.binding.path for place in places]


def _build_row(
    place: Place, suffixes_by_error: dict[int, str], is_garbage: bool = False
) -> Binding:
    """Return the row of a place.

    A place in a frame may live on only because the traceback of an exception contains the frame.
    Then the row's reason ends with a suffix that says what holds the exception. `is_garbage` says
    that nothing reaches the place.

    `suffixes_by_error` maps the id of an exception to its suffix. It is filled here, so that each
    exception is searched once.
    """
    if not place.errors:
        return place.build_binding(place.reason, is_garbage)
    error = place.errors[0]
    if id(error) not in suffixes_by_error:
        paths = _find_error_paths(error)
        suffix = f"; the exception is in {format_names(paths, MOST_NAMED)}" if paths else ""
        suffixes_by_error[id(error)] = suffix
    return place.build_binding(place.reason + suffixes_by_error[id(error)], is_garbage)


def _find_error_paths(error: BaseException) -> list[str]:
    """Return the sorted paths of what holds an exception, garbage included."""
    graph = HolderGraph(HiddenList([error]))
    return sorted(set(_list_paths(find_places(error, graph))))


def _format_origin(obj: object) -> str:
    """Return ` (file.py:3)` for a function of the learner, or one put into another package.

    The text is "" for anything else, because a library's function is known by its name.
    """
    if type(obj) is not types.FunctionType:
        return ""
    code_package = read_module_name(obj.__globals__).partition(".")[0]
    named_package = format_module_name(obj.__module__).partition(".")[0]
    if code_package == named_package and is_library(obj.__code__.co_filename):
        return ""
    place = format_place(obj.__code__)
    return f" ({place})" if place else ""


def build_binding_graph(obj: object) -> Graph:
    """Return a graph with an arrow to `obj` from each place that `list_bindings` lists."""
    listing = list_bindings(obj)
    description = describe_object(obj)
    kind = "function" if description.startswith("the function ") else "object"
    nodes = [Node("object", description, kind)]
    edges = []
    for index, row in enumerate(listing.rows):
        key = f"place {index}"
        can = "can be rebound" if row.rebindable else f"cannot be rebound: {row.reason}"
        nodes.append(Node(key, row.path, "name", can, group=row.kind))
        edges.append(Edge(key, "object", row.kind))
    return Graph(listing.title, tuple(nodes), tuple(edges), listing.note)

"""List the places that refer to an object, as a table or as a graph. A *place* is one reference to
the object, such as the global name `app.op` or the item `app.table['add']`. Its *holder* is the
object that has the reference. The *scan* looks only into the dicts of modules; the *thorough
search* asks the garbage collector.

The sentences below the table say what kind of reference nobody can see, which places are garbage,
and what torch counts in C++.
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
    find_referring_tensors,
    find_tensors_with_same_storage,
    find_tensors_with_saving_graph,
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

    Garbage is listed, too. So the caller keeps the collector from running, which would free it.
    """
    # A HiddenList is a list that the search never reports as a holder of its items. A plain list
    # of live objects, made here, would be one more place.
    holder_graph = HolderGraph(HiddenList([obj]), MOST_HOLDERS)
    # Garbage is what nothing in the program reaches. It is found by counting references. A Place
    # refers to its holder, which would then look reachable. So garbage is marked before
    # `find_places` makes the first Place.
    holder_graph.mark_garbage()
    places = find_places(obj, holder_graph)
    garbage = HiddenList(place for place in places if holder_graph.is_garbage(place))
    reachable = HiddenList(place for place in places if not holder_graph.is_garbage(place))
    if reachable and is_exactly(obj, *_CYCLIC_TYPES):
        garbage = HiddenList()  # every class refers to itself, so its cycle says nothing

    # id of an exception -> how a reason ends that names what holds it; `_build_row` fills this.
    suffixes_by_error: dict[int, str] = {}
    rows: list[Binding] = []
    rows += [_build_row(place, suffixes_by_error) for place in reachable]
    rows += [_build_row(place, suffixes_by_error, is_garbage=True) for place in garbage]
    torch_sentences = ""
    if is_plain_tensor(obj):  # torch also keeps references in C++, which the collector does not see
        torch_rows, torch_sentences = _find_torch_holders(obj)
        rows += torch_rows

    sentences = [_describe_place_counts(rows), UNSEEN]
    left_out_count = holder_graph.left_out_count
    if left_out_count:
        sentences.append(f"{left_out_count:,} more objects hold it and are not listed.")
    # The graph is closed if its objects are held only by each other. That proves a cycle only if no
    # holder was left out, because one of those may be a module.
    if reachable and not left_out_count and holder_graph.is_closed:
        sentences.append(CYCLE)
    sentences.append(torch_sentences)
    if garbage:
        sentences.append(_describe_garbage(len(garbage), len(rows)))
    title = f"Places that refer to {describe_object(obj)}{_format_origin(obj)}"
    return Listing(title, COLUMNS, tuple(rows), note=" ".join(filter(None, sentences)))


def _describe_place_counts(rows: list[Binding]) -> str:
    """Return the sentence on how many places each search finds.

    The thorough search finds all rows. A row has `scan` if the fast scan finds its place, too.
    """
    if not rows:
        return "Neither search finds a place that holds it."
    scan_count = sum(row.scan for row in rows)
    found = "this 1 place" if len(rows) == 1 else f"these {len(rows)} places"
    return f"The thorough search finds {found}; the fast scan of the modules finds {scan_count}."


def _describe_garbage(garbage_count: int, row_count: int) -> str:
    """Return the sentences on the places that are garbage, "It is …" or "2 of them are …".

    `garbage_count` is at least 1, and `row_count` is the number of all places.
    """
    if row_count == 1:
        subject = "It is"
    elif garbage_count == row_count:
        subject = "They are"
    else:
        subject = f"{garbage_count} of them are"
    return f"{subject} in a cycle of references that nothing else reaches. {ONLY_COLLECTOR}"


def _find_torch_holders(tensor) -> tuple[list[Binding], str]:
    """Return the references to a tensor that torch keeps in C++, where the collector sees nothing.

    The list has a row for each tensor whose `_base` or `grad` is this tensor. The text has a
    sentence on the references that torch only counts, and one on tensors with the same storage.
    """
    # Other tensors that refer to this one, and the name "_base" or "grad" for each.
    referring_tensors, attributes = find_referring_tensors(tensor)
    sharing_tensors = find_tensors_with_same_storage(tensor)
    saving_tensors = find_tensors_with_saving_graph(tensor)
    # Hidden lists, because the search for paths would find plain ones as holders.
    first_sharing = HiddenList(sharing_tensors[:MOST_TENSORS])
    first_saving = HiddenList(saving_tensors[:MOST_TENSORS])

    # One search for all three lists, because each search looks through the whole heap. The paths
    # are in the order of the tensors, and are split again below.
    paths = _find_paths(HiddenList([*referring_tensors, *first_sharing, *first_saving]))
    sharing_start = len(referring_tensors)
    saving_start = sharing_start + len(first_sharing)
    referring_paths = paths[:sharing_start]
    sharing_paths = sorted(filter(None, paths[sharing_start:saving_start]))
    saving_paths = sorted(filter(None, paths[saving_start:]))

    rows: list[Binding] = []
    for other, path, attribute in zip(referring_tensors, referring_paths, attributes, strict=True):
        rows.append(
            Binding(
                kind="C-level holder",
                owner=path or describe_by_type(other),
                name=attribute,
                scan=False,
                rebindable=False,
                reason=IN_TORCH,
            )
        )

    unnamed_count = len(sharing_tensors) - len(sharing_paths)
    sentences = (
        describe_hidden_references(tensor, len(referring_tensors), saving_paths),
        describe_sharers(sharing_paths, unnamed_count),
    )
    rows.sort(key=lambda row: (row.owner, row.name))
    return rows, " ".join(filter(None, sentences))


def _find_paths(values: HiddenList) -> list[str]:
    """Return for each value the shortest dotted path that leads to it, "" if none is known.

    The fast scan of the modules is tried first. The slow search of the heap runs only if the scan
    finds no path to at least one value.
    """
    # Item i is the list of all paths to value i.
    paths_of_values = [_list_paths(scan_modules(value)) for value in values]
    if not all(paths_of_values):
        holder_graph = HolderGraph(values)
        for index, value in enumerate(values):
            if not paths_of_values[index]:
                paths_of_values[index] = _list_paths(find_places(value, holder_graph))

    shortest_paths = []
    for paths in paths_of_values:
        # A path that begins at an object without a name contains the words of NOT_FOUND.
        known_paths = [path for path in paths if NOT_FOUND not in path]
        shortest_paths.append(min(known_paths, key=len, default=""))
    return shortest_paths


def _list_paths(places: tuple[Place, ...]) -> list[str]:
    """Return the path of each place."""
    return [place.binding.path for place in places]


def _build_row(
    place: Place, suffixes_by_error: dict[int, str], is_garbage: bool = False
) -> Binding:
    """Return the row of a place; `is_garbage` says that nothing reaches the place.

    A variable of a call that is over lives on if an exception has the call's frame in its
    traceback. `place.errors` has such exceptions. The reason in the row then ends with a suffix on
    where the exception is, such as "; the exception is in sys.last_exc".

    `suffixes_by_error` maps the id of an exception to this suffix. It is filled here, so that the
    heap is searched only once for each exception.
    """
    if not place.errors:
        return place.build_binding(place.reason, is_garbage)
    error = place.errors[0]  # one exception is enough to say why the frame lives on
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
    """Return where a function was written, such as ` (file.py:3)`, for the title of the table.

    The text is "" for an object that is no function, and for a library's function, which is known
    by its name.
    """
    if type(obj) is not types.FunctionType:
        return ""
    # A wrapper copies `__module__` from the function that it wraps. If the globals belong to
    # another package, the name is misleading, so the place is shown.
    code_package = read_module_name(obj.__globals__).partition(".")[0]
    named_package = format_module_name(obj.__module__).partition(".")[0]
    if code_package == named_package and is_library(obj.__code__.co_filename):
        return ""
    place = format_place(obj.__code__)
    return f" ({place})" if place else ""


def build_binding_graph(obj: object) -> Graph:
    """Return a graph with an arrow to `obj` from each place that `list_bindings` lists.

    The box of a place has its dotted path, and says whether the place can be rebound.
    """
    listing = list_bindings(obj)
    description = describe_object(obj)
    kind = "function" if description.startswith("the function ") else "object"
    nodes = [Node("object", description, kind)]
    edges = []
    for index, row in enumerate(listing.rows):
        key = f"place {index}"
        verdict = "can be rebound" if row.rebindable else f"cannot be rebound: {row.reason}"
        nodes.append(Node(key, row.path, "name", verdict, group=row.kind))
        edges.append(Edge(key, "object", row.kind))
    return Graph(listing.title, tuple(nodes), tuple(edges), listing.note)

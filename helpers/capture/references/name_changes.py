"""Say what a line of a program did to its names, such as "rebinds a from [1] to 3". A timeline has
a step before each line. The picture of a step is a graph: a box for each name, a box for each
object, and an arrow from a name to the object that the name refers to.

The sentence comes from comparing two pictures, and never from the source. If the arrow of a name
leads to another box, the name was rebound. If a box has other contents, its object was changed in
place.
"""

from collections.abc import Set
from dataclasses import dataclass, replace

from ...model.graphs import Graph
from ...model.phrase import clip_text, end_sentence
from ...model.stage_records import Step

NAMES_PANEL = "names and objects"
PRINTED_PANEL = "printed"
RAISED = " raised "  # between the place and the exception in the label of a step
LONGEST_OUTPUT = 60  # characters of output that a sentence quotes
NO_CHANGE = "changes no name and no object that a name refers to"


@dataclass(frozen=True)
class _NamedObject:
    """The object that a name refers to at one step."""

    #: The key of its box, which an object keeps through the whole timeline.
    key: str
    #: The text in its box, such as `[1, 2]`.
    text: str


@dataclass(frozen=True)
class _Contents:
    """What is drawn of one object at one step; it differs if the object changed in place."""

    #: The second line of its box, such as `2 items`.
    detail: str
    #: The first line of its box.
    label: str
    #: Label and target of each arrow that leaves the box.
    arrows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Moment:
    """The picture of one step."""

    #: The name -> the object that it refers to.
    targets_by_name: dict[str, _NamedObject]
    #: The key of a box -> what is drawn of its object.
    contents_by_key: dict[str, _Contents]


def describe_step(step: Step, next_step: Step, calling_lines: Set[int]) -> Step:
    """Return `step` with its sentence and its lane filled in.

    The sentence says what happens between `step` and `next_step`. The lane is the kind of the step,
    which a view shows as a colour: "exception", "store", "call" or "operate".
    `calling_lines` are the numbers of the lines that call something.
    """
    before = _read_moment(step)
    after = _read_moment(next_step)

    changes = [
        *_describe_bound_names(before, after),
        *_describe_unbound_names(before, after),
        *_describe_changed_objects(before, after),
    ]
    # The label of the next step ends in the exception of this line: "line 3 raised KeyError".
    exception_name = next_step.label.partition(RAISED)[2]
    if exception_name:
        lane = "exception"
    elif changes:
        lane = "store"
    elif step.line in calling_lines:
        lane = "call"
    else:
        lane = "operate"

    output = _find_new_output(step, next_step)
    if output is not None:
        changes.append(f"prints {clip_text(repr(output), LONGEST_OUTPUT)}")
    if exception_name:
        changes.append(f"raises {exception_name}")

    sentence = "; ".join(changes) or NO_CHANGE
    return replace(step, says=end_sentence(sentence), lane=lane)


def _read_moment(step: Step) -> _Moment:
    """Return what the picture of a step shows, as two dicts.

    Both are empty if the step has no picture, because no name is bound yet.
    """
    graph = step.panel(NAMES_PANEL)
    if type(graph) is not Graph:  # a step without names has the text "none yet" there
        return _Moment({}, {})

    # Each box is a node. An arrow (an edge) begins at the box of a name or at the box of an object.
    nodes_by_key = {node.key: node for node in graph.nodes}
    # The key of an object's box -> (label, key of the target) of each arrow that begins there.
    arrows_by_key = {node.key: [] for node in graph.nodes if node.kind != "name"}
    targets_by_name = {}
    for edge in graph.edges:
        if edge.source in arrows_by_key:
            arrows_by_key[edge.source].append((edge.label, edge.target))
        else:
            name = nodes_by_key[edge.source].label
            targets_by_name[name] = _NamedObject(edge.target, nodes_by_key[edge.target].label)

    contents_by_key = {}
    for key, arrows in arrows_by_key.items():
        node = nodes_by_key[key]
        contents_by_key[key] = _Contents(node.detail, node.label, tuple(arrows))
    return _Moment(targets_by_name, contents_by_key)


def _describe_bound_names(before: _Moment, after: _Moment) -> list[str]:
    """Return a phrase for each name that is new, or that refers to another object than before.

    The key of a box identifies an object. Two objects with different keys may have the same text.
    """
    phrases = []
    for name, target in after.targets_by_name.items():
        previous = before.targets_by_name.get(name)
        if previous is None:
            phrases.append(f"makes {name} refer to {target.text}")
        elif previous.key == target.key:
            continue
        elif previous.text == target.text:
            phrases.append(f"rebinds {name} from one {previous.text} to another")
        else:
            phrases.append(f"rebinds {name} from {previous.text} to {target.text}")
    return phrases


def _describe_unbound_names(before: _Moment, after: _Moment) -> list[str]:
    """Return a phrase for each name that is gone."""
    gone = [name for name in before.targets_by_name if name not in after.targets_by_name]
    return [f"unbinds {name}" for name in gone]


def _describe_changed_objects(before: _Moment, after: _Moment) -> list[str]:
    """Return a phrase for each object whose contents differ between two moments, sorted.

    An object is called after the first name that refers to it, or "an object" if there is none.
    """
    names_by_key = {}  # key of an object's box -> the first name that refers to the object
    for name, target in after.targets_by_name.items():
        names_by_key.setdefault(target.key, name)

    phrases = []
    # An object that only one moment shows is new or gone, and not changed.
    for key in before.contents_by_key.keys() & after.contents_by_key.keys():
        old = before.contents_by_key[key]
        new = after.contents_by_key[key]
        if old == new:
            continue
        subject = f"what {names_by_key[key]} refers to" if key in names_by_key else "an object"
        phrases.append(f"changes {subject} in place{_describe_difference(old, new)}")
    return sorted(phrases)


def _describe_difference(old: _Contents, new: _Contents) -> str:
    """Return the difference in brackets, such as ` (2 items → 3 items)`.

    The text is "" if only the arrows differ, because the picture shows them.
    """
    if old.detail != new.detail:
        return f" ({old.detail} → {new.detail})"
    if old.label != new.label:
        return f" ({old.label} → {new.label})"
    return ""


def _find_new_output(step: Step, next_step: Step) -> str | None:
    """Return what was printed between two steps; None if nothing was.

    The panel "printed" of a step has the output of the program up to this step.
    """
    old = step.panel(PRINTED_PANEL)
    new = next_step.panel(PRINTED_PANEL)
    if old == new:
        return None
    # The panel shows only the end of a long output. Then `new` does not begin with `old`, and the
    # whole panel is returned.
    return new.removeprefix(old).rstrip()

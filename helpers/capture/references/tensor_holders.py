"""A tensor of torch -> who keeps it in C++, where the collector sees nothing, as far as measured.

No attribute is read that would run code of a user or unpack what autograd saved: its hooks may run
the forward pass again.
"""

from gc import get_objects

from ...model.phrase import format_count
from ...safety import restoring
from ...safety.arguments import is_exactly
from .places import HiddenList

MOST_NODES = 1000  # of a graph
SAVED = "what autograd saved for backward"  # an object is never asked for it: see above


def is_plain_tensor(value: object) -> bool:
    """Return whether this is a tensor of torch itself or a parameter, without code of a user."""
    tensor_type = getattr(restoring.module("torch"), "Tensor", None)
    parameter_type = getattr(restoring.module("torch.nn"), "Parameter", None)
    kinds = [kind for kind in (tensor_type, parameter_type) if kind is not None]
    return is_exactly(value, *kinds)


def find_keepers(tensor) -> tuple[HiddenList, list[str]]:
    """Return the other tensors whose `_base` or `grad` this tensor is, and that name of each."""
    keepers = HiddenList()
    attributes: list[str] = []
    for other in _find_other_tensors(tensor):
        # `_base` is read only of a view of the same storage: of others it may be made anew.
        is_view_here = other._is_view() and _read_storage(other) == _read_storage(tensor)
        if is_view_here and other._base is tensor:
            keepers.append(other)
            attributes.append("_base")
        # Of a tensor that is no leaf, `grad` warns.
        has_grad = other.is_leaf and other.requires_grad
        if has_grad and other.grad is tensor:
            keepers.append(other)
            attributes.append("grad")
    return keepers, attributes


def find_sharers(tensor) -> HiddenList:
    """Return the other tensors that use the same storage."""
    storage = _read_storage(tensor)
    sharers = HiddenList()
    if storage:
        others = _find_other_tensors(tensor)
        sharers.extend(other for other in others if _read_storage(other) == storage)
    return sharers


def find_saving(tensor) -> HiddenList:
    """Return the tensors whose graphs keep tensors for backward; which ones, is not asked."""
    tensors = HiddenList([tensor, *_find_other_tensors(tensor)])
    return HiddenList(
        other for other in tensors if other.grad_fn is not None and _saves_tensors(other.grad_fn)
    )


def _saves_tensors(node) -> bool:
    """Return whether a node of autograd's graph, or one that it leads to, saves tensors.

    A type of nodes that does has attributes `_raw_saved_…`. Their names are read, never they.
    """
    waiting = [node]
    visited = set()
    while waiting and len(visited) < MOST_NODES:
        node = waiting.pop()
        if node in visited:
            continue
        visited.add(node)
        if any(name.startswith("_raw_saved") for name in dir(type(node))):
            return True
        waiting += [next_node for next_node, _ in node.next_functions if next_node is not None]
    return False


def describe_hidden_references(tensor, named_count: int, saving_paths: list[str]) -> str:
    """Return the sentence on the references in C++ that nobody can see, "" if there are none.

    `named_count` is how many references in C++ are named. `saving_paths` are the paths of tensors
    whose graphs keep tensors for backward.
    """
    count = tensor._use_count() - 1 - named_count  # one is that of the Python object
    if count <= 0:
        return ""
    noun = "reference" if count == 1 else "references"
    if named_count:
        noun = f"more {noun}"
    saved = SAVED
    if saving_paths:
        saved += f" (graphs that save tensors: {', '.join(saving_paths)})"
    return (
        f"torch counts {count} {noun} to it in C++, which neither search can see: it may be "
        f"{saved}, the grad or the _base of a tensor, or an array or C++ object around it."
    )


def describe_sharers(paths: list[str], unnamed_count: int) -> str:
    """Return the sentence on tensors that keep the storage alive, "" if there are none.

    `paths` are those of the tensors that have a name, and `unnamed_count` is how many have none.
    """
    sharers = list(paths)
    if unnamed_count:
        sharers.append(f"{format_count(unnamed_count, 'tensor')} without a name")
    if not sharers:
        return ""
    return f"Its storage is also used by {', '.join(sharers)}."


def _find_other_tensors(tensor) -> HiddenList:
    """Return all plain tensors and parameters that the collector tracks, without this one."""
    tensor_type = restoring.module("torch").Tensor
    parameter_type = getattr(restoring.module("torch.nn"), "Parameter", tensor_type)
    return HiddenList(
        value
        for value in get_objects()
        if (type(value) is tensor_type or type(value) is parameter_type) and value is not tensor
    )


def _read_storage(tensor) -> int:
    """Return the address of a tensor's storage; 0 where it has none, as on the device `meta`."""
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        return 0

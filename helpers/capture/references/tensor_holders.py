"""Find what keeps a tensor of torch alive in C++, where Python's garbage collector sees nothing:
other tensors whose `_base` or `grad` it is, tensors that use the same storage, and graphs of
autograd that save tensors for the backward pass.

No attribute is read that would run code of a user, or unpack what autograd saved. The hooks that
unpack it may run the forward pass again.
"""

from gc import get_objects

from ...model.phrase import format_count
from ...safety import restoring
from ...safety.arguments import is_exactly
from .places import HiddenList

MOST_NODES = 1000  # of a graph
SAVED = "what autograd saved for backward"  # an object is never asked for it: see above


def is_plain_tensor(value: object) -> bool:
    """Return whether this is exactly a `torch.Tensor` or a `Parameter`.

    A class derived from them may have methods of a user, which must not run here.
    """
    tensor_type = getattr(restoring.find_loaded_module("torch"), "Tensor", None)
    parameter_type = getattr(restoring.find_loaded_module("torch.nn"), "Parameter", None)
    kinds = [kind for kind in (tensor_type, parameter_type) if kind is not None]
    return is_exactly(value, *kinds)


def find_referring_tensors(tensor) -> tuple[HiddenList, list[str]]:
    """Return the tensors whose `_base` or `grad` is this tensor, and the attribute's name for each.

    The two lists are equally long. A tensor that has this one in both attributes is there twice.
    """
    referring_tensors = HiddenList()
    attributes: list[str] = []
    for other in _find_other_tensors(tensor):
        # `_base` is read only of a view of the same storage. Reading it of another view may make a
        # new Python object.
        is_view_here = other._is_view() and _read_storage(other) == _read_storage(tensor)
        if is_view_here and other._base is tensor:
            referring_tensors.append(other)
            attributes.append("_base")
        # torch warns if the `grad` of a tensor that is no leaf is read.
        has_grad = other.is_leaf and other.requires_grad
        if has_grad and other.grad is tensor:
            referring_tensors.append(other)
            attributes.append("grad")
    return referring_tensors, attributes


def find_tensors_with_same_storage(tensor) -> HiddenList:
    """Return the other tensors that use the same storage."""
    storage = _read_storage(tensor)
    sharing_tensors = HiddenList()
    if storage:  # 0 stands for a tensor without storage
        others = _find_other_tensors(tensor)
        sharing_tensors.extend(other for other in others if _read_storage(other) == storage)
    return sharing_tensors


def find_tensors_with_saving_graph(tensor) -> HiddenList:
    """Return the tensors whose graphs save some tensors for the backward pass.

    Which tensors a graph saves is not known, because reading a saved tensor may run hooks.
    """
    tensors = HiddenList([tensor, *_find_other_tensors(tensor)])
    return HiddenList(
        other for other in tensors if other.grad_fn is not None and _saves_tensors(other.grad_fn)
    )


def _saves_tensors(node) -> bool:
    """Return whether a node of autograd's graph, or a node that it leads to, saves tensors.

    The type of such a node has attributes named `_raw_saved_…`. Only the names are read, because
    reading an attribute may run hooks.
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
    """Return the sentence on the references in C++ that nobody can list, "" if there are none.

    `named_count` is how many references in C++ the table lists. `saving_paths` are the paths of
    tensors whose graphs save tensors for backward, each of which may be such a reference.
    """
    # torch counts the references of C++ objects. One of them is that of the Python object.
    count = tensor._use_count() - 1 - named_count
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
    """Return the sentence on other tensors that use the storage, "" if there are none.

    `paths` are the paths of those tensors that a name leads to; `unnamed_count` is how many others
    there are.
    """
    sharers = list(paths)
    if unnamed_count:
        sharers.append(f"{format_count(unnamed_count, 'tensor')} without a name")
    if not sharers:
        return ""
    return f"Its storage is also used by {', '.join(sharers)}."


def _find_other_tensors(tensor) -> HiddenList:
    """Return all other tensors and parameters of this process.

    Instances of derived classes are left out, because their methods may be code of a user.
    """
    tensor_type = restoring.find_loaded_module("torch").Tensor
    parameter_type = getattr(restoring.find_loaded_module("torch.nn"), "Parameter", tensor_type)
    return HiddenList(
        value
        for value in get_objects()
        if (type(value) is tensor_type or type(value) is parameter_type) and value is not tensor
    )


def _read_storage(tensor) -> int:
    """Return the address of a tensor's storage, by which two tensors with one storage are found.

    It is 0 for a tensor without storage, as on the device `meta`.
    """
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        return 0

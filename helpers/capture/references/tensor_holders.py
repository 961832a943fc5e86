"""A tensor of torch -> who keeps it in C++, where the collector sees nothing, as far as measured.

No attribute is read that would run code of a user or unpack what autograd saved: its hooks may run
the forward pass again.
"""

from gc import get_objects

from ...model.phrase import counted
from ...safety import restoring
from ...safety.arguments import is_exactly
from .places import HiddenList

MOST_NODES = 1000  # of a graph
SAVED = "what autograd saved for backward"  # an object is never asked for it: see above


def is_plain_tensor(thing) -> bool:
    """Return whether this is a tensor of torch itself or a parameter, without code of a user."""
    torch = restoring.module("torch")
    kinds = getattr(torch, "Tensor", None), getattr(restoring.module("torch.nn"), "Parameter", None)
    return is_exactly(thing, *(kind for kind in kinds if kind is not None))


def find_keepers(tensor) -> tuple[HiddenList, list[str]]:
    """Return the other tensors whose `_base` or `grad` this tensor is, and that name of each."""
    keepers, names = HiddenList(), []
    for other in _find_others(tensor):
        if other._is_view() and _storage(other) == _storage(tensor) and other._base is tensor:
            keepers.append(other)
            names.append("_base")
        if other.is_leaf and other.requires_grad and other.grad is tensor:
            keepers.append(other)
            names.append("grad")
    return keepers, names


def find_sharers(tensor) -> HiddenList:
    """Return the other tensors that use the same storage."""
    storage = _storage(tensor)
    return HiddenList(o for o in _find_others(tensor) if storage and _storage(o) == storage)


def find_saving(tensor) -> HiddenList:
    """Return the tensors whose graphs keep tensors for backward; which ones, is not asked."""
    alive = HiddenList([tensor, *_find_others(tensor)])
    return HiddenList(one for one in alive if one.grad_fn is not None and _saves(one.grad_fn))


def _saves(node) -> bool:
    waiting, met = [node], set()
    while waiting and len(met) < MOST_NODES:
        node = waiting.pop()
        if node in met:
            continue
        met.add(node)
        if any(name.startswith("_raw_saved") for name in dir(type(node))):
            return True
        waiting += [above for above, _ in node.next_functions if above is not None]
    return False


def say_hidden(tensor, named: int, saving: list[str]) -> str:
    """Return the sentence on the references in C++, of which `named` are named.

    `saving`: the paths of tensors whose graphs keep tensors for backward.
    """
    count = tensor._use_count() - 1 - named  # one is that of the Python object
    if count <= 0:
        return ""
    rest = f"{'more ' if named else ''}reference{'' if count == 1 else 's'}"
    graphs = f"{SAVED} (graphs that save tensors: {', '.join(saving)})" if saving else SAVED
    ways = f"{graphs}, the grad or the _base of a tensor, or an array or C++ object around it"
    return (
        f"torch counts {count} {rest} to it in C++, which neither search can see: it may be {ways}."
    )


def say_sharers(paths: list[str], unnamed: int) -> str:
    """Return the sentence on tensors that keep the storage alive."""
    if not (paths or unnamed):
        return ""
    nameless = f"{counted(unnamed, 'tensor')} without a name"
    others = ", ".join([*paths, *([nameless] if unnamed else [])])
    return f"Its storage is also used by {others}."


def _find_others(tensor) -> HiddenList:
    torch, nn = restoring.module("torch"), restoring.module("torch.nn")
    tensor_type, parameter = torch.Tensor, getattr(nn, "Parameter", torch.Tensor)
    alive = get_objects()
    return HiddenList(
        one
        for one in alive
        if (type(one) is tensor_type or type(one) is parameter) and one is not tensor
    )


def _storage(tensor) -> int:
    """Return the address of a tensor's storage; 0 where it has none, as on the device `meta`."""
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        return 0

"""A tensor of torch, TensorFlow or Keras, or an array -> `float32 [5, 4]`; no data of it is read.

A subclass of torch's may answer for each attribute itself (`__torch_function__`), and for its sizes
(`__torch_dispatch__`). The first is switched off here; a class with the second is told by name.
"""

from helpers.safety import restoring
from helpers.safety.arguments import is_a, kind_of

LONGEST = 200  # characters of sizes
# What a tensor or a variable is, by the module that somebody has imported already.
TENSORS = (
    ("torch", "Tensor"),
    ("tensorflow.python.framework.tensor", "Tensor"),
    ("tensorflow.python.ops.variables", "Variable"),
    ("keras.src.backend.common.variables", "Variable"),
    ("numpy", "ndarray"),
)
_PLAIN = ("Tensor", "EagerTensor", "SymbolicTensor", "ndarray")
_MRO, _SPACE = (type.__dict__[name].__get__ for name in ("__mro__", "__dict__"))


def base_of(kind: type) -> type | None:
    """Return the class of `TENSORS` that a class inherits from, if any; it may be the class."""
    for home, name in TENSORS:
        base = getattr(restoring.module(home), name, None)
        if is_a(base, type) and type.__subclasscheck__(base, kind):
            return base
    return None


def shown_tensor(value: object) -> str:
    """Return dtype and sizes of a tensor, a variable or an array; "" of anything else.

    What is no plain tensor begins with its class: `Parameter float32 [4]`.
    """
    base, kind = base_of(type(value)), kind_of(value)
    told = kind if base is None else words(value)
    if told == kind:
        return ""
    name = "Variable" if base.__name__ == "Variable" else kind
    return told if name in _PLAIN else f"{name} {told}"


def is_tensor(value) -> bool:
    """Return whether the real type of `value` is `torch.Tensor` or inherits from it."""
    kind = getattr(restoring.module("torch"), "Tensor", None)
    return kind is not None and is_a(value, kind)


def field(tensor, name: str):
    """Return an attribute as `torch.Tensor` itself has it, whatever the tensor's class says."""
    import torch

    with torch._C.DisableTorchFunctionSubclass():
        return getattr(torch.Tensor, name).__get__(tensor)


def words(tensor) -> str:
    """Return dtype and sizes, such as `float32 [3, 4]`, or what stands in their place."""
    kind = kind_of(tensor)
    if is_tensor(tensor) and answers_itself(type(tensor)):
        return kind
    try:
        dtype = _read(tensor, "dtype")
    except Exception:
        return kind
    try:
        found = tuple(_read(tensor, "shape"))
    except Exception:  # nested, or of a rank that is not known yet
        found = None
    if found is None or kind.startswith("Uninitialized"):
        inside = "?"
    else:
        inside = ", ".join(map(str, found))
    inside = inside if len(inside) <= LONGEST else f"{inside[:LONGEST]}…"
    dtype = str(getattr(dtype, "name", dtype)).removeprefix("torch.")
    return f"{dtype} [{inside}]"


def _read(tensor, name: str):
    if is_tensor(tensor):
        return field(tensor, name)
    base = base_of(type(tensor))
    kept_in_c = base is not None and base.__name__ == "ndarray"
    return _SPACE(base)[name].__get__(tensor) if kept_in_c else getattr(tensor, name)


def answers_itself(kind: type) -> bool:
    """Return whether a class of somebody's own, not of torch's, answers for its tensors."""
    import torch

    for cls in _MRO(kind):
        if cls is torch.Tensor:
            return False
        names = _SPACE(cls)
        home = names.get("__module__")
        if "__torch_dispatch__" in names and not str(home).startswith("torch"):
            return True
    return False


def ends_the_process(tensor) -> bool:
    """Return whether a guard that asks for its strides throws where C++ allows no exception."""
    import torch

    return field(tensor, "is_nested") and field(tensor, "layout") is torch.strided


def has_its_elements(tensor) -> bool:
    """Return whether every element can be read: dense, and its memory there and not freed."""
    try:
        if answers_itself(type(tensor)) or kind_of(tensor) not in ("Tensor", "Parameter"):
            return False
        import torch

        dense = field(tensor, "layout") is torch.strided and not field(tensor, "is_nested")
        plain = not field(tensor, "is_meta") and not field(tensor, "is_quantized")
        if not dense or not plain or torch._C._functorch.is_functorch_wrapped_tensor(tensor):
            return False
        steps = zip(tensor.shape, tensor.stride(), strict=True)
        last = tensor.storage_offset() + sum((size - 1) * step for size, step in steps)
        reaches = (last + 1) * tensor.element_size() * (0 not in tensor.shape)
        return reaches <= tensor.untyped_storage().nbytes()
    except Exception:
        return False

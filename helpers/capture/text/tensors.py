"""A tensor of torch, TensorFlow or Keras, or an array -> `float32 [5, 4]`; no data is read."""

from contextlib import suppress

from ...model.phrase import clipped
from ...safety import restoring
from ...safety.arguments import real_isinstance, real_type_name

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


def base_of(kind: type) -> type | None:
    """Return the class of `TENSORS` that a class inherits from, if any; it may be the class."""
    for home, name in TENSORS:
        base = getattr(restoring.module(home), name, None)
        if real_isinstance(base, type) and type.__subclasscheck__(base, kind):
            return base
    return None


def shown_tensor(value: object) -> str:
    """Return `float32 [4]`, or `Parameter float32 [4]` of no plain tensor; "" of anything else.

    Of a tf.data.Dataset: what its elements are.
    """
    base, kind = base_of(type(value)), real_type_name(value)
    data = getattr(restoring.module("tensorflow.python.data.ops.dataset_ops"), "DatasetV2", None)
    if data and type.__subclasscheck__(data, type(value)):  # an ABC would ask for a hash
        return clipped(f"{kind.strip('_')} of {_spec_words(value.element_spec)}", LONGEST)
    if base is None or (told := words(value)) == kind:
        return ""
    name = "Variable" if base.__name__ == "Variable" else kind
    return told if name in _PLAIN else f"{name} {told}"


def _spec_words(spec) -> str:
    """Return what a Dataset says of its elements, such as `(float32 [None, 2], int64 [])`."""
    if real_isinstance(spec, dict):
        return f"{{{', '.join(f'{name}: {_spec_words(one)}' for name, one in spec.items())}}}"
    if real_isinstance(spec, tuple):
        return f"({', '.join(map(_spec_words, spec))})"
    return words(spec)


def is_tensor(value) -> bool:
    """Return whether the real type of `value` is `torch.Tensor` or inherits from it."""
    kind = getattr(restoring.module("torch"), "Tensor", None)
    return kind is not None and real_isinstance(value, kind)


def plainly():
    """Return a block in which neither a tensor's own class nor a user's mode hears of a look."""
    import torch

    return torch._C.DisableTorchFunction()


def field(tensor, name: str):
    """Return an attribute as `torch.Tensor` itself has it, whatever its class or a mode says."""
    import torch

    with plainly():
        return getattr(torch.Tensor, name).__get__(tensor)


def gradient(tensor):
    """Return the `.grad` that a leaf of torch has already; None of anything else."""
    torch = restoring.module("torch")
    if torch is None or type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        return None
    return tensor.grad if tensor.is_leaf else None


def words(tensor) -> str:
    """Return dtype and sizes, such as `float32 [3, 4]`, or words instead of them."""
    kind = real_type_name(tensor)
    # Not a subclass of somebody's own, which answers for its tensors.
    own = type(tensor).__mro__ if is_tensor(tensor) else ()
    answering = (cls.__module__ for cls in own if "__torch_dispatch__" in vars(cls))
    if not all(home.startswith("torch") for home in answering):
        return kind
    read = field if own else getattr
    try:
        dtype = read(tensor, "dtype")
    except Exception:
        return kind
    inside = "?"
    with suppress(Exception):  # nested, or of a rank that is not known yet
        inside = clipped(", ".join(map(str, read(tensor, "shape"))), LONGEST)
    inside = "?" if kind.startswith("Uninitialized") else inside
    return f"{str(getattr(dtype, 'name', dtype)).removeprefix('torch.')} [{inside}]"


def ends_the_process(tensor) -> bool:
    """Return whether a guard that asks for its strides throws where C++ allows no exception."""
    import torch

    return field(tensor, "is_nested") and field(tensor, "layout") is torch.strided


def has_its_elements(tensor) -> bool:
    """Return whether every element can be read: dense, and its memory there and not freed."""
    try:
        import torch

        if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
            return False
        odd = tensor.is_nested or tensor.is_meta or tensor.is_quantized
        wrapped = torch._C._functorch.is_functorch_wrapped_tensor(tensor)
        if odd or wrapped or tensor.layout is not torch.strided:
            return False
        return tensor.untyped_storage().nbytes() > 0 or not tensor.numel()
    except Exception:
        return False

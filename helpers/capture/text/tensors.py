"""A tensor of torch, TensorFlow or Keras, or an array -> `float32 [5, 4]`; no data is read."""

from contextlib import suppress

from ...model.phrase import clip_text
from ...safety import restoring
from ...safety.arguments import real_isinstance, real_type_name

LONGEST = 200  # characters of sizes
# What a tensor or a variable is, by the module that somebody has imported already.
TENSOR_TYPES = (
    ("torch", "Tensor"),
    ("tensorflow.python.framework.tensor", "Tensor"),
    ("tensorflow.python.ops.variables", "Variable"),
    ("keras.src.backend.common.variables", "Variable"),
    ("numpy", "ndarray"),
)
# The names of types that need not be said: dtype and sizes already show that it is a tensor.
_PLAIN_TYPES = ("Tensor", "EagerTensor", "SymbolicTensor", "ndarray")


def find_tensor_type(kind: type) -> type | None:
    """Return the class of `TENSORS` that a class inherits from, if any; it may be the class."""
    for module, name in TENSOR_TYPES:
        base = getattr(restoring.module(module), name, None)
        # An instance check of a metaclass of the user's is not asked.
        if real_isinstance(base, type) and type.__subclasscheck__(base, kind):
            return base
    return None


def format_tensor(value: object) -> str:
    """Return `float32 [4]`, or `Parameter float32 [4]` of no plain tensor; "" of anything else.

    Of a tf.data.Dataset: what its elements are.
    """
    base = find_tensor_type(type(value))
    type_name = real_type_name(value)
    dataset_module = restoring.module("tensorflow.python.data.ops.dataset_ops")
    dataset_type = getattr(dataset_module, "DatasetV2", None)
    if dataset_type and type.__subclasscheck__(dataset_type, type(value)):
        elements = _format_spec(value.element_spec)
        return clip_text(f"{type_name.strip('_')} of {elements}", LONGEST)
    if base is None:
        return ""
    text = format_dtype_and_sizes(value)
    if text == type_name:  # nothing but the type is known
        return ""
    name = "Variable" if base.__name__ == "Variable" else type_name
    return text if name in _PLAIN_TYPES else f"{name} {text}"


def _format_spec(spec) -> str:
    """Return what a Dataset says of its elements, such as `(float32 [None, 2], int64 [])`."""
    if real_isinstance(spec, dict):
        items = [f"{name}: {_format_spec(inner_spec)}" for name, inner_spec in spec.items()]
        return f"{{{', '.join(items)}}}"
    if real_isinstance(spec, tuple):
        return f"({', '.join(map(_format_spec, spec))})"
    return format_dtype_and_sizes(spec)


def is_torch_tensor(value) -> bool:
    """Return whether the real type of `value` is `torch.Tensor` or inherits from it."""
    tensor_type = getattr(restoring.module("torch"), "Tensor", None)
    return tensor_type is not None and real_isinstance(value, tensor_type)


def without_overrides():
    """Return a block in which neither a tensor's own class nor a user's mode is asked."""
    import torch

    return torch._C.DisableTorchFunction()


def read_field(tensor, name: str):
    """Return an attribute as `torch.Tensor` itself has it, whatever its class or a mode says."""
    import torch

    with without_overrides():
        return getattr(torch.Tensor, name).__get__(tensor)


def read_gradient(tensor):
    """Return the `.grad` that a leaf of torch has already; None of anything else."""
    torch = restoring.module("torch")
    if torch is None or type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        return None
    return tensor.grad if tensor.is_leaf else None


def format_dtype_and_sizes(tensor) -> str:
    """Return dtype and sizes, such as `float32 [3, 4]`.

    Return the name of the type for a value without a dtype, and for a tensor of a subclass with
    `__torch_dispatch__` that is not torch's: such a class answers for its tensors.
    """
    type_name = real_type_name(tensor)
    is_of_torch = is_torch_tensor(tensor)
    if is_of_torch:
        for base in type(tensor).__mro__:
            if "__torch_dispatch__" in vars(base) and not base.__module__.startswith("torch"):
                return type_name

    read = read_field if is_of_torch else getattr
    try:
        dtype = read(tensor, "dtype")
    except Exception:  # a value without a dtype, or one whose property raises
        return type_name
    sizes = "?"
    # The sizes of a nested tensor, or of a tensor of a rank that is not known yet, raise.
    with suppress(Exception):
        sizes = clip_text(", ".join(map(str, read(tensor, "shape"))), LONGEST)
    if type_name.startswith("Uninitialized"):
        sizes = "?"
    dtype_name = str(getattr(dtype, "name", dtype)).removeprefix("torch.")
    return f"{dtype_name} [{sizes}]"


def has_throwing_strides(tensor) -> bool:
    """Return whether a guard that asks for its strides throws where C++ allows no exception."""
    import torch

    return read_field(tensor, "is_nested") and read_field(tensor, "layout") is torch.strided


def has_readable_elements(tensor) -> bool:
    """Return whether every element can be read: dense, and its memory there and not freed."""
    try:
        import torch

        if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
            return False
        is_without_plain_memory = tensor.is_nested or tensor.is_meta or tensor.is_quantized
        is_in_functorch = torch._C._functorch.is_functorch_wrapped_tensor(tensor)
        if is_without_plain_memory or is_in_functorch or tensor.layout is not torch.strided:
            return False
        has_memory = tensor.untyped_storage().nbytes() > 0
        return has_memory or not tensor.numel()
    except Exception:  # what cannot be asked cannot be read
        return False

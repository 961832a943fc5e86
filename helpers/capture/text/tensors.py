"""A tensor of torch, TensorFlow or Keras, or an array -> "float32 [5, 4]"; no data is read.

No framework is imported here. A class of a framework is looked up only if the program has imported
that framework. A user may derive a class from a tensor, and its attributes may run the user's code,
so torch's attributes are read as `torch.Tensor` itself has them.
"""

from contextlib import suppress

from ...model.phrase import clip_text
from ...safety import restoring
from ...safety.arguments import real_isinstance, real_type_name

LONGEST = 200  # characters of sizes
# (module, name of a class in it): the classes of tensors and variables.
TENSOR_TYPES = (
    ("torch", "Tensor"),
    ("tensorflow.python.framework.tensor", "Tensor"),
    ("tensorflow.python.ops.variables", "Variable"),
    ("keras.src.backend.common.variables", "Variable"),
    ("numpy", "ndarray"),
)
# Types whose names are not shown, because dtype and sizes already show that it is a tensor.
_PLAIN_TYPES = ("Tensor", "EagerTensor", "SymbolicTensor", "ndarray")


def find_tensor_type(kind: type) -> type | None:
    """Return the class of TENSOR_TYPES that `kind` is or inherits from, or None."""
    for module, name in TENSOR_TYPES:
        base = getattr(restoring.find_loaded_module(module), name, None)
        # `issubclass` would run the check of a user's metaclass.
        if real_isinstance(base, type) and type.__subclasscheck__(base, kind):
            return base
    return None


def format_tensor(value: object) -> str:
    """Return "float32 [4]" for a tensor, and "Parameter float32 [4]" for one of a special type.

    A tf.data.Dataset becomes "MapDataset of float32 [None]". Return "" for any other value, and for
    a tensor of which only the type is known.
    """
    tensor_class = find_tensor_type(type(value))
    type_name = real_type_name(value)
    dataset_module = restoring.find_loaded_module("tensorflow.python.data.ops.dataset_ops")
    dataset_type = getattr(dataset_module, "DatasetV2", None)
    if dataset_type and type.__subclasscheck__(dataset_type, type(value)):
        elements = _format_spec(value.element_spec)
        return clip_text(f"{type_name.strip('_')} of {elements}", LONGEST)
    if tensor_class is None:
        return ""
    text = format_dtype_and_sizes(value)
    if text == type_name:  # dtype and sizes could not be read
        return ""
    # A variable's own class has a longer name, such as ResourceVariable.
    name = "Variable" if tensor_class.__name__ == "Variable" else type_name
    return text if name in _PLAIN_TYPES else f"{name} {text}"


def _format_spec(spec) -> str:
    """Return the `element_spec` of a Dataset as text, as in "(float32 [None, 2], int64 [])"."""
    if real_isinstance(spec, dict):
        items = [f"{name}: {_format_spec(inner_spec)}" for name, inner_spec in spec.items()]
        return f"{{{', '.join(items)}}}"
    if real_isinstance(spec, tuple):
        return f"({', '.join(map(_format_spec, spec))})"
    return format_dtype_and_sizes(spec)


def is_torch_tensor(value) -> bool:
    """Return whether the real type of `value` is `torch.Tensor` or inherits from it."""
    tensor_type = getattr(restoring.find_loaded_module("torch"), "Tensor", None)
    return tensor_type is not None and real_isinstance(value, tensor_type)


def disable_torch_function():
    """Return a context manager in which torch calls no `__torch_function__` of classes or modes."""
    import torch

    return torch._C.DisableTorchFunction()


def read_field(tensor, name: str):
    """Return an attribute of a tensor as `torch.Tensor` defines it.

    A derived class may define another one, and a mode may replace it. Neither is asked.
    """
    import torch

    with disable_torch_function():
        return getattr(torch.Tensor, name).__get__(tensor)


def read_gradient(tensor):
    """Return the `.grad` of a leaf tensor of torch, or None for any other value.

    For a tensor that is no leaf, torch would warn.
    """
    torch = restoring.find_loaded_module("torch")
    if torch is None or type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        return None
    return tensor.grad if tensor.is_leaf else None


def format_dtype_and_sizes(tensor) -> str:
    """Return dtype and sizes, such as "float32 [3, 4]", or "float32 [?]" if the sizes are unknown.

    Return only the name of the type for a value without a dtype. The same is returned for a tensor
    of a user's class with `__torch_dispatch__`, because reading it would run the user's code.
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
    # For a nested tensor, or a tensor of unknown rank, reading the sizes raises.
    with suppress(Exception):
        sizes = clip_text(", ".join(map(str, read(tensor, "shape"))), LONGEST)
    if type_name.startswith("Uninitialized"):  # a parameter that gets its sizes at the first call
        sizes = "?"
    dtype_name = str(getattr(dtype, "name", dtype)).removeprefix("torch.")
    return f"{dtype_name} [{sizes}]"


def has_throwing_strides(tensor) -> bool:
    """Return whether reading the strides of a tensor in a guard would end the process.

    A nested tensor has no strides. In the C++ code of a guard nobody catches the exception.
    """
    import torch

    return read_field(tensor, "is_nested") and read_field(tensor, "layout") is torch.strided


def has_readable_elements(tensor) -> bool:
    """Return whether every element of a torch tensor can be read.

    The tensor has to be dense, and to have memory that was not freed. Return False for a tensor of
    a derived class, except a Parameter.
    """
    try:
        import torch

        if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
            return False
        is_without_plain_memory = tensor.is_nested or tensor.is_meta or tensor.is_quantized
        # Inside vmap or grad, functorch wraps tensors, and a wrapper has no elements of its own.
        is_in_functorch = torch._C._functorch.is_functorch_wrapped_tensor(tensor)
        if is_without_plain_memory or is_in_functorch or tensor.layout is not torch.strided:
            return False
        has_memory = tensor.untyped_storage().nbytes() > 0
        return has_memory or not tensor.numel()
    except Exception:  # if a question fails, so would reading
        return False

"""A tensor of torch -> what torch may be asked of it without harm, beside its words in `text`."""

from helpers.capture.text.label import type_name
from helpers.capture.text.tensor import answers_itself, dtype_words, field, is_tensor, sizes, words
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS  # those of the interpreter may be patched when this runs


def ends_the_process(tensor) -> bool:
    """Return whether a guard that asks for its strides throws where C++ allows no exception."""
    import torch

    return field(tensor, "is_nested") and field(tensor, "layout") is torch.strided


def has_its_elements(tensor) -> bool:
    """Return whether every element can be read: dense, and its memory there and not freed."""
    try:
        if answers_itself(type(tensor)) or type_name(tensor) not in ("Tensor", "Parameter"):
            return False
        import torch

        dense = field(tensor, "layout") is torch.strided and not field(tensor, "is_nested")
        plain = not field(tensor, "is_meta") and not field(tensor, "is_quantized")
        if not dense or not plain or torch._C._functorch.is_functorch_wrapped_tensor(tensor):
            return False
        return _last(tensor) <= tensor.untyped_storage().nbytes()
    except Exception:
        return False


def _last(tensor) -> int:
    """Return how many bytes of storage the tensor reaches into."""
    shape = tuple(tensor.shape)
    if 0 in shape:
        return 0
    steps = zip(shape, tensor.stride(), strict=True)
    last = tensor.storage_offset() + sum((size - 1) * step for size, step in steps)
    return (last + 1) * tensor.element_size()


__all__ = [  # the others are asked for under this name as well
    "answers_itself", "dtype_words", "field", "is_tensor", "sizes", "words",
]  # fmt: skip

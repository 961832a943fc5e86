"""A tensor and a guard on a tensor -> sentences such as `rank mismatch. expected 1, actual 2`.

Torch stops at the first difference, and C++ writes such a sentence (torch/csrc/dynamo/guards.cpp).
Here sentences of the same form are written for all differences.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...internals import torch_modes
from ...safety import restoring
from ...safety.arguments import real_type_name
from ..text import tensors
from .guard_words import QUOTE, TENSOR_CHECK
from .setting_differences import ChangedSetting

# DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU), torch.float32, device=None
DISPATCH_KEYS = re.compile(r"DispatchKeySet\((.*?)\), .*?device=(\w+)", re.DOTALL)
MADE_IN_INFERENCE = "it was made in inference mode, and the entry is for one that was not"
INSIDE_TRANSFORM = "it is inside a transform of torch.func, and the entry is for one outside"
# dtype -> its name in C++, which torch's words use
CPP_NAMES = {
    "uint8": "unsigned char",
    "int8": "signed char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "float16": "Half",
    "float32": "Float",
    "float64": "Double",
    "bool": "Bool",
    "bfloat16": "BFloat16",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}


@dataclass(frozen=True)
class TensorDifferences:
    """How a tensor differs from what its guard asks for."""

    #: sentences on the tensor itself, such as `rank mismatch. expected 1, actual 2`
    sentences: tuple[str, ...] = ()
    #: settings of torch because of which the tensor has other dispatch keys, such as inference mode
    settings: tuple[ChangedSetting, ...] = ()
    #: whether autocast is all that differs. Torch has another guard for that, on its global state.
    is_only_autocast: bool = False


@dataclass(frozen=True)
class ExpectedTensor:
    """What the guard on a tensor asks for, read from torch's text."""

    #: the name of the class, such as `Tensor`
    kind: str
    #: such as `float32`
    dtype: str
    #: "True" or "False"
    requires_grad: str
    #: the sizes as torch writes them; "None" for one that may vary
    sizes: tuple[str, ...]
    #: the strides in the same form
    strides: tuple[str, ...]
    #: the names of the dispatch keys
    dispatch_keys: frozenset[str]


def compare_tensor(check: str, tensor, torchs_words: str = "") -> TensorDifferences:
    """Return how a tensor differs from what its guard asks for.

    Parameters
    ----------
    check : str
        The check of the guard, which `TENSOR_CHECK` matches.
    tensor : torch.Tensor
        The tensor of this call.
    torchs_words : str
        The difference that torch itself names, or "". It comes first.
    """
    expected = _parse_check(check)
    # A tensor of another class is described by the caller, as any value of another type is.
    if real_type_name(tensor) != expected.kind:
        return TensorDifferences()

    sentences = []
    # Torch's sentence on dispatch keys lists all keys. `_compare_dispatch_keys` has a shorter one.
    if torchs_words and not torchs_words.startswith("dispatch key"):
        sentences.append(torchs_words)
    sentences += _compare_dtype(expected, tensor)
    sentences += _compare_layout(expected, tensor)
    key_differences = _compare_dispatch_keys(expected, tensor)
    sentences += key_differences.sentences
    return TensorDifferences(
        sentences=_drop_repeated(sentences),
        settings=key_differences.settings,
        is_only_autocast=key_differences.is_only_autocast,
    )


def _parse_check(check: str) -> ExpectedTensor:
    """Return what a guard on a tensor asks for; `check` is torch's text `check_tensor(…)`."""
    kind, dtype, requires_grad, sizes, strides = TENSOR_CHECK.match(check).groups()
    keys = DISPATCH_KEYS.search(check)[1]
    return ExpectedTensor(
        kind=kind,
        dtype=dtype,
        requires_grad=requires_grad,
        sizes=_split_numbers(sizes),
        strides=_split_numbers(strides),
        dispatch_keys=frozenset(key.strip() for key in keys.split(",")),
    )


def _split_numbers(text: str) -> tuple[str, ...]:
    """Return the numbers of a text such as `3, None, 1`, each still as text."""
    return tuple(number.strip() for number in text.split(",") if number.strip())


def _drop_repeated(sentences: list[str]) -> tuple[str, ...]:
    """Return the first sentence on each subject, which is the text before `. expected`.

    Torch's own sentence comes first, and ours on the same subject would repeat it.
    """
    sentences_by_subject = {}
    for sentence in sentences:
        subject = sentence.partition(". expected")[0]
        sentences_by_subject.setdefault(subject, sentence)
    return tuple(sentences_by_subject.values())


# ------------------------------------------------------------------ dtype and layout


def _compare_dtype(expected: ExpectedTensor, tensor) -> list[str]:
    """Return a sentence if the dtype differs, and one if requires_grad differs."""
    sentences = []
    dtype = str(tensors.read_field(tensor, "dtype")).removeprefix("torch.")
    if dtype != expected.dtype:
        expected_name = CPP_NAMES.get(expected.dtype, expected.dtype)
        actual_name = CPP_NAMES.get(dtype, dtype)
        sentences.append(f"dtype mismatch. expected {expected_name}, actual {actual_name}")

    requires_grad = str(bool(tensors.read_field(tensor, "requires_grad")))
    if requires_grad != expected.requires_grad:
        expected_number = int(expected.requires_grad == "True")
        sentences.append(f"requires_grad mismatch. expected requires_grad={expected_number}")
    return sentences


def _compare_layout(expected: ExpectedTensor, tensor) -> list[str]:
    """Return sentences on the sizes and strides that differ from the expected ones."""
    shape = tuple(tensors.read_field(tensor, "shape"))
    if len(expected.sizes) != len(shape):
        # With another number of dimensions, single sizes cannot be compared.
        sentence = f"rank mismatch. expected {len(expected.sizes)}, actual {len(shape)}"
        return [sentence, *_compare_order(expected, tensor, shape)]
    return [
        *_compare_numbers("size", expected.sizes, shape),
        *_compare_strides(expected, tensor, shape),
    ]


def _compare_numbers(noun: str, expected: Sequence[str], actual: Sequence[int]) -> list[str]:
    """Return a sentence for each index at which a size or a stride is another number."""
    return [
        f"{noun} mismatch at index {index}. expected {expected_number}, actual {number}"
        for index, (expected_number, number) in enumerate(zip(expected, actual, strict=True))
        if not _is_allowed(expected_number, number)
    ]


def _is_allowed(expected_number: str, number: int) -> bool:
    """Return whether a guard allows this size or stride; "None" allows each."""
    return expected_number in ("None", str(number))


def _are_allowed(expected_numbers: Sequence[str], numbers: Sequence[int]) -> bool:
    """Return whether a guard allows all these sizes or strides.

    Expected strides may be fewer than sizes, because a sparse tensor has no strides.
    """
    pairs = zip(expected_numbers, numbers, strict=False)
    return all(_is_allowed(expected_number, number) for expected_number, number in pairs)


def _compare_strides(expected: ExpectedTensor, tensor, shape: tuple[int, ...]) -> list[str]:
    """Return a sentence for each stride that differs, unless it differs because a size does.

    A contiguous tensor of another size has other strides, too. Nothing is said of these.
    """
    strides = _read_strides(tensor)
    if strides is None or len(expected.strides) != len(strides):
        return []
    # With the expected sizes, each other stride counts. With other sizes, only another layout does.
    if _are_allowed(expected.sizes, shape) or _compare_order(expected, tensor, shape):
        return _compare_numbers("stride", expected.strides, strides)
    return []


def _compare_order(expected: ExpectedTensor, tensor, shape: tuple[int, ...]) -> list[str]:
    """Return a sentence if the elements of a tensor of other sizes are also laid out differently.

    Other sizes lead to other strides in any case. So the list is empty if the guard expects a
    contiguous tensor and this tensor is contiguous.
    """
    strides = _read_strides(tensor)
    if strides is None:
        return []
    # A size that may vary is taken as 2. Any number above 1 gives strides in the right order.
    sizes = [2 if size == "None" else int(size) for size in expected.sizes]
    expects_contiguous = _are_allowed(expected.strides, _list_contiguous_strides(sizes))
    if expects_contiguous and strides == _list_contiguous_strides(shape):
        return []
    return [f"stride mismatch. expected [{', '.join(expected.strides)}], actual {strides}"]


def _read_strides(tensor) -> list[int] | None:
    """Return the strides of a tensor, or None if it has none: a sparse or a nested tensor."""
    try:
        if str(tensors.read_field(tensor, "layout")) != "torch.strided":
            return None
        with tensors.disable_torch_function():  # no `__torch_function__` of the user's is called
            return list(tensor.stride())
    except Exception:  # a nested tensor of the strided layout raises
        return None


def _list_contiguous_strides(sizes: Sequence[int]) -> list[int]:
    """Return the strides of a contiguous tensor: sizes (2, 3, 4) have strides [12, 4, 1]."""
    strides = []
    stride = 1
    for size in reversed(sizes):
        strides.append(stride)
        stride *= max(size, 1)  # torch counts a size of 0 as 1 here
    strides.reverse()
    return strides


# ------------------------------------------------------------------ dispatch keys


def _compare_dispatch_keys(expected: ExpectedTensor, tensor) -> TensorDifferences:
    """Return why a tensor has other dispatch keys than its guard asks for.

    Dispatch keys say which parts of torch handle an op on the tensor, such as CPU and AutogradCPU.
    They depend on the tensor and on modes of torch that are on now. The result is empty if the keys
    are those expected.
    """
    with tensors.disable_torch_function():  # no `__torch_function__` of the user's is called
        was_made_in_inference = tensor.is_inference()
    actual_keys = {key.strip() for key in torch_modes.format_dispatch_keys(tensor).split(",")}
    if actual_keys == expected.dispatch_keys:
        return TensorDifferences()

    # Autocast adds keys, too. Torch has another guard for autocast, so its keys are left out.
    missing_keys = _drop_autocast(expected.dispatch_keys - actual_keys)
    added_keys = _drop_autocast(actual_keys - expected.dispatch_keys)
    if not missing_keys and not added_keys:
        return TensorDifferences(is_only_autocast=True)

    different_keys = missing_keys | added_keys
    if all(_is_of_autograd(key) for key in different_keys):
        explanation = _explain_inference(was_made_in_inference, missing_keys, added_keys)
        if explanation is not None:
            return explanation
    if added_keys and all(key.startswith("FuncTorch") for key in different_keys):
        return TensorDifferences(sentences=(INSIDE_TRANSFORM,))

    # There is no simple reason, so all keys are listed in torch's own form.
    expected_text = ", ".join(sorted(expected.dispatch_keys))
    actual_text = ", ".join(sorted(actual_keys))
    sentence = (
        f"{QUOTE}dispatch key set mismatch. expected DispatchKeySet({expected_text}), "
        f"actual DispatchKeySet({actual_text})"
    )
    return TensorDifferences(sentences=(sentence,))


def _explain_inference(
    was_made_in_inference: bool, missing_keys: set[str], added_keys: set[str]
) -> TensorDifferences | None:
    """Return how inference mode explains that autograd's dispatch keys differ, or None.

    In inference mode, and on a tensor made in it, torch leaves out the keys of autograd.

    Parameters
    ----------
    was_made_in_inference : bool
        Whether the tensor was made in inference mode.
    missing_keys, added_keys : set of str
        The keys of autograd that the guard expects and the tensor has not, and the reverse.
    """
    is_inference_on = restoring.find_loaded_module("torch").is_inference_mode_enabled()
    if missing_keys and was_made_in_inference:
        return TensorDifferences(sentences=(MADE_IN_INFERENCE,))
    if missing_keys and is_inference_on:
        setting = ChangedSetting(name="inference mode", now="on", expected="off")
        return TensorDifferences(settings=(setting,))
    if added_keys and not was_made_in_inference and not is_inference_on:
        # The guard expects no keys of autograd. Either cause is possible.
        expected_state = "on, or this tensor was made in it"
        setting = ChangedSetting(name="inference mode", now="off", expected=expected_state)
        return TensorDifferences(settings=(setting,))
    return None


def _drop_autocast(keys: set[str] | frozenset[str]) -> set[str]:
    """Return dispatch keys without those of autocast."""
    return {key for key in keys if not key.startswith("Autocast")}


def _is_of_autograd(key: str) -> bool:
    """Return whether a dispatch key has to do with autograd."""
    return key.startswith("Autograd") or key == "ADInplaceOrView"

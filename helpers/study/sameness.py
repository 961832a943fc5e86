"""Decide whether two results agree, of a learner's answer and of a reference solution.
Numbers and arrays of any library need to agree only nearly.
"""

from collections.abc import Mapping

from helpers.study.answers import to_plain_text
from helpers.study.frameworks import np, torch
from helpers.study.observations import Raised

NEAR = 1e-5  # how far results may differ, relative to the right one, or to 1 if that is smaller
NUMBER_KINDS = "biufc"  # NumPy's letters: bool, int, unsigned int, float, complex


def is_same_result(own_result, right_result, near: float = NEAR) -> bool:
    """Return whether two results agree: numbers and arrays of any library nearly, others by ==.

    It raises nothing. An answer can return anything, and what cannot be compared does not agree.

    Parameters
    ----------
    own_result
        What the learner's answer gave.
    right_result
        What the reference solution gave. Its type decides how the two are compared.
    near
        How far numbers may differ, relative to the right one, or to 1 if that is smaller.

    Examples
    --------
    >>> is_same_result([1, None], (1.0000001, None)), is_same_result(None, [1.0])
    (True, False)
    """
    try:
        return _agree(own_result, right_result, near)
    except Exception:  # from a method of the learner's object, such as its keys, items or ==
        return False


def _agree(own_result, right_result, near: float) -> bool:
    """Do what `is_same_result` does, but raise errors of the learner's objects.

    The type of `right_result` decides how the two are compared.
    """
    if isinstance(right_result, Mapping):
        return _mappings_agree(own_result, right_result, near)
    if isinstance(right_result, list | tuple):
        return _sequences_agree(own_result, right_result, near)
    if isinstance(right_result, bool):
        # A bool of NumPy agrees, too, but the int 1 does not. NumPy's type is called "bool" or
        # "bool_", depending on its version.
        return type(own_result).__name__ in ("bool", "bool_") and bool(own_result) is right_result
    if isinstance(right_result, str | bytes | type | Raised | None):
        return type(to_plain_text(own_result)) is type(right_result) and own_result == right_result

    right = as_numbers(right_result)
    if right is None:  # the reference's result is no number, array or tensor
        return _are_equal(own_result, right_result)
    array = as_numbers(own_result)
    if array is None or array.shape != right.shape:
        return False
    return bool(np.allclose(array, right, rtol=near, atol=near, equal_nan=True))


def _mappings_agree(own_result, right_result: Mapping, near: float) -> bool:
    """Return whether two mappings have the same keys, and values that agree."""
    if not isinstance(own_result, Mapping) or own_result.keys() != right_result.keys():
        return False
    return all(_agree(own_result[key], right_result[key], near) for key in right_result)


def _sequences_agree(own_result, right_result: list | tuple, near: float) -> bool:
    """Return whether two lists or tuples agree item by item. A list and a tuple can agree."""
    if not isinstance(own_result, list | tuple) or len(own_result) != len(right_result):
        return False
    pairs = zip(own_result, right_result, strict=True)
    return all(_agree(own_item, right_item, near) for own_item, right_item in pairs)


def _are_equal(own_result, right_result) -> bool:
    """Return whether two results that are no numbers are equal, by the method of their library."""
    if own_result is right_result:
        return True
    if isinstance(own_result, Raised):  # an error never agrees with a result
        return False
    if hasattr(right_result, "equals"):  # a data frame, in which nan equals nan
        return bool(right_result.equals(own_result))
    if hasattr(right_result, "to_list"):  # a ragged tensor
        return _agree(own_result.to_list(), right_result.to_list(), NEAR)

    is_equal = own_result == right_result
    if isinstance(is_equal, bool):
        return is_equal
    # `==` has given an array. It may have broadcast one of two different shapes.
    if getattr(own_result, "shape", None) != getattr(right_result, "shape", None):
        return False
    return bool(np.all(np.asarray(is_equal)))


def as_numbers(value):
    """Return a number, array or tensor of any library as a numpy array; None for any other value.

    The items of the array are floats or complex numbers.
    """
    try:
        is_torch_tensor = hasattr(value, "detach")
        array = np.asarray(_make_dense(value) if is_torch_tensor else value)
        # These dtypes come from the package ml_dtypes. For NumPy they are no numbers.
        if array.dtype.name.startswith(("bfloat", "float8")):
            array = array.astype(np.float64)
        if array.dtype.kind not in NUMBER_KINDS:
            return None
        # At least float64, so that differences of unsigned ints cannot wrap around.
        return array.astype(np.result_type(array, np.float64))
    except Exception:  # a learner's object may raise anything
        return None


def _make_dense(tensor):
    """Return a torch tensor in a form that numpy can read: dense, on the CPU, of a numpy dtype."""
    tensor = tensor.detach().cpu().to_dense().resolve_conj().resolve_neg()
    if tensor.dtype == torch.bfloat16:
        return tensor.double()
    return tensor


def find_farthest_item(own_result, right_result) -> tuple | None:
    """Return the index of the item at which two arrays differ most.

    Return None if the results are no arrays of the same shape, or if they do not differ. Distances
    are relative to the right number, or to 1 if that is smaller, as in NEAR.
    """
    array = as_numbers(own_result)
    right = as_numbers(right_result)
    if array is None or right is None or array.shape != right.shape or not array.shape:
        return None

    distances = np.abs(array - right) / np.maximum(1, np.abs(right))
    # A nan or an infinity counts as the largest distance, unless both arrays have it.
    distances = np.nan_to_num(distances, nan=np.inf)
    is_same = np.isclose(array, right, rtol=0, atol=0, equal_nan=True)
    distances = np.where(is_same, 0, distances)
    if not distances.any():
        return None
    index = np.unravel_index(distances.argmax(), distances.shape)
    return tuple(map(int, index))

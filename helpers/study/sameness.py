"""A learner's result and the reference's -> whether they agree, and where they differ most."""

from collections.abc import Mapping

from helpers.study.answers import to_plain_text
from helpers.study.frameworks import np, torch
from helpers.study.observations import Raised

NEAR = 1e-5  # how far results may differ, relative to the right one, or to 1 if that is smaller
NUMBER_KINDS = "biufc"  # NumPy's letters: bool, int, unsigned int, float, complex


def is_same_result(mine, real, near: float = NEAR) -> bool:
    """Return whether two results agree: numbers and arrays of any library nearly, others by ==.

    It raises nothing. An answer can return anything, and what cannot be compared does not agree.

    Parameters
    ----------
    mine
        What the answer gave.
    real
        What the reference gave. Its type decides how the two are compared.
    near
        How far numbers may differ, relative to the right one, or to 1 if that is smaller.

    Examples
    --------
    >>> is_same_result([1, None], (1.0000001, None)), is_same_result(None, [1.0])
    (True, False)
    """
    try:
        return _agree(mine, real, near)
    except Exception:  # from a method of the learner's object, such as its keys, items or ==
        return False


def _agree(mine, real, near: float) -> bool:
    """Do what `is_same_result` does, but let errors of the learner's objects out."""
    if isinstance(real, Mapping):
        return _mappings_agree(mine, real, near)
    if isinstance(real, list | tuple):
        return _sequences_agree(mine, real, near)
    if isinstance(real, bool):
        # By name, because NumPy's own bool counts, but not the int 1.
        return type(mine).__name__ in ("bool", "bool_") and bool(mine) is real
    if isinstance(real, str | bytes | type | Raised | None):
        return type(to_plain_text(mine)) is type(real) and mine == real

    right = as_numbers(real)
    if right is None:
        return _are_equal(mine, real)
    array = as_numbers(mine)
    if array is None or array.shape != right.shape:
        return False
    return bool(np.allclose(array, right, rtol=near, atol=near, equal_nan=True))


def _mappings_agree(mine, real: Mapping, near: float) -> bool:
    """Return whether two mappings have the same keys, and values that agree."""
    if not isinstance(mine, Mapping) or mine.keys() != real.keys():
        return False
    return all(_agree(mine[key], real[key], near) for key in real)


def _sequences_agree(mine, real: list | tuple, near: float) -> bool:
    """Return whether two lists or tuples agree item by item. A list may agree with a tuple."""
    if not isinstance(mine, list | tuple) or len(mine) != len(real):
        return False
    pairs = zip(mine, real, strict=True)
    return all(_agree(own_item, right_item, near) for own_item, right_item in pairs)


def _are_equal(mine, real) -> bool:
    """Return whether two results that are no numbers are equal.

    If `==` gives an array, all items of it must be true.
    """
    if mine is real:
        return True
    if isinstance(mine, Raised):  # an error never agrees with a result
        return False
    if hasattr(real, "equals"):  # a data frame, in which nan equals nan
        return bool(real.equals(mine))
    if hasattr(real, "to_list"):  # a ragged tensor
        return _agree(mine.to_list(), real.to_list(), NEAR)

    answer = mine == real
    if isinstance(answer, bool):
        return answer
    if getattr(mine, "shape", None) != getattr(real, "shape", None):
        return False
    return bool(np.all(np.asarray(answer)))


def as_numbers(value):
    """Return a number, array or tensor of any library as a numpy array, else None."""
    try:
        is_torch_tensor = hasattr(value, "detach")
        array = np.asarray(_make_dense(value) if is_torch_tensor else value)
        # These come from the package ml_dtypes; NumPy itself does not count them as numbers.
        if array.dtype.name.startswith(("bfloat", "float8")):
            array = array.astype(np.float64)
        if array.dtype.kind not in NUMBER_KINDS:
            return None
        # At least float64, so that differences of unsigned ints cannot wrap around.
        return array.astype(np.result_type(array, np.float64))
    except Exception:  # a learner's object may raise anything
        return None


def _make_dense(tensor):
    """Return torch's tensor in the form that numpy reads: on the CPU, of a dtype that numpy has."""
    tensor = tensor.detach().cpu().to_dense().resolve_conj().resolve_neg()
    if tensor.dtype == torch.bfloat16:
        return tensor.double()
    return tensor


def find_farthest_item(mine, real) -> tuple | None:
    """Return the index at which two arrays of one shape differ most, or None if there is none.

    Distances are relative to the right number, or to 1 if that is smaller, as in NEAR.
    """
    array = as_numbers(mine)
    right = as_numbers(real)
    if array is None or right is None or array.shape != right.shape or not array.shape:
        return None

    distances = np.abs(array - right) / np.maximum(1, np.abs(right))
    # nan and infinity are the farthest, except where both arrays have them.
    distances = np.nan_to_num(distances, nan=np.inf)
    is_same = np.isclose(array, right, rtol=0, atol=0, equal_nan=True)
    distances = np.where(is_same, 0, distances)
    if not distances.any():
        return None
    place = np.unravel_index(distances.argmax(), distances.shape)
    return tuple(map(int, place))

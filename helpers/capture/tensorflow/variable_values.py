"""What a run of a graph returned -> text by which two different results can be told apart.

A number becomes "3", and a small array "[1, 2]". A large array is described by its smallest and its
largest value and its sum, because the shape alone would be the same in each run.
"""

from ...safety.arguments import real_isinstance
from ..text.value import short_repr

MOST_ELEMENTS = 8  # of an array that is written out
NUMBER_KINDS = "iuf"  # NumPy's letters for the dtypes of integers and floats


def format_result(result) -> str:
    """Return what `Session.run` returned as text.

    `result` is an array, a NumPy number, None for an op without a value, or lists and dicts of
    these.
    """
    import numpy as np

    if real_isinstance(result, list, tuple):
        return ", ".join(format_result(item) for item in result)
    if real_isinstance(result, dict):
        return ", ".join(f"{name}: {format_result(value)}" for name, value in result.items())
    if real_isinstance(result, np.ndarray) and result.ndim:
        return _format_array(result)
    if real_isinstance(result, np.integer):
        return str(int(result))
    if real_isinstance(result, np.floating):
        # Six digits are easier to read, but two different numbers must not get the same text.
        rounded = f"{float(result):g}"
        return rounded if float(rounded) == result else str(result)
    if result is None:  # an op has no value
        return "done"
    return short_repr(result)


def _format_array(array) -> str:
    """Return the items of a small array, or the dtype, the shape and the range of a large one.

    For example "[1, 2]" or "float32 [100] from 0 to 1, sum 50".
    """
    if array.size <= MOST_ELEMENTS:
        items = ", ".join(format_result(item) for item in array)
        return f"[{items}]"
    description = f"{array.dtype} {list(array.shape)}"
    if array.dtype.kind not in NUMBER_KINDS:  # text or bool, for example
        return description
    smallest = format_result(array.min())
    largest = format_result(array.max())
    if smallest == largest:
        return f"{description} of {smallest}"
    return f"{description} from {smallest} to {largest}, sum {format_result(array.sum())}"

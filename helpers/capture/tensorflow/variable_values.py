"""What a run of a graph returned -> text by which two results can be told apart.

An array is described by its values, and a large one by its smallest, its largest and their sum: the
shape alone would be the same in each run.
"""

from ...safety.arguments import real_isinstance
from ..text.value import short_repr

MOST_ELEMENTS = 8  # of an array that is written out
NUMBER_KINDS = "iuf"  # NumPy's letters for the dtypes of integers and floats


def format_result(result) -> str:
    """Return what `Session.run` returned as text."""
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
        rounded = f"{float(result):g}"
        return rounded if float(rounded) == result else str(result)
    if result is None:  # an op has no value
        return "done"
    return short_repr(result)


def _format_array(array) -> str:
    """Return the items of a small array, or the dtype, the shape and the range of a large one."""
    if array.size <= MOST_ELEMENTS:
        items = ", ".join(format_result(item) for item in array)
        return f"[{items}]"
    description = f"{array.dtype} {list(array.shape)}"
    if array.dtype.kind not in NUMBER_KINDS:
        return description
    smallest = format_result(array.min())
    largest = format_result(array.max())
    if smallest == largest:
        return f"{description} of {smallest}"
    return f"{description} from {smallest} to {largest}, sum {format_result(array.sum())}"

"""flow.typing: how a job function says what arrays it takes. Mirrors python/framework/typing.py."""

from helpers.mini.oneflow.dtypes import dtype_name, shape_tuple
from helpers.mini.oneflow.registry import Spec


class Numpy:
    """A numpy array; as a return annotation: the call gives back an array."""

    class Placeholder:
        """An array argument of a job: fixed shape, fixed dtype."""

        def __init__(self, shape, dtype="float32"):
            what = "tp.Numpy.Placeholder(shape, dtype)"
            self.spec = Spec(shape_tuple(shape, what), dtype_name(dtype, what))

        def __repr__(self):
            return f"Placeholder({self.spec})"

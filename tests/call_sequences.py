"""Generated calls of one function: tensors, Python values, lists, tuples and dicts of both."""

import numpy as np
from hypothesis import HealthCheck
from hypothesis import strategies as st

SHAPES = [(), (2,), (3,), (2, 2), (2, 3), (3, 2)]
UNHURRIED = {"deadline": None, "derandomize": True, "suppress_health_check": list(HealthCheck)}


def tensors():
    import tensorflow as tf

    dtypes = st.sampled_from(["float32", "int32"])
    return st.builds(lambda *of: tf.constant(np.zeros(*of)), st.sampled_from(SHAPES), dtypes)


def literals():
    return st.sampled_from([0, 1, 1.0, True, 2, "a", "b", None, float("nan")])


def arguments():
    def holding(inner):
        pairs = st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
        lists = st.lists(inner, max_size=3), st.lists(inner, max_size=2).map(tuple)
        return st.one_of(*lists, pairs)

    return st.recursive(st.one_of(tensors(), tensors(), literals()), holding, max_leaves=4)


def sequences():
    """Return lists of calls that are like each other: most arguments come from a small pool."""

    def calls(pool):
        call = st.tuples(st.one_of(st.sampled_from(pool), tensors()), literals())
        return st.lists(call, min_size=3, max_size=5)

    return st.lists(arguments(), min_size=1, max_size=3).flatmap(calls)

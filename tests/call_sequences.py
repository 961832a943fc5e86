"""Generated calls of one function: tensors, Python values, lists, tuples and dicts of both."""

import numpy as np
from hypothesis import HealthCheck
from hypothesis import strategies as st

SHAPES = [(), (2,), (3,), (2, 2), (2, 3), (3, 2)]
UNHURRIED = {"deadline": None, "derandomize": True, "suppress_health_check": list(HealthCheck)}


def tensors():
    import tensorflow as tf

    made = st.builds(
        lambda shape, dtype: tf.constant(np.zeros(shape, dtype)),
        st.sampled_from(SHAPES),
        st.sampled_from(["float32", "int32"]),
    )
    return made


def literals():
    return st.sampled_from([0, 1, 1.0, True, 2, "a", "b", None, float("nan")])


def arguments():
    leaves = st.one_of(tensors(), tensors(), literals())
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.lists(inner, max_size=2).map(tuple),
            st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
        ),
        max_leaves=4,
    )


def sequences():
    """Return lists of calls that are like each other: most arguments come from a small pool."""
    pools = st.lists(arguments(), min_size=1, max_size=3)
    return pools.flatmap(
        lambda pool: st.lists(
            st.tuples(st.one_of(st.sampled_from(pool), tensors()), literals()),
            min_size=3,
            max_size=5,
        )
    )

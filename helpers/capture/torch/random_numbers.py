"""The random numbers of this moment -> a function that lets the same come again.

Two runs of a program that draws, such as one with dropout, can be compared only so.
"""

import random
from collections.abc import Callable

import numpy as np


def again() -> Callable[[], None]:
    """Return what sets Python's, NumPy's and torch's own generators back to where they are now."""
    import torch

    before = random.getstate(), np.random.get_state(), torch.get_rng_state()

    def set_back() -> None:
        random.setstate(before[0])
        np.random.set_state(before[1])
        torch.set_rng_state(before[2])

    return set_back

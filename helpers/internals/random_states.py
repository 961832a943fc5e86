"""The random numbers that all of a process draws from: read, and put back.

They are Python's, NumPy's and PyTorch's own generators, and TensorFlow's and Keras's.
"""

import pickle
import random
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress

from ..safety import restoring
from . import tensorflow_private
from .keras_seeds import SeedStates


def random_states() -> dict[str, bytes]:
    """Return the states of the random numbers of Python, and of NumPy and PyTorch if imported."""
    states = {"random": pickle.dumps(random.getstate())}
    if numpy := restoring.module("numpy"):
        states["np.random"] = pickle.dumps(numpy.random.get_state())
    if torch := restoring.module("torch"):
        with suppress(Exception):  # a mode of the program's may refuse to read it
            states["torch.random"] = bytes(torch.default_generator.get_state().numpy())
    return dict(sorted(states.items()))


def restore_random_states(states: dict[str, bytes]) -> None:
    """Set each state that is another now: a state in use by another library is left alone."""
    now = random_states()
    if now["random"] != states["random"]:
        random.setstate(pickle.loads(states["random"]))
    if now.get("np.random") != states.get("np.random", now.get("np.random")):
        restoring.module("numpy").random.set_state(pickle.loads(states["np.random"]))
    if now.get("torch.random") != states.get("torch.random", now.get("torch.random")):
        torch = restoring.module("torch")
        state = torch.tensor(list(states["torch.random"]), dtype=torch.uint8, device="cpu")
        torch.default_generator.set_state(state)


@contextmanager
def random_numbers_kept() -> Iterator["tensorflow_private.RandomUse | None"]:
    """Draw in the block without a trace in what the program draws after it.

    Yield what TensorFlow draws, or None where it is not loaded. An eager op of its with a seed goes
    on in its own stream, which nobody can put back: `has_own_seed` of it says so.
    """
    is_loaded = restoring.module("tensorflow")
    apart = tensorflow_private.random_numbers_apart() if is_loaded else nullcontext()
    before, of_keras = random_states(), SeedStates()
    try:
        with apart as use:
            yield use
    finally:
        restore_random_states(before)
        of_keras.put_back()

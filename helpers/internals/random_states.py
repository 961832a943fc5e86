"""The generators of random numbers that all of a process shares: read, and restored.

They are Python's, NumPy's and PyTorch's own generators, and TensorFlow's and Keras's.
"""

import pickle
import random
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress

from ..safety import restoring
from . import tensorflow_random
from .keras_seeds import SeedStates


def read_random_states() -> dict[str, bytes]:
    """Return the name of a generator -> its state; NumPy and PyTorch only if loaded."""
    states = {"random": pickle.dumps(random.getstate())}
    if numpy := restoring.module("numpy"):
        states["np.random"] = pickle.dumps(numpy.random.get_state())
    if torch := restoring.module("torch"):
        with suppress(Exception):  # a mode of the program's may refuse to read it
            states["torch.random"] = bytes(torch.default_generator.get_state().numpy())
    return dict(sorted(states.items()))


def restore_random_states(states: dict[str, bytes]) -> None:
    """Set each generator whose state is another now than in `states`."""
    states_now = read_random_states()
    changed = {name for name, state in states.items() if states_now.get(name) != state}
    if "random" in changed:
        random.setstate(pickle.loads(states["random"]))
    if "np.random" in changed:
        restoring.module("numpy").random.set_state(pickle.loads(states["np.random"]))
    if "torch.random" in changed:
        torch = restoring.module("torch")
        state = torch.tensor(list(states["torch.random"]), dtype=torch.uint8, device="cpu")
        torch.default_generator.set_state(state)


@contextmanager
def random_numbers_kept() -> Iterator["tensorflow_random.RandomUse | None"]:
    """Draw in the block without an effect on what the program draws after it.

    Yield what TensorFlow draws, or None where it is not loaded. An eager op of TensorFlow's with a
    seed of its own goes on in its own stream, which nobody can restore. The attribute
    `has_own_seed` of what is yielded says whether there was one.
    """
    is_loaded = restoring.module("tensorflow")
    of_tensorflow = tensorflow_random.random_numbers_apart() if is_loaded else nullcontext()
    earlier_states = read_random_states()
    earlier_seeds = SeedStates()
    try:
        with of_tensorflow as use:
            yield use
    finally:
        restore_random_states(earlier_states)
        earlier_seeds.put_back()

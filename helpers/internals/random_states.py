"""Read and restore the global random generators of Python, NumPy, torch, TensorFlow and Keras."""

import pickle
import random
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress

from ..safety import restoring
from . import tensorflow_random
from .keras_seeds import SeedStates


def read_random_states() -> dict[str, bytes]:
    """Return name -> state for the generators of Python, NumPy and torch.

    The names are "random", "np.random" and "torch.random". NumPy and torch are left out where they
    are not loaded.
    """
    states = {"random": pickle.dumps(random.getstate())}
    if numpy := restoring.find_loaded_module("numpy"):
        states["np.random"] = pickle.dumps(numpy.random.get_state())
    if torch := restoring.find_loaded_module("torch"):
        with suppress(Exception):  # a dispatch mode of the program may raise an error here
            states["torch.random"] = bytes(torch.default_generator.get_state().numpy())
    return dict(sorted(states.items()))


def restore_random_states(states: dict[str, bytes]) -> None:
    """Restore each generator whose state differs now from that in `states`.

    `states` is what `read_random_states` returned.
    """
    states_now = read_random_states()
    changed = {name for name, state in states.items() if states_now.get(name) != state}
    if "random" in changed:
        random.setstate(pickle.loads(states["random"]))
    if "np.random" in changed:
        restoring.find_loaded_module("numpy").random.set_state(pickle.loads(states["np.random"]))
    if "torch.random" in changed:
        torch = restoring.find_loaded_module("torch")
        state = torch.tensor(list(states["torch.random"]), dtype=torch.uint8, device="cpu")
        torch.default_generator.set_state(state)


@contextmanager
def restore_random_numbers() -> Iterator["tensorflow_random.RandomUse | None"]:
    """Restore all random generators after the block, so that the program draws the same numbers.

    The block gets a RandomUse, or None where TensorFlow is not loaded. There is one exception: an
    eager op of TensorFlow with a seed of its own, `tf.random.normal(shape, seed=1)`, keeps its
    place in its stream of numbers, and nobody can restore that. The attribute `has_own_seed` of the
    RandomUse says whether the block ran such an op.
    """
    is_loaded = restoring.find_loaded_module("tensorflow")
    of_tensorflow = tensorflow_random.use_own_random_numbers() if is_loaded else nullcontext()
    earlier_states = read_random_states()
    earlier_seeds = SeedStates()
    try:
        with of_tensorflow as use:
            yield use
    finally:
        restore_random_states(earlier_states)
        earlier_seeds.put_back()

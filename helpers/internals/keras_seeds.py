"""Read and restore the states of Keras's SeedGenerators, which random ops draw seeds from.

A layer such as Dropout has a SeedGenerator of its own (keras/src/random/seed_generator.py).
`keras.random` has one for the whole process, the shared one. Keras makes it when somebody first
draws from it.
"""

import gc
from contextlib import suppress

from ..safety import restoring
from ..safety.arguments import printable

_GENERATORS = "keras.src.random.seed_generator"
_GLOBAL_STATE = "keras.src.backend.common.global_state"
_SHARED_KEY = "global_seed_generator"  # of the generator in Keras's global state
SHARED = "keras.random"


class SeedStates:
    """The states of all SeedGenerators in memory, as they are now."""

    def __init__(self):
        """Read the state of each generator; one whose state cannot be read is left out."""
        self._states = []  # (generator, state as a tuple of int)
        for generator in _find_generators():
            state = _read_state(generator)
            if state:
                self._states.append((generator, state))
        self._shared = _find_shared()

    def changed(self) -> list[str]:
        """Return the names of the generators that somebody has drawn from since `__init__`."""
        shared = _find_shared()
        names = []
        for generator, state in self._states:
            if _read_state(generator) != state:
                is_shared = generator is shared
                names.append(SHARED if is_shared else printable(str(generator.name)))
        if shared is not self._shared:  # the shared generator was made or replaced since
            names.append(SHARED)
        return names

    def put_back(self) -> None:
        """Restore the state of each generator that was drawn from, and the shared generator."""
        for generator, state in self._states:
            if _read_state(generator) != state:
                generator.state.assign(list(state))
        if _find_shared() is not self._shared:
            global_state = restoring.find_loaded_module(_GLOBAL_STATE)
            global_state.set_global_attribute(_SHARED_KEY, self._shared)


def _find_generators() -> list:
    """Return all SeedGenerators in memory; [] where Keras is not loaded."""
    generator_class = getattr(restoring.find_loaded_module(_GENERATORS), "SeedGenerator", None)
    if not generator_class:
        return []
    return [candidate for candidate in gc.get_objects() if type(candidate) is generator_class]


def _read_state(generator) -> tuple[int, ...] | None:
    """Return the state of a generator; None if the state has no value, as in a tf.Graph."""
    with suppress(Exception):
        return tuple(generator.state.numpy().tolist())
    return None


def _find_shared():
    """Return the generator that `keras.random` draws from; None before somebody has drawn."""
    global_state = restoring.find_loaded_module(_GLOBAL_STATE)
    return global_state.get_global_attribute(_SHARED_KEY) if global_state else None

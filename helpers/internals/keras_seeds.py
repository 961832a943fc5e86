"""Keras's SeedGenerators (keras/src/random/seed_generator.py): read, and put back.

A Dropout layer has one of its own, and `keras.random` has one for the whole process, which it
makes when somebody first draws.
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
        self._states = []  # pairs of a generator and its state
        for generator in _find_generators():
            state = _read_state(generator)
            if state:
                self._states.append((generator, state))
        self._shared = _find_shared()

    def changed(self) -> list[str]:
        """Return the names of the generators that somebody has drawn from since."""
        shared = _find_shared()
        names = []
        for generator, state in self._states:
            if _read_state(generator) != state:
                is_shared = generator is shared
                names.append(SHARED if is_shared else printable(str(generator.name)))
        if shared is not self._shared:  # it was made since, or replaced
            names.append(SHARED)
        return names

    def put_back(self) -> None:
        """Set each generator that has moved to the state that was read."""
        for generator, state in self._states:
            if _read_state(generator) != state:
                generator.state.assign(list(state))
        if _find_shared() is not self._shared:
            global_state = restoring.module(_GLOBAL_STATE)
            global_state.set_global_attribute(_SHARED_KEY, self._shared)


def _find_generators() -> list:
    """Return the SeedGenerators in memory; none where Keras is not loaded."""
    kind = getattr(restoring.module(_GENERATORS), "SeedGenerator", None)
    if not kind:
        return []
    return [candidate for candidate in gc.get_objects() if type(candidate) is kind]


def _read_state(generator) -> tuple[int, ...] | None:
    """Return the state of a generator; None if it cannot be read, as in a graph."""
    with suppress(Exception):
        return tuple(generator.state.numpy().tolist())
    return None


def _find_shared():
    """Return the generator that `keras.random` draws from; None before somebody has drawn."""
    global_state = restoring.module(_GLOBAL_STATE)
    return global_state.get_global_attribute(_SHARED_KEY) if global_state else None

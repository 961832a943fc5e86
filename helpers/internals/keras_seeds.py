"""Keras's SeedGenerators (keras/src/random/seed_generator.py): read, and put back.

A Dropout layer has one of its own, and `keras.random` has one for the whole process, which it
makes when somebody first draws.
"""

import gc
from contextlib import suppress

from ..safety import restoring
from ..safety.arguments import printable

_HOME, _GLOBAL = "keras.src.random.seed_generator", "keras.src.backend.common.global_state"
_KEY = "global_seed_generator"
SHARED = "keras.random"


class SeedStates:
    """The states of all SeedGenerators in memory, as they are now."""

    def __init__(self):
        kind = getattr(restoring.module(_HOME), "SeedGenerator", None)
        alive = gc.get_objects() if kind else []
        self._states = [
            (one, state) for one in alive if type(one) is kind and (state := _read(one))
        ]
        self._shared = _shared()

    def changed(self) -> list[str]:
        """Return the names of the generators that somebody has drawn from since."""
        shared = _shared()
        moved = [one for one, state in self._states if _read(one) != state]
        names = [SHARED if one is shared else printable(str(one.name)) for one in moved]
        return names + [SHARED] * (shared is not self._shared)

    def put_back(self) -> None:
        """Set each generator that has moved to the state that was read."""
        for one, state in self._states:
            if _read(one) != state:
                one.state.assign(list(state))
        if _shared() is not self._shared:
            restoring.module(_GLOBAL).set_global_attribute(_KEY, self._shared)


def _read(generator) -> tuple[int, ...] | None:
    """Return the state of a generator; None if it cannot be read, as in a graph."""
    with suppress(Exception):
        return tuple(generator.state.numpy().tolist())
    return None


def _shared():
    """Return the generator behind `keras.random`; None before somebody has drawn."""
    home = restoring.module(_GLOBAL)
    return home.get_global_attribute(_KEY) if home else None

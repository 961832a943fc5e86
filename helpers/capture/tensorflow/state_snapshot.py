"""All that a call can change, copied at one moment -> what is different later; and restored."""

from ...internals import tensorflow_random
from ...internals.keras_seeds import SeedStates
from ...internals.random_states import read_random_states, restore_random_states
from .reachable_state import PathAndObject, ReachableState


class StateSnapshot:
    """A copy of all that a call can reach and change, and of the process's random states."""

    def __init__(self, roots: list[PathAndObject]):
        """Copy the state of the roots, pairs (path, object), and of all that they refer to."""
        self.reachable = ReachableState(roots)
        self._random_states = read_random_states()
        # Keras's seed generators are found among all objects of the process, without a path.
        self._keras_seeds = SeedStates()

    def find_changes(self) -> dict[str, object]:
        """Return path -> the value now, for each name or part that refers to something else now.

        If random numbers were drawn, the result also has the name of their generator -> "", as in
        {"self.items[0]": 3, "numpy.random": ""}.
        """
        changes: dict[str, object] = {}
        states_now = read_random_states()
        for name, state in self._random_states.items():
            if states_now.get(name) != state:
                changes[name] = ""
        for name in self._keras_seeds.changed():
            changes[name] = ""
        for path, generator, state in self.reachable.generators:
            if tensorflow_random.read_generator_state(generator) != state:
                changes[path] = ""
        for snapshot in self.reachable.snapshots_by_id.values():
            changes |= snapshot.find_changes()
        return changes

    def restore(self) -> dict[tuple[int, str], tuple[object, str, object]]:
        """Restore all that was changed: names, containers and random states.

        Return the attributes of libraries that were restored: (id of a class or module, name) ->
        (the class or module, the name, the value until now).
        """
        library_settings = {}
        for snapshot in self.reachable.snapshots_by_id.values():
            for namespace, name, value in snapshot.restore():
                library_settings[id(namespace), name] = (namespace, name, value)
        restore_random_states(self._random_states)
        self._keras_seeds.put_back()
        for _, generator, state in self.reachable.generators:
            if tensorflow_random.read_generator_state(generator) != state:
                tensorflow_random.restore_generator(generator, state)
        return library_settings

"""All that a call can change, kept at one moment -> what is different later; and restored."""

from ...internals import tensorflow_random
from ...internals.keras_seeds import SeedStates
from ...internals.random_states import read_random_states, restore_random_states
from .reachable_state import PathAndObject, ReachableState


class StateSnapshot:
    """What a call can reach and change, and the random numbers that all of a process draws from."""

    def __init__(self, roots: list[PathAndObject]):
        """Keep the state of the roots, which are paths with objects, and of all they refer to."""
        self.reachable = ReachableState(roots)
        self._random_states = read_random_states()
        self._keras_seeds = SeedStates()  # found in the whole heap, and not by their names

    def find_changes(self) -> dict[str, object]:
        """Return path -> what the path refers to now, of each that refers to something else.

        The path of random numbers is their name, with "".
        """
        changes: dict[str, object] = {}
        states_now = read_random_states()
        for name, state in self._random_states.items():
            if states_now.get(name) != state:
                changes[name] = ""
        for name in self._keras_seeds.changed():
            changes[name] = ""
        for path, generator, state in self.reachable.generators:
            if tensorflow_random.generator_state(generator) != state:
                changes[path] = ""
        for kept in self.reachable.kept_owners.values():
            changes |= kept.find_changes()
        return changes

    def restore(self) -> dict[tuple[int, str], tuple[object, str, object]]:
        """Restore each name and container that was changed, and leave all others alone.

        Return what was set of libraries: by the id of a class or module and a name, the class or
        module, the name, and the value until now.
        """
        restored_of_libraries = {}
        for kept in self.reachable.kept_owners.values():
            for space, name, value in kept.restore():
                restored_of_libraries[id(space), name] = (space, name, value)
        restore_random_states(self._random_states)
        self._keras_seeds.put_back()
        for _, generator, state in self.reachable.generators:
            if tensorflow_random.generator_state(generator) != state:
                tensorflow_random.restore_generator(generator, state)
        return restored_of_libraries

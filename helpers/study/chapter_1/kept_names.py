"""Namespaces of modules -> what a learner's block did to them; and back, whatever that was.

A wrong condition in a search for names (`is not` for `is`) rebinds every name of every module:
those of this one, of `sys`, the builtins. So what runs before they are back names nothing of its
module: it lives on locals, on attributes of an instance, and on builtins of its own.
"""

from operator import is_

from helpers.capture.references.places import MISSING
from helpers.safety.original_builtins import BUILTINS
from helpers.study.chapter_1.blocks import Blocks

__builtins__ = BUILTINS

CORE = ("builtins", "sys")  # all of their names stay, whatever they are changed to
LOOSE = ("_", "last_exc", "last_type", "last_value", "last_traceback")
MANY = 100


class KeptNames(Blocks):
    """Every name of some modules as it is now, and which of them hold one of a few objects.

    `spaces`: name of a module -> its namespace. A look gives rows (path, was, now) of the names
    that hold what they should not; `swapped`: pairs (was, now) of what should be exchanged.
    `reached`: whether some look found a name that was exchanged as it should be.
    """

    __slots__ = (
        "_core",
        "_is",
        "_loose",
        "_many",
        "_missing",
        "_spaces",
        "_watched",
        "places",
        "reached",
    )

    def __init__(self, spaces: dict[str, dict], watched):
        self._is, self._missing, self._many = is_, MISSING, MANY
        self._core, self._loose = CORE, LOOSE
        self._watched = {id(one): one for one in watched}
        self._spaces, self.places, self.reached = [], [], False
        for name, space in spaces.items():
            self.add(name, space)

    def add(self, name: str, space: dict) -> None:
        """Keep the names of one more module, or of a known one as they are now."""
        self._spaces = [kept for kept in self._spaces if kept[1] is not space]
        self.places = [place for place in self.places if place[1] is not space]
        values = list(space.values())
        self._spaces.append((name, space, dict(space), values))
        if not self._watched.keys().isdisjoint(map(id, values)):
            held = [(key, value) for key, value in space.items() if id(value) in self._watched]
            self.places += [(f"{name}.{key}", space, key, value) for key, value in held]

    def only(self, names) -> None:
        """Forget the modules with other names than these."""
        self._spaces = [kept for kept in self._spaces if kept[0] in names]
        spaces = [kept[1] for kept in self._spaces]
        self.places = [place for place in self.places if any(place[1] is one for one in spaces)]

    def look(self, swapped=()) -> list[tuple]:
        """Return the names that are wrong; put all back if a name changed that held none of them.

        From here on to the end of the class, nothing of this module is named.
        """
        missing = self._missing
        wanted = {id(was): now for was, now in swapped}
        wrong = []
        for path, space, key, was in self.places:
            now = space.get(key, missing)
            if now is not wanted.get(id(was), was):
                wrong.append((path, was, now))
            elif now is not was:
                self.reached = True
        others = self._others()
        if others:
            self.restore()
        return others + wrong

    def _others(self):
        missing, watched, found = self._missing, self._watched, []
        for name, space, before in self._changed():
            for key in [*before, *space]:
                was, now = before.get(key, missing), space.get(key, missing)
                if was is now or id(was) in watched:
                    continue
                core = name in self._core and key not in self._loose
                if (id(now) in watched or core) and len(found) < self._many:
                    found.append((f"{name}.{key}", was, now))
        return found

    def _changed(self):
        same = self._is
        return [
            (name, space, before)
            for name, space, before, values in self._spaces
            if len(space) != len(values) or not all(map(same, list(space.values()), values))
        ]

    def restore(self) -> None:
        """Give every name what it held at first."""
        for _, space, before in self._changed():
            for key, value in before.items():
                if space.get(key, self._missing) is not value:
                    space[key] = value
            for key in [key for key in space if key not in before]:
                if id(space[key]) in self._watched:
                    del space[key]

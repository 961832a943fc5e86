"""The names that guards written in Python use -> what each stands for.

The function's own arguments keep their names; what else is needed gets a name that is free.
"""

import builtins
import importlib
import re
import sys

from helpers.capture.torch.cache_entries import closure_values, own_signature
from helpers.internals import torch_private

CLASS_TEXT = re.compile(r"type=<class '([\w.]+)'>")
BUILTINS_DICT = "__builtins_dict__"


class NoPython(Exception):
    """A guard, or the way to its value, that cannot be said in Python."""


class Names:
    """The names of one written function: its own arguments, and what else its lines need.

    `fn`: the function whose guards are written; `bound`: name -> what it stands for; `ids`: those
    that torch kept.
    """

    def __init__(self, fn):
        self.arguments = tuple(own_signature(fn).parameters)
        self._fn, self.ids, self._asked, self.bound = fn, [], {}, {}
        self._cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
        self._seen = lambda arguments: arguments | closure_values(fn)

    def bind(self, name: str, value: object) -> str:
        """Return a name for a value: this one, or the first free one that is like it."""
        while name in self.arguments or not _same(self.bound.get(name, value), value):
            name += "_"
        self.bound[name] = value
        return name

    def local(self, name: str) -> str:
        """Return how the written function says a local of the frame."""
        if name in self.arguments:
            return name
        if name in self._cells:
            return f"{self.bind('cells', self._cells)}[{name!r}].cell_contents"
        raise NoPython

    def of_globals(self, key: str) -> str:
        """Return how it says a global; torch's made-up key for the builtins gets a plain name."""
        space = self._fn.__globals__
        if type(key) is str and key.startswith(BUILTINS_DICT) and type(space.get(key)) is dict:
            return self.bind("builtins", space[key])
        return f"{self.bind('G', space)}[{key!r}]"

    def all_locals(self) -> str:
        """Return how it says all locals of the frame, as a dict."""
        return f"{self.bind('seen', self._seen)}({self.builtin('locals')}())"

    def builtin(self, name: str) -> str:
        """Return a name for a builtin, also where an argument has its name."""
        value = vars(builtins)[name]
        return name if name not in self.arguments else self.bind(name, value)

    def torchs(self, name: str) -> str:
        """Return a name for what torch calls so in the text of a guard."""
        known = torch_private.guard_names()
        if name in known:
            return self.bind(name, known[name])
        if name == "math":
            return self.bind(name, importlib.import_module(name))
        if name in vars(builtins):
            return self.builtin(name)
        raise NoPython

    def id_of(self, number: int) -> str:
        """Return how it says an id that torch kept; the numbers differ from run to run."""
        if number not in self.ids:
            self.ids.append(number)
        return f"{self.bind('ids', self.ids)}[{self.ids.index(number)}]"

    def type_named(self, kind: type) -> str:
        """Return a name for a class."""
        if vars(builtins).get(kind.__name__) is kind:
            return self.builtin(kind.__name__)
        return self.bind(kind.__name__, kind)

    def type_with_id(self, number: int, words: str) -> str:
        """Return a name for the class with this id that torch's words tell; nothing if unknown."""
        found = CLASS_TEXT.search(words)
        home, _, name = found[1].rpartition(".") if found else ("", "", "")
        space = vars(sys.modules.get(home or "builtins", builtins))
        kind = space.get(name)
        return self.type_named(kind) if isinstance(kind, type) and id(kind) == number else ""

    def asking(self, kind: str, check, value: str) -> str:
        """Return an expression that asks torch's own guard about a value."""
        while self._asked.get(kind, check) is not check:
            kind += "_"
        self._asked[kind] = check
        return f"{self.bind('in_cpp', self._asked)}[{kind!r}]({value})"


def _same(one, other) -> bool:
    return one is other or (type(one) is type(other) is tuple and one == other)

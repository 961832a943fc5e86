"""`depth=`, `only=` and `most=` of a verb that follows calls -> which calls it records.

`depth`: how many levels of calls; 1 is only the first. `only`: a function, a class, a
module, or the name of one of these or of a file; several as a list. `most`: so many steps or rows.
An argument of `fn` itself with such a name is given in a lambda: `verb(lambda: fn(depth=3))`.
"""

from os.path import basename
from types import CodeType, FrameType, ModuleType

from ...model.phrase import counted
from ...safety.arguments import is_exactly, real_isinstance, require_int
from .objects import code_of
from .unwrapping import unwrap

MOST = 1_000_000


class Limits:
    """What a verb records; it counts what it leaves out, by the argument that shows it."""

    def __init__(self, verb: str, depth: int | None = None, only=None, most: int = MOST):
        self.depth = MOST if depth is None else require_int(depth, f"depth= of {verb}", MOST)
        self.most = require_int(most, f"most= of {verb}", MOST)
        several = only if is_exactly(only, list, tuple, set, frozenset) else [only]
        if not several:
            raise ValueError(f"only= of {verb} needs at least one function, module or name")
        self.names, self.codes, self.all = set(), [], only is None
        self.deeper, self.others, self.found = 0, 0, False
        for one in several if only is not None else ():
            if real_isinstance(one, type):
                self.names.add(f"{one.__module__}.{one.__qualname__}")
            elif real_isinstance(one, str, ModuleType):
                self.names.add(str(one) if real_isinstance(one, str) else one.__name__)
            else:
                self.codes.append(code_of(unwrap(one)[0], f"only= of {verb}"))

    def follows(self, frame: FrameType, space: dict) -> bool:
        """Return whether to follow this call; without `only` all of the globals `space` are."""
        own, code = frame.f_globals is space, frame.f_code
        module = "" if self.all else str(dict.get(frame.f_globals, "__name__", ""))
        return self.takes(own, module, code.co_qualname, code)

    def takes(self, own: bool, module: str, name: str, code: CodeType | None = None) -> bool:
        """Return whether to record a call, of no code if it is in C; `own` are without `only`."""
        if self.all:
            return own
        words = {name.rpartition(".")[2], basename(code.co_filename) if code else ""}
        paths = f"{module}.{name}.", f"{name}."
        starts = (path.startswith(f"{one}.") for one in self.names for path in paths)
        chosen = not words.isdisjoint(self.names) or any(starts)
        chosen = chosen or code is not None and any(_is_of(code, one) for one in self.codes)
        self.others, self.found = self.others + (own and not chosen), self.found or chosen
        return chosen

    def reaches(self, level: int) -> bool:
        """Return whether calls of this level are recorded, the first being 1."""
        self.deeper += level > self.depth
        return level <= self.depth

    def note(self) -> str:
        """Say how many calls were left out, and which argument shows them."""
        told = {
            f"Left out below this depth: {counted(self.deeper, 'call')} "
            f"(depth={self.depth + 1} shows more).": self.deeper,
            f"Left out by only=: {counted(self.others, 'call')}.": self.others,
            "No other call matches only=.": not (self.all or self.found),
        }
        return " ".join(words for words, is_so in told.items() if is_so)


def _is_of(code: CodeType, chosen: CodeType) -> bool:
    """Return whether this is the chosen code, or what a compiler has made of it at its place."""
    if code is chosen or code.co_name == "<lambda>":  # of which a line may have several
        return code is chosen
    names = ("co_filename", "co_firstlineno", "co_qualname")
    return all(getattr(code, name) == getattr(chosen, name) for name in names)

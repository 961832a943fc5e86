"""`depth=`, `only=` and `most=` of a verb that follows calls -> which calls it records.

`depth`: how many levels of calls; 1 is only the first. `only`: a function, a class, a
module, or the name of one of these or of a file; several as a list. `most`: so many steps or rows.
An argument of `fn` itself with such a name is given in a lambda: `verb(lambda: fn(depth=3))`.
"""

from os.path import basename
from types import CodeType, FrameType, ModuleType

from ...model.phrase import format_count
from ...safety.arguments import is_exactly, real_isinstance, require_int
from .objects import require_code
from .unwrapping import unwrap

MOST = 1_000_000


class RecordingLimits:
    """What a verb records; it counts what it leaves out, by the argument that shows it.

    Parameters
    ----------
    verb : str
        The name of the verb, for errors.
    depth, only, most
        The options of the verb; see this module's docstring.
    """

    def __init__(self, verb: str, depth: int | None = None, only=None, most: int = MOST):
        """Check the options; an error names the verb and the option."""
        self.depth = MOST if depth is None else require_int(depth, f"depth= of {verb}", MOST)
        self.most = require_int(most, f"most= of {verb}", MOST)
        #: Whether calls are recorded that `only` does not choose, because it is not given.
        self.all = only is None
        #: The dotted names and file names that `only` chooses, and the code objects.
        self.names: set[str] = set()
        self.codes: list[CodeType] = []
        #: How many calls were too deep, and how many `only` left out.
        self.deeper = 0
        self.others = 0
        #: Whether `only` has chosen a call.
        self.found = False
        self._add_chosen(verb, only)

    def _add_chosen(self, verb: str, only) -> None:
        """Note what `only=` chooses."""
        if only is None:
            return
        chosen = only if is_exactly(only, list, tuple, set, frozenset) else [only]
        if not chosen:
            raise ValueError(f"only= of {verb} needs at least one function, module or name")
        # A lazy module would be loaded if it were asked for its class, so its real type decides.
        for item in chosen:
            if real_isinstance(item, type):
                self.names.add(f"{item.__module__}.{item.__qualname__}")
            elif real_isinstance(item, str):
                self.names.add(str(item))
            elif real_isinstance(item, ModuleType):
                self.names.add(item.__name__)
            else:
                function, _ = unwrap(item)
                self.codes.append(require_code(function, f"only= of {verb}"))

    def follows(self, frame: FrameType, space: dict) -> bool:
        """Return whether to record the call of a frame.

        `space` is the globals of the watched function: without `only`, calls of functions with the
        same globals are recorded.
        """
        code = frame.f_code
        module = ""
        if not self.all:
            # `dict.get`, because a program may run its code with a dict of its own class.
            module = str(dict.get(frame.f_globals, "__name__", ""))
        return self.takes(frame.f_globals is space, module, code.co_qualname, code)

    def takes(self, own: bool, module: str, name: str, code: CodeType | None = None) -> bool:
        """Return whether to record a call.

        Parameters
        ----------
        own : bool
            Whether the call is recorded without `only`.
        module, name : str
            The module and the qualified name of the function.
        code : CodeType, optional
            The code object that the call runs; None for a function in C.
        """
        if self.all:
            return own
        is_chosen = self._has_chosen_name(module, name, code) or self._has_chosen_code(code)
        if is_chosen:
            self.found = True
        elif own:
            self.others += 1
        return is_chosen

    def _has_chosen_name(self, module: str, name: str, code: CodeType | None) -> bool:
        """Return whether `only` names a function, its file, its class or its module."""
        last_name = name.rpartition(".")[2]
        file = basename(code.co_filename) if code else ""
        if last_name in self.names or file in self.names:
            return True
        # The dot at the end lets `tool` choose `tool.run`, and not `toolbox.run`.
        paths = (f"{module}.{name}.", f"{name}.")
        return any(path.startswith(f"{chosen}.") for chosen in self.names for path in paths)

    def _has_chosen_code(self, code: CodeType | None) -> bool:
        """Return whether `only` chooses the function with this code object."""
        return code is not None and any(_is_same_function(code, chosen) for chosen in self.codes)

    def reaches(self, level: int) -> bool:
        """Return whether calls of this level are recorded, the first being 1."""
        if level > self.depth:
            self.deeper += 1
            return False
        return True

    def note(self) -> str:
        """Return the sentences on calls that were left out, and which argument shows them."""
        sentences = []
        if self.deeper:
            calls = format_count(self.deeper, "call")
            more = f"depth={self.depth + 1} shows more"
            sentences.append(f"Left out below this depth: {calls} ({more}).")
        if self.others:
            sentences.append(f"Left out by only=: {format_count(self.others, 'call')}.")
        if not self.all and not self.found:
            sentences.append("No other call matches only=.")
        return " ".join(sentences)


def _is_same_function(code: CodeType, chosen: CodeType) -> bool:
    """Return whether a code object is the chosen one, or what a compiler has made of that.

    torch.compile and AutoGraph run new code objects, which keep the file, the line and the name.
    """
    if code is chosen:
        return True
    if code.co_name == "<lambda>":  # a line may have several, with the same name
        return False
    names = ("co_filename", "co_firstlineno", "co_qualname")
    return all(getattr(code, name) == getattr(chosen, name) for name in names)

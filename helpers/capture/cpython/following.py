"""Decide which calls of a program a verb records, by its options `depth=`, `only=` and `most=`.
A *verb* is a public function such as `watch_frames(fn)`, which runs `fn` and records its calls.
`depth` is how many levels of calls are recorded; with 1, only the call of `fn`. `only` chooses the
functions: a function, a class, a module, or the name of one of these or of a file; several in a
list. `most` is the largest number of steps or rows. If `fn` has a parameter with such a name, the
user passes the argument in a lambda: `verb(lambda: fn(depth=3))`.
"""

from os.path import basename
from types import CodeType, FrameType, ModuleType

from ...model.phrase import format_count
from ...safety.arguments import is_exactly, real_isinstance, require_int
from .objects import require_code
from .unwrapping import unwrap

MOST = 1_000_000  # of levels, steps or rows: larger numbers are refused


class RecordingLimits:
    """Says of each call whether to record it, and counts the calls that it refuses.

    Parameters
    ----------
    verb : str
        The name of the verb, which errors mention.
    depth, only, most
        The options of the verb; see this module's docstring.
    """

    def __init__(self, verb: str, depth: int | None = None, only=None, most: int = MOST):
        """Check the options. TypeError or ValueError names the verb and the option."""
        self.depth = MOST if depth is None else require_int(depth, f"depth= of {verb}", MOST)
        self.most = require_int(most, f"most= of {verb}", MOST)
        #: Whether the user gave no `only`. Then the verb's default decides which calls to record.
        self.all = only is None
        #: What `only` chooses by name: dotted names such as `module.Class`, and names of files.
        self._chosen_names: set[str] = set()
        #: What `only` chooses by code object: the functions that it contains.
        self._chosen_codes: list[CodeType] = []
        #: Whether `only` has chosen a call so far.
        self._has_chosen_a_call = False
        # How many calls were not recorded because of `depth`, and how many because of `only`.
        self._too_deep_count = 0
        self._not_chosen_count = 0
        self._add_chosen(verb, only)

    def _add_chosen(self, verb: str, only) -> None:
        """Sort what `only=` contains into names and code objects."""
        if only is None:
            return
        chosen = only if is_exactly(only, list, tuple, set, frozenset) else [only]
        if not chosen:
            raise ValueError(f"only= of {verb} needs at least one function, module or name")
        for item in chosen:
            # `real_isinstance` looks at `type(item)`. `isinstance` would also read
            # `item.__class__`, which loads a lazy module.
            if real_isinstance(item, type):
                self._chosen_names.add(f"{item.__module__}.{item.__qualname__}")
            elif real_isinstance(item, str):
                self._chosen_names.add(str(item))
            elif real_isinstance(item, ModuleType):
                self._chosen_names.add(item.__name__)
            else:
                function, _ = unwrap(item)
                self._chosen_codes.append(require_code(function, f"only= of {verb}"))

    def should_record_frame(self, frame: FrameType, watched_globals: dict) -> bool:
        """Return whether to record the call that runs in a frame, whatever its depth.

        Without `only`, the calls of functions with the same globals as the watched function are
        recorded: those that were defined in the same module. `watched_globals` are these globals.
        """
        code = frame.f_code
        module = ""
        if not self.all:
            # `dict.get`, because a program may run its code with a dict of its own class.
            module = str(dict.get(frame.f_globals, "__name__", ""))
        is_default = frame.f_globals is watched_globals
        return self.should_record_call(is_default, module, code.co_qualname, code)

    def should_record_call(
        self, is_default: bool, module: str, name: str, code: CodeType | None = None
    ) -> bool:
        """Return whether to record a call, whatever its depth.

        Parameters
        ----------
        is_default : bool
            Whether the verb records this call by default, that is, if there is no `only`.
        module, name : str
            The module and the qualified name of the function that is called.
        code : CodeType, optional
            The code object that the call runs; None for a function in C.
        """
        if self.all:
            return is_default
        is_chosen = self._has_chosen_name(module, name, code) or self._has_chosen_code(code)
        if is_chosen:
            self._has_chosen_a_call = True
        elif is_default:  # `only` is the reason why this call is not recorded
            self._not_chosen_count += 1
        return is_chosen

    def _has_chosen_name(self, module: str, name: str, code: CodeType | None) -> bool:
        """Return whether `only` names a function, its file, its class or its module.

        The function `module.Class.run` in `file.py` is named by `run`, `file.py`, `Class`,
        `Class.run`, `module`, `module.Class` and `module.Class.run`.
        """
        last_name = name.rpartition(".")[2]
        file = basename(code.co_filename) if code else ""
        if last_name in self._chosen_names or file in self._chosen_names:
            return True
        # The dot at the end lets `tool` choose `tool.run`, and not `toolbox.run`.
        paths = (f"{module}.{name}.", f"{name}.")
        prefixes = tuple(f"{chosen_name}." for chosen_name in self._chosen_names)
        return any(path.startswith(prefixes) for path in paths)

    def _has_chosen_code(self, code: CodeType | None) -> bool:
        """Return whether `only` contains the function with this code object."""
        if code is None:
            return False
        return any(_is_same_function(code, chosen) for chosen in self._chosen_codes)

    def is_within_depth(self, level: int) -> bool:
        """Return whether a call at this level is recorded, and count it if it is too deep.

        The first call has level 1, the calls that it makes have level 2.
        """
        if level > self.depth:
            self._too_deep_count += 1
            return False
        return True

    def note(self) -> str:
        """Return the sentences on how many calls were not recorded, and why; "" for none."""
        sentences = []
        if self._too_deep_count:
            calls = format_count(self._too_deep_count, "call")
            more = f"depth={self.depth + 1} shows more"
            sentences.append(f"Left out below this depth: {calls} ({more}).")
        if self._not_chosen_count:
            calls = format_count(self._not_chosen_count, "call")
            sentences.append(f"Left out by only=: {calls}.")
        if not self.all and not self._has_chosen_a_call:
            sentences.append("No other call matches only=.")
        return " ".join(sentences)


def _is_same_function(code: CodeType, chosen: CodeType) -> bool:
    """Return whether two code objects are of the same function in the source.

    torch.compile and AutoGraph do not run the code object of a function, but a new one that they
    made of it. The new one has the same file, first line and qualified name.
    """
    if code is chosen:
        return True
    if code.co_name == "<lambda>":  # a line may contain several lambdas, all with this name
        return False
    fields = ("co_filename", "co_firstlineno", "co_qualname")
    return all(getattr(code, field) == getattr(chosen, field) for field in fields)

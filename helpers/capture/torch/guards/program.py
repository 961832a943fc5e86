"""A cache entry -> its guards as one Python function that runs, and that answers as torch's tree.

What C++ alone can check is asked of torch's live guard; every other line is plain Python.
"""

import inspect
from types import FunctionType

from helpers.capture.cpython.objects import named
from helpers.capture.text.value import label
from helpers.capture.torch.cache_entries import (
    accepts,
    entries,
    frame_locals,
    own_signature,
)
from helpers.capture.torch.guards.compare import first_call
from helpers.capture.torch.guards.expressions import expressions, python_of
from helpers.capture.torch.guards.names import Names, NoPython
from helpers.capture.torch.guards.tree import BETWEEN, leaves, managers
from helpers.capture.torch.unwrapping import behind, given
from helpers.model.guards import (
    ASKED_COLUMN,
    HOLDS,
    LINE_COLUMNS,
    NOT_ASKED,
    REFUSES,
    GuardLine,
    GuardProgram,
)
from helpers.model.phrase import clipped
from helpers.safety.arguments import count, is_exactly
from helpers.safety.interpreter_state import whole

LONGEST = 400
NAME = "holds"


class WrittenGuards:
    """The guards of entry number `entry` of `fn`, from 1 in the order of compilation, as Python.

    `source` is one function, and `function` is it, made; `lines` are what it asks, in order, each
    with the kind of its guard. LookupError if nothing was compiled for `fn`.
    """

    def __init__(self, fn, entry: int = 1):
        self.behind, self.told = behind(fn, compiled=True)
        kept = entries(self.behind.__code__)
        if not kept:
            raise LookupError(f"Dynamo keeps no compiled code for {named(self.behind)}()")
        self.number = count(entry, "entry", len(kept))
        self.entry = kept[self.number - 1]
        self.names = Names(self.behind)
        self.lines = tuple(dict.fromkeys(self._lines()))
        self.signature = self._signature()
        self.source = self._source()
        self.function = self._with_defaults(self._made(self.source)[NAME])

    def _lines(self):
        """Yield (expression, kind of guard, whether it is Python of its own) of every guard."""
        root = self.entry.guard_manager.root
        for manager in managers(root):
            if hasattr(manager, "get_key_value_managers"):
                # Its size is kept in C++ alone, and it cannot be asked by itself.
                yield self._asking("DICT_SIZE", root.check, BETWEEN)
        for leaf in leaves(self.entry):
            try:
                parts, own = expressions(leaf, self.names)
            except (NoPython, SyntaxError):
                yield self._asking(leaf.kind, root.check, BETWEEN)
            else:
                yield from ((part, leaf.kind, own) for part in parts)

    def _asking(self, kind: str, check, source: str):
        """Return the line for what is checked in C++; the whole tree if a value has no name."""
        value = self.names.all_locals()
        try:
            value = value if source == BETWEEN else python_of(source, self.names)
        except (NoPython, SyntaxError):
            check = self.entry.guard_manager.root.check
        return self.names.asking(kind, check, value), kind, False

    def _signature(self) -> str:
        given = own_signature(self.behind)
        shown = [one.replace(default=self._default(one)) for one in given.parameters.values()]
        return str(given.replace(parameters=shown))

    def _default(self, parameter):
        value, nothing = parameter.default, inspect.Parameter.empty
        if value is nothing or is_exactly(value, int, float, bool, str, type(None)):
            return value
        defaults = self.names.bound.setdefault("defaults", {})
        defaults[parameter.name] = value
        return _Text(f"defaults[{parameter.name!r}]")

    def _source(self) -> str:
        checks = [
            f"{line}  # {kind}{'' if own else ', asked of C++'}" for line, kind, own in self.lines
        ]
        body = "\n            and ".join(checks) or "True"
        error = self.names.builtin("Exception")
        return (
            f"def {NAME}{self.signature}:\n    try:\n        return (\n            {body}\n"
            f"        )\n    except {error}:\n        return False  # a value that is gone fails\n"
        )

    def _made(self, source: str) -> dict:
        space = dict(self.names.bound)
        exec(compile(source, "<guards>", "exec"), space)
        return space

    def asked(self, args, kwargs) -> list[str]:
        """Return for each line whether it holds for a call; after one that refuses, no more."""
        words: list[str] = []
        for line, _, _ in self.lines:
            space = self._made(f"line = lambda {self.signature[1:-1]}: {line}")
            known = REFUSES in words
            words.append(NOT_ASKED if known else self._asked(space["line"], args, kwargs))
        return words

    def _asked(self, line, args, kwargs) -> str:
        self._with_defaults(line)
        try:
            return HOLDS if line(*args, **kwargs) else REFUSES
        except Exception:
            return REFUSES

    def _with_defaults(self, fn) -> FunctionType:
        fn.__defaults__, fn.__kwdefaults__ = self.behind.__defaults__, self.behind.__kwdefaults__
        return fn


class _Text:
    """What a signature shows for a default that has no plain form."""

    def __init__(self, words: str):
        self._words = words

    def __repr__(self) -> str:
        return self._words


def guard_function(fn, entry: int = 1) -> FunctionType:
    """Return the guards of a cache entry of `fn` as a Python function of the same arguments.

    It says True or False, as torch's own tree would. LookupError if nothing was compiled for `fn`;
    ValueError for an `entry` that there is not.
    """
    return WrittenGuards(fn, entry).function


def guard_program(fn, call=None, entry: int = 1) -> GuardProgram:
    """Return the same function as text, a row per guard; with `call`, which row refuses that call.

    `call`: a tuple or list of arguments, or a dict of them by name. Errors as `guard_function`;
    TypeError for a `call` that is none, or that does not fit.
    """
    written = WrittenGuards(fn, entry)
    said, verdicts = [""] * len(written.lines), {}
    if call is not None:
        args, kwargs = given(fn, *_arguments(call))
        first_call(written.behind, args, kwargs)
        said = written.asked(args, kwargs)
        verdicts = {
            "accepts": written.function(*args, **kwargs),
            "torch_accepts": _of_torch(written, args, kwargs),
        }
    rows = tuple(
        GuardLine(clipped(line, LONGEST), kind, own, word)
        for (line, kind, own), word in zip(written.lines, said, strict=True)
    )
    columns = (*LINE_COLUMNS, ASKED_COLUMN) if call is not None else LINE_COLUMNS
    title = f"The guards of {named(written.behind)}(), entry {written.number}, as Python"
    note = " ".join((_note(rows, verdicts), *written.told))
    return GuardProgram(title, columns, rows, note, source=written.source, **verdicts)


# A guard that raises leaves __torch_function__ off.
_asked = whole(accepts, ("torch's dispatch keys",))


def _of_torch(written, args, kwargs) -> bool | None:
    """Return the answer of torch's own tree; None where it raises, as for a nested tensor."""
    try:
        return _asked(written.entry, frame_locals(written.behind, args, kwargs))
    except Exception:
        return None


def _arguments(call) -> tuple[tuple, dict]:
    if is_exactly(call, tuple, list):
        return tuple(call), {}
    if is_exactly(call, dict) and all(type(name) is str for name in call):
        return (), dict(call)
    raise TypeError(f"call is a tuple of arguments, or a dict of them by name, not {label(call)}")


def _note(rows, verdicts) -> str:
    asked = sum(not row.own for row in rows)
    note = f"{len(rows) - asked} of {len(rows)} are Python, {asked} ask torch's guard in C++."
    if verdicts:
        words = {True: "accepts this call", False: "refuses this call", None: "raises an error"}
        note += f" torch's own tree {words[verdicts['torch_accepts']]}."
    return note

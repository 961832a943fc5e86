"""Functions that change their arguments -> a ledger: what each way of running them says and does.

TensorFlow compares a function's arguments before and after the trace
(tensorflow/python/framework/func_graph.py: `check_func_mutation`). What it looks at, and what
it does not, can be read off here.
"""

import copy
from enum import Enum
from functools import partial
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType

from helpers.capture.cpython.objects import names_used
from helpers.capture.text.error import said
from helpers.internals import tensorflow_private
from helpers.model.ledger import Entry, Ledger, Verdict
from helpers.model.phrase import listed
from helpers.safety import progress
from helpers.safety.arguments import is_a, is_exactly, kind_of, own, parts, printable, table
from helpers.safety.restoring import theirs

NAMED = "parameter(s) were modified:"
LIBRARIES = ("builtins", "types", "enum", "functools", "tensorflow", "keras", "numpy", "torch")
SCALARS = (str, bytes, int, float, complex, bool, type(None))
FIXED = (*SCALARS, range, slice, CodeType)  # nothing in them can be changed; in a subclass it can
MODELS = ("Module", "Layer")  # called, and changed: TensorFlow's, PyTorch's, Keras's
TAKEN = (FunctionType, BuiltinFunctionType, ModuleType, type, Enum)  # not the body's to change
MOST_THINGS, MOST_CASES, MOST_WAYS, MOST_NAMED = 50_000, 200, 12, 3
MARKS = (
    ("changed", "no error, and what the caller holds is other than before"),
    ("failed", "an error was raised"),
)
CASES = "name -> a function, or (function, *arguments)"
UNCHANGED, NOT_KNOWN = QUIET = "caller's unchanged", "not known what changed"
GONE = object()
LAZY = ("__annotations__", "__annotations_cache__", "__slotnames__")  # Python adds them when asked


def mutations_ledger(cases, ways=None) -> Ledger:
    """Run every case in every way, each time on fresh copies of its arguments.

    `cases`: name -> a function, or (function, *arguments). `ways`: heading -> what makes a
    callable of a function; by default as it is, and `tf.function`. What is neither copied nor
    compared, such as an array or a variable, is named. What a run rebound is put back; what it
    changed in place beside its arguments, before the next run. TypeError names a case or a way
    that cannot be called; ValueError a case that holds too much to be copied for each run.
    """
    if ways is None:
        import tensorflow as tf

        ways = {"called as it is": lambda fn: fn, "tf.function": tf.function}
    ways = table(ways, "ways=", "heading -> what takes a function and returns one", MOST_WAYS)
    for name, way in ways:
        if not callable(way):
            needed = f"the way '{printable(name)}' must be a function that takes a function"
            raise TypeError(f"{needed}, not {kind_of(way)}")
    pairs = table(cases, "watch_mutations", CASES, MOST_CASES)
    undo = []  # what puts back what the last run changed in place
    entries = [
        _entry(printable(name), case, [way for _, way in ways], undo)
        for name, case in progress.counted("case", pairs)
    ]
    headings = tuple(printable(name) for name, _ in ways)
    title = "Who sees that an argument was changed?"
    return Ledger(title, "the body's change", headings, tuple(entries), marks=MARKS)


def _entry(name, case, ways, undo) -> Entry:
    fn, *args = parts(case)
    if not callable(fn):
        needed = f"the case '{name}' must be a function, or (function, *arguments)"
        raise TypeError(f"{needed}, not {kind_of(fn)}")
    try:
        outcomes = [_outcome(fn, fresh(args), way, undo) for way in ways]
    except TooMuch:
        raise ValueError(
            f"the case '{name}' holds more than {MOST_THINGS:,} things, and each run needs fresh "
            "ones; give it smaller arguments"
        ) from None
    notes = dict.fromkeys(note for _, found in outcomes for note in found)
    return Entry(name, tuple(verdict for verdict, _ in outcomes), "; ".join(notes))


def fresh(args: list) -> list:
    """Return a copy of containers and of plain objects, to any depth, around the same leaves."""
    leaves = {id(leaf): leaf for leaf in _World(args).leaves}
    return copy.deepcopy(args, leaves)


def _outcome(fn, args, way, undo: list) -> tuple[Verdict, list[str]]:
    """Run `fn` one way -> the verdict, and what was raised or rebound, or not looked into."""
    if undo:
        undo.pop()()
    functions = _functions(fn)
    roots = [*args, *_beside(fn, functions)]
    world, note = _World(roots, functions), ""
    undo.append(world.put_back)
    try:
        with theirs():
            way(fn)(*args)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        note = said(error)
    finally:
        rebound = world.rebound()
        after = _World([*args, *_beside(fn, functions), *rebound.values()])
        world.put_names_back()
    kept = "caller's changed" if rebound or world.changed() else UNCHANGED
    known = {id(leaf) for leaf in world.leaves}
    if any(_is_of_a_graph(leaf) and id(leaf) not in known for leaf in after.leaves):
        kept = "a graph tensor leaked"
    unseen = [*dict.fromkeys(kind_of(leaf) for leaf in world.leaves if _can_change(leaf))]
    if kept == UNCHANGED and unseen:
        kept = NOT_KNOWN
    told = [f"rebound: {listed(rebound, MOST_NAMED)}"] if rebound else []
    told += [f"neither copied nor compared: {', '.join(unseen)}"] if unseen else []
    if note:
        verdict = Verdict(f"{note.partition(':')[0]}; {kept}", "failed")
        named = f"it names {note.partition(NAMED)[2].strip()}" if NAMED in note else note
        return verdict, [named, *told]
    return Verdict(f"no error; {kept}", "plain" if kept in QUIET else "changed"), told


def _functions(fn) -> list[FunctionType]:
    """Return the Python function that a call of `fn` runs, and those that it names or wraps.

    Not those of a library, whose names are no caller's.
    """
    fn = fn.func if type(fn) is partial else fn
    fn = fn.__func__ if type(fn) is MethodType else fn
    fn = own(fn, "_python_function", fn)  # of a tf.function
    waiting, found = [fn if type(fn) is FunctionType else own(fn, "__call__")], {}
    for one in waiting:  # grows while it is walked
        if type(one) is FunctionType and id(one) not in found and not _is_librarys(one):
            found[id(one)] = one
            waiting += _named(one)
    return list(found.values())


def _is_librarys(function) -> bool:
    return str(function.__globals__.get("__name__")).partition(".")[0] in LIBRARIES


def _named(function) -> list:
    """Return what a function's closure holds, and what the globals are that it names."""
    cells = [_names(cell).get("") for cell in function.__closure__ or ()]
    space = function.__globals__
    return cells + [space.get(name) for name in sorted(names_used(function.__code__))]


def _beside(fn, functions) -> list:
    """Return what a function brings: what a partial adds, its `self`, its own attributes.

    And its defaults, what is in its closure, and the globals that it names.
    """
    held = []
    if type(fn) is partial:
        held, fn = [*fn.args, fn.keywords], fn.func
    if is_exactly(fn, MethodType, BuiltinFunctionType):
        held.append(fn.__self__)
    elif type(fn) is not FunctionType:
        held.append(fn)
    for function in functions:
        held += [function.__defaults__, function.__kwdefaults__, function.__dict__]
        held += [one for one in _named(function) if not callable(one) or _is_model(one)]
        held += [one for one in _named(function) if is_a(one, type)]
    return held


class TooMuch(Exception):
    """There is more in a structure than is worth copying for each run."""


class _World:
    """All that a body can change, as it is now: what containers hold, and what names refer to.

    Names are those of the functions' modules and closures, and of the classes that are reached.
    """

    def __init__(self, roots, functions=()):
        self.leaves, self._held, self._spaces, self._mentioned = [], {}, {}, set()
        for function in functions:
            self._mentioned |= _mentioned(function.__code__)
            self._add_space(function.__globals__, "")
            for name, cell in zip(
                function.__code__.co_freevars, function.__closure__ or (), strict=True
            ):
                self._add_space(cell, name)
        waiting, met = list(roots), {}
        while waiting:
            one = waiting.pop()
            if id(one) in met:
                continue
            met[id(one)] = one
            if len(met) > MOST_THINGS:
                raise TooMuch
            waiting += self._look_into(one)

    def _look_into(self, one) -> list:
        """Note what a thing holds, and return that."""
        if is_a(one, type):
            return self._class(one)
        if is_exactly(one, tuple, frozenset) or (is_a(one, tuple) and hasattr(one, "_fields")):
            return list(one)
        inside = _mutable(one)
        if inside is None:
            self.leaves.append(one)
            return []
        self._held[id(inside)] = inside, inside.copy()
        values = list(inside.values() if type(inside) is dict else inside)
        return values if inside is one else [*values, type(one)]

    def _class(self, cls) -> list:
        if _home(cls) in LIBRARIES:
            return []
        self._add_space(cls, f"{printable(cls.__name__)}.")
        held = [v for name, v in vars(cls).items() if not name.startswith(("__", "_abc_"))]
        return [v for v in held if _mutable(v) is not None] + list(cls.__bases__)

    def _add_space(self, owner, prefix: str) -> None:
        self._spaces.setdefault(id(owner), (owner, prefix, _names(owner)))

    def changed(self) -> bool:
        """Return whether a container holds something else now."""
        return any(not _is_same(inside, before) for inside, before in self._held.values())

    def rebound(self) -> dict[str, object]:
        """Return name -> what it refers to now, of each that refers to something else."""
        return {
            f"{prefix}{printable(name)}": _names(owner).get(name, GONE)
            for owner, prefix, before in self._spaces.values()
            for name in _others(before, _names(owner))
        }

    def put_names_back(self) -> None:
        """Let every name refer to what it referred to.

        A global that the code does not mention is left: a thread may have written it.
        """
        for owner, _, before in self._spaces.values():
            for name in _others(before, _names(owner)):
                if type(owner) is not dict or name in self._mentioned:
                    _write(owner, name, before.get(name, GONE))

    def put_back(self) -> None:
        """Let each container hold what it held."""
        for inside, before in self._held.values():
            if type(inside) is list:
                inside[:] = before
            else:
                inside.clear()
                inside.update(before)


def _mutable(value) -> list | dict | set | None:
    """Return a container itself, the attributes of a plain object, None of anything else."""
    if is_exactly(value, list, dict, set):
        return value
    classes = type(value).__mro__[:-1]
    plain = classes and not any(_home(cls) in LIBRARIES for cls in classes)
    if not plain or type(value).__basicsize__ > _Plain.__basicsize__:  # C's own state, or slots
        return None
    return getattr(value, "__dict__", None)


class _Plain:
    """An object that has a dict, and nothing else."""


def _home(cls) -> str:
    """Return the first part of the name of the module that a class was made in."""
    return str(type.__dict__["__module__"].__get__(cls)).partition(".")[0]


def _is_same(now, before) -> bool:
    if type(now) is set:
        return now == before
    if type(now) is dict:
        return list(now) == list(before) and not _others(before, now)
    pairs = zip(now, before, strict=False)
    return len(now) == len(before) and not any(_is_other(*pair) for pair in pairs)


def _others(before: dict, now: dict) -> list[str]:
    return [n for n in {**before, **now} if _is_other(before.get(n, GONE), now.get(n, GONE))]


def _is_other(one, other) -> bool:
    same = type(one) is type(other) and is_exactly(one, *SCALARS) and one == other
    return one is not other and not same


def _is_model(value) -> bool:
    return any(cls.__name__ in MODELS for cls in type(value).__mro__)


def _can_change(leaf) -> bool:
    """Return whether a leaf can be changed in a way that is not seen here."""
    import numpy as np
    import tensorflow as tf

    if is_exactly(leaf, *FIXED) or is_a(leaf, *TAKEN):
        return False
    values = tf.Tensor, tf.DType, tf.TensorShape, tf.TypeSpec, np.generic, np.dtype
    return not is_a(leaf, *values) and (not callable(leaf) or _is_model(leaf))


def _is_of_a_graph(leaf) -> bool:
    return is_a(leaf, tensorflow_private.SymbolicTensor)


def _mentioned(code: CodeType) -> set[str]:
    inner = (one for one in code.co_consts if type(one) is CodeType)
    return set(code.co_names).union(*map(_mentioned, inner))


def _names(owner) -> dict[str, object]:
    """Return the names of a module, of a class, or the content of a closure's cell."""
    if type(owner) is CellType:
        try:
            return {"": owner.cell_contents}
        except ValueError:
            return {}
    if type(owner) is dict:
        return {name: value for name, value in owner.items() if not str(name).startswith("__")}
    return {name: value for name, value in vars(owner).items() if name not in LAZY}


def _write(owner, name, value) -> None:
    if type(owner) is CellType:
        if value is GONE:
            del owner.cell_contents
        else:
            owner.cell_contents = value
    elif type(owner) is dict:
        owner.pop(name, None) if value is GONE else owner.update({name: value})
    else:
        type.__delattr__(owner, name) if value is GONE else type.__setattr__(owner, name, value)

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
from helpers.capture.text.error import error_message
from helpers.internals import tensorflow_private
from helpers.model.phrase import listed
from helpers.model.tables import Entry, Ledger, Verdict
from helpers.safety import progress
from helpers.safety.arguments import (
    called,
    is_exactly,
    parts,
    printable,
    real_isinstance,
    real_type_name,
    static_attribute,
    table,
)
from helpers.safety.restoring import running_user_code

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


def mutations_ledger(cases, ways=None) -> Ledger:
    """Run functions that change their arguments: who raises, and what the caller's objects are.

    `cases`: name -> a function, or (function, *arguments); each run gets copies of containers and
    plain objects, and what is not copied (an array, a variable) is named as not compared. Names
    that a run rebinds (of its module or closure) are told, and put back. Not looked at is
    what a method, or a function reached by an attribute, changes elsewhere.
    `ways`: heading -> what makes a callable of a function; by default as it is, and `tf.function`.
    """
    if ways is None:
        import tensorflow as tf

        ways = {"called as it is": lambda fn: fn, "tf.function": tf.function}
    ways = table(ways, "ways=", "heading -> what takes a function and returns one", MOST_WAYS)
    for name, way in ways:
        called(way, f"the way '{printable(name)}'")
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
        raise TypeError(f"the case '{name}' must be a function, not {real_type_name(fn)}")
    outcomes = [_run(fn, copy_containers(args), way, undo) for way in ways]
    notes = dict.fromkeys(note for _, found in outcomes for note in found)
    return Entry(name, tuple(verdict for verdict, _ in outcomes), "; ".join(notes))


def copy_containers(args: list) -> list:
    """Return a copy of containers and of plain objects, to any depth, around the same leaves."""
    return copy.deepcopy(args, {id(leaf): leaf for leaf in _Snapshot(args).leaves})


def _run(fn, args, way, undo: list) -> tuple[Verdict, list[str]]:
    """Run `fn` one way -> the verdict, and what was raised or rebound, or not looked into."""
    if undo:
        undo.pop()()
    functions = _reached_functions(fn)
    before, note = _Snapshot([*args, *_held_beside(fn, functions)], functions), ""
    undo.append(before.put_back)
    try:
        with running_user_code():
            way(fn)(*args)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        note = error_message(error)
    rebound = before.rebound()
    after = _Snapshot([*args, *_held_beside(fn, functions), *rebound.values()])
    before.put_names_back()
    kept = "caller's changed" if rebound or before.changed() else UNCHANGED
    known = {id(leaf) for leaf in before.leaves}
    of_a_graph = tensorflow_private.SymbolicTensor
    if any(real_isinstance(leaf, of_a_graph) and id(leaf) not in known for leaf in after.leaves):
        kept = "a graph tensor leaked"
    unseen = [*dict.fromkeys(real_type_name(leaf) for leaf in before.leaves if _can_change(leaf))]
    if kept == UNCHANGED and unseen:
        kept = NOT_KNOWN
    told = [f"rebound: {listed(rebound, MOST_NAMED)}"] if rebound else []
    told += [f"neither copied nor compared: {', '.join(unseen)}"] if unseen else []
    if note:
        verdict = Verdict(f"{note.partition(':')[0]}; {kept}", "failed")
        named = f"it names {note.partition(NAMED)[2].strip()}" if NAMED in note else note
        return verdict, [named, *told]
    return Verdict(f"no error; {kept}", "plain" if kept in QUIET else "changed"), told


def _reached_functions(fn) -> list[FunctionType]:
    """Return the Python function that a call of `fn` runs, and those that it names in turn."""
    fn = fn.func if type(fn) is partial else fn
    fn = fn.__func__ if type(fn) is MethodType else fn
    fn = static_attribute(fn, "_python_function", fn)  # of a tf.function
    waiting, found = [fn if type(fn) is FunctionType else static_attribute(fn, "__call__")], {}
    for one in waiting:  # grows while it is walked
        if type(one) is FunctionType and _home(one) not in LIBRARIES and id(one) not in found:
            found[id(one)] = one
            waiting += _named_values(one)
    return list(found.values())


def _home(made) -> str:
    """Return the first part of the name of the module that a function or a class was made in."""
    return str(made.__module__).partition(".")[0]


def _named_values(function) -> list:
    """Return what a function's closure holds, and what the globals are that it names."""
    cells = [_content(cell).get("") for cell in function.__closure__ or ()]
    return cells + [
        function.__globals__.get(name) for name in sorted(names_used(function.__code__))
    ]


def _held_beside(fn, functions) -> list:
    """Return what a function brings: a partial's arguments, `self`, attributes, names, defaults."""
    held = []
    if type(fn) is partial:
        held, fn = [*fn.args, fn.keywords], fn.func
    if is_exactly(fn, MethodType, BuiltinFunctionType):
        held.append(fn.__self__)
    elif type(fn) is not FunctionType:
        held.append(fn)
    for function in functions:
        held += [function.__defaults__, function.__kwdefaults__, function.__dict__]
        held += [one for one in _named_values(function) if not callable(one) or _is_model(one)]
    return held


class _Snapshot:
    """All that a body can change, as it is now: what containers hold, and what names refer to."""

    def __init__(self, roots, functions=()):
        self.leaves, self._held, self._names = [], {}, []
        for function in functions:
            cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
            for prefix, owner in [("", function.__globals__), *cells]:
                self._names.append((prefix, owner, _content(owner)))
        waiting, met = list(roots), {}
        while waiting:
            one = waiting.pop()
            if id(one) not in met:
                met[id(one)] = one
                waiting += self._look_into(one)
            if len(met) > MOST_THINGS:
                needed = "each run needs fresh ones; give it smaller arguments"
                raise ValueError(f"a case holds more than {MOST_THINGS:,} things, and {needed}")

    def _look_into(self, one) -> list:
        """Note what a thing holds, and return that."""
        if is_exactly(one, tuple, frozenset) or (
            real_isinstance(one, tuple) and hasattr(one, "_fields")
        ):
            return list(one)
        inside = _mutable_part(one)
        if inside is None:
            self.leaves.append(one)
            return []
        self._held[id(inside)] = inside, inside.copy()
        return list(inside.values() if type(inside) is dict else inside)

    def changed(self) -> bool:
        """Return whether a container holds something else now."""
        return any(not _is_same(inside, before) for inside, before in self._held.values())

    def rebound(self) -> dict[str, object]:
        """Return name -> what it refers to now, of each that refers to something else."""
        return {
            prefix + printable(name): _content(owner).get(name, GONE)
            for prefix, owner, before in self._names
            for name in _differing_names(before, _content(owner))
        }

    def put_names_back(self) -> None:
        """Let every name refer to what it referred to."""
        for _, owner, before in self._names:
            _put_back(owner, before)

    def put_back(self) -> None:
        """Let each container hold what it held."""
        for inside, before in self._held.values():
            _put_back(inside, before)


def _content(owner) -> dict[str, object]:
    """Return a copy of a module's names, or the content of a closure's cell."""
    if type(owner) is dict:
        return owner.copy()
    try:
        return {"": owner.cell_contents}
    except ValueError:  # the cell is empty
        return {}


def _put_back(owner, before) -> None:
    if type(owner) is CellType and before:
        owner.cell_contents = before[""]
    elif type(owner) is list:
        owner[:] = before
    elif type(owner) is set:
        owner.intersection_update(before)
        owner.update(before)
    elif type(owner) is dict:
        owner.update(before)
        for name in owner.keys() - before.keys():
            del owner[name]


def _mutable_part(value) -> list | dict | set | None:
    """Return a container itself, the attributes of a plain object, None of anything else."""
    if is_exactly(value, list, dict, set):
        return value
    homes = set(map(_home, type(value).__mro__[:-1]))
    of_somebody = homes and not homes.intersection(LIBRARIES)
    # One that is larger has slots, or a state of its own in C.
    is_plain = of_somebody and type(value).__basicsize__ <= _Plain.__basicsize__
    return getattr(value, "__dict__", None) if is_plain else None


class _Plain:
    """An object that has a dict, and nothing else."""


def _is_same(now, before) -> bool:
    if type(now) is set:
        return now == before
    if type(now) is dict:
        return list(now) == list(before) and not _differing_names(before, now)
    return len(now) == len(before) and not any(map(_is_other, now, before))


def _differing_names(before: dict, now: dict) -> list[str]:
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

    if is_exactly(leaf, *FIXED) or real_isinstance(leaf, *TAKEN):
        return False
    values = tf.Tensor, tf.DType, tf.TensorShape, tf.TypeSpec, np.generic, np.dtype
    return not real_isinstance(leaf, *values) and (not callable(leaf) or _is_model(leaf))

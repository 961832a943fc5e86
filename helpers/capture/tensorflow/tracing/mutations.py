"""Functions that change their arguments -> a ledger: what each way of running them says and does.

TensorFlow compares a function's arguments before and after the trace
(tensorflow/python/framework/func_graph.py: `check_func_mutation`). What it looks at, and what
it does not, can be read off here.
"""

from enum import Enum
from functools import partial
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MethodType,
    ModuleType,
)

from helpers.capture.cpython.function import names_used
from helpers.capture.text.error import said
from helpers.model.ledger import Entry, Ledger, Verdict
from helpers.safety import progress
from helpers.safety.arguments import alive, is_a, is_exactly, kind_of, parts, printable, table, word
from helpers.safety.interpreter_state import theirs

NAMED = "parameter(s) were modified:"
CONTAINERS = (list, dict, set)
SCALARS = (str, bytes, int, float, complex, bool, type(None))
LIBRARIES = ("builtins", "types", "enum", "functools", "tensorflow", "keras", "numpy", "torch")
FIXED = (*SCALARS, range, slice, CodeType)  # nothing in them can be changed; in a subclass it can
MODELS = ("Module", "Layer")  # called, and changed: TensorFlow's, PyTorch's, Keras's
TAKEN = (FunctionType, BuiltinFunctionType, ModuleType, type)  # not the body's to change
DEEPEST, MOST_THINGS, MOST_CASES, MOST_WAYS = 20, 50_000, 200, 12
MARKS = (
    ("changed", "no error, and what the caller holds is other than before"),
    ("failed", "an error was raised"),
)
CASES = "name -> a function, or (function, *arguments)"
UNCHANGED, NOT_KNOWN = QUIET = "caller's unchanged", "not known what changed"
TITLE = "Who sees that an argument was changed?"


def mutations_ledger(cases, ways=None, title: str = TITLE) -> Ledger:
    """Run every case in every way, each time on fresh copies of its arguments.

    `cases`: name -> a function, or (function, *arguments). `ways`: heading -> what makes a
    callable of a function; by default as it is, and `tf.function`. What is neither copied nor
    compared, such as an array or a variable, is named. TypeError names a case or a way
    that cannot be called; ValueError a case that holds too much to be copied for each run.
    """
    if ways is None:
        ways = _default_ways()
    ways = table(ways, "ways=", "heading -> what takes a function and returns one", MOST_WAYS)
    for name, way in ways:
        if not callable(way):
            needed = f"the way '{printable(name)}' must be a function that takes a function"
            raise TypeError(f"{needed}, not {kind_of(way)}")
        alive(way, f"the way '{printable(name)}'")
    pairs = table(cases, "watch_mutations", CASES, MOST_CASES)
    entries = [
        _entry(printable(name), case, [way for _, way in ways])
        for name, case in progress.counted("case", pairs)
    ]
    headings = tuple(printable(name) for name, _ in ways)
    title = word(title, "title")
    return Ledger(title, "the body's change", headings, tuple(entries), marks=MARKS)


def _default_ways():
    import tensorflow as tf

    return {"called as it is": lambda fn: fn, "tf.function": tf.function}


def _entry(name, case, ways) -> Entry:
    fn, *args = parts(case)
    if not callable(fn):
        needed = f"the case '{name}' must be a function, or (function, *arguments)"
        raise TypeError(f"{needed}, not {kind_of(fn)}")
    alive(fn, f"the case '{name}'")
    try:
        outcomes = [_outcome(fn, fresh(args), way) for way in ways]
    except TooMuch:
        raise ValueError(
            f"the case '{name}' holds more than {MOST_THINGS:,} things, and each run needs fresh "
            "ones; give it smaller arguments"
        ) from None
    notes = dict.fromkeys(note for _, found in outcomes for note in found)
    return Entry(name, tuple(verdict for verdict, _ in outcomes), "; ".join(notes))


def _outcome(fn, args, way) -> tuple[Verdict, list[str]]:
    """Run `fn` one way -> the verdict, what was raised, and what was not looked into."""
    before, note = fresh(_reachable(fn, args)), ""
    try:
        with theirs():
            way(fn)(*args)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        note = said(error)
    after = _reachable(fn, args)
    kept = UNCHANGED if alike(before, after) else "caller's changed"
    known = {id(leaf) for leaf in _leaves(before)}
    if any(_leaked(leaf) and id(leaf) not in known for leaf in _leaves(after)):
        kept = "a graph tensor leaked"
    unseen = [*dict.fromkeys(kind_of(leaf) for leaf in _leaves(before) if _closed(leaf))]
    if kept == UNCHANGED and unseen:
        kept = NOT_KNOWN
    told = [f"neither copied nor compared: {', '.join(unseen)}"] if unseen else []
    if note:
        verdict = Verdict(f"{note.partition(':')[0]}; {kept}", "failed")
        named = f"it names {note.partition(NAMED)[2].strip()}" if NAMED in note else note
        return verdict, [named, *told]
    return Verdict(f"no error; {kept}", "plain" if kept in QUIET else "changed"), told


def _reachable(fn, args) -> list:
    """Return all that the body can change: arguments, defaults, closure, and globals it names.

    So it can its `self`, its own attributes and what a partial adds.
    """
    held = list(args)
    if type(fn) is partial:
        held += [*map(_own, fn.args), fn.keywords]
        fn = fn.func
    if is_exactly(fn, MethodType, BuiltinFunctionType):
        held.append(_own(fn.__self__))
        fn = fn.__func__ if type(fn) is MethodType else fn
    if type(fn) is not FunctionType:
        return [*held, _own(fn)]
    cells = [c.cell_contents for c in fn.__closure__ or () if _filled(c)]
    named = [dict.get(fn.__globals__, name) for name in sorted(names_used(fn.__code__))]
    defaults = (fn.__defaults__, fn.__kwdefaults__)
    own = [*defaults, fn.__dict__]
    return [*held, *map(_own, own), *map(_own, cells), *map(_own, named)]


def _own(value):
    """Return what can be changed in place; None for what the body only calls."""
    if is_exactly(value, *CONTAINERS, tuple) or _attributes(value) is not None:
        return value
    model = any(cls.__name__ in MODELS for cls in _MRO(type(value)))
    return value if _closed(value) and (model or not callable(value)) else None


def _filled(cell) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - an empty cell raises
    except ValueError:
        return False
    return True


class TooMuch(Exception):
    """There is more in a structure than is worth copying for each run."""


def fresh(value, depth: int = 0, made: dict | None = None):
    """Return a copy of containers and of plain objects, to any depth, around the same leaves.

    What stands in two places, or in itself, is copied once. No `__copy__` or `__hash__` of an
    object is run. TooMuch if there are more than `MOST_THINGS`.
    """
    made = {} if made is None else made
    kind = type(value)
    attributes = _attributes(value)
    if depth > DEEPEST or (not is_exactly(value, *CONTAINERS, tuple) and attributes is None):
        return value
    if id(value) in made:
        return made[id(value)][0]
    _count(made, attributes if attributes is not None else value)
    if is_exactly(value, list, tuple):
        twin = made.setdefault(id(value), ([], value))[0]  # value: or its id may go to another
        twin += [fresh(item, depth + 1, made) for item in value]
        if kind is tuple:
            twin = tuple(twin)
            made[id(value)] = (twin, value)
        return twin
    if attributes is None:
        twin = kind.copy(value)  # a set's items can be looked up, so they are left as they are
        made[id(value)] = (twin, value)
        space = twin if kind is dict else {}
    else:
        try:
            twin = object.__new__(kind)
        except TypeError:  # its layout is C's own, as that of a partial
            return value
        made[id(value)] = (twin, value)
        space = object.__getattribute__(twin, "__dict__")
        space.update(attributes)
    if all(is_exactly(key, *SCALARS) for key in space):  # others would be asked for their hash
        for key in space:
            space[key] = fresh(space[key], depth + 1, made)
    return twin


def _count(made: dict, items) -> None:
    """Count the things that are to be copied."""
    total = made.get("total", 0) + len(items)
    if total > MOST_THINGS:
        raise TooMuch
    made["total"] = total


def alike(a, b, depth: int = 0, seen: set | None = None) -> bool:
    """Return whether two structures hold the very same leaves in the same places."""
    seen = set() if seen is None else seen
    if depth > DEEPEST or a is b or (id(a), id(b)) in seen:
        return True
    seen.add((id(a), id(b)))
    if type(a) is not type(b):
        return False
    if is_exactly(a, list, tuple):
        pairs = zip(a, b, strict=False)
        return len(a) == len(b) and all(alike(*pair, depth + 1, seen) for pair in pairs)
    if type(a) is set:
        return set(map(_identity, a)) == set(map(_identity, b))
    if type(a) is not dict:
        a, b = _attributes(a), _attributes(b)
    if a is None or b is None or list(map(_identity, a)) != list(map(_identity, b)):
        return False
    return all(alike(*pair, depth + 1, seen) for pair in zip(a.values(), b.values(), strict=False))


def _identity(item):
    """Return what stands for an item without asking its `__eq__`: a scalar's value, else its id."""
    return (type(item), item) if is_exactly(item, *SCALARS) else id(item)


def _leaves(value, depth: int = 0, seen: set | None = None):
    """Yield what `fresh` does not copy, to any depth; of what is too deep, the container."""
    seen = set() if seen is None else seen
    inner = _attributes(value)
    inner = value if is_exactly(value, list, tuple, set, dict) else inner
    copied = type(inner) is not dict or all(is_exactly(key, *SCALARS) for key in inner)
    if inner is None or depth > DEEPEST or not copied:
        yield value
        return
    if id(value) in seen:
        return
    seen.add(id(value))
    if type(inner) is set:
        yield from inner
        return
    for item in inner.values() if type(inner) is dict else inner:
        yield from _leaves(item, depth + 1, seen)


def _attributes(value) -> dict | None:
    """Return the attributes of an instance of a plain class written in Python, else None."""
    classes = _MRO(type(value))[:-1]
    if not classes or any(_module(cls) in LIBRARIES for cls in classes):
        return None
    if _SIZE(type(value)) > _SIZE(_Plain):  # more than a dict: C's own state, or slots
        return None
    slots = [space["__slots__"] for space in map(_SPACE, classes) if "__slots__" in space]
    if any(type(names) is not tuple or names for names in slots):  # they are not in the dict
        return None
    found = (space["__dict__"] for space in map(_SPACE, classes) if "__dict__" in space)
    if type(next(found, None)) is not GetSetDescriptorType:
        return None
    return object.__getattribute__(value, "__dict__")


def _module(cls) -> str:
    """Return the first part of the name of the module that a class was made in."""
    module = _MODULE(cls) if "__module__" in _SPACE(cls) else "builtins"
    return module.partition(".")[0] if type(module) is str else ""


def _closed(value) -> bool:
    """Return whether a leaf can be changed in a way that is not seen here."""
    if is_exactly(value, *FIXED) or is_a(value, Enum, *TAKEN):
        return False
    if is_a(value, tuple, frozenset):
        items = tuple.__iter__ if is_a(value, tuple) else frozenset.__iter__
        return _DICT_AT(type(value)) != 0 or any(map(_closed, items(value)))
    import numpy as np
    import tensorflow as tf

    return not is_a(value, tf.Tensor, tf.DType, tf.TensorShape, tf.TypeSpec, np.generic, np.dtype)


class _Plain:
    """An object that has a dict, and nothing else."""


def _leaked(leaf) -> bool:
    from tensorflow.python.framework.ops import SymbolicTensor

    return is_a(leaf, SymbolicTensor)


_MRO = type.__dict__["__mro__"].__get__
_MODULE = type.__dict__["__module__"].__get__
_SPACE = type.__dict__["__dict__"].__get__
_DICT_AT = type.__dict__["__dictoffset__"].__get__
_SIZE = type.__dict__["__basicsize__"].__get__

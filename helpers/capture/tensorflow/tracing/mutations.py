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

from helpers.capture.cpython.objects import names_used
from helpers.capture.tensorflow.tracing.names_around import SCALARS, Names
from helpers.capture.text.error import said
from helpers.model.ledger import Entry, Ledger, Verdict
from helpers.model.phrase import listed
from helpers.safety import progress
from helpers.safety.arguments import (
    alive,
    is_a,
    is_exactly,
    kind_of,
    own,
    parts,
    printable,
    table,
    word,
)
from helpers.safety.interpreter_state import theirs

NAMED = "parameter(s) were modified:"
CONTAINERS = (list, dict, set)
LIBRARIES = ("builtins", "types", "enum", "functools", "tensorflow", "keras", "numpy", "torch")
FIXED = (*SCALARS, range, slice, CodeType)  # nothing in them can be changed; in a subclass it can
MODELS = ("Module", "Layer")  # called, and changed: TensorFlow's, PyTorch's, Keras's
TAKEN = (FunctionType, BuiltinFunctionType, ModuleType, type)  # not the body's to change
DEEPEST, MOST_THINGS, MOST_CASES, MOST_WAYS = 20, 50_000, 200, 12
MOST_NAMED = 3
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
    compared, such as an array or a variable, is named. What a run rebound is put back; what it
    changed in place beside its arguments, before the next run. TypeError names a case or a way
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
    undo = []  # what puts back what the last run changed in place
    entries = [
        _entry(printable(name), case, [way for _, way in ways], undo)
        for name, case in progress.counted("case", pairs)
    ]
    headings = tuple(printable(name) for name, _ in ways)
    title = word(title, "title")
    return Ledger(title, "the body's change", headings, tuple(entries), marks=MARKS)


def _default_ways():
    import tensorflow as tf

    return {"called as it is": lambda fn: fn, "tf.function": tf.function}


def _entry(name, case, ways, undo) -> Entry:
    fn, *args = parts(case)
    if not callable(fn):
        needed = f"the case '{name}' must be a function, or (function, *arguments)"
        raise TypeError(f"{needed}, not {kind_of(fn)}")
    alive(fn, f"the case '{name}'")
    try:
        outcomes = [_outcome(fn, fresh(args), way, undo) for way in ways]
    except TooMuch:
        raise ValueError(
            f"the case '{name}' holds more than {MOST_THINGS:,} things, and each run needs fresh "
            "ones; give it smaller arguments"
        ) from None
    notes = dict.fromkeys(note for _, found in outcomes for note in found)
    return Entry(name, tuple(verdict for verdict, _ in outcomes), "; ".join(notes))


def _outcome(fn, args, way, undo: list) -> tuple[Verdict, list[str]]:
    """Run `fn` one way -> the verdict, what was raised or rebound, what was not looked into."""
    if undo:
        undo.pop()()
    held, made = [*args, *_beside(fn)], {}
    names = Names(_functions(fn), _classes([fn, *held]))
    before, note = fresh(_reachable(fn, args), made=made), ""
    undo.append(partial(_put_back, made))
    try:
        with theirs():
            way(fn)(*args)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        note = said(error)
    finally:
        after, rebound = _reachable(fn, args), names.rebound()
        names.put_back()
    kept = UNCHANGED if alike(before, after) and not rebound else "caller's changed"
    known = {id(leaf) for leaf in _leaves(before)}
    found = [*_leaves(after), *_leaves(list(rebound.values()))]
    if any(_leaked(leaf) and id(leaf) not in known for leaf in found):
        kept = "a graph tensor leaked"
    unseen = [*dict.fromkeys(kind_of(leaf) for leaf in _leaves(before) if _closed(leaf))]
    if kept == UNCHANGED and unseen:
        kept = NOT_KNOWN
    told = [f"rebound: {listed(rebound, MOST_NAMED)}"] if rebound else []
    told += [f"neither copied nor compared: {', '.join(unseen)}"] if unseen else []
    if note:
        verdict = Verdict(f"{note.partition(':')[0]}; {kept}", "failed")
        named = f"it names {note.partition(NAMED)[2].strip()}" if NAMED in note else note
        return verdict, [named, *told]
    return Verdict(f"no error; {kept}", "plain" if kept in QUIET else "changed"), told


def _reachable(fn, args) -> list:
    """Return all that the body can change in place: arguments, and what stands beside them.

    So it can what the classes hold that it reaches.
    """
    beside = _beside(fn)
    spaces = [_class_values(cls) for cls in _classes([fn, *args, *beside])]
    return [*args, *map(_own, beside), *spaces]


def _beside(fn) -> list:
    """Return what a function brings: what a partial adds, its `self`, its own attributes.

    And its defaults, what is in its closure, and the globals that it names.
    """
    held, inner = [], fn
    if type(inner) is partial:
        held += [*inner.args, inner.keywords]
        inner = inner.func
    if is_exactly(inner, MethodType, BuiltinFunctionType):
        held.append(inner.__self__)
    elif type(inner) is not FunctionType:
        held.append(inner)
    for function in _functions(fn):
        held += [function.__defaults__, function.__kwdefaults__, function.__dict__]
        held += _named(function)
    return held


def _named(function) -> list:
    """Return what a function's closure holds, and what the globals are that it names."""
    cells = [cell.cell_contents for cell in function.__closure__ or () if _filled(cell)]
    space = function.__globals__
    return cells + [dict.get(space, name) for name in sorted(names_used(function.__code__))]


def _functions(fn) -> list[FunctionType]:
    """Return the Python function that a call of `fn` runs, and those that it names or wraps.

    Not those of a library, whose names are no caller's.
    """
    fn = fn.func if type(fn) is partial else fn
    fn = fn.__func__ if type(fn) is MethodType else fn
    fn = own(fn, "_python_function", fn)  # of a tf.function
    level, found = [fn if type(fn) is FunctionType else own(fn, "__call__")], {}
    while level:
        one = level.pop()
        if type(one) is FunctionType and id(one) not in found and not _is_librarys(one):
            found[id(one)] = one
            level += _named(one)
    return list(found.values())


def _is_librarys(function) -> bool:
    home = dict.get(function.__globals__, "__name__")
    return type(home) is str and home.partition(".")[0] in LIBRARIES


def _classes(value, depth: int = 0, found: dict | None = None) -> list[type]:
    """Return the classes written in Python that a structure holds, or its objects are of."""
    found = {} if found is None else found
    if depth > DEEPEST or id(value) in found:
        return []
    if len(found) > MOST_THINGS:
        raise TooMuch
    found[id(value)] = value
    kinds = _MRO(value if is_a(value, type) else type(value))
    found |= {id(kind): kind for kind in kinds if kind is not value}
    inner = _attributes(value)
    inner = value if is_exactly(value, *CONTAINERS, tuple) else inner
    for item in (inner.values() if type(inner) is dict else inner) or ():
        _classes(item, depth + 1, found)
    classes = (thing for thing in found.values() if is_a(thing, type))
    return [] if depth else [cls for cls in classes if _module(cls) not in LIBRARIES]


def _class_values(cls) -> dict:
    """Return what can be changed in place in the attributes of a class."""
    return {
        name: _own(value)
        for name, value in _SPACE(cls).items()
        if not name.startswith(("__", "_abc_")) and own(type(value), "__get__") is None
    }


def _put_back(made: dict) -> None:
    """Let each thing that was copied hold again what its copy holds."""
    pairs = [pair for pair in made.values() if type(pair) is tuple]
    first = {id(twin): thing for twin, thing in pairs}
    for twin, thing in pairs:
        plain = is_exactly(thing, *CONTAINERS, tuple)
        held, space = (twin, thing) if plain else map(_attributes, (twin, thing))
        if type(space) is list:
            space[:] = [first.get(id(item), item) for item in held]
        elif is_exactly(space, dict, set):
            held = held.copy()  # with its hashes: no key is asked for one
            for key in held if type(space) is dict and _is_plain(held) else ():
                held[key] = first.get(id(held[key]), held[key])
            space.clear()
            space.update(held)


def _is_plain(space: dict) -> bool:
    """Return whether no key would be asked for its hash."""
    return all(is_exactly(key, *SCALARS) for key in space)


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
    if _is_plain(space):
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
    copied = type(inner) is not dict or _is_plain(inner)
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
    import numpy as np
    import tensorflow as tf

    left, seen = [value], set()
    while left:  # tuples may be nested deeper than Python calls
        one = left.pop()
        if id(one) in seen or is_exactly(one, *FIXED) or is_a(one, Enum, *TAKEN):
            continue
        seen.add(id(one))
        if is_a(one, tuple, frozenset):
            if _DICT_AT(type(one)):
                return True
            left += (tuple if is_a(one, tuple) else frozenset).__iter__(one)
        elif not is_a(one, tf.Tensor, tf.DType, tf.TensorShape, tf.TypeSpec, np.generic, np.dtype):
            return True
    return False


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

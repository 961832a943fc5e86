"""Functions that change their arguments -> a ledger: what each way of running them says and does.

TensorFlow compares a function's arguments before and after the trace
(tensorflow/python/framework/func_graph.py: `check_func_mutation`). What it looks at, and what
it does not, can be read off here.
"""

import copy

from helpers.capture.said import said
from helpers.model.ledger import Entry, Ledger, Verdict

NAMED = "parameter(s) were modified:"
CONTAINERS = (list, dict, set)
LIBRARIES = ("builtins", "types", "tensorflow", "keras", "numpy")
DEEPEST = 20
TITLE = "Who sees that an argument was changed?"


def mutations_ledger(cases, ways=None, title: str = TITLE) -> Ledger:
    """Run every case in every way, each time on fresh copies of its arguments.

    `cases`: name -> a function, or (function, *arguments). `ways`: heading -> what makes a
    callable of a function; by default as it is, and `tf.function`. TypeError names a case or a way
    that cannot be called.
    """
    ways = _default_ways() if ways is None else dict(ways)
    for name, way in ways.items():
        if not callable(way):
            raise TypeError(f"the way {name!r} must be a function that takes a function")
    entries = [_entry(str(name), case, ways) for name, case in cases.items()]
    return Ledger(title, "the body's change", tuple(ways), tuple(entries))


def _default_ways():
    import tensorflow as tf

    return {"called as it is": lambda fn: fn, "tf.function": tf.function}


def _entry(name, case, ways) -> Entry:
    fn, *args = case if isinstance(case, tuple) else (case,)
    if not callable(fn):
        raise TypeError(f"the case {name!r} must be a function, or (function, *arguments)")
    outcomes = [_outcome(fn, fresh(args), way) for way in ways.values()]
    notes = dict.fromkeys(note for _, note in outcomes if note)
    return Entry(name, tuple(verdict for verdict, _ in outcomes), "; ".join(notes))


def _outcome(fn, args, way) -> tuple[Verdict, str]:
    """Run `fn` one way -> the verdict, and what was raised."""
    before, note = fresh(_reachable(fn, args)), ""
    try:
        way(fn)(*args)
    except Exception as error:
        note = said(error)
    after = _reachable(fn, args)
    kept = "caller's unchanged" if alike(before, after) else "caller's changed"
    known = list(_leaves(before))
    if any(_leaked(leaf) and not any(leaf is k for k in known) for leaf in _leaves(after)):
        kept = "a graph tensor leaked"
    if note:
        verdict = Verdict(f"{note.partition(':')[0]}; {kept}", "failed")
        return verdict, f"it names {note.partition(NAMED)[2].strip()}" if NAMED in note else note
    return Verdict(f"no error; {kept}", "plain" if kept.endswith("unchanged") else "changed"), ""


def _reachable(fn, args) -> list:
    """Return all that the body can change: arguments, defaults, closure, and globals it names."""
    cells = [c.cell_contents for c in getattr(fn, "__closure__", None) or () if _filled(c)]
    code, space = getattr(fn, "__code__", None), getattr(fn, "__globals__", {})
    named = [space.get(name) for name in getattr(code, "co_names", ())]
    defaults = (getattr(fn, "__defaults__", None), getattr(fn, "__kwdefaults__", None))
    return [*args, *map(_own, defaults), *map(_own, cells), *map(_own, named)]


def _own(value):
    """Return what can be changed in place; a module or a function is not the body's to change."""
    return value if type(value) in (*CONTAINERS, tuple) or _attributes(value) else None


def _filled(cell) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - an empty cell raises
    except ValueError:
        return False
    return True


def fresh(value, depth: int = 0):
    """Return a copy of containers and of plain objects, to any depth, around the same leaves."""
    if depth > DEEPEST:
        return value
    if type(value) in (list, tuple, set):
        return type(value)(fresh(item, depth + 1) for item in value)
    if type(value) is dict:
        return {key: fresh(item, depth + 1) for key, item in value.items()}
    if (attributes := _attributes(value)) is not None:
        twin = copy.copy(value)
        vars(twin).update(fresh(attributes, depth + 1))
        return twin
    return value


def alike(a, b, depth: int = 0) -> bool:
    """Return whether two structures hold the very same leaves in the same places."""
    if depth > DEEPEST or a is b:
        return True
    if type(a) is not type(b):
        return False
    if type(a) in (list, tuple):
        return len(a) == len(b) and all(alike(*pair, depth + 1) for pair in zip(a, b, strict=True))
    if type(a) is set:
        return a == b
    if type(a) is not dict:
        a, b = _attributes(a), _attributes(b)
    if a is None or list(a) != list(b):
        return False
    return all(alike(a[key], b[key], depth + 1) for key in a)


def _leaves(value, depth: int = 0):
    inner = _attributes(value)
    inner = value if type(value) in (list, tuple, set, dict) else inner
    if inner is None or depth > DEEPEST:
        yield value
        return
    for item in inner.values() if type(inner) is dict else inner:
        yield from _leaves(item, depth + 1)


def _attributes(value) -> dict | None:
    """Return the attributes of an instance of a plain class written in Python, else None."""
    kind = type(value)
    known = kind.__module__.partition(".")[0] in (
        "builtins",
        "types",
        "tensorflow",
        "keras",
        "numpy",
    )
    if known or kind.__mro__[1:] != (object,) or "__dict__" not in kind.__dict__:
        return None
    return value.__dict__


def _leaked(leaf) -> bool:
    import tensorflow as tf

    return tf.is_symbolic_tensor(leaf)

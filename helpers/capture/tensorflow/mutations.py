"""Functions that change what they reach -> a ledger: what each way says, and when it changes that.

TensorFlow compares a function's arguments before and after the trace
(tensorflow/python/framework/func_graph.py: `check_func_mutation`).
"""

import copy
import pickle
import random
from enum import Enum
from functools import partial
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType

from ...internals import tensorflow_private
from ...model.phrase import interrupted, listed
from ...model.tables import Entry, Ledger, Verdict
from ...safety import arguments, progress
from ...safety.arguments import printable, real_isinstance, real_type_name, static_attribute
from ...safety.restoring import is_interrupted, redirected
from ..cpython.objects import called, names_used, python_function
from ..cpython.settrace import Printed, run_to_end
from ..cpython.unwrapping import arguments as named_arguments
from .trace_ledger import watched_of
from .trace_words import literal

NAMED = "parameter(s) were modified:"
LIBRARIES = {"builtins", "types", "enum", "functools", "tensorflow", "keras", "numpy", "torch"}
PARTS = {MethodType: ("__func__", "__self__"), BuiltinFunctionType: ("__self__",)}
PARTS[partial] = "func", "args", "keywords"
SCALARS = (str, bytes, int, float, complex, bool, type(None))
FIXED = (*SCALARS, range, slice, CodeType)  # nothing in them can be changed; in a subclass it can
MODELS = ("Module", "Layer")  # called, and changed: TensorFlow's, PyTorch's, Keras's
TAKEN = (FunctionType, BuiltinFunctionType, ModuleType, type, Enum)  # not the body's to change
MOST_THINGS, MOST_CASES, MOST_WAYS, MOST_NAMED = 50_000, 200, 12, 10
MARKS = (
    ("changed", "no error, but only some calls make the change"),
    ("refused", "TensorFlow refused the change"),
    ("failed", "an error of another kind, or a graph tensor that outlived its graph"),
)
CASES = "name -> a function, or (function, *arguments)"
WAYS = "heading -> a callable that accepts a function and returns one"
UNCHANGED, NOT_KNOWN = QUIET = "caller's unchanged", "not known what changed"
TITLE = "Which changes of arguments, globals and closures does TensorFlow notice, or lose at a hit?"
WHEN = {(True, True): "changed at every call", (False, True): "changed at the second call only"}
FIRST = "changed at the first call, not at the second", "changed at the trace, not at the hit"
GONE = object()
PLAIN = type("Plain", (), {}).__basicsize__  # of an object that has a dict, and nothing else


def mutations_ledger(cases, ways=None) -> Ledger:
    """Run functions that change things, and show which raise, what they change, and at which call.

    `cases`: name -> function, or (function, *arguments); TypeError for others. Of a tf.function,
    its Python function is run. Each way is called twice, unless it raises: a tf.function traces at
    the first call, and then hits. Each call finds the same state: containers and plain objects
    among the arguments, globals and closures, and the random numbers of Python and NumPy. A change
    of it is named by its path and restored. Objects that are not compared (an array, a variable)
    are listed. What is printed is compared. What a method, or a function reached through an
    attribute, changes elsewhere is not. `ways`: heading -> what makes a callable of a function. The
    default is the function as it is, and `tf.function`. `.model.entries` contains the rows.
    Example: `watch_mutations({"append": (step, [])})`
    """
    if ways is None:
        import tensorflow as tf

        ways = {"plain Python": lambda fn: fn, "tf.function": tf.function}
    ways = arguments.table(ways, "ways=", WAYS, MOST_WAYS)
    for name, way in ways:
        arguments.called(way, f"the way '{printable(name)}'")
    entries = []
    cases = arguments.table(cases, "watch_mutations", CASES, MOST_CASES)
    note = ""
    for name, case in progress.counted("case", cases):
        fn, *args = arguments.parts(case)
        arguments.called(fn, f"the case '{printable(name)}'")
        fn = python_function(getattr(watched_of(fn), "function", fn)) or fn
        verdicts, notes = [], {}
        for _, way in ways:
            verdict, told = _run(fn, copy_containers(args), way)
            if is_interrupted():
                break
            verdicts.append(verdict)
            notes |= dict.fromkeys(told)
        if is_interrupted():
            if not entries:
                raise KeyboardInterrupt
            note = interrupted(len(entries), "case")
            break
        entries.append(Entry(printable(name), tuple(verdicts), "; ".join(notes)))
    heads = "the body's change", tuple(printable(name) for name, _ in ways)
    return Ledger(TITLE, *heads, tuple(entries), note, marks=MARKS)


def copy_containers(args: list) -> list:
    """Return a copy of containers and of plain objects, to any depth, around the same leaves."""
    return copy.deepcopy(args, {id(leaf): leaf for leaf in _Snapshot([("", args)]).leaves})


def _run(fn, args, way) -> tuple[Verdict, list[str]]:
    """Run `fn` one way, twice -> the verdict; what was raised, and not looked into."""
    roots = [("self", fn.__self__)] if type(fn) is MethodType else []
    before = _Snapshot([*roots, (called(fn), fn), *named_arguments(fn, tuple(args), {})])
    known, made, runs, leaked = set(map(id, before.leaves)), [], [], {}
    error = run_to_end(lambda: made.append(way(fn)))
    before.put_back()
    while not error and len(runs) < 2:
        printed = Printed()
        with tensorflow_private.hearing_traces() as traced, redirected(printed):
            error = run_to_end(lambda: made[0](*args))
        changed = before.changed() | ({"what it prints": ""} if printed.total else {})
        runs.append((changed, len(traced)))  # they keep alive what the function made
        leaked |= {path: 0 for path, now in changed.items() if _has_graph_tensor(now, known)}
        before.put_back()  # each call finds what the first one found
    unseen = ", ".join(dict.fromkeys(map(real_type_name, filter(_can_change, before.leaves))))
    kept = _when(runs, error) or (NOT_KNOWN if unseen else UNCHANGED)
    left = f"; a graph tensor stays in {listed(leaked, MOST_NAMED)}" if leaked else ""
    told = [f"neither copied nor compared: {unseen}"] * bool(unseen)
    if not error:
        some = any(words in kept for words in (*FIRST, WHEN[False, True]))
        tone = "failed" if leaked else "changed" if some else "plain"
        return Verdict(f"no error; {kept}{left}", tone), told
    named = f"the error names {error.partition(NAMED)[2].strip()}" if NAMED in error else error
    tone = "refused" if NAMED in error and kept in QUIET else "failed"
    return Verdict(f"{error.partition(':')[0]}; {kept}{left}", tone), [named, *told]


def _when(runs, error: str) -> str:
    """Return which paths changed at which of the two calls, in words."""
    first, groups = FIRST[[traces > 0 for _, traces in runs] == [True, False]], {}
    for path in dict.fromkeys(path for changed, _ in runs for path in changed):
        calls = tuple(path in changed for changed, _ in runs)
        groups.setdefault("changed" if error else WHEN.get(calls, first), []).append(path)
    return "; ".join(f"{when}: {listed(found, MOST_NAMED)}" for when, found in groups.items())


def _has_graph_tensor(value, known: set[int]) -> bool:
    leaves = (leaf for leaf in _Snapshot([("", value)]).leaves if id(leaf) not in known)
    return any(real_isinstance(leaf, tensorflow_private.SymbolicTensor) for leaf in leaves)


class _Snapshot:
    """All that a body can change, as it is now, with the path by which it was reached."""

    def __init__(self, roots: list[tuple[str, object]]):
        self.leaves, self._held, self._random = [], {}, _random_states()
        waiting, met = [*roots], {}
        for path, one in waiting:
            if id(one) not in met:
                met[id(one)] = one
                waiting += self._look_into(path, one)
            if len(met) > MOST_THINGS:
                needed = "each run needs fresh ones; pass smaller arguments"
                raise ValueError(f"a case contains more than {MOST_THINGS:,} objects, and {needed}")

    def _look_into(self, path: str, one) -> list[tuple[str, object]]:
        if real_isinstance(one, tuple, frozenset):
            return [(f"{path}[{at}]", part) for at, part in enumerate(one)]
        homes = {_home(kind) for kind in type(one).__mro__[:-1]}
        # Of a plain object the attributes; a larger one has slots, or a state of its own in C.
        is_plain = homes and not homes & LIBRARIES and type(one).__basicsize__ <= PLAIN
        inside = getattr(one, "__dict__", None) if is_plain else None
        if type(one) in (list, dict, set) or inside is not None:
            call = static_attribute(one, "__call__")
            style, inside = ("{}[{}]", one) if inside is None else ("{}.{}", inside)
            return [*self._keep(path, style, inside), (f"{path}.__call__", call)]
        self.leaves.append(one)
        if type(one) is FunctionType:
            return self._look_into_function(path, one)
        parts = PARTS.get(type(one))  # of anything else, what a tf.function is made of
        if parts is None:
            return [(path, static_attribute(one, "_python_function"))]
        return [(f"{path}.{part}", getattr(one, part)) for part in parts]

    def _keep(self, path: str, style: str, owner) -> list[tuple[str, object]]:
        """Keep what a container, a cell or a module holds now; return it, with paths."""
        before = _content(owner).copy()
        self._held[id(owner)] = path, style, owner, before
        return [(_place(style, path, key), part) for key, part in _parts(before).items()]

    def _look_into_function(self, path: str, function) -> list[tuple[str, object]]:
        """Note the names that a function of somebody's can rebind; return what it refers to."""
        if _home(function) in LIBRARIES:
            return []
        space, code = function.__globals__, function.__code__
        self._keep("", "{1}", space)
        found = [(name, space.get(name)) for name in sorted(names_used(code))]
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            found += self._keep("", name, cell)
        defaults = function.__defaults__ or ()
        names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
        found += [*zip(names, defaults, strict=False), *(function.__kwdefaults__ or {}).items()]
        return [*found, *self._keep(path, "{}.{}", function.__dict__)]

    def changed(self) -> dict[str, object]:
        """Return path -> what it refers to now, of each that refers to something else."""
        states = _random_states()
        found = {name: "" for name, before in self._random.items() if states[name] != before}
        for path, style, owner, before in self._held.values():
            now = _content(owner)
            if type(now) is set or type(now) is list and len(now) != len(before):
                found |= {path: now} if now != before else {}
                continue
            now, old = _parts(now), _parts(before)
            pairs = [(key, old.get(key, GONE), now.get(key, GONE)) for key in {**old, **now}]
            pairs = [(key, new) for key, one, new in pairs if _is_other(one, new)]
            found |= {_place(style, path, key): new for key, new in pairs}
        return found

    def put_back(self) -> None:
        """Let every name refer to what it referred to, and each container hold what it held."""
        import numpy as np

        for _, style, owner, before in self._held.values():
            if style.startswith("{}"):
                owner.clear()
                (owner.extend if type(owner) is list else owner.update)(before)
            elif type(owner) is dict:  # others may look a name up meanwhile
                owner.update(before)
                for name in owner.keys() - before.keys():
                    del owner[name]
            elif before:
                owner.cell_contents = before[""]
        np.random.set_state(pickle.loads(self._random["np.random"]))
        random.setstate(pickle.loads(self._random["random"]))


def _home(made) -> str:
    return str(made.__module__).partition(".")[0]


def _content(owner):
    if type(owner) is not CellType:
        return owner
    try:
        return {"": owner.cell_contents}
    except ValueError:  # the cell is empty
        return {}


def _place(style: str, path: str, key) -> str:
    return style.format(path, literal(key) if "[" in style else printable(key))


def _parts(container) -> dict:
    return container if type(container) is dict else dict(enumerate(container))


def _random_states() -> dict[str, bytes]:
    import numpy as np

    states = {"np.random": np.random.get_state(), "random": random.getstate()}
    return {name: pickle.dumps(state) for name, state in states.items()}


def _is_other(one, other) -> bool:
    same = type(one) is type(other) and type(one) in SCALARS and one == other
    return one is not other and not same


def _can_change(leaf) -> bool:
    """Return whether a leaf can be changed in a way that is not seen here."""
    import numpy as np
    import tensorflow as tf

    values = tf.Tensor, tf.DType, tf.TensorShape, tf.TypeSpec, np.generic, np.dtype
    if type(leaf) in FIXED or real_isinstance(leaf, *TAKEN, *values):
        return False
    return not callable(leaf) or any(cls.__name__ in MODELS for cls in type(leaf).__mro__)

"""Functions that change their arguments -> a ledger: what each way of running them says and does.

TensorFlow compares a function's arguments before and after the trace
(tensorflow/python/framework/func_graph.py: `check_func_mutation`).
"""

import copy
from enum import Enum
from functools import partial
from itertools import chain
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType

from ...internals import tensorflow_private
from ...model.phrase import listed
from ...model.tables import Entry, Ledger, Verdict
from ...safety import arguments, progress
from ...safety.arguments import printable, real_isinstance, real_type_name, static_attribute
from ..cpython.objects import names_used, python_function
from ..cpython.settrace import run_to_end
from .trace_ledger import watched_of

NAMED = "parameter(s) were modified:"
LIBRARIES = {"builtins", "types", "enum", "functools", "tensorflow", "keras", "numpy", "torch"}
PARTS = {MethodType: ("__func__", "__self__"), BuiltinFunctionType: ("__self__",)}
PARTS[partial] = "func", "args", "keywords"
SCALARS = (str, bytes, int, float, complex, bool, type(None))
FIXED = (*SCALARS, range, slice, CodeType)  # nothing in them can be changed; in a subclass it can
MODELS = ("Module", "Layer")  # called, and changed: TensorFlow's, PyTorch's, Keras's
TAKEN = (FunctionType, BuiltinFunctionType, ModuleType, type, Enum)  # not the body's to change
MOST_THINGS, MOST_CASES, MOST_WAYS, MOST_NAMED = 50_000, 200, 12, 3
MARKS = (
    ("changed", "no error, but the caller's objects changed"),
    ("refused", "TensorFlow refused the change"),
    ("failed", "another error, or a graph tensor outlived its graph"),
)
CASES = "name -> a function, or (function, *arguments)"
WAYS = "heading -> a callable that accepts a function and returns one"
UNCHANGED, NOT_KNOWN = QUIET = "caller's unchanged", "not known what changed"
LEAKED = "it now contains a graph tensor"
GONE = object()
PLAIN = type("Plain", (), {}).__basicsize__  # of an object that has a dict, and nothing else


def mutations_ledger(cases, ways=None) -> Ledger:
    """Run functions that change their arguments, and show which raise and what the caller then has.

    `cases`: name -> function, or (function, *arguments); TypeError for others. Of a tf.function,
    its Python function is run. Each run gets copies of containers and plain objects. Objects that
    are not copied (an array, a variable) are listed as not compared. Names that a run rebinds, in
    its module or closure, are reported. What it rebinds or changes is restored. It does not look at
    what a method, or a function reached through an attribute, changes elsewhere. `ways`: heading ->
    what makes a callable of a function. The default is the function as it is, and `tf.function`.
    `.model.entries` contains the rows. Example: `watch_mutations({"append": (step, [])})`
    """
    if ways is None:
        import tensorflow as tf

        ways = {"plain Python": lambda fn: fn, "tf.function": tf.function}
    ways = arguments.table(ways, "ways=", WAYS, MOST_WAYS)
    for name, way in ways:
        arguments.called(way, f"the way '{printable(name)}'")
    entries = []
    cases = arguments.table(cases, "watch_mutations", CASES, MOST_CASES)
    for name, case in progress.counted("case", cases):
        fn, *args = arguments.parts(case)
        arguments.called(fn, f"the case '{printable(name)}'")
        fn = python_function(getattr(watched_of(fn), "function", fn)) or fn
        verdicts, notes = [], {}
        for _, way in ways:
            verdict, told = _run(fn, copy_containers(args), way)
            verdicts.append(verdict)
            notes |= dict.fromkeys(told)
        entries.append(Entry(printable(name), tuple(verdicts), "; ".join(notes)))
    heads = "the body's change", tuple(printable(name) for name, _ in ways)
    return Ledger("Which changes does TensorFlow notice?", *heads, tuple(entries), marks=MARKS)


def copy_containers(args: list) -> list:
    """Return a copy of containers and of plain objects, to any depth, around the same leaves."""
    return copy.deepcopy(args, {id(leaf): leaf for leaf in _Snapshot(args).leaves})


def _run(fn, args, way) -> tuple[Verdict, list[str]]:
    """Run `fn` one way -> the verdict; what was raised, rebound, not looked into."""
    before = _Snapshot([fn, *args])
    error = run_to_end(lambda: way(fn)(*args))
    rebound = before.rebound()
    after = _Snapshot([fn, *args, *rebound.values()])
    kept = "caller's changed" if rebound or before.changed() else UNCHANGED
    before.put_back()  # each run finds what the first one found
    known, leaked = set(map(id, before.leaves)), tensorflow_private.SymbolicTensor
    if any(real_isinstance(leaf, leaked) and id(leaf) not in known for leaf in after.leaves):
        kept = LEAKED
    unseen = ", ".join(dict.fromkeys(map(real_type_name, filter(_can_change, before.leaves))))
    if kept == UNCHANGED and unseen:
        kept = NOT_KNOWN
    told = [f"rebound: {listed(rebound, MOST_NAMED)}"] * bool(rebound)
    told += [f"neither copied nor compared: {unseen}"] * bool(unseen)
    if not error:
        tone = "plain" if kept in QUIET else "failed" if kept == LEAKED else "changed"
        return Verdict(f"no error; {kept}", tone), told
    named = f"the error names {error.partition(NAMED)[2].strip()}" if NAMED in error else error
    tone = "refused" if NAMED in error and kept in QUIET else "failed"
    return Verdict(f"{error.partition(':')[0]}; {kept}", tone), [named, *told]


class _Snapshot:
    """All that a body can change, as it is now: what containers hold, and what names refer to."""

    def __init__(self, roots):
        self.leaves, self._held, self._names = [], [], {}
        waiting, met = list(roots), {}
        while waiting:
            one = waiting.pop()
            if id(one) not in met:
                met[id(one)] = one
                waiting += self._look_into(one)
            if len(met) > MOST_THINGS:
                needed = "each run needs fresh ones; pass smaller arguments"
                raise ValueError(f"a case contains more than {MOST_THINGS:,} objects, and {needed}")

    def _look_into(self, one) -> list:
        if real_isinstance(one, tuple, frozenset):
            return list(one)
        homes = {_home(kind) for kind in type(one).__mro__[:-1]}
        # Of a plain object the attributes; a larger one has slots, or a state of its own in C.
        is_plain = homes and not homes & LIBRARIES and type(one).__basicsize__ <= PLAIN
        inside = getattr(one, "__dict__", None) if is_plain else None
        if type(one) in (list, dict, set) or inside is not None:
            inside = one if inside is None else inside
            self._held.append((inside, inside.copy()))
            call = static_attribute(one, "__call__")
            return [*(inside.values() if type(inside) is dict else inside), call]
        self.leaves.append(one)
        if type(one) is FunctionType:
            return self._look_into_function(one)
        parts = PARTS.get(type(one))  # of anything else, what a tf.function is made of
        if parts is None:
            return [static_attribute(one, "_python_function")]
        return [getattr(one, part) for part in parts]

    def _look_into_function(self, function) -> list:
        """Note the names that a function of somebody's can rebind; return what it refers to."""
        if _home(function) in LIBRARIES:
            return []
        space, code = function.__globals__, function.__code__
        self._names[id(space)] = "", space, space.copy()
        found = [space.get(name) for name in sorted(names_used(code))]
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            self._names[id(cell)] = name, cell, _content(cell)
            found += _content(cell).values()
        return [function.__defaults__, function.__kwdefaults__, function.__dict__, *found]

    def changed(self) -> bool:
        """Return whether a container holds something else now."""
        return not all(_is_same(inside, before) for inside, before in self._held)

    def rebound(self) -> dict[str, object]:
        """Return name -> what it refers to now, of each that refers to something else."""
        return {
            cell or printable(name): now.get(name, GONE)
            for cell, owner, before in self._names.values()
            for now in [_content(owner)]
            for name in {**before, **now}
            if _is_other(before.get(name, GONE), now.get(name, GONE))
        }

    def put_back(self) -> None:
        """Let every name refer to what it referred to, and each container hold what it held."""
        for _, owner, before in self._names.values():
            if type(owner) is dict:
                owner.update(before)
                for name in owner.keys() - before.keys():
                    del owner[name]
            elif before:
                owner.cell_contents = before[""]
        for inside, before in self._held:
            inside.clear()
            (inside.extend if type(inside) is list else inside.update)(before)


def _home(made) -> str:
    return str(made.__module__).partition(".")[0]


def _content(owner) -> dict[str, object]:
    if type(owner) is dict:
        return owner.copy()
    try:
        return {"": owner.cell_contents}
    except ValueError:  # the cell is empty
        return {}


def _is_same(now, before) -> bool:
    if type(now) is set:
        return now == before
    if type(now) is dict:
        now, before = ([*chain.from_iterable(one.items())] for one in (now, before))
    return len(now) == len(before) and not any(map(_is_other, now, before))


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

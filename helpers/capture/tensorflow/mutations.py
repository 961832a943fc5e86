"""Functions that change what they reach -> a ledger: what each way says, and when it changes that.

TensorFlow compares a function's arguments before and after the trace
(tensorflow/python/framework/func_graph.py: `check_func_mutation`).
"""

import copy
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from enum import Enum, EnumMeta
from functools import cached_property, lru_cache, partial, partialmethod
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)

from ...internals import tensorflow_private, torch_private
from ...internals.dynamo_state import apart
from ...internals.keras_seeds import SeedStates
from ...internals.random_states import random_states, restore_random_states
from ...model.phrase import interrupted, listed
from ...model.tables import Entry, Ledger, Verdict
from ...safety import arguments, progress, restoring
from ...safety.arguments import (
    is_exactly,
    item_of_type,
    printable,
    real_isinstance,
    real_type_name,
    static_attribute,
)
from ...safety.restoring import is_interrupted
from ...safety.standard_output import redirected
from ...safety.users_frames import GENERATED, is_library
from ..cpython.objects import (
    called,
    compiled,
    instance_dict,
    names_used,
    namespace,
    python_function,
)
from ..cpython.settrace import Printed, run_to_end
from ..cpython.unwrapping import arguments as named_arguments
from ..cpython.unwrapping import frameworks_of
from ..text.error import error_message
from ..text.value import of_library
from .reach_of_code import (
    attributes_named,
    attributes_set,
    modules_imported,
    names_in_strings,
    ways_to_reach_more,
)
from .trace_ledger import watched_of
from .trace_words import literal

NAMED = "parameter(s) were modified:"
STATELESS = {"typing", "abc"}  # what an object inherits from these has no attributes of its own
PARTS = {MethodType: ("__func__", "__self__"), BuiltinFunctionType: ("__self__",)}
PARTS[partial] = PARTS[partialmethod] = "func", "args", "keywords"
PARTS[classmethod] = PARTS[staticmethod] = ("__func__",)
PARTS[property], PARTS[cached_property] = ("fget", "fset", "fdel"), ("func",)
DESCRIPTORS = property, classmethod, staticmethod, cached_property, partialmethod
DESCRIPTORS += MemberDescriptorType, GetSetDescriptorType
CACHE = type(lru_cache(abs))
PARTS[CACHE] = ("__wrapped__",)
SCALARS = (str, bytes, int, float, complex, bool, type(None))
FIXED = (*SCALARS, range, slice, CodeType)  # nothing in them can be changed; in a subclass it can
STREAMS = ("stderr", "__stdout__", "__stderr__")  # of `sys`; what is printed there is not heard
MODELS = ("Module", "Layer")  # called, and changed: TensorFlow's, PyTorch's, Keras's
TAKEN = (  # not the body's to change
    FunctionType,
    BuiltinFunctionType,
    ModuleType,
    type,
    Enum,
    *DESCRIPTORS,
)
VALUES = {  # module -> its classes whose objects never change
    "tensorflow": ("Tensor", "DType", "TensorShape", "TypeSpec"),
    "torch": ("dtype", "device", "Size", "layout", "memory_format"),
    "numpy": ("generic", "dtype"),
}
MOST_THINGS, MOST_CASES, MOST_WAYS, MOST_NAMED = 50_000, 200, 12, 10
MARKS = (
    ("changed", "no error, but only some calls make the change"),
    ("refused", "TensorFlow refused the change"),
    ("failed", "an error of another kind, or a graph tensor that outlived its graph"),
)
CASES = "name -> a function, or (function, *arguments)"
WAYS = "heading -> a callable that accepts a function and returns one"
PLAIN_WAY = "plain Python"
UNCHANGED, NOT_KNOWN = QUIET = "caller's unchanged", "not known what changed"
TITLE = "Which changes of arguments, globals and closures does {} notice, or lose at a {}?"
NO_FRAMEWORK = (
    "Neither TensorFlow nor PyTorch is imported, so only plain Python was run. Import one "
)
NO_FRAMEWORK += "to compare its way, or pass ways=."
WHEN = {(True, True): "changed at every call", (False, True): "changed at the second call only"}
FIRST = "changed at the first call, not at the second", "changed at the trace, not at the hit"
SEEDED = "TensorFlow cannot put back what a random op with a seed has drawn"
GONE = object()
PLAIN = type("Plain", (), {}).__basicsize__  # of an object that has a dict, and nothing else


def mutations_ledger(cases, ways=None) -> Ledger:
    """Run functions that change things; record which raise, what they change, and at which call."""
    note, is_default = "", ways is None
    ways = None if is_default else arguments.table(ways, "ways=", WAYS, MOST_WAYS)
    for name, way in ways or ():
        arguments.called(way, f"the way '{printable(name)}'")
    cases = arguments.table(cases, "watch_mutations", CASES, MOST_CASES)
    ways = [*_default_ways(cases).items()] if is_default else ways
    entries, used = [], set()
    with _setting_in_the_end() as stays_set:
        for name, case in progress.counted("case", cases):
            fn, *args = arguments.parts(case)
            arguments.called(fn, f"the case '{printable(name)}'")
            fn = torch_private.inner_function(fn)
            fn = python_function(getattr(watched_of(fn), "function", fn)) or fn
            verdicts, notes = [], {}
            for _, way in ways:
                verdict, sentences, of_libraries = _run(fn, copy_containers(args), way, used)
                stays_set |= of_libraries
                if is_interrupted():
                    break
                verdicts.append(verdict)
                notes |= dict.fromkeys(sentences)
            if is_interrupted():
                if not entries:
                    raise KeyboardInterrupt
                note = interrupted(len(entries), "case")
                break
            entries.append(Entry(printable(name), tuple(verdicts), "; ".join(notes)))
    heads = "the body's change", tuple(printable(name) for name, _ in ways)
    if is_default and len(ways) == 1:
        note = " ".join(filter(None, (note, NO_FRAMEWORK)))
    return Ledger(_title(used), *heads, tuple(entries), note, marks=MARKS)


def _title(used: set[str]) -> str:
    """Return the question that the ledger answers for the frameworks that the ways `used`."""
    end = "hit" if used == {"TensorFlow"} else "second call"
    return TITLE.format(" or ".join(sorted(used, reverse=True)) or "each way", end)


def _default_ways(cases: list[tuple[str, object]]) -> dict[str, Callable]:
    """Return the ways of the frameworks that are imported already, of those that the cases use."""
    loaded = {
        name
        for name, home in (("TensorFlow", "tensorflow"), ("PyTorch", "torch"))
        if restoring.module(home)
    }
    used = set()
    for _, case in cases:
        fn, *args = case if type(case) is tuple and case else (case,)
        used |= frameworks_of(fn, tuple(args)) & loaded
    if not used:  # plain Python could be behind either; this verb is first of all TensorFlow's
        used = loaded & {"TensorFlow"} or loaded
    ways = {PLAIN_WAY: _as_it_is}
    if "TensorFlow" in used:
        ways["tf.function"] = restoring.module("tensorflow").function
    if "PyTorch" in used:
        ways["torch.compile"] = _compiled_copy
    return ways


def _compiled_copy(fn):
    """Return what torch.compile makes of a copy of `fn`: nothing is kept with its own code."""
    torch_private.refuse_late_dynamo()
    import torch

    return torch.compile(_copied(fn), backend="eager")


def _copied(fn):
    if type(fn) is MethodType:
        return MethodType(_copied(fn.__func__), fn.__self__)
    if type(fn) is not FunctionType:
        return _copied(lambda *args, **kwargs: fn(*args, **kwargs))
    code = fn.__code__.replace()
    copied = FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
    copied.__kwdefaults__ = fn.__kwdefaults__
    return copied


def copy_containers(args: list) -> list:
    """Return a copy of containers and of plain objects, to any depth, around the same leaves."""
    inside = _Snapshot([("", args)], follows_code=False)
    if inside.is_cut:
        needed = "each run needs fresh ones; pass smaller arguments"
        raise ValueError(f"a case contains more than {MOST_THINGS:,} objects, and {needed}")
    return copy.deepcopy(args, {id(leaf): leaf for leaf in inside.leaves})


def _run(fn, args, way, used: set[str]) -> tuple[Verdict, list[str], dict]:
    """Run `fn` one way, twice -> the verdict; what was raised, and not looked into.

    The dict has what it set of libraries, which is put back until all ways have run. `used`: the
    names of the frameworks behind the ways so far; those of this way are added.
    """
    roots = []
    if type(fn) is MethodType:
        is_class = real_isinstance(fn.__self__, type)
        roots = [(called(fn.__self__) if is_class else "self", fn.__self__)]
    # A partial has attributes of its own, which are not those of its function.
    name = real_type_name(fn) if real_isinstance(fn, partial) else called(fn)
    before = _Snapshot([*roots, (name, fn), *named_arguments(fn, tuple(args), {})])
    before.keep_keras_seeds()
    with _apart(way, fn):
        runs, leaked, error = _run_twice(before, fn, args, way, used)
    uncompared = [leaf for leaf in before.leaves if _can_change(leaf) or before.sets(leaf)]
    unseen = ", ".join(dict.fromkeys(map(real_type_name, uncompared)))
    is_known = not unseen and not before.reaching and not before.is_cut
    kept = _when(runs, error) or (UNCHANGED if is_known else NOT_KNOWN)
    left = f"; a graph tensor stays in {listed(leaked, MOST_NAMED)}" if leaked else ""
    sentences = [f"neither copied nor compared: {unseen}"] * bool(unseen)
    reaching = listed(sorted(before.reaching), MOST_NAMED)
    functions = filter(_is_tf_function, before.leaves)
    if before.draws_with_seed or any(map(tensorflow_private.draws_with_seed, functions)):
        sentences.append(SEEDED)
    sentences += [f"not compared: what it reaches beyond {MOST_THINGS:,} objects"] * before.is_cut
    sentences += [f"not compared: what it reaches by {reaching} and does not name"] * bool(reaching)
    sentences += [
        f"a thread that it starts raised {w}" for w in dict.fromkeys(before.failed_threads)
    ]
    if not error:
        some = any(words in kept for words in (*FIRST, WHEN[False, True]))
        tone = "failed" if leaked else "changed" if some else "plain"
        return Verdict(f"no error; {kept}{left}", tone), sentences, before.stays_set
    named = f"the error names {error.partition(NAMED)[2].strip()}" if NAMED in error else error
    tone = "refused" if NAMED in error and kept in QUIET else "failed"
    verdict = Verdict(f"{error.partition(':')[0]}; {kept}{left}", tone)
    return verdict, [named, *sentences], before.stays_set


@contextmanager
def _apart(way, fn):
    """Leave Dynamo as it was after the block: plain Python compiles nothing, other ways anew."""
    users = frameworks_of(way) | frameworks_of(fn)
    is_used = restoring.module("torch._dynamo") or "PyTorch" in users
    if not restoring.module("torch") or not is_used:
        yield
    elif way is _as_it_is:
        with torch_private.compiling_nothing():
            yield
    else:
        with apart(), torch_private.logs():
            yield


def _as_it_is(fn):
    """Return the function itself: the way of plain Python."""
    return fn


def _run_twice(before: "_Snapshot", fn, args, way, used: set[str]) -> tuple[list, dict, str]:
    """Run `fn` one way, twice -> what each call changed, paths with a graph tensor, the error."""
    known, made, runs, leaked = set(map(id, before.leaves)), [], [], {}
    error = run_to_end(lambda: made.append(way(fn)))
    before.put_back()
    used |= _frameworks_behind(made[0]) if made else set()
    while not error and len(runs) < 2:
        printed = Printed()
        with ExitStack() as stack:
            traced, use = [], None
            if restoring.module("tensorflow"):
                traced = stack.enter_context(tensorflow_private.hearing_traces())
                use = stack.enter_context(tensorflow_private.random_numbers_apart())
                stack.enter_context(tensorflow_private.retraces_counted_apart())
            stack.enter_context(redirected(printed))
            if made[0] is not fn:  # as it is, the program's own threads end as they do
                stack.enter_context(_hearing_failed_threads(before.failed_threads))
            error = run_to_end(lambda: made[0](*args))
        used |= {"TensorFlow"} if traced else set()
        changed = before.changed() | ({"what it prints": ""} if printed.total else {})
        changed |= {"tf.random": ""} if use and use.drawn else {}
        before.draws_with_seed |= bool(use and use.has_own_seed)
        runs.append((changed, len(traced)))  # they keep alive what the function made
        leaked |= {path: 0 for path, now in changed.items() if _has_graph_tensor(now, known)}
        before.put_back()  # each call finds what the first one found
    return runs, leaked, error


@contextmanager
def _hearing_failed_threads(heard: list[str]):
    """Add in words what ends a thread that is started in the block, which would print it."""
    real, earlier = threading.excepthook, set(threading.enumerate())

    def hear(failure) -> None:
        if failure.thread in earlier:
            real(failure)
        else:
            heard.append(error_message(failure.exc_value))

    with restoring.patched(threading, excepthook=hear):
        yield


def _frameworks_behind(callable_object) -> set[str]:
    """Return which frameworks' compilers a way has put around a function."""
    found = set()
    if python_function(getattr(watched_of(callable_object), "function", callable_object)):
        found.add("TensorFlow")
    if restoring.module("torch._dynamo") and compiled(callable_object) is not None:
        found.add("PyTorch")
    return found


def _when(runs, error: str) -> str:
    """Return which paths changed at which of the two calls, in words."""
    first, groups = FIRST[[traces > 0 for _, traces in runs] == [True, False]], {}
    for path in dict.fromkeys(path for changed, _ in runs for path in changed):
        calls = tuple(path in changed for changed, _ in runs)
        groups.setdefault("changed" if error else WHEN.get(calls, first), []).append(path)
    return "; ".join(f"{when}: {listed(found, MOST_NAMED)}" for when, found in groups.items())


def _has_graph_tensor(value, known: set[int]) -> bool:
    if not restoring.module("tensorflow"):
        return False
    leaves = (leaf for leaf in _Snapshot([("", value)]).leaves if id(leaf) not in known)
    return any(real_isinstance(leaf, tensorflow_private.SymbolicTensor) for leaf in leaves)


class _Snapshot:
    """All that a body can change, as it is now, with the path by which it was reached."""

    def __init__(self, roots: list[tuple[str, object]], follows_code: bool = True):
        self._follows_code = follows_code
        self.is_cut = False  # not all could be kept: there is too much
        self.leaves, self._held, self._random = [], {}, random_states()
        self._keras_seeds = None
        self.reaching: set[str] = set()  # by what a body reaches more than its code names
        self.draws_with_seed = False
        self.failed_threads: list[str] = []  # what ended a thread that a body started, in words
        self._generators: list[tuple] = []  # of TensorFlow: path, generator, its state
        self._named: set[str] = set()  # attributes that the code met so far names, and sets
        self._set: set[str] = set()
        self._spaces: list[tuple[str, object]] = []  # classes and modules, with paths
        self.stays_set: dict[tuple, tuple] = {}  # of libraries: (id, name) -> owner, name, value
        waiting, met = [*roots], {}
        while waiting and not self.is_cut:
            self._keep_all(waiting, met)
            waiting = [pair for pair in self._find_named() if id(pair[1]) not in met]
        for path, space in self._spaces:
            if self._set and not _is_users_space(space):
                self._keep(path, "{}.{}", _SetAttributes(space, self._set))

    def _keep_all(self, waiting: list[tuple[str, object]], met: dict[int, object]) -> None:
        """Keep what waits and all that it holds; `met`: what was looked into, by its id."""
        for path, one in waiting:
            if id(one) not in met:
                met[id(one)] = one
                waiting += self._look_into(path, one)
                kind = type(one)
                if id(kind) not in met and not of_library(kind):
                    waiting.append((called(kind), kind))
            if len(met) > MOST_THINGS:
                self.is_cut = True
                break

    def _find_named(self) -> Iterator[tuple[str, object]]:
        """Yield what the code met so far names of classes and modules.

        Of a library, it is the classes and modules, and the streams that are not heard: what its
        functions reach is its own.
        """
        for path, space in self._spaces:
            is_users, inside = _is_users_space(space), vars(space)
            for name in sorted(self._named & inside.keys()):
                is_stream = space is sys and name in STREAMS
                if is_users or is_stream or real_isinstance(inside[name], type, ModuleType):
                    yield f"{path}.{name}", inside[name]

    def sets(self, leaf) -> bool:
        """Return whether a body sets an attribute of a module that computes its attributes."""
        if not real_isinstance(leaf, ModuleType) or type(leaf) is ModuleType:
            return False
        kinds = type(leaf).__mro__[: -len(ModuleType.__mro__)]
        own = namespace(leaf).keys() | {name for kind in kinds for name in vars(kind)}
        return not self._set.isdisjoint(own)

    def keep_keras_seeds(self) -> None:
        """Keep the states of Keras's SeedGenerators too, which are found in the whole heap."""
        self._keras_seeds = SeedStates()

    def _look_into(self, path: str, one) -> list[tuple[str, object]]:
        if real_isinstance(one, tuple, frozenset):
            items = tuple.__iter__(one) if real_isinstance(one, tuple) else frozenset.__iter__(one)
            return [(f"{path}[{at}]", part) for at, part in enumerate(items)]
        inside = instance_dict(one) if _is_plain(one) else None
        if is_exactly(one, list, dict, set) or inside is not None:
            call = static_attribute(one, "__call__")
            style, inside = ("{}[{}]", one) if inside is None else ("{}.{}", inside)
            return [*self._keep(path, style, inside), (f"{path}.__call__", call)]
        self.leaves.append(one)
        if not self._follows_code and real_isinstance(one, *TAKEN):
            return []
        if _is_tf_generator(one) and (state := tensorflow_private.generator_state(one)):
            self._generators.append((path, one, state))
        if real_isinstance(one, Enum, EnumMeta):
            return self._look_into_enum(path, one)
        if real_isinstance(one, type, ModuleType):
            return self._look_into_space(path, one)
        if type(one) is FunctionType:
            return self._look_into_function(path, one)
        parts = item_of_type(one, PARTS)  # of anything else, what a tf.function is made of
        if parts is None:
            return [(path, static_attribute(one, "_python_function"))]
        return [(f"{path}.{part}", getattr(one, part)) for part in parts]

    def _look_into_enum(self, path: str, one) -> list[tuple[str, object]]:
        """Keep the attributes of a member, or of the class; of a library's nothing is changed."""
        kind = one if real_isinstance(one, EnumMeta) else type(one)
        if of_library(kind):
            return []
        if one is not kind:
            return [*self._keep(path, "{}.{}", vars(one)), (called(kind), kind)]
        members = [(f"{path}.{name}", member) for name, member in kind.__members__.items()]
        return members + self._look_into_space(path, kind)

    def _look_into_space(self, path: str, space) -> list[tuple[str, object]]:
        """Keep what a class or a module of yours holds; return what a body reaches unnamed."""
        is_class = real_isinstance(space, type)
        if path == "__class__":  # the cell by which a method finds its class for `super`
            path = called(space)
        if is_class or type(space) is ModuleType:
            self._spaces.append((path, space))
        kinds = space.__mro__[1:-1] if is_class else ()
        bases = [(called(kind), kind) for kind in kinds]
        if not _is_users_space(space):
            return bases
        self._keep(path, "{}.{}", space if is_class else vars(space))
        of_libraries = {name for kind in kinds if of_library(kind) for name in vars(kind)}
        found = [
            (f"{path}.{name}", part)
            for name, part in vars(space).items()
            if _is_looked_into(part, name) or _is_called_unnamed(part, name, of_libraries)
        ]
        return found + bases

    def _keep(self, path: str, style: str, owner) -> list[tuple[str, object]]:
        """Keep what a container, a cell or a module holds now; return it, with paths."""
        before = _content(owner).copy()
        self._held.setdefault(id(owner), (path, style, owner, before))
        return [(_place(style, path, key), part) for key, part in _parts(before).items()]

    def _look_into_function(self, path: str, function) -> list[tuple[str, object]]:
        """Note the names that a function of somebody's can rebind; return what it refers to."""
        space, code = function.__globals__, function.__code__
        if is_library(code.co_filename):  # a wrapper: its globals and cells are the library's
            return [(path, function.__dict__.get("__wrapped__"))]
        self._keep("", "{1}", space)
        names = names_used(code)
        reaching = ways_to_reach_more(code)
        self.reaching |= reaching
        if reaching:
            names |= names_in_strings(code) & space.keys()
        self._named |= attributes_named(code)
        self._set |= attributes_set(code)
        found = [(name, space.get(name)) for name in sorted(names)]
        found += modules_imported(function).items()
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            found += self._keep("", name, cell)
        defaults = function.__defaults__ or ()
        names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
        found += [*zip(names, defaults, strict=False), *(function.__kwdefaults__ or {}).items()]
        return [*found, *self._keep(path, "{}.{}", function.__dict__)]

    def changed(self) -> dict[str, object]:
        """Return path -> what it refers to now, of each that refers to something else."""
        states = random_states()
        drawn = (name for name, state in self._random.items() if states.get(name) != state)
        found = dict.fromkeys(drawn, "")
        found |= dict.fromkeys(self._keras_seeds.changed() if self._keras_seeds else (), "")
        for path, generator, state in self._generators:
            found |= {path: ""} if tensorflow_private.generator_state(generator) != state else {}
        for path, style, owner, before in self._held.values():
            now = _content(owner)
            if type(now) is set or type(now) is list and len(now) != len(before):
                found |= {path: now} if now != before else {}
                continue
            changes = _changes(owner, now, before)
            found |= {_place(style, path, key): new for key, new in changes.items()}
        return found

    def put_back(self) -> None:
        """Let each name and container that was changed be what it was; leave all others alone."""
        for _, _, owner, before in self._held.values():
            now = _content(owner)
            if type(owner) is _SetAttributes:
                for name, value in _changes(owner, now, before).items():
                    self.stays_set[id(owner.space), name] = owner.space, name, value
                    _set_attribute(owner.space, name, before.get(name, GONE))
            elif real_isinstance(owner, type):
                for name in _changes(owner, now, before):
                    _set_attribute(owner, name, before.get(name, GONE))
            elif type(owner) is CellType:
                if before and _changes(owner, now, before):
                    owner.cell_contents = before[""]
            elif type(owner) is dict:
                _restore_dict(owner, before)
            elif type(owner) is list:
                if len(now) != len(before) or _changes(owner, now, before):
                    owner[:] = before
            elif now != before:
                owner.clear()
                owner.update(before)
        restore_random_states(self._random)
        if self._keras_seeds:
            self._keras_seeds.put_back()
        for _, generator, state in self._generators:
            if tensorflow_private.generator_state(generator) != state:
                tensorflow_private.restore_generator(generator, state)


def _is_tf_generator(one) -> bool:
    home = restoring.module("tensorflow.python.ops.stateful_random_ops")
    return bool(home) and real_isinstance(one, home.Generator)


def _is_tf_function(one) -> bool:
    return bool(restoring.module("tensorflow")) and real_isinstance(
        one, tensorflow_private.Function
    )


def _is_container(one) -> bool:
    return arguments.is_exactly(one, list, dict, set, tuple, frozenset)


def _is_plain(one) -> bool:
    """Return whether this is an object with attributes of a class that no library defines."""
    kinds = [kind for kind in type(one).__mro__[:-1] if _home(kind) not in STATELESS]
    # A larger one has slots, or a state of its own in C.
    is_small = type(one).__basicsize__ <= PLAIN
    return bool(kinds) and is_small and not any(map(of_library, kinds))


def _changes(owner, now, before) -> dict:
    """Return key -> its new value or GONE, of those that somebody's own code has changed."""
    now, before = _parts(now), _parts(before)
    changes = {}
    for key in {**before, **now}:
        new = now.get(key, GONE)
        if _is_other(before.get(key, GONE), new):
            changes[key] = new
    if type(owner) is dict and changes:
        for name in torch_private.names_given_by_dynamo(owner, changes) | PYTHONS_OWN:
            changes.pop(name, None)
    return changes


# Names that Python itself adds to a module: without them, a warning would be shown once more.
PYTHONS_OWN = {"__warningregistry__", "__builtins__"}


def _restore_dict(owner: dict, before: dict) -> None:
    """Restore the items that were changed, one by one: others may look a name up meanwhile."""
    for key in _changes(owner, owner, before):
        if key in before:
            owner[key] = before[key]
        else:
            owner.pop(key, None)
    if [key for key in owner if key in before] != [*before]:
        later = {key: owner.pop(key) for key in [*owner]}
        owner.update({key: later.pop(key) for key in before if key in later} | later)


def _set_attribute(space, name: str, value) -> None:
    """Set an attribute of a class or a module, or delete it if the value is `GONE`."""
    if value is not GONE:
        setattr(space, name, value)
    elif name in vars(space):
        delattr(space, name)


@contextmanager
def _setting_in_the_end() -> Iterator[dict[tuple, tuple]]:
    """Yield a dict; the attributes in it, (owner, name, value), are set when the block ends."""
    stays_set = {}
    try:
        yield stays_set
    finally:
        for space, name, value in stays_set.values():
            _set_attribute(space, name, value)


def _is_users_space(one) -> bool:
    """Return whether this is a class or a module that is no library's: a body can change both."""
    if real_isinstance(one, type):
        return not of_library(one)
    if type(one) is not ModuleType:
        return False
    name, file = (vars(one).get(attribute) for attribute in ("__name__", "__file__"))
    if type(file) is str:
        return not is_library(file)
    return name == "__main__"


def _is_looked_into(one, name: str) -> bool:
    """Return whether a part of a class or a module is kept, whoever may reach it."""
    return not name.startswith("__") and (_is_container(one) or _is_plain(one))


def _is_called_unnamed(one, name: str, of_libraries: set[str]) -> bool:
    """Return whether an operator or a statement calls this method, or the library of a base."""
    if type(one) is not FunctionType or one.__code__.co_filename == GENERATED:
        return False
    return name in of_libraries or name.startswith("__") and name.endswith("__")


class _SetAttributes:
    """Those attributes of a class or a module of a library that the code met sets."""

    def __init__(self, space, names: set[str]):
        self.space, self.names = space, names

    def read(self) -> dict[str, object]:
        inside = vars(self.space)
        return {name: inside[name] for name in sorted(self.names & inside.keys())}


def _home(made) -> str:
    return str(made.__module__).partition(".")[0]


def _content(owner):
    """Return what a body can change of this: a container itself, else its names as a dict."""
    if real_isinstance(owner, type):
        names = (name for name in vars(owner) if not name.startswith(("__", "_abc_")))
        return {name: vars(owner)[name] for name in names}
    if type(owner) is _SetAttributes:
        return owner.read()
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


def _is_other(one, other) -> bool:
    same = type(one) is type(other) and is_exactly(one, *SCALARS) and one == other
    return one is not other and not same


def _can_change(leaf) -> bool:
    """Return whether a leaf can be changed in a way that is not seen here."""
    if is_exactly(leaf, *FIXED) or real_isinstance(leaf, *TAKEN):
        return False
    if type(leaf) is CACHE:
        return True
    if _is_tf_generator(leaf):
        return False  # its state is compared
    for home, names in VALUES.items():
        module = restoring.module(home)
        kinds = [getattr(module, name) for name in names if hasattr(module, name)]
        if module and real_isinstance(leaf, *kinds):
            return False
    return not callable(leaf) or any(cls.__name__ in MODELS for cls in type(leaf).__mro__)

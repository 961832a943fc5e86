"""What somebody hands over -> the function that Dynamo starts with, its cache entries, guards.

Peeled off are modules, what torch.compile made, methods, partials and ledgers; not a decorator, as
Dynamo starts with its wrapper. Torch writes a guard as `check  # the line it is for  # its place`;
here are plain words, and torch's own for rare kinds. Every judgement is torch's.
"""

import functools
import inspect
import re
from collections import Counter
from dataclasses import dataclass, replace
from types import CodeType, FunctionType, MethodType

from ...internals import torch_private
from ...model.graphs import Edge, Node
from ...model.phrase import listed
from ...model.tables import Listing
from ...model.torch_records import (
    Failure,
    Guard,
    GuardGraph,
    explain_failures,
    guard_listing,
)
from ...safety.arguments import require_str
from ..cpython.objects import called, instance_dict, named
from ..cpython.unwrapping import DEEPEST, opened, refuse_other_framework
from ..text import tensors
from ..text.error import instead
from ..text.value import short_repr, type_name
from .dynamo_recorder import in_file, resumed
from .guard_words import (
    BETWEEN,
    LENGTHS,
    OF_TENSOR,
    STATE,
    TENSOR,
    changed_settings,
    check_of,
    clean,
    describe_guard,
    line_of,
    place_of,
    plain_source,
    quoted,
    tensor_differences,
    type_asked_for,
)
from .node_checks import (
    children,
    failure_of_node,
    failures_of_dicts,
    length_words,
    refuses_type,
    type_words,
)
from .source_values import (
    MISSING,
    NeedsUsersCode,
    elements_left,
    is_same_backend,
    read,
    runs_users_method,
    value_of,
)

OWN = ("torch._dynamo", "torch.nn.modules.module")  # where torch calls what it was given
MANY = 60
IN_CPP = "SYMBOLIC_SHAPE_GUARD"  # with torch._dynamo.config.enable_cpp_symbolic_shape_guards
OF_SIZES = "SHAPE_ENV", IN_CPP  # one guard for all checks of sizes and numbers
PART = re.compile(r"L\['\w+'\](?:\._modules\['\w+'\]|\.(?!_modules)\w+)?|[\w.]+|.+", re.DOTALL)
ASK_ONE = "TYPE_MATCH", "ID_MATCH", "NONE_MATCH", "TRUE_MATCH", "FALSE_MATCH", OF_TENSOR
HEAR = {"LENGTH_CHECK": "__len__", "HASATTR": "__getattr__", "NO_HASATTR": "__getattr__"}
WRAPPED = "Dynamo starts with the wrapper that a decorator put around"
LONGEST = 160
TORCHS = re.compile(r"\*args, \*\*kwargs\)|  # (?:nn/\w+|optim|torch)[/\\.][^#]+ in \w+[^#]*$")
WRAPPED_THING = "L['fn']", "L['fn'].__self__", "L['fn'].__func__.__code__"
MISMATCH = re.compile(r"tensor '(.*?)' (.*)", re.DOTALL)
OWNED = re.compile(r"it has (the|an?|no) (key|attribute) (.+)", re.DOTALL)
SOURCE = r"[LG]\['\w+'\](?:\.\w+\b(?!\()|\[[^]]*\])*"
SIZE = re.compile(
    rf"(?:___from_numpy\({SOURCE}\)|{SOURCE})"
    r"(?:\.(?:size|stride)\(\)\[\d+\]|\.storage_offset\(\))?"
)
RANGE = re.compile(r"(-?\d+) <= ([^=<>% ]+?)(?:\.size\(\)\[(\d+)\])?(?: <= (\d+))?")
CHANGED = {  # kind of guard on the state of torch -> what its failure means
    "TORCH_FUNCTION_MODE_STACK": "the torch function modes that are on have changed",
    "DEFAULT_DEVICE": "the default device has changed",
    "DUAL_LEVEL_MATCH": "forward-mode autograd's level has changed",
}
OF_LAMBDA = {  # words of a guard -> the same
    "the same hooks on saved tensors are on": "the hooks on saved tensors have changed",
    "no transform of torch.func (vmap, grad, …) is on": "a transform of torch.func is on",
    "the same transforms of torch.func are on": "the transforms of torch.func have changed",
}


def behind(fn, compiled: bool = False) -> tuple[FunctionType, tuple[str, ...]]:
    """Return the function that Dynamo starts with, and a sentence for each thing peeled off.

    With `compiled`, the first from outside that has cache entries, if any has. TypeError for none.
    """
    refuse_other_framework(fn, (), "this verb", "PyTorch")
    if inside := ledger(fn):
        return inside["compiled_function"], inside["peeled"]
    found = []
    for thing, told in _layers(fn):
        function = thing.__func__ if type(thing) is MethodType else thing
        if type(function) is FunctionType and not str(function.__module__).startswith(OWN):
            if (inner := vars(function).get("__wrapped__")) is not None:
                told += (f"{WRAPPED} {called(inner)}.",)
            found.append((function, told))
    if not found:
        needed = "a Python function is needed, or a callable with one inside, such as an nn.Module"
        raise TypeError(f"{needed}, not {short_repr(fn)}{instead(fn)}")
    return next((one for one in found if compiled and entries(one[0].__code__)), found[0])


def _layers(fn):
    """Yield what is handed over and what is inside it, with what was peeled off so far."""
    told = ()
    for _ in range(DEEPEST):
        thing = torch_private.inner_function(fn)
        if type(thing) is MethodType:  # of a class whose function is compiled
            inside = torch_private.inner_function(thing.__func__)
            thing = thing if inside is thing.__func__ else MethodType(inside, thing.__self__)
        yield thing, told
        fn, sentences, _ = opened(thing, 1)
        told += sentences
        if fn is thing:
            return


def given(fn, args, kwargs, start=None) -> tuple[tuple, dict]:
    """Return the arguments that the function behind `fn` gets in a call of `fn`.

    `start`: the function that Dynamo starts with; torch's own wrapper gets no `self`.
    """
    wrapped = start is not None and torch_private.is_wrapper_code(start.__code__)
    for thing, _ in _layers(ledger(fn).get("compiled_from", fn)):
        if type(thing) is MethodType:
            return (args if wrapped else (thing.__self__, *args)), kwargs
        if type(thing) is FunctionType:
            break
        if type(thing) is functools.partial:
            args, kwargs = (*thing.args, *args), {**thing.keywords, **kwargs}
    return args, kwargs


def ledger(fn) -> dict:
    """Return what is in a ledger, or in an exhibit of one; nothing for anything else."""
    inside = {} if type(fn) is FunctionType else instance_dict(fn) or {}
    return inside if "compiled_from" in inside else instance_dict(inside.get("_source")) or {}


def entries(code: CodeType) -> list:
    """Return the live cache entries of a code object, in the order in which they were compiled."""
    return _live(torch_private.cache_entries(code))


def entries_for(fn: FunctionType) -> list:
    """Return the live cache entries that Dynamo made for calls of `fn`.

    All that torch must wrap shares one wrapper, and so one cache. An entry is for what its guards
    accept as the thing that the wrapper calls: the same function, or an object of the same class.
    """
    kept = entries(fn.__code__)
    if not torch_private.is_wrapper_code(fn.__code__):
        return kept
    scope = {"L": closure_values(fn), "G": fn.__globals__}
    return [
        entry
        for entry in kept
        if not any(
            leaf.source in WRAPPED_THING and _fails(leaf, scope, "") for leaf in leaves(entry)
        )
    ]


def _live(kept) -> list:
    live = [entry for entry in kept if hasattr(entry.guard_manager, "root")]
    return sorted(live, key=lambda entry: [*map(int, re.findall(r"\d+", str(entry.compile_id)))])


def entries_words(number: int) -> str:
    """Return how many cache entries there are."""
    return f"{number} {'entry' if number == 1 else 'entries'}"


def first_call(fn, args, kwargs) -> dict:
    """Return the arguments of a call by name, defaults among them; TypeError if they do not fit."""
    try:
        bound = inspect.signature(fn, follow_wrapped=False).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{named(fn)}() cannot be called with these: {error}") from None
    bound.apply_defaults()
    return dict(bound.arguments)


def frame_locals(fn, args, kwargs) -> dict:
    """Return what a frame of `fn` would see as its locals at the start: arguments, closure."""
    return first_call(fn, args, kwargs) | closure_values(fn)


def dynamic_words(entry, fn=None) -> list[str]:
    """Say which sizes and numbers a cache entry leaves open, in the words of its range guards.

    `fn`: the function, if it may be torch's own wrapper.
    """
    guards = entry.guard_manager.root.get_epilogue_lambda_guards()
    parts = [check_of(part) for one in guards for part in one.verbose_code_parts()]
    told = {part: RANGE.fullmatch(part) for part in parts}
    said = [
        f"dimension {at} of " * bool(at)
        + f"{plain_source(source)} may be {low}{f' to {high}' if high else ' or more'}"
        for low, source, at, high in (found.groups() for found in told.values() if found)
    ]
    also = [plain_source(part) for part, found in told.items() if not found and " is " not in part]
    words = f"the new entry is dynamic: {', '.join(said)}"
    words += f", where {' and '.join(also)}" * bool(also)
    return [words if fn is None else in_users_names(words, fn)] * bool(said)


def closure_values(fn) -> dict:
    """Return what the closure of a function holds now, by name."""
    cells = (cell.cell_contents for cell in fn.__closure__ or ())
    return dict(zip(fn.__code__.co_freevars, cells, strict=True))


def copied(fn):
    """Return a function or a method as a copy with a code object of its own: an empty cache."""
    if type(fn) is MethodType:
        return MethodType(copied(fn.__func__), fn.__self__)
    code = fn.__code__.replace()
    made = FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
    functools.update_wrapper(made, fn, updated=())
    made.__dict__ = {name: one for name, one in vars(fn).items() if name == "__wrapped__"}
    made.__kwdefaults__ = fn.__kwdefaults__
    return made


def compile_copy(copy, **options):
    """Return what `torch.compile` makes of a copy, and the function that Dynamo starts with.

    torch has one wrapper for all that Dynamo cannot start with, such as what its own modules do.
    It is copied as well, so nothing is left in the cache of torch's.
    """
    import torch

    compiled = torch.compile(copy, **options)
    wrapper = torch_private.wrapper_around(compiled)
    if wrapper is None:
        return compiled, behind(copy)[0]
    wrapper = copied(wrapper)
    return torch.compile(wrapper, **options), wrapper


def guard_graph(fn, find: str = "") -> GuardGraph:
    """Return the guard tree of each cache entry of `fn`; `find` points out what has these words."""
    find, (function, told) = require_str(find, "find"), behind(fn, compiled=True)
    name, kept = named(function), entries(function.__code__)
    if not kept:
        raise LookupError(
            f"Dynamo keeps no compiled code for {name}(); compile it with torch.compile and call "
            "it first (a call without torch ops leaves none, nor does a function that "
            "torch must wrap, such as a partial or a module of torch's own)"
        )
    nodes, edges, guards = {}, [], {}

    def box(parent: str, key: str, *node) -> str:
        while key in nodes:  # clipped to the same words, or really twice
            key += "′"
        nodes[key] = Node(key, *node)
        edges.append(Edge(parent, key))
        return key

    def branch(parent: str, number: int, group: str, source: str, found, below=()) -> None:
        words, kind = clean(source), "object" if source == STATE else "name"
        group = f"{group}/{words.replace('/', '|')}"
        key = box(parent, f"entry {number} {words}", words, kind, "", group)
        for leaf in found:
            guard = leaf.guard(number)
            words = guard.kind, "guard", guard.checks, group, guard.checks
            box(key, clean(f"entry {number} {guard.name}"), *words)
            guards[guard] = None  # once: one between two values hangs on both
        for child in below:
            branch(key, number, group, child.get_source(), own_leaves(child), children(child))

    for number, entry in enumerate(kept, 1):
        group, root = f"entry {number}", entry.guard_manager.root
        words = f"{name}(), {group}", "function", "all these guards must pass", group
        nodes[group] = Node(group, *words)
        for child in children(root):
            branch(group, number, group, child.get_source(), own_leaves(child), children(child))
        between = [leaf for leaf in leaves(entry) if leaf.source == BETWEEN]
        if between := [replace(leaf, parts=(one,)) for leaf in between for one in leaf.parts]:
            branch(group, number, group, BETWEEN, between)
        branch(group, number, group, STATE, own_leaves(root))  # last: no argument, no line of code
    title = f"Guards of {name}(): {entries_words(len(kept))}"
    note = " ".join((f"{len(guards)} guards in all.", *_count(guards), *told))
    graph = GuardGraph(title, (*nodes.values(),), tuple(edges), note, guards=tuple(guards))
    return graph.find(find) if find else graph


def draw_guards(fn, find: str = "") -> GuardGraph:
    """Return `guard_graph`; a LookupError also names the other frames with guards like `find`."""
    try:
        return guard_graph(fn, find)
    except LookupError as error:
        raise LookupError(f"{error}{elsewhere(find)}") from None


def list_guards(fn, find: str = "") -> Listing:
    """Return the guards of `fn` as a table; with `find` only those that have these words."""
    try:
        return guard_listing(guard_graph(fn), require_str(find, "find"))
    except LookupError as error:
        raise LookupError(f"{error}{elsewhere(find)}") from None


def elsewhere(find: str) -> str:
    """Say which other frames have a guard with these words, if any has."""
    asked, found = find.casefold(), {}
    for code in torch_private.codes_met() if asked else ():
        guards = (leaf.guard(1) for entry in entries(code) for leaf in leaves(entry))
        if any(asked in f"{g.name} {g.checks} {g.line}".casefold() for g in guards):
            found[code_words(code)] = None
    return f"; other frames have such guards: {listed([*found], 8)}" * bool(found)


def code_words(code) -> str:
    """Return the name of a code object or of what it resumes, with its file and line."""
    name, line = resumed(code.co_name)
    place = in_file(code.co_filename, line or code.co_firstlineno)
    return f"{name}{', resumed' * bool(line)}{place}"


def wrapped_name(fn, code=None, inside: dict | None = None) -> str:
    """Return the name of what torch's own wrapper calls, such as `Linear`; else nothing."""
    behind_it = _wrapped(fn, code, inside)
    if behind_it is None:
        return ""
    owner = getattr(behind_it, "__self__", None)
    if type(behind_it) is FunctionType:
        return behind_it.__name__
    if type(behind_it) is type or owner is None or inspect.ismodule(owner):
        return getattr(behind_it, "__name__", "") or type_name(behind_it)
    return type_name(owner)


def _wrapped(fn, code, inside):
    """Return what torch's own wrapper calls: it has that in its closure as `fn`."""
    if fn is not None:
        code, inside = fn.__code__, None
    if code is None or not torch_private.is_wrapper_code(code):
        return None
    return closure_values(fn).get("fn") if fn is not None else (inside or {}).get("fn")


def in_users_names(words: str, fn, code=None, inside: dict | None = None) -> str:
    """Return words on a frame of torch's own wrapper in the names of what it calls."""
    behind_it = _wrapped(fn, code, inside)
    if behind_it is None:
        return words
    try:
        names = [*inspect.signature(getattr(behind_it, "forward", behind_it)).parameters]
    except (TypeError, ValueError):  # of C
        names = []
    name = lambda found: names[int(found[1])] if int(found[1]) < len(names) else found[0]  # noqa: E731
    words = re.sub(r"\bargs\[(\d+)\]", name, words)
    words = re.sub(r"\bkwargs\['(\w+)'\]", r"\1", words)
    words = re.sub(r"\bfn\.__self__\b", "self", words)
    return re.sub(r"\bfn(?=\.)", "self" if hasattr(behind_it, "forward") else "it", words)


def frame_words(code, inside: dict) -> str:
    """Return the name of a frame: its class if it is of a method, its file and line."""
    if name := wrapped_name(None, code, inside):
        behind_it = _wrapped(None, code, inside)
        function = getattr(type(behind_it), "forward", behind_it)
        where = getattr(inspect.unwrap(function), "__code__", None)
        place = in_file(where.co_filename, where.co_firstlineno) if where else ""
        return f"{name}{place}"
    who = f"{type_name(inside['self'])}." if "self" in inside else ""
    return who + code_words(code)


def _count(guards) -> list[str]:
    """Return how many of many guards are of each kind, and look at each part of a value."""
    if len(guards) < MANY:
        return []
    kinds = Counter(guard.kind for guard in guards)
    parts = Counter(PART.match(guard.source)[0] for guard in guards)
    return [
        f"{words}: {listed((f'{name} {n:,}' for name, n in found.most_common()), 8, LONGEST)}."
        for words, found in (("By kind", kinds), ("By what they look at", parts))
    ]


@dataclass(frozen=True)
class Leaf:
    """One live guard: what it looks at, torch's texts for it, and what asks it."""

    source: str
    kind: str
    parts: tuple[str, ...]
    check: object

    def guard(self, number: int) -> Guard:
        """Return this guard of entry `number` as a record."""
        shown = STATE if self.source == "L" else clean(self.source)
        words = describe_guard(self.kind, self.parts)
        if self.kind == "NO_TENSOR_ALIASING":
            shown = BETWEEN
        if self.source == BETWEEN:
            words = plain_source("; ".join(map(check_of, self.parts)))
        return Guard(number, shown, self.kind, words, line_of(self.parts))


def leaves(entry) -> list[Leaf]:
    """Return all guards of a cache entry, in the order in which torch checks them."""
    root = entry.guard_manager.root
    found = [leaf for manager in managers(root) for leaf in own_leaves(manager)]
    for guard in root.get_epilogue_lambda_guards():
        parts = tuple(guard.verbose_code_parts())
        kind = "OBJECT_ALIASING" if " is " in check_of(parts[0]) else "SHAPE_ENV"
        found.append(Leaf(BETWEEN, kind, parts, guard))
    return found


def own_leaves(manager) -> list[Leaf]:
    """Return the guards that hang on one node of the tree."""
    return [
        Leaf(manager.get_source(), type_name(guard), tuple(guard.verbose_code_parts()), guard)
        for guard in manager.get_leaf_guards()
        if guard.verbose_code_parts()
    ]


def managers(manager):
    """Yield a node of the guard tree and all below it, parents first."""
    yield manager
    for child in children(manager):
        yield from managers(child)


def resolve(source: str, scope):
    """Return the value of a source such as `L['x']`, or of a check of it, or MISSING."""
    return value_of(check_of(source), scope)


def asking_runs_users_code(entry, scope: dict) -> bool:
    """Return whether torch would run code of the user's to ask the guards of a cache entry.

    Torch reads attributes as Python does, so a property runs, and takes the length of a list or a
    class derived from it by its `__len__`. A program would feel that it runs once more.
    """
    return _runs_users_code(entry.guard_manager.root, scope)


def _runs_users_code(manager, scope: dict) -> bool:
    try:
        value = read(manager.get_source(), scope)
    except NeedsUsersCode:
        return True
    except Exception:  # nothing is there, and so torch goes no further
        return False
    for guard in manager.get_leaf_guards():
        kind = type_name(guard)
        if _asks_users_code(kind, value):
            return True
        if kind in ASK_ONE and not guard(value):
            return False
    if refuses_type(manager, value):
        return False
    return any(_runs_users_code(child, scope) for child in children(manager))


def _asks_users_code(kind: str, value) -> bool:
    """Return whether a guard of this kind runs code of the class of a value."""
    return runs_users_method(value, HEAR.get(kind, "")) or (
        kind in HEAR and runs_users_method(value, "__getattribute__")
    )


def failure(number: int, entry, fn, seen: dict) -> Failure | None:
    """Return the guard that these locals fail first, as torch says, or None if all hold."""
    return next(iter(_failures(number, entry, {"L": seen, "G": fn.__globals__}, True)), None)


def reasons(kept, space: dict, seen: dict) -> list[tuple[Failure, ...]]:
    """Return for each cache entry the guards that fail, the one that torch finds first in front.

    Torch stops at the first. The others are run by themselves.
    """
    scope = {"L": seen, "G": space}
    return [_failures(number, entry, scope) for number, entry in enumerate(kept, 1)]


def with_backends(failures, kept, backend) -> list[tuple[Failure, ...]]:
    """Return the failures of each cache entry, with those in front that a call's backend makes.

    torch asks no guard of an entry that another backend made. `kept`: the backend of each entry.
    """
    found = []
    for number, (known, entrys_own) in enumerate(zip(failures, kept, strict=True), 1):
        is_same = is_same_backend(entrys_own, backend)
        words = OTHER_BACKEND if known else f"the guards hold, but {OTHER_BACKEND}"
        if is_same is None:
            words = BACKEND_UNKNOWN
        first = () if is_same else (Failure(number, "", "BACKEND_MATCH", words),)
        found.append((*first, *known))
    return found


def _failures(number: int, entry, scope: dict, one: bool = False) -> tuple[Failure, ...]:
    told, known = entry.guard_manager.root.check_verbose(scope["L"]), leaves(entry)
    if told.result:
        return ()
    parts = list(told.verbose_code_parts) or [""]
    part = next((one for one in parts if resolve(one, scope) is False), parts[0])
    said = ""
    if found := MISMATCH.match(part):
        source, said = plain_source(_local(found[1])), clean(found[2])
        first = [leaf for leaf in known if leaf.kind == OF_TENSOR]
        first = [leaf for leaf in first if plain_source(leaf.source) == source]
    else:
        first = [leaf for leaf in known if part in leaf.parts]
        first = first or [leaf for leaf in known if _fails(leaf, scope, part)]
    if first:
        failed = _failed(number, first[0], scope, part, said)
    else:
        failed = [failure_of_node(number, part, entry, scope)]
    if not one:
        others = [leaf for leaf in known if leaf not in first[:1] and _fails(leaf, scope, part)]
        failed += [failure for leaf in others for failure in _failed(number, leaf, scope)]
        refused = {leaf.source for leaf in (*first[:1], *others)}
        failed += failures_of_dicts(number, entry, scope, refused)
    return (*dict.fromkeys(failed),)


def _local(source: str) -> str:
    return f"L['{source}']" if source.isidentifier() else source


OTHER_BACKEND = "the backend is different"
BACKEND_UNKNOWN = "unknown whether the backend is the same, as only its own __eq__ could tell"
NOT_EVALUATED = "unknown whether these hold, as they cannot be evaluated here"
NONE_FAILS = "unknown: torch refuses these together, and each holds when it is evaluated by itself"


def _failed(number: int, leaf, scope: dict, part: str = "", said: str = "") -> list[Failure]:
    """Return what differs from what a guard asks for, a record for each thing that differs."""
    if leaf.kind in OF_SIZES:
        return _failed_between(number, leaf, scope, is_first=bool(part))
    reason = part
    part = part if part in leaf.parts else leaf.parts[0]
    own = leaf.kind != OF_TENSOR or not TORCHS.search(part)  # of `F.linear` in nn.Linear: no help
    line, place = (line_of([part]), place_of([part])) if own else ("", "")
    failures = []
    for source, value, checks in _differences(leaf, scope, part, reason, said):
        of_leaf = source in ("", plain_source(leaf.source))  # else it is a setting of torch
        where = (line, place) if of_leaf else ("", "")
        failures.append(Failure(number, source, leaf.kind, checks, where[0], value, where[1]))
    return failures


def _failed_between(number: int, leaf, scope: dict, is_first: bool) -> list[Failure]:
    """Return which checks of sizes and numbers fail: torch has one guard for all of them.

    If another guard `is_first` to fail, a size may be of a dimension that this call does not have.
    """
    answers = {part: _holds(part, scope) for part in leaf.parts}
    failed = [part for part, holds in answers.items() if holds is False]
    unknown = {plain_source(check_of(part)): None for part, yes in answers.items() if yes is None}
    told = [
        Failure(
            number, "", leaf.kind, plain_source(check_of(part)), line_of([part]),
            _sizes_in(part, scope), place_of([part]),
        )
        for part in failed
    ]  # fmt: skip
    if unknown and is_first:
        told.append(Failure(number, "", leaf.kind, f"{NOT_EVALUATED}: {'; '.join(unknown)}"))
    if is_first and not told:
        told.append(Failure(number, "", leaf.kind, f"{NONE_FAILS}: {leaf.guard(number).checks}"))
    return told


def _holds(part: str, scope: dict) -> bool | None:
    """Return whether the check in a part of a guard holds; None if that cannot be told."""
    answer = resolve(part, scope)
    try:
        return None if answer is MISSING else bool(answer)
    except Exception:  # of somebody's own value
        return None


def _sizes_in(part: str, scope: dict) -> str:
    """Return what the sizes and numbers in a check are in this call."""
    found = {size: resolve(size, scope) for size in dict.fromkeys(SIZE.findall(check_of(part)))}
    known = {size: value for size, value in found.items() if value is not MISSING}
    return ", ".join(
        f"{plain_source(size)} is {short_repr(value)}" for size, value in known.items()
    )


def _differences(leaf, scope: dict, part: str, reason: str, said: str):
    """Yield (what, what it is, what it must be) of each thing that differs from a guard."""
    checks = leaf.guard(1).checks
    if leaf.kind == "NO_TENSOR_ALIASING":
        yield "", _one_tensor(part, scope) or "two of them are one tensor", checks
    elif leaf.kind == "OBJECT_ALIASING":
        checks = plain_source(check_of(part))
        yield "", f"{checks.replace(' is ', ' is another object than ', 1)}", checks
    elif leaf.kind == "GLOBAL_STATE":
        if changed := changed_settings(leaf.parts[0], reason):
            yield from ((name, now, f"it is {asked}") for name, now, asked in changed)
        else:
            yield "", "", quoted(reason)
    elif leaf.source == "L" or leaf.kind in CHANGED:
        yield "", CHANGED.get(leaf.kind) or OF_LAMBDA.get(checks) or "", checks
    elif leaf.kind == OF_TENSOR:
        yield from _tensor_differences(leaf, scope, said, checks)
    else:
        value = resolve(leaf.source, scope)
        if leaf.kind == "EQUALS_MATCH" and (kind := type_asked_for(check_of(part), value)):
            checks += f" and is of type {kind}"
        words = "" if value is MISSING else _describe_value(leaf.kind, value, checks)
        yield plain_source(leaf.source), words, checks


def _tensor_differences(leaf, scope: dict, said: str, checks: str):
    source, value = plain_source(leaf.source), resolve(leaf.source, scope)
    found, settings = [], []
    if tensors.is_tensor(value) and TENSOR.match(check_of(leaf.parts[0])):
        found, settings = tensor_differences(check_of(leaf.parts[0]), value, said)
    yield from ((name, now, f"it is {asked}") for name, now, asked in settings or ())
    if found:
        yield source, "", "; ".join(found)
    elif settings == []:
        words = "" if value is MISSING else _describe_value(leaf.kind, value, checks)
        yield source, words, checks


def _one_tensor(part: str, scope: dict) -> str:
    """Say which sources of an aliasing guard are one tensor; nothing if no two are."""
    found = re.search(r"check_no_aliasing\((.*)\)", check_of(part))
    values = [(one, resolve(one, scope)) for one in (found[1].split(", ") if found else ())]
    for at, (source, value) in enumerate(values):
        for other, same_one in values[at + 1 :]:
            if value is same_one and value is not MISSING:
                return f"{plain_source(source)} and {plain_source(other)} are one tensor"
    return ""


def why_again(kept, frame, said=(), backend=MISSING) -> tuple[str, ...]:
    """Return in lines which guards of its cache entries make Dynamo compile a frame once more.

    `said`: torch's own words; `backend`: that of this call.
    """
    live, scope = _live(kept), {"L": frame.f_locals, "G": frame.f_globals}
    try:
        is_felt = any(asking_runs_users_code(entry, scope) for entry in live)
        found = [] if is_felt else reasons(live, scope["G"], scope["L"])
        if found and backend is not MISSING:
            found = with_backends(found, [entry.backend for entry in live], backend)
    except Exception:  # of somebody's own values
        found = []
    told = (re.sub(r"^\d+/\d+: ", "", reason).split("\n")[0] for reason in said)
    words = explain_failures(found) or (*dict.fromkeys(map(quoted, told)),)
    if not torch_private.is_wrapper_code(frame.f_code):
        return words
    return tuple(in_users_names(one, None, frame.f_code, frame.f_locals) for one in words)


def _describe_value(kind: str, value, checks: str = "") -> str:
    if checks.startswith("its length is ") or kind in LENGTHS:
        return length_words(value)
    if kind == OF_TENSOR and tensors.is_tensor(value):
        grad = ", requires grad" * bool(tensors.field(value, "requires_grad"))
        return f"{tensors.shown_tensor(value) or type_name(value)}{grad}"
    if kind in ("TYPE_MATCH", OF_TENSOR):
        return type_words(value, checks)
    if found := OWNED.match(checks):
        return f"{'with' if found[1] == 'no' else 'without'} the {found[2]} {found[3]}"
    if kind == "DIMENSION_DYNAMIC_MARKING_GUARD":
        return "marked dynamic or static"
    if checks.startswith("the number of items left in it is "):
        left = elements_left(value)
        return "" if left is MISSING else f"an iterator with {left} items left"
    if checks.startswith("as int, it equals "):
        return f"{int.__int__(value)} as int"
    return "another object" if kind == "ID_MATCH" else short_repr(value)


def all_failures(number: int, entry, fn, seen: dict) -> tuple[Guard, ...]:
    """Return every guard that these locals fail, each run by itself; torch stops at the first."""
    scope = {"L": seen, "G": fn.__globals__}
    told = entry.guard_manager.root.check_verbose(seen)
    part = " ".join(told.verbose_code_parts)
    broken = [leaf.guard(number) for leaf in leaves(entry) if _fails(leaf, scope, part)]
    return () if told.result else tuple(dict.fromkeys(broken))


def _fails(leaf, scope, part: str) -> bool:
    """Return whether a guard fails for these values; `part`: what torch says that fails first."""
    if leaf.kind == "NO_TENSOR_ALIASING":  # this and the next see several values in turn
        return "Duplicate tensor" in part or bool(_one_tensor(leaf.parts[0], scope))
    if leaf.kind == "OBJECT_ALIASING":
        return part in leaf.parts or any(_holds(one, scope) is False for one in leaf.parts)
    if leaf.kind == IN_CPP:  # asked alone, it waits for the other values
        return any(_holds(one, scope) is False for one in leaf.parts)
    value = scope["L"] if leaf.source in ("L", BETWEEN) else resolve(leaf.source, scope)
    if _asks_users_code(leaf.kind, value):
        return False
    try:
        return value is not MISSING and not leaf.check(value)
    except Exception:
        return False

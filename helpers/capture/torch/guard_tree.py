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
from ...model.phrase import clipped, listed
from ...model.torch_records import Failure, Guard, GuardGraph, explain_failures
from ...safety.arguments import real_isinstance, require_str
from ..cpython.objects import called, instance_dict, named
from ..cpython.unwrapping import DEEPEST, opened, refuse_other_framework
from ..text import tensors
from ..text.error import instead
from ..text.value import short_repr, type_name
from .dynamo_recorder import IMPORTED, in_file, resumed, same

OWN = ("torch._dynamo", "torch.nn.modules.module")  # where torch calls what it was given
MISSING, MANY = object(), 60
PART = re.compile(r"L\['\w+'\](?:\._modules\['\w+'\]|\.(?!_modules)\w+)?|[\w.]+|.+", re.DOTALL)
WRAPPED = "Dynamo starts with the wrapper that a decorator put around"
BETWEEN, STATE = "(between values)", "(the state of torch)"
LONGEST = 160
TENSOR = re.compile(
    r"check_tensor\(.+?, (\w+), DispatchKeySet\(.*?\), torch\.(\w+), device=\w+, "
    r"requires_grad=(\w+), size=\[(.*?)\], stride=\[(.*?)\]\)"
)
PLACE = re.compile(r"(?:^|[/\\])([^/\\<>]*[^/\\<>\d][^/\\<>]*\.py:\d+) in ")
TORCHS = re.compile(r"\*args, \*\*kwargs\)|  # (?:nn/\w+|optim|torch)[/\\.][^#]+ in \w+[^#]*$")
OF_TENSOR, STATEFUL = "TENSOR_MATCH", ("NO_TENSOR_ALIASING", "OBJECT_ALIASING")
MISMATCH = re.compile(r"tensor '(.*?)' (.*)")
SIZE = re.compile(r"L\[[^]]*\]\.(?:size|stride)\(\)\[\d+\]")
RANGE = re.compile(r"(-?\d+) <= ([^=<>% ]+?)(?:\.size\(\)\[(\d+)\])?(?: <= (\d+))?")
FORMS = {  # kind of guard -> a pattern of torch's text, and what that says in plain words
    "GLOBAL_STATE": (".*", "torch's settings (grad mode, …) are unchanged"),
    "LAMBDA_GUARD": (".*saved_tensors_hooks.*", "the same hooks on saved tensors are on"),
    "TORCH_FUNCTION_MODE_STACK": (".*", "the same function modes are on"),
    "DEFAULT_DEVICE": (".*", "the default device is the same"),
    "ID_MATCH": (".*", "it is the very same object"),
    **{f"{one.upper()}_MATCH": (".*", f"it is {one}") for one in ("True", "False", "None")},
    "EQUALS_MATCH": (".+? == (.+)", "it equals {}"),
    "LENGTH_CHECK": (r"len\(.+\) == (\d+)", "its length is {}"),
    "TYPE_MATCH": (r".*type=<class '(?:[\w<>]+\.)*([\w<>]+)'>", "its type is {} itself"),
    "TENSOR_MATCH": (TENSOR.pattern, "{0} {1} [{3}], stride [{4}], {2}"),
    "NO_TENSOR_ALIASING": (r"check_no_aliasing\((.*)\)", "{} are different objects"),
    "DIMENSION_DYNAMIC_MARKING_GUARD": (
        "(?:[^=;]+ == False(?:; )?)+",
        "none of its sizes is marked dynamic or static",
    ),
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
        yield thing, told
        fn, sentences, _ = opened(thing, 1)
        told += sentences
        if fn is thing:
            return


def given(fn, args, kwargs) -> tuple[tuple, dict]:
    """Return the arguments that the function behind `fn` gets in a call of `fn`."""
    for thing, _ in _layers(ledger(fn).get("compiled_from", fn)):
        if type(thing) is MethodType:
            return (thing.__self__, *args), kwargs
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


def dynamic_words(entry) -> list[str]:
    """Say which sizes and numbers a cache entry leaves open, in the words of its range guards."""
    guards = entry.guard_manager.root.get_epilogue_lambda_guards()
    parts = (check_of(part) for one in guards for part in one.verbose_code_parts())
    said = [
        f"dimension {at} of " * bool(at)
        + f"{plain_source(source)} may be {low}{f' to {high}' if high else ' or more'}"
        for low, source, at, high in (told.groups() for told in map(RANGE.fullmatch, parts) if told)
    ]
    return [f"the new entry is dynamic: {', '.join(said)}"] * bool(said)


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
        return Guard(number, shown, self.kind, words, _line_of(self.parts))


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


def children(manager) -> list:
    """Return the nodes below one node; those on a dict's keys and values are among them."""
    pairs = getattr(manager, "get_key_value_managers", dict)()
    found = [*manager.get_child_managers(), *(part for pair in pairs.values() for part in pair)]
    return [part for part in found if part is not None]


def resolve(source: str, scope):
    """Return the value of a source such as `L['x']`, or of a check of it, or MISSING."""
    try:
        return eval(check_of(source), {}, scope)
    except Exception:
        return MISSING


def failure(number: int, entry, fn, seen: dict) -> Failure | None:
    """Return the guard that these locals fail first, as torch says, or None if all hold."""
    return next(iter(_failures(number, entry, {"L": seen, "G": fn.__globals__}, True)), None)


def reasons(kept, space: dict, seen: dict) -> list[tuple[Failure, ...]]:
    """Return for each cache entry the guards that fail, the one that torch finds first in front.

    Torch stops at the first. The others are run by themselves.
    """
    scope = {"L": seen, "G": space}
    return [_failures(number, entry, scope) for number, entry in enumerate(kept, 1)]


def _failures(number: int, entry, scope: dict, one: bool = False) -> tuple[Failure, ...]:
    told, known = entry.guard_manager.root.check_verbose(scope["L"]), leaves(entry)
    if told.result:
        return ()
    parts = list(told.verbose_code_parts) or [""]
    part, more = next((one for one in parts if resolve(one, scope) is False), parts[0]), {}
    if found := MISMATCH.match(part):
        source = plain_source(f"L['{found[1]}']" if found[1].isidentifier() else found[1])
        first = [leaf for leaf in known if leaf.kind == OF_TENSOR]
        first = [leaf for leaf in first if plain_source(leaf.source) == source]
        more = {"source": source, "value": "", "checks": clean(found[2])}
    else:
        first = [leaf for leaf in known if part in leaf.parts]
        first = first or [leaf for leaf in known if _fails(leaf, scope, part)]
    told = Failure(number, "", "", plain_source(check_of(part)))
    told = replace(_failed(number, first[0], scope, part) if first else told, **more)
    others = [leaf for leaf in known if leaf not in first[:1] and not one]
    others = [_failed(number, leaf, scope) for leaf in others if _fails(leaf, scope, part)]
    return (*dict.fromkeys((told, *others)),)


def _failed(number: int, leaf, scope: dict, part: str = "") -> Failure:
    source, value, checks = "", "", leaf.guard(number).checks
    part = part if part in leaf.parts or "GLOBAL_STATE" in part else leaf.parts[0]
    if leaf.kind == "NO_TENSOR_ALIASING":
        value = "two of them are one tensor"
    elif leaf.source == BETWEEN:
        checks = plain_source(check_of(part))
        sizes = dict.fromkeys(SIZE.findall(check_of(part)))
        value = ", ".join(f"{plain_source(size)} is {resolve(size, scope)}" for size in sizes)
    elif leaf.source != "L":
        source, found = plain_source(leaf.source), resolve(leaf.source, scope)
        value = "" if found is MISSING else _describe_value(leaf.kind, found)
        if words := _mismatch(leaf, found):
            value, checks = "", words
    elif "GLOBAL_STATE changed: " in part:
        value = f"{clean(part).partition(': ')[2]} has changed"
    own = leaf.kind != OF_TENSOR or not TORCHS.search(part)  # of `F.linear` in nn.Linear: no help
    line, place = (_line_of([part]), _place_of([part])) if own else ("", "")
    return Failure(number, source, leaf.kind, checks, line, value, place)


def why_again(kept, frame, said=()) -> tuple[str, ...]:
    """Return in lines which guards of its cache entries make Dynamo compile a frame once more."""
    try:
        found = reasons(_live(kept), frame.f_globals, frame.f_locals)
    except Exception:  # of somebody's own values
        found = []
    told = (re.sub(r"^\d+/\d+: ", "", reason).split("\n")[0] for reason in said)
    return explain_failures(found) or (*dict.fromkeys(plain_source(check_of(t)) for t in told),)


def _describe_value(kind: str, value) -> str:
    if kind == "LENGTH_CHECK" and real_isinstance(value, list, tuple, dict, str):
        return f"of length {len(value)}"
    if kind == OF_TENSOR and tensors.is_tensor(value):
        return f"{tensors.words(value)}{', requires grad' * value.requires_grad}"
    if kind in ("TYPE_MATCH", OF_TENSOR):
        return f"of type {type_name(value)}"
    return "another object" if kind == "ID_MATCH" else short_repr(value)


def _mismatch(leaf, value) -> str:
    """Return torch's words for a tensor that differs first in a size from what its guard asks."""
    told = leaf.kind == OF_TENSOR and tensors.is_tensor(value) and TENSOR.match(leaf.parts[0])
    if told and (f"torch.{told[2]}", told[3]) == (str(value.dtype), str(value.requires_grad)):
        for at, (asked, size) in enumerate(zip(told[4].split(", "), value.shape, strict=False)):
            if asked not in ("None", str(size)) and told[4].count(",") + 1 == value.dim():
                return f"size mismatch at index {at}. expected {asked}, actual {size}"
    return ""


def all_failures(number: int, entry, fn, seen: dict) -> tuple[Guard, ...]:
    """Return every guard that these locals fail, each run by itself; torch stops at the first."""
    scope = {"L": seen, "G": fn.__globals__}
    told = entry.guard_manager.root.check_verbose(seen)
    part = " ".join(told.verbose_code_parts)
    broken = [leaf.guard(number) for leaf in leaves(entry) if _fails(leaf, scope, part)]
    return () if told.result else tuple(dict.fromkeys(broken))


def _fails(leaf, scope, part: str) -> bool:
    if leaf.kind in STATEFUL and leaf.source != BETWEEN:  # only the whole tree can tell
        return "Duplicate tensor" in part if leaf.kind == STATEFUL[0] else part in leaf.parts
    value = scope["L"] if leaf.source in ("L", BETWEEN) else resolve(leaf.source, scope)
    try:
        return value is not MISSING and not leaf.check(value)
    except Exception:
        return False


def clean(words: str) -> str:
    """Return words without ids, addresses, uuids, and with torch's made-up globals by name."""
    words = IMPORTED.sub(lambda found: found[1].replace("_dot_", "."), same(words))
    words = " ".join(words.replace("G['builtins']", "builtins").split())
    return clipped(words, LONGEST)


def check_of(part: str) -> str:
    """Return the check itself, without the remarks that torch writes behind it."""
    return part.split("  # ")[0].strip()


def _line_of(parts) -> str:
    """Return the line of the learner's source that a guard was taken for, or nothing."""
    remarks = [remark.strip() for remark in parts[0].split("  # ")[1:]]
    own = len(remarks) > 1 and not remarks[-1].startswith("torch")
    return clean(remarks[0]) if own and "_dynamo/" not in remarks[0] else ""


def _place_of(parts) -> str:
    """Return the file and line of a guard, such as `train.py:45`; nothing for a cell."""
    found = PLACE.search(parts[0].rpartition("  # ")[2])
    return found[1] if found else ""


def describe_guard(kind: str, parts) -> str:
    """Return in plain words what must hold; torch's own words for a form that is not known."""
    text, (pattern, words) = "; ".join(map(check_of, parts)), FORMS.get(kind, ("", ""))
    if not (found := re.fullmatch(pattern, text, re.DOTALL)):
        return clean(text)
    told = [*map(plain_source if kind == "NO_TENSOR_ALIASING" else clean, found.groups())]
    if kind == "TENSOR_MATCH":
        told = [one.replace("None", "any") for one in told]
        told[2] = "requires grad" if told[2] == "True" else "no grad"
    return words.format(*told)


def plain_source(source: str) -> str:
    """Return a source as the function itself names the value: `x`, `options['on']`, `global K`."""
    words = re.sub(r"L\['(\w+)'\]", r"\1", clean(source))
    return re.sub(r"G\['(\w+)'\]", r"global \1", words)

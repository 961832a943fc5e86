"""Chapter 1, exercises 3 and 4: a rebinding of one's own, in holders of each kind."""

import sys
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from types import CellType, FunctionType, MethodType, ModuleType, SimpleNamespace

from helpers.capture.cpython.objects import namespace
from helpers.capture.text.value import short_repr
from helpers.safety.restoring import patched
from helpers.study.check import InvalidAnswer, NotAttempted, exercise, tried
from helpers.study.engine import Case, Raised, find_difference

INSIDE, AFTER = "inside the block", "after the block"
INNER = "[0] of a list inside a holder, which was not given itself,"
WORDS = {list: "list", dict: "dict", FunctionType: "function", CellType: "closure cell"}
WORDS |= {type: "class", SimpleNamespace: "instance"}
OWN = ("twin", "op", "other", "first", "second", "third")


def _places(holder) -> dict:
    """Return name of a place -> (what it holds, a function that writes to it)."""
    if type(holder) in (list, dict):
        items = enumerate(holder) if type(holder) is list else holder.items()
        return {f"[{short_repr(k)}]": (v, partial(holder.__setitem__, k)) for k, v in items}
    if type(holder) is FunctionType:
        defaults = enumerate(holder.__defaults__ or ())
        found = {f"__defaults__[{at}]": (v, partial(_put, holder, at)) for at, v in defaults}
        named = _places(holder.__kwdefaults__ or {})
        return found | {f"__kwdefaults__{name}": place for name, place in named.items()}
    if type(holder) is CellType:
        names = {"cell_contents": holder.cell_contents}
    else:
        names = namespace(holder) if isinstance(holder, ModuleType) else vars(holder)
    return {f".{name}": (v, partial(setattr, holder, name)) for name, v in names.items()}


def _put(function, at: int, value) -> None:
    values = list(function.__defaults__)
    values[at] = value
    function.__defaults__ = tuple(values)


@contextmanager
def _reference(old, new, holders=None):
    if holders is None:
        holders = [module for module in sys.modules.values() if _holds(module, old)]
    places = [place for holder in holders for place in _places(holder).values()]
    writes = [write for value, write in places if value is old]
    try:
        for write in writes:
            write(new)
        yield
    finally:
        for write in writes:
            write(old)


def _stand_in(name: str):
    def function(*args, **kwargs):
        return name

    function.__name__, function.__module__ = name, "scenery"
    return function


class _World:
    """Functions to be rebound, and holders of them; `other` and `twin` are equal, not the same."""

    def __init__(self, op=None):
        function, owner = _stand_in("other"), object()
        self.op, self.held, self.modules = op or _stand_in("op"), {}, sys.modules
        self.other, self.twin = MethodType(function, owner), MethodType(function, owner)
        self.first, self.second, self.third = map(_stand_in, OWN[3:])
        self.inner, self.given = [self.op], ()

    def hold(self, kinds: list[Callable]) -> "_World":
        for make in kinds:
            rows = [self.first, self.op, self.twin, self.op], [self.first, 5, self.other], []
            rows += ([self.op, self.inner, self.other, self.twin],)
            for holder in (holder for row in rows for holder in make(row)):
                at = len(self.held) + 1
                module = isinstance(holder, ModuleType)
                self.held[f"scenery{at}" if module else f"{WORDS[type(holder)]} {at} "] = holder
        return self

    def look(self) -> dict[str, str]:
        names = {id(getattr(self, name)): name for name in OWN}
        found = {INNER: names.get(id(self.inner[0]), "")}
        for path, holder in self.held.items():
            for name, (value, _) in _places(holder).items():
                found[path + name] = names.get(id(value), "")
        return found


def _rebinding_case(shows: str, make_world: Callable) -> Case:
    """Return the case of a world, in which `answer(old, new, *world.given)` makes a block."""

    def run(answer):
        world, moments = make_world(), []
        try:
            with patched(sys, modules=world.modules):
                rebind = lambda old, new: answer(old, new, *world.given)  # noqa: E731
                _run_trials(rebind, world, moments)
        except (NotAttempted, InvalidAnswer):
            raise
        except Exception as error:
            moments.append(("", Raised(type(error), error)))
        return moments

    return Case(shows, run, _advise)


def _run_trials(rebind, world, moments) -> None:
    """Open one block after the other, and note what is held at each moment."""

    def block(old, new, trial="", act=None, error=None):
        manager, came = tried(rebind(old, new)), None
        if not hasattr(type(manager), "__exit__"):
            cure = f"not {short_repr(manager)}; decorate a generator with contextmanager"
            raise InvalidAnswer(f"it must return a context manager, {cure}")
        moments.append((f"{trial}when it is called", world.look()))
        try:
            with manager:
                moments.append((trial + INSIDE, world.look()))
                if act is not None:
                    act()
                if error is not None:
                    raise error
        except BaseException as raised:
            came = raised
        moments.append((trial + AFTER, world.look()))
        if error is not None and came is None:
            raise InvalidAnswer(f"it swallowed the {short_repr(error)} raised inside the block")
        if came is not error:
            raise came

    def nest():
        with rebind(world.first, world.second):
            moments.append((f"nested {INSIDE} of another rebinding,", world.look()))
        moments.append(("after the inner of two nested blocks", world.look()))

    block(world.op, world.first)
    for old, new in ((world.op, world.second), (world.other, world.third)):
        block(old, new, "in a second block, ")
    for error in (KeyError("raised"), KeyboardInterrupt("raised")):
        block(world.op, world.first, f"after a {type(error).__name__} inside: ", error=error)
    block(world.op, world.first, "around another block, ", act=nest)


def _advise(mine, real) -> str:
    for (when, seen), (moment, wanted) in zip(mine, real, strict=False):
        if when != moment:
            raised = mine[-1][1]
            cause = "; compare with `is`, for == may do anything"
            return raised.sentence + cause * isinstance(raised.error, (ValueError, TypeError))
        for path in seen | wanted:
            held, must = seen.get(path), wanted.get(path)
            if held == must:
                continue
            if INSIDE in when and must == "twin":
                return "it replaced an object that is only equal to the old one; compare with `is`"
            if AFTER in when and must == "first":
                words = "it also changed a place that held the replacement before the block"
                return f"{words}; remember what you changed instead of searching for it again"
            if INSIDE in when and held == "op":
                cure = "still holds the old function; search when the block is entered"
            elif AFTER in when and must == "op":
                cure = "does not hold the old function again; restore in a finally"
            else:
                cure = f"holds {held or 'nothing'}, and must hold {must or 'what it held before'}"
            return f"{when} {path} {cure}"
    return ""


def _fill_names(make):
    return lambda row: make(dict(zip(("op", "_op", "late", "table"), row, strict=False)))


def _make_module(names):
    made = ModuleType("scenery")
    vars(made).update(names)
    return [made]


def _make_function(defaults, named):
    def function(a=0, b=1, c=2, d=3, *, e=4, f=5, g=6, h=7):
        return a, b, c, d, e, f, g, h

    function.__defaults__, function.__kwdefaults__ = defaults or None, named or None
    return [function]


# -- exercise 3: names of modules


def _make_modules(op) -> _World:
    """Return a world with copies of all modules, and more beside them, of which two are none."""
    world, copies = _World(op).hold([_fill_names(_make_module)]), dict(sys.modules)
    for name, module in sys.modules.items():
        if isinstance(module, ModuleType):
            [copies[name]] = _make_module(namespace(module))
    namespace(copies["__main__"])["scenery_op"] = op
    if "psutil" in copies:  # the time limit asks it by this name
        copies["psutil"] = SimpleNamespace(**namespace(copies["psutil"]))
    more = {"scenery": world.held["scenery1"], "scenery.nothing": None, "scenery.none": object()}
    world.modules = {**copies, **world.held, **more}
    world.held |= {name: module for name, module in copies.items() if _holds(module, op)}
    return world


def _holds(module, op) -> bool:
    is_module = isinstance(module, ModuleType)
    return is_module and any(value is op for value in namespace(module).values())


@exercise(
    "Start from the small module scan of section 3: it already finds the names to write to.",
    "Remember each (namespace, name) that you change; write new, yield, write old back.",
    "try: write new everywhere, then yield; finally: write old back to the remembered places. "
    "Decorate it with @contextlib.contextmanager.",
)
def rebinding(my_rebind_everywhere: Callable, op: Callable):
    """Every module name was swapped, nested, survived an error, and came back."""
    case = _rebinding_case("tried on names of modules", partial(_make_modules, op))
    return find_difference(my_rebind_everywhere, _reference, [case])


# -- exercise 4: holders of each kind

KINDS: dict[str, Callable] = {
    "a list": lambda row: [row],
    "a dict": lambda row: [dict(zip((row[:1] and row[0], None, (1, 2), "op"), row, strict=False))],
    # of which one key is a function that is held: a key is no value
    "a module": _fill_names(_make_module),
    "a class": _fill_names(lambda names: [type("Held", (), names)]),
    "an instance": _fill_names(lambda names: [SimpleNamespace(**names)]),
    "defaults": lambda row: _make_function(tuple(row), None),
    "keyword-only defaults": lambda row: _make_function(None, dict(zip("efgh", row, strict=False))),
    "a closure cell": lambda row: [CellType(value) for value in row],
}


@exercise(
    "How would you write to one place of each kind? vars(holder) lists the names of a module, "
    "a class and an instance; setattr writes them.",
    "Collect, before you write anything, one function per place: write(value) puts a value "
    "there. functools.partial(setattr, holder, name) is one.",
    "Inside the block all writes got new; afterwards, in a finally, all get old. Only the "
    "finding of the places differs from kind to kind.",
    "A tuple cannot be written: def write(value): values = list(fn.__defaults__); values[k] = "
    "value; fn.__defaults__ = tuple(values). What is in fn.__kwdefaults__ is an item of a dict.",
)
def one_more_holder(rebind: Callable):
    """Each of 8 kinds of holders was reached, nested, and came back; all at once, too."""
    tries = [*((name,) for name in KINDS), [*KINDS][::-1]]
    make = lambda names: partial(_make_holders, [KINDS[name] for name in names])  # noqa: E731
    cases = (_rebinding_case(f"tried with {', '.join(each)}", make(each)) for each in tries)
    return find_difference(rebind, _reference, cases)


def _make_holders(kinds) -> _World:
    world = _World().hold(kinds)
    holders = [*world.held.values()]
    world.given = ([*holders, holders[0]],)  # one of them twice
    return world

"""Chapter 1, exercise 4: a rebinding that reaches holders of each kind."""

from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from types import CellType, FunctionType, ModuleType, SimpleNamespace

from helpers.study.chapter_1.block_trials import World, rebinding_case
from helpers.study.engine import Exercise, Unfit, find_difference

INNER = "[0] of a list inside a holder, which was not given itself,"
CHANGED = "it changes the list of holders that it is given; leave that as it is"
WORDS = {list: "list", dict: "dict", FunctionType: "function", CellType: "closure cell"}
WORDS |= {ModuleType: "module", type: "class"}


def _places(holder) -> dict:
    """Return name of a place -> (what it holds, a function that writes to it)."""
    if type(holder) in (list, dict):
        items = enumerate(holder) if type(holder) is list else holder.items()
        return {f"[{_name(k)}]": (v, partial(holder.__setitem__, k)) for k, v in items}
    if type(holder) is CellType:
        return {"cell_contents": (holder.cell_contents, partial(setattr, holder, "cell_contents"))}
    if type(holder) is FunctionType:
        defaults = enumerate(holder.__defaults__ or ())
        found = {f"__defaults__[{at}]": (v, partial(_put, holder, at)) for at, v in defaults}
        named = _places(holder.__kwdefaults__ or {})
        return found | {f"__kwdefaults__{name}": place for name, place in named.items()}
    return {f".{name}": (v, partial(setattr, holder, name)) for name, v in vars(holder).items()}


def _name(key) -> str:
    return f"the function {key.__name__}" if isinstance(key, FunctionType) else repr(key)


def _put(function, at: int, value) -> None:
    values = list(function.__defaults__)
    values[at] = value
    function.__defaults__ = tuple(values)


@contextmanager
def _reference(old, new, holders):
    places = [place for holder in holders for place in _places(holder).values()]
    writes = [write for value, write in places if value is old]
    try:
        for write in writes:
            write(new)
        yield
    finally:
        for write in writes:
            write(old)


class HeldWorld(World):
    """Holders of some kinds, a few of each: two places of `op` in one, none in another."""

    def __init__(self, kinds: list[Callable]):
        super().__init__()
        self._inner, self._given = [self.op], []
        rows = (
            lambda: [self.first, self.op, self.equal, self.op],
            lambda: [self.op, self._inner, self.other, self.twin],
            lambda: [self.first, 5, self.other],
            list,
        )
        self.holders = [holder for make in kinds for row in rows for holder in make(row())]
        self.holders.append(self.holders[0])  # a search may find one twice

    def wrap(self, rebind):
        """Return the rebinding of all holders; each call gets a list of its own."""

        def rebind_all(old, new):
            self._given.append(list(self.holders))
            return rebind(old, new, self._given[-1])

        return rebind_all

    def look(self) -> dict[str, object]:
        """Return what each place holds."""
        found = {}
        for at, holder in enumerate(self.holders, 1):
            path = f"{WORDS.get(type(holder), 'instance')} {at} "
            found |= {path + name: value for name, (value, _) in _places(holder).items()}
            if type(holder) is FunctionType:
                found[f"{path}type of __kwdefaults__"] = type(holder.__kwdefaults__).__name__
        if any(list(map(id, one)) != list(map(id, self.holders)) for one in self._given):
            raise Unfit(CHANGED)
        return found | {INNER: self._inner[0] if len(self._inner) == 1 else self._inner}

    def assign(self) -> None:
        """Let the block itself write to places that hold none of the functions."""
        places = [place for holder in self.holders for place in _places(holder).values()]
        for value, write in places:
            if value is self.equal:
                write(self.assigned)


def _fill_dict(row):
    return [dict(zip((next(filter(callable, row), 0), None, (1, 2), "op"), row, strict=False))]


def _fill_names(make):
    return lambda row: make(dict(zip(("op", "_op", "late", "table"), row, strict=False)))


def _make_module(names):
    module = ModuleType("held")
    vars(module).update(names)
    return [module]


def _make_classes(names):
    held = type("Held", (), names)
    return [held, type("Child", (held,), {})]  # which holds nothing of its own


def _make_function(defaults, named):
    def function(a=0, b=1, c=2, d=3, *, e=4, f=5, g=6, h=7):
        return a, b, c, d, e, f, g, h

    function.__defaults__, function.__kwdefaults__ = defaults or None, named or None
    return [function]


KINDS: dict[str, Callable] = {
    "a list": lambda row: [row],
    "a dict": _fill_dict,  # one of its keys is a function that is held: a key is no value
    "a module": _fill_names(_make_module),
    "a class": _fill_names(_make_classes),
    "an instance": _fill_names(lambda names: [SimpleNamespace(**names)]),
    "defaults": lambda row: _make_function(tuple(row), None),
    "keyword-only defaults": lambda row: _make_function(None, dict(zip("efgh", row, strict=False))),
    "a closure cell": lambda row: [CellType(value) for value in row],
}


def _judge_holders(rebind: Callable):
    kinds = {name: [make] for name, make in KINDS.items()}
    kinds["all kinds at once"] = list(KINDS.values())[::-1]
    cases = (
        rebinding_case(f"tried with {name}", lambda makes=makes: HeldWorld(makes))
        for name, makes in kinds.items()
    )
    return find_difference(rebind, _reference, cases)


ONE_MORE_HOLDER = Exercise(
    "one_more_holder",
    _judge_holders,
    f"Each of {len(KINDS)} kinds of holders was reached, nested, and came back; all at once, too.",
    (
        "How would you write to one place of each kind? vars(holder) lists the names of a module, "
        "a class and an instance; setattr writes them.",
        "Collect, before you write anything, one function per place: write(value) puts a value "
        "there. functools.partial(setattr, holder, name) is one.",
        "Inside the block all writes got new; afterwards, in a finally, all get old. Only the "
        "finding of the places differs from kind to kind.",
        "A tuple cannot be written: def write(value): values = list(fn.__defaults__); "
        "values[k] = value; fn.__defaults__ = tuple(values). What is in fn.__kwdefaults__ is an "
        "item of a dict.",
    ),
)

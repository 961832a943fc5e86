"""Objects that hold a function, of each kind that can be written to; and what each place holds."""

from collections.abc import Callable
from random import Random
from types import CellType, FunctionType, ModuleType, SimpleNamespace

from helpers.capture.references.places import MISSING
from helpers.study.chapter_1.blocks import Blocks
from helpers.study.chapter_1.stand_ins import Equal, stand_in, twins

NAMES = ("op", "_op", "table", "call", "late", "number")
INSIDE = "[0] of a list inside a holder, which was not given itself"
KEYS = ("op", 3, None, (1, 2), "again", 0.5)


class HeldWorld(Blocks):
    """Holders of one kind, or of all, and the functions that they hold.

    `op` and `other` are held; `first` is held here and there, too.
    """

    def __init__(self, kind: str, dice: Random):
        self.op, self.other, self.twin = stand_in("op"), *twins()
        self.first, self.second, self.third = map(stand_in, ("first", "second", "third"))
        self.equal, self.inner = Equal(), [self.op]  # a list that is in a holder, and is none
        self.kept = self
        kinds = [KINDS[kind]] if kind in KINDS else list(KINDS.values())
        self.holders = [holder for make in kinds for holder in make(self._drawn(dice), dice)]
        if kind not in KINDS:
            dice.shuffle(self.holders)
            self.holders.append(self.holders[0])  # a search may find one twice
        self._before = self._now()

    def _drawn(self, dice: Random) -> list[list]:
        """Return what three holders hold: two places of `op` in one, none in another."""
        rows = [
            [self.op, self.first, self.op, self.equal],
            [self.other, self.inner, self.op, self.twin],
            [self.first, 5, self.other],
        ]
        for row in rows:
            dice.shuffle(row)
        dice.shuffle(rows)
        return [*rows, []]

    def _now(self) -> dict[str, object]:
        named = {f"{kind_of(held)} {at}": held for at, held in enumerate(self.holders, 1)}
        held = {f"{name} {place}": v for name, held in named.items() for place, v in places(held)}
        return held | {INSIDE: self.inner[0] if len(self.inner) == 1 else self.inner}

    def assign(self) -> None:
        """Let the block itself write to places that hold none of the functions."""
        old, self.equal = self.equal, Equal()
        for holder in self.holders:
            space = vars(holder) if type(holder) in (ModuleType, SimpleNamespace) else holder
            if type(space) in (list, dict):
                items = enumerate(space) if type(space) is list else space.items()
                for key in [key for key, value in items if value is old]:
                    space[key] = self.equal
        now = self._now()
        self._before |= {path: held for path, held in now.items() if held is self.equal}

    def look(self, swapped=()) -> list[tuple]:
        """Return the places that hold what they should not.

        New names come first, then what else changed for nothing, then what should have changed.
        """
        wanted, now = {id(was): new for was, new in swapped}, self._now()
        wrong = []
        for path in [*self._before, *(path for path in now if path not in self._before)]:
            was, held = self._before.get(path, MISSING), now.get(path, MISSING)
            if held is not (was if path == INSIDE else wanted.get(id(was), was)):
                wrong.append((path, was, held))
        return sorted(wrong, key=lambda row: (id(row[1]) in wanted, row[1] is not MISSING))


def kind_of(holder) -> str:
    """Return the word for a holder."""
    words = {list: "list", dict: "dict", FunctionType: "function", CellType: "closure cell"}
    words |= {ModuleType: "module", type: "class"}
    return words.get(type(holder), "instance")


def places(holder) -> list[tuple[str, object]]:
    """Return each place of a holder, in words, with what it holds now."""
    if type(holder) is list:
        return [(f"[{at}]", value) for at, value in enumerate(holder)]
    if type(holder) is dict:
        return [(f"[{_key(key)}]", value) for key, value in holder.items()]
    if type(holder) is CellType:
        return [("cell_contents", holder.cell_contents)]
    if type(holder) is FunctionType:
        defaults, named = holder.__defaults__, holder.__kwdefaults__
        rows = [("type of __defaults__", type(defaults)), ("type of __kwdefaults__", type(named))]
        rows += [(f"__defaults__[{at}]", value) for at, value in enumerate(defaults or ())]
        return rows + [(f"__kwdefaults__[{name!r}]", v) for name, v in (named or {}).items()]
    return [(f".{name}", value) for name, value in vars(holder).items()]


def _key(key) -> str:
    return f"the function {key.__name__}" if type(key) is FunctionType else repr(key)


def _lists(rows, dice):
    return rows


def _dicts(rows, dice):
    return [dict(zip(_keys(row, dice), row, strict=True)) for row in rows]


def _keys(row, dice) -> list:
    """Return keys for a row; one is a function that is held: a key is no value."""
    keys, functions = dice.sample(KEYS, len(row)), [v for v in row if type(v) is FunctionType]
    return [max(functions, key=functions.count), *keys[1:]] if functions else keys


def _named(row, dice) -> dict:
    return dict(zip(dice.sample(NAMES, len(row)), row, strict=True))


def _modules(rows, dice):
    made = [ModuleType("held") for _ in rows]
    for module, row in zip(made, rows, strict=True):
        vars(module).update(_named(row, dice))
    return made


def _classes(rows, dice):
    made = [type("Held", (), _named(row, dice)) for row in rows]
    return [*made, type("Child", (made[0],), {})]  # which holds nothing of its own


def _instances(rows, dice):
    return [SimpleNamespace(**_named(row, dice)) for row in rows]


def _defaults(rows, dice):
    made = [_function() for _ in rows]
    for function, row in zip(made, rows, strict=True):
        function.__defaults__ = tuple(row) or None
    return made


def _keyword_defaults(rows, dice):
    made = [_function() for _ in rows]
    for function, row in zip(made, rows, strict=True):
        function.__kwdefaults__ = dict(zip("efgh", row, strict=False)) or None
    return made


def _function():
    def function(a=0, b=1, c=2, d=3, *, e=4, f=5, g=6, h=7):
        return a, b, c, d, e, f, g, h

    function.__defaults__ = function.__kwdefaults__ = None
    return function


def _cells(rows, dice):
    return [CellType(value) for row in rows for value in row]


KINDS: dict[str, Callable] = {
    "a list": _lists,
    "a dict": _dicts,
    "a module": _modules,
    "a class": _classes,
    "an instance": _instances,
    "defaults": _defaults,
    "keyword-only defaults": _keyword_defaults,
    "a closure cell": _cells,
}

"""Moments of a run -> how they hang together: which values stay, which calls wait meanwhile."""

from helpers.capture.cpython import stack_effects
from helpers.capture.cpython.code_rows import CodeRows
from helpers.capture.cpython.opcode_recorder import Fold, Moment
from helpers.model.stage import Card, Value

# Of these one object is as good as another that is equal, so which one it is says nothing.
_PLAIN = {"int", "float", "complex", "bool", "str", "bytes", "NoneType", "ellipsis", "cell", ""}


def following(moments: list[Moment | Fold]) -> dict[int, Moment]:
    """Return position -> the moment that the same call goes on with, where none was left out."""
    later: dict[int, Moment] = {}
    found = {}
    for position in range(len(moments) - 1, -1, -1):
        moment = moments[position]
        key = id(moment.activation)
        if type(moment) is Fold:
            later.pop(key, None)
            continue
        if key in later:
            found[position] = later[key]
        later[key] = moment
    return found


class Values:
    """The values on the stacks. A value keeps its key from the push on, until it is taken."""

    def __init__(self):
        self._stored: dict[tuple, Value] = {}
        self._before: dict[int, tuple] = {}  # call -> (values, addresses, how many stay)
        self._keys = 0

    def stored(self, words: str, kind: str, same: str = "", key: int = 0) -> Value:
        """Return a value; equal ones are one object."""
        facts = (words, kind, same, key)
        return self._stored.setdefault(facts, Value(*facts))

    def of(self, moment: Moment, code: CodeRows) -> tuple[tuple[Value, ...], int]:
        """Return the values on the stack, bottom first, and how many the instruction takes."""
        found, places = self._read(moment, code)
        count = len(code.tables.names)
        keys = self._keyed(moment.activation.number, len(found), places[count:])
        same = _names_by_place(moment, code)
        values = tuple(
            self.stored(words, kind, "" if kind in _PLAIN else same.get(place, ""), key)
            for (words, kind), place, key in zip(found, places[count:], keys, strict=True)
        )
        taken = stack_effects.taken(code.instructions[moment.offset], len(values))
        self._before[moment.activation.number] = keys, places[count:], len(values) - taken
        return values, taken

    def _read(self, moment: Moment, code: CodeRows):
        count = len(code.tables.names)
        if moment.found is not None:
            return moment.found[count:], moment.places
        origins = code.tables.origins.get(moment.offset, ())
        return [(code.origin(o), "") for o in origins], [None] * (count + len(origins))

    def _keyed(self, call: int, depth: int, places) -> list[int]:
        keys, before, stay = self._before.get(call, ([], [], 0))
        kept = []
        for n in range(min(depth, len(keys))):
            if n >= stay or places[n] != before[n]:
                break
            kept.append(keys[n])
        fresh = range(self._keys + 1, self._keys + 1 + depth - len(kept))
        self._keys += len(fresh)
        return [*kept, *fresh]


def _names_by_place(moment: Moment, code: CodeRows) -> dict[int, str]:
    if moment.found is None:
        return {}
    count = len(code.tables.names)
    pairs = zip(moment.places[:count], code.named, strict=False)
    return {place: name for place, name in pairs if place is not None}


class Calls:
    """Which calls are on their way at each moment: those that wait, and those put aside."""

    def __init__(self, moments: list[Moment | Fold], endings: dict[int, str]):
        self._endings, self._last = endings, {}
        for moment in moments:
            self._last[moment.activation.number] = moment.serial
        self._running: list[int] = []
        self._shelf: dict[int, Card] = {}
        self._facts: dict[int, tuple] = {}
        self._cards: dict[Card, Card] = {}

    def around(self, moment: Moment) -> tuple[tuple[Card, ...], tuple[Card, ...]]:
        """Return the cards of the calls below this one, and of the generators put aside."""
        number = moment.activation.number
        self._shelf.pop(number, None)
        self._running[moment.level :] = [number]
        below = [self._card(n, "waits") for n in self._running[:-1] if n in self._facts]
        return tuple(below), tuple(self._shelf.values())

    def saw(self, moment: Moment, function: str, line: int, names, stays) -> None:
        """Remember what this call looks like while others run."""
        number = moment.activation.number
        self._facts[number] = (number, function, line, names, stays)
        yields = self._endings.get(moment.serial, "").startswith("yields")
        if yields and self._last[number] > moment.serial:
            self._shelf[number] = self._card(number, "put aside")

    def _card(self, number: int, state: str) -> Card:
        number, function, line, names, stays = self._facts[number]
        card = Card(number, function, line, state, names, stays)
        return self._cards.setdefault(card, card)

"""To say which guard fails, a verb runs no line of the user's: what it looks up, C looks up."""

import collections
import dataclasses
import enum

import pytest

from helpers import show_guards, watch_recompiles, watching_recompiles

pytestmark = [pytest.mark.own_process(sharing="torch"), pytest.mark.filterwarnings("ignore")]
torch = pytest.importorskip("torch")
ONE = torch.ones(2)
RAN = []  # names of special methods, in the order in which they ran


def heard(base, *names):
    """Return a class derived from `base` whose special methods note that they run."""

    def hearing(name):
        def method(self, *args):
            RAN.append(name)
            return getattr(base, name)(self, *args)

        return method

    return type("Heard", (base,), {name: hearing(name) for name in names})


class Missing(dict):
    def __missing__(self, key):
        RAN.append("__missing__")
        return 7.0


class Computed:
    def __init__(self, scale):
        self._scale = scale

    @property
    def scale(self):
        RAN.append("scale")
        return self._scale

    def __getattr__(self, name):
        RAN.append(f"__getattr__ {name}")
        raise AttributeError(name)


class Number:
    def __eq__(self, other):
        RAN.append("__eq__")
        return False

    def __hash__(self):
        RAN.append("__hash__")
        return 1

    def __len__(self):
        RAN.append("__len__")
        return 2

    def __bool__(self):
        RAN.append("__bool__")
        return True

    def __iter__(self):
        RAN.append("__iter__")
        return iter((ONE, ONE))

    def __rmul__(self, other):
        return other * 3

    def __length_hint__(self):
        RAN.append("__length_hint__")
        return 2


@dataclasses.dataclass
class Settings:
    rate: float
    more: object = None


class Mode(enum.StrEnum):
    SLOW, FAST = "slow", "fast"


def keyed(x, table):
    return x * table["a"] if "a" in table else x + 1


def scaled(x, thing):
    return x * getattr(thing, "scale", 2.0)


def several(x, things):
    for thing in things:
        x = x + thing
    return x if things else x * 2


def timed(x, factor):
    return x * factor


def set_up(x, settings):
    return x * settings.rate if settings.more is None else x + settings.more["a"]


def chosen(x, mode):
    return x * 2 if mode == "slow" else x + 1


KEPT = heard(dict, "__getitem__", "__contains__", "__len__", "__iter__", "keys", "__eq__")
LISTED = heard(list, "__getitem__", "__len__", "__iter__", "__contains__", "__eq__")
PROGRAMS = {  # function -> what makes the second argument of each call
    keyed: [
        lambda: {"a": 2.0},
        lambda: collections.defaultdict(float, b=1.0),
        lambda: Missing(b=1.0),
        lambda: Missing(a=2.0),
        lambda: KEPT(a=2.0),
        lambda: KEPT(b=2.0),
        dict,
    ],
    scaled: [lambda: Settings(2.0), lambda: Computed(2.0), lambda: Computed(3.0), lambda: Number()],
    several: [
        lambda: [ONE, ONE],
        lambda: (ONE,),
        lambda: LISTED([ONE, ONE]),
        lambda: LISTED([ONE]),
        Number,
        lambda: iter([ONE, ONE]),
        lambda: collections.deque([ONE]),
    ],
    timed: [lambda: 2, lambda: 2.5, Number, lambda: heard(float, "__eq__")(2.5), lambda: True],
    set_up: [
        lambda: Settings(2.0),
        lambda: Settings(3.0),
        lambda: Settings(3.0, {"a": 1.0}),
        lambda: Settings(3.0, Missing(a=1.0)),
        lambda: Settings(3.0, Missing(b=1.0)),
    ],
    chosen: [lambda: "slow", lambda: Mode.FAST, lambda: Mode.SLOW, Number, lambda: "fast"],
}


def calls_of(fn, makes):
    """Call with each argument; return results, what is left of the arguments and what ran."""
    RAN.clear()
    told = []
    for make in makes:
        thing = make()
        try:
            told.append(str(fn(ONE, thing)))
        except Exception as error:
            told.append(type(error).__name__)
        if isinstance(thing, dict):
            told.append(dict.__repr__(thing))
    return told, RAN.copy()


def plainly(compiled, makes):
    return calls_of(compiled, makes)


def by_ledger(compiled, makes):
    watched = watch_recompiles(compiled)
    found = calls_of(watched, makes)
    str(watched), watched._repr_mimebundle_()
    return found[0], RAN.copy()


def by_block(compiled, makes):
    with watching_recompiles() as block:
        found = calls_of(compiled, makes)
    str(block), block._repr_mimebundle_()
    return found[0], RAN.copy()


def with_guards_shown(compiled, makes):
    found = calls_of(compiled, makes)
    str(show_guards(compiled))
    return found[0], RAN.copy()


@pytest.mark.parametrize("watch", [by_ledger, by_block, with_guards_shown])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_look_at_guards_runs_what_the_plain_calls_run(program, watch):
    found = []
    for way in (plainly, watch):
        torch._dynamo.reset()
        found.append(way(torch.compile(program, backend="eager"), PROGRAMS[program]))
    plain, watched = found
    assert watched == plain

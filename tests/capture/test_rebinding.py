"""Every place is rebound, every place comes back, and what must not be touched is not."""

import functools
import re
import sys
import types

import pytest

from helpers.capture.references import rebind
from helpers.capture.references.holder_search import bindings
from helpers.capture.references.rebind import code_swapped, rebind_everywhere
from helpers.capture.references.routes import watch_callers
from tests.capture import test_references
from tests.capture.test_references import CASES, play

# The whole heap is looked through: here it is that of a fresh interpreter, without frameworks.
pytestmark = pytest.mark.own_process(sharing="a_small_heap")

stage = test_references.stage
quick = pytest.mark.usefixtures("small_heap")
REBINDABLE = [case for case in CASES if case[3]]
READ_ONLY = [case for case in CASES if not case[3]]


def look(stage, probe):
    return eval(probe, vars(stage))


def test_every_rebindable_kind_is_rebound_and_restored_at_once(stage):
    for _, _, source, _ in REBINDABLE:
        play(stage, source)
    before = bindings(stage.op)
    old, new = stage.op, stage.new
    with rebind_everywhere(old, new) as rebinding:
        assert stage.op is new
        assert rebinding.left == ()
        assert bindings(old).rows == ()
    assert bindings(old) == before
    assert rebinding.leftover == ()


@quick
@pytest.mark.parametrize(("kind", "path", "source", "probe"), REBINDABLE)
def test_each_kind_alone_is_rebound_and_restored(stage, kind, path, source, probe):
    play(stage, source)
    old, new = stage.op, stage.new
    shape = look(stage, probe.removesuffix("()"))
    with rebind_everywhere(old, new, only=path) as rebinding:
        assert look(stage, probe) is new
        assert stage.op is old
        assert [row.path for row in rebinding.changed] == [path]
        assert "not asked for" in {row.reason for row in rebinding.left}
    assert look(stage, probe) is old
    assert look(stage, probe.removesuffix("()")) is shape


@quick
@pytest.mark.parametrize(("kind", "path", "source", "probe"), READ_ONLY)
def test_a_read_only_holder_is_reported_and_left(stage, kind, path, source, probe):
    play(stage, source)
    old, new = stage.op, stage.new
    with rebind_everywhere(old, new) as rebinding:
        assert stage.op is new
        assert path in [row.path for row in rebinding.left]
        assert path in [row.path for row in bindings(old).rows]
    assert stage.op is old


def test_only_read_only_holders_are_an_error_that_names_the_reason(stage):
    play(stage, "items = (op,)\ndel op")
    with pytest.raises(ValueError, match=r"stage.items\[0\] \(a tuple cannot be changed\)"):
        rebind_everywhere(stage.items[0], stage.new).__enter__()


def test_the_very_tuple_and_the_very_wrapper_come_back(stage):
    play(stage, "def f(a=op, b=op): pass\nclass Box: go = staticmethod(op)")
    defaults, wrapper = stage.f.__defaults__, vars(stage.Box)["go"]
    with rebind_everywhere(stage.op, stage.new):
        assert stage.f.__defaults__ == (stage.new, stage.new)
        assert stage.Box.go is stage.new
    assert stage.f.__defaults__ is defaults
    assert vars(stage.Box)["go"] is wrapper


def test_a_replacement_without_a_hash_stays_out_of_sets(stage):
    play(stage, "class New:\n __hash__ = None\n def __call__(self): return 'new'\nitems = {op}")
    with rebind_everywhere(stage.op, stage.New()) as rebinding:
        assert rebinding.left[0].reason == "the replacement has no hash"
    assert stage.op in stage.items


def test_a_specialised_property_follows_the_rebinding(stage):
    play(stage, "class Box: go = property(lambda self: 'old')\nbox = Box()\nread = lambda: box.go")
    getter = vars(stage.Box)["go"].fget
    stage.new = lambda self: "new"
    assert {stage.read() for _ in range(100)} == {"old"}
    with rebind_everywhere(getter, stage.new):
        assert {stage.read() for _ in range(100)} == {"new"}
    assert {stage.read() for _ in range(100)} == {"old"}


def test_the_scan_reaches_the_modules_alone(stage):
    play(stage, "items = [op]")
    old = stage.op
    with rebind_everywhere(old, stage.new, search="scan"):
        assert stage.op is stage.new
        assert stage.items[0] is old
    assert stage.op is old


@quick
def test_kept_places_stay_and_say_so(stage):
    play(stage, "alias = op\nitems = [op]")
    old = stage.op
    with rebind_everywhere(old, stage.new, keep=("stage.alias", "stage.items*")) as rebinding:
        assert stage.alias is stage.items[0] is old
        assert {row.reason for row in rebinding.left} == {"kept, as asked"}


@pytest.mark.parametrize("asked", ["keep", "only"])
def test_a_path_that_names_no_place_is_refused(stage, asked):
    with pytest.raises(ValueError, match="'stage.typo' names no place that holds it"):
        rebind_everywhere(stage.op, stage.new, **{asked: "stage.typo"}).__enter__()
    assert stage.op() == "old"


WRAPPERS = {
    "a closure": "def make(f):\n def wrapper(): return 'new ' + f()\n return wrapper\n"
    "wrap = make(op)",
    "a default": "def wrap(f=op): return 'new ' + f()",
    "a keyword default": "def wrap(*, f=op): return 'new ' + f()",
    "an attribute": "class W:\n def __call__(self): return 'new ' + self.f()\n"
    "wrap = W(); wrap.f = op",
    "a slot": "class W:\n __slots__ = ('f',)\n def __call__(self): return 'new ' + self.f()\n"
    "wrap = W(); wrap.f = op",
    "__wrapped__": "def wrap(): return 'new ' + wrap.__wrapped__()\nwrap.__wrapped__ = op",
    "a global name": "original = op\ndef wrap(): return 'new ' + original()",
    "a name used by a lambda inside": "original = op\n"
    "def wrap(): return (lambda: 'new ' + original())()",
    "a helper beside it": "original = op\ndef helper(): return original()\n"
    "def wrap(): return 'new ' + helper()",
    "a list": "originals = [op]\ndef wrap(): return 'new ' + originals[0]()",
    "a dict": "originals = {'op': op}\ndef wrap(): return 'new ' + originals['op']()",
    "a partial": "wrap = functools.partial(lambda f: 'new ' + f(), op)",
    "functools.wraps": "def make(f):\n @functools.wraps(f)\n def wrapper(): return 'new ' + f()\n"
    " return wrapper\nwrap = make(op)",
    "two wrappers": "def make(f):\n def wrapper(): return 'new ' + f()\n return wrapper\n"
    "def outer(g):\n def wrapper(): return g()\n return wrapper\nwrap = outer(make(op))",
}


@quick
@pytest.mark.parametrize("source", WRAPPERS.values(), ids=WRAPPERS.keys())
def test_a_replacement_still_reaches_the_original_through(stage, source):
    play(stage, "alias = op\n" + source)
    with rebind_everywhere(stage.op, stage.wrap) as rebinding:
        assert stage.alias() == "new old"
        assert "the replacement itself needs it" in {row.reason for row in rebinding.left}
    assert stage.alias() == "old"


@quick
@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt, SystemExit])
def test_an_exception_inside_restores_and_goes_on(stage, error):
    play(stage, "items = [op]")
    before, old = bindings(stage.op), stage.op
    with pytest.raises(error), rebind_everywhere(old, stage.new):
        raise error
    assert bindings(old) == before


def test_a_place_that_does_not_take_the_original_back_is_named(stage, monkeypatch):
    class Greedy(types.ModuleType):
        def __setattr__(self, name, value):
            if value() == "old":
                raise PermissionError
            super().__setattr__(name, value)

    greedy = Greedy("aa_greedy")
    vars(greedy)["go"] = stage.op
    monkeypatch.setitem(sys.modules, "aa_greedy", greedy)
    old = stage.op
    sentence = "aa_greedy.go refused to take the function op back; all others hold it again"
    with pytest.raises(RuntimeError, match=sentence), rebind_everywhere(old, stage.new):
        assert greedy.go is stage.new
    assert stage.op is old


@quick
def test_rebindings_nest(stage):
    play(stage, "items = [op]\ndef third(): return 'third'")
    before, old = bindings(stage.op), stage.op
    with rebind_everywhere(old, stage.new, only="stage.items*"):
        with rebind_everywhere(stage.new, stage.third, only="stage.items*"):
            assert stage.items[0]() == "third"
        assert stage.items[0]() == "new"
    assert bindings(old) == before


@quick
def test_rebindings_left_in_the_wrong_order_lose_nothing(stage):
    play(stage, "items = [op]\nclass Box: go = staticmethod(op)\ndef third(): return 'third'")
    before, old = bindings(stage.op), stage.op
    outer = rebind_everywhere(old, stage.new)
    outer.__enter__()
    inner = rebind_everywhere(stage.items[0], stage.third, keep="stage.new")
    inner.__enter__()
    with pytest.raises(RuntimeError, match="leave the inner one first"):
        outer.__exit__(None, None, None)
    assert stage.items[0]() == stage.Box.go() == "old"
    inner.__exit__(None, None, None)
    assert bindings(old) == before


@quick
def test_a_place_that_somebody_else_changed_is_left_and_named(stage):
    play(stage, "alias = op")
    old = stage.op
    sentence = "something else changed stage.alias, which was left"
    with pytest.raises(RuntimeError, match=sentence), rebind_everywhere(old, stage.new):
        stage.alias = 5
    assert (stage.op, stage.alias) == (old, 5)


LEARNERS = {
    "module attribute": "copied = op",
    "dict value": "chosen(True)",  # singledispatch keeps what it has dispatched to
    "C-level holder": "remembered()",
    "list item": "items.append(op)",
}


@quick
@pytest.mark.parametrize(("kind", "source"), LEARNERS.items(), ids=LEARNERS)
def test_what_came_to_hold_the_replacement_in_the_block_is_told_at_its_end(stage, kind, source):
    play(
        stage,
        """
        items = []
        def op(x=0): return "old"
        def new(x=0): return "new"
        chosen = functools.singledispatch(lambda x: 0)
        chosen.register(int)(op)
        @functools.lru_cache
        def remembered(): return op
        """,
    )
    told = f"the function op: after the block, the replacement is left over in 1 place ({kind}: 1)"
    with (
        pytest.warns(RuntimeWarning, match=re.escape(told)) as warned,
        rebind_everywhere(stage.op, stage.new) as rebinding,
    ):
        play(stage, source)
    assert warned[0].filename == __file__
    assert [row.kind for row in rebinding.leftover] == [kind]
    assert repr(rebinding).endswith(f"; {told.partition(': ')[2]}.")


QUIET = {
    "a mock": "Mock()",
    "a mock of a class of its own": "MagicMock()",
    "a cache": "functools.lru_cache(lambda: 'new')",
    "an object that keeps itself": "Keeps()",
}


@quick
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("made", QUIET.values(), ids=QUIET)
def test_what_only_the_replacement_leads_to_is_not_left_over(stage, made):
    play(stage, "from unittest.mock import MagicMock, Mock")
    play(stage, "class Keeps:\n def __call__(self): self.last = self.__call__")
    stage.new = eval(made, vars(stage))
    with rebind_everywhere(stage.op, stage.new) as rebinding:
        stage.op()
    assert rebinding.leftover == ()


@quick
@pytest.mark.filterwarnings("error")
def test_what_another_open_block_holds_is_not_left_over(stage):
    play(stage, "def other(): pass")
    outer, inner = (rebind_everywhere(one, stage.new) for one in (stage.op, stage.other))
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    inner.__exit__(None, None, None)
    assert outer.leftover == inner.leftover == ()


@quick
def test_a_rebinding_is_entered_once_at_a_time_and_again_later(stage):
    rebinding = rebind_everywhere(stage.op, stage.new)
    for _ in range(2):
        with rebinding, pytest.raises(RuntimeError, match="active already"):
            rebinding.__enter__()
        assert stage.op() == "old"


@pytest.mark.parametrize(
    "value", [None, True, 1, 1.5, "op", b"op", (), ..., NotImplemented, frozenset(), 2j, range(3)]
)
def test_values_that_the_interpreter_shares_are_refused(value):
    with pytest.raises(ValueError, match="the interpreter shares"):
        rebind_everywhere(value, print)


def test_what_must_not_be_rebound_is_refused_in_one_sentence(stage):
    with pytest.raises(ValueError, match="replaced by itself"):
        rebind_everywhere(stage.op, stage.op)
    with pytest.raises(TypeError, match="the function op can be called, and a list cannot"):
        rebind_everywhere(stage.op, [])
    with pytest.raises(TypeError, match="the class int is built in"):
        rebind_everywhere(int, float)
    with pytest.raises(TypeError, match="the module stage is a module"):
        rebind_everywhere(stage, print)
    with pytest.raises(ValueError, match='search must be "thorough" or "scan"'):
        rebind_everywhere(stage.op, stage.new, search="quick")
    with pytest.raises(ValueError, match="nothing that can be seen holds the function <lambda>"):
        rebind_everywhere(lambda: None, print).__enter__()


def test_a_numpy_function_is_rebound_in_every_module_of_numpy():
    numpy = pytest.importorskip("numpy")
    old = numpy.mean
    before = bindings(old)
    with rebind_everywhere(old, lambda *_, **__: "new"):
        assert numpy.mean([1]) == numpy._core.fromnumeric.mean([1]) == "new"
    assert numpy.mean([1, 3]) == 2
    assert bindings(old) == before


@quick
def test_swapped_code_runs_on_every_route_and_comes_back(stage):
    play(stage, "items = [op]\ndef donor(): return 'donor'")
    before = bindings(stage.op)
    with code_swapped(stage.op, stage.donor) as function:
        assert function is stage.op
        assert stage.op() == stage.items[0]() == "donor"
    assert stage.op() == "old"
    assert bindings(stage.op) == before


def test_code_that_does_not_fit_is_refused(stage):
    def outer():
        return stage

    with pytest.raises(ValueError, match="op has 0 free variables and the donor has 1"):
        code_swapped(stage.op, outer)
    with pytest.raises(TypeError, match="the function len is no Python function"):
        code_swapped(len, stage.op)
    with pytest.raises(TypeError, match="functools.partial around .* is no Python function"):
        code_swapped(stage.op, functools.partial(stage.op))


def test_swaps_left_in_the_wrong_order_end_at_the_first_code(stage):
    play(stage, "def third(): return 'third'")
    outer, inner = code_swapped(stage.op, stage.new), code_swapped(stage.op, stage.third)
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(RuntimeError, match="leave the inner swap first"):
        outer.__exit__(None, None, None)
    inner.__exit__(None, None, None)
    assert stage.op() == "old"


def call(route):
    return route()


@quick
def test_the_scoreboard_tells_which_routes_a_rebinding_reached(stage):
    play(stage, "alias = op\nitems = [op]\ndef f(g=op): return g()\ndef broken(): return 1 / 0")
    old, new = stage.op, stage.new
    routes = {
        "alias": lambda: stage.alias(),
        "list": lambda: stage.items[0](),
        "default": lambda: stage.f(),
        "broken": lambda: stage.broken(),
    }
    board = watch_callers(
        routes,
        call,
        {
            "scan": lambda: rebind_everywhere(old, new, search="scan"),
            "thorough": lambda: rebind_everywhere(old, new),
        },
    )
    assert board.headings == ("nothing", "scan", "thorough")
    words = {entry.subject: [verdict.word for verdict in entry.verdicts] for entry in board.entries}
    assert words == {
        "alias": ["old", "new", "new"],
        "list": ["old", "old", "new"],
        "default": ["old", "old", "new"],
        "broken": ["ZeroDivisionError"] * 3,
    }
    tones = [[verdict.tone for verdict in entry.verdicts] for entry in board.entries]
    assert tones[1] == ["plain", "plain", "changed"]
    assert tones[3] == ["failed"] * 3


def test_variables_of_running_calls_are_not_counted_and_that_is_said(stage):
    held = stage.op
    with rebind_everywhere(stage.op, lambda *given: "new") as patch:
        assert held() == "old"
    assert "; variables of running calls are not counted." in repr(patch)


@pytest.mark.parametrize("new", [None, True, "text", (1, 2)])
def test_who_else_holds_a_value_that_all_share_is_not_asked(new, monkeypatch):
    monkeypatch.setattr(rebind, "find_holders_of_both", None)
    settings = {"on": 1}
    table = {"settings": settings}
    with rebind_everywhere(settings, new, only="*settings*") as block:
        table["other"] = new
        assert table["settings"] is new
    assert table["settings"] is settings and block.leftover == ()


def test_a_generator_that_waits_goes_on_with_the_code_it_began_with(stage):
    play(stage, "def source():\n yield 'old'\n yield 'old'\ndef donor(): yield 'new'")
    waiting = stage.source()
    next(waiting)
    with code_swapped(stage.source, stage.donor):
        assert next(waiting) == "old" and next(stage.source()) == "new"


@pytest.mark.parametrize("asked", [3, None, [3], {"a": 1}, [["a"]]])
@pytest.mark.parametrize("name", ["keep", "only"])
def test_what_is_no_path_is_refused(stage, name, asked):
    with pytest.raises(TypeError, match=f"{name} is a path such as"):
        rebind_everywhere(stage.op, stage.new, **{name: asked})


def test_builtins_and_the_house_s_own_names_are_left():
    with pytest.raises(ValueError, match="len .Python's own modules and the kernel rely on it"):
        rebind_everywhere(len, max, only="builtins.len").__enter__()
    with pytest.raises(ValueError, match="what puts everything back relies on it"):
        code_swapped(rebind_everywhere, code_swapped.begin)

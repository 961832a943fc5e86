"""Every place is rebound, every place comes back, and what must not be touched is not."""

import contextlib
import gc
import itertools
import re

import pytest

from helpers import code_swapped
from helpers.capture.references.binding_list import list_bindings
from helpers.capture.references.fixed_places import OURS, PYTHONS
from helpers.capture.references.place_patterns import KEPT
from helpers.capture.references.places import FIXED_REASONS
from helpers.capture.references.rebind import NEEDED_BY_NEW, NEEDED_BY_OLD, rebind_everywhere
from tests.capture import test_references
from tests.capture.test_references import CASES, play

# The whole heap is looked through: here it is that of a fresh interpreter, without frameworks.
pytestmark = pytest.mark.own_process(sharing="a_small_heap")

stage = test_references.stage
quick = pytest.mark.usefixtures("small_heap")


@pytest.fixture
def small_heap():
    """Set aside what was there before: a search finds the same in the rest, and sooner."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@quick
@pytest.mark.parametrize(("kind", "path", "source", "probe"), CASES)
def test_each_kind_alone_is_rebound_and_restored_or_reported(stage, kind, path, source, probe):
    play(stage, source)
    old, new, path = stage.op, stage.new, f"stage.{path}"
    (row,) = [row for row in list_bindings(old).rows if row.path == path]
    assert (row.kind, row.rebindable, bool(row.reason)) == (kind, bool(probe), not probe)
    with rebind_everywhere(old, new) as rebinding:
        assert stage.op is new
        assert path in [row.path for row in (rebinding.changed if probe else rebinding.left)]
        assert not probe or eval(probe, vars(stage)) is new
    assert stage.op is old
    assert not probe or eval(probe, vars(stage)) is old


def test_only_read_only_holders_are_an_error_that_names_the_reason(stage):
    play(stage, "items = (op,)\ndel op")
    reason = re.escape(f"stage.items[0] ({FIXED_REASONS['tuple item']})")
    with pytest.raises(ValueError, match=reason):
        rebind_everywhere(stage.items[0], stage.new).__enter__()


@quick
def test_what_is_printed_names_both_functions_by_their_lines_and_lists_the_places(stage):
    source = "def op(): pass\ndef make():\n    def op(): pass\n    return op"
    exec(compile(source, "/own/a.py", "exec"), vars(stage))
    play(stage, "items = [op] * 20\nheld = (op,)")
    block = rebind_everywhere(stage.op, stage.make())
    assert re.findall(r"a\.py:\d", repr(block)) == ["a.py:1", "a.py:3"]
    with block:
        head, *lines = repr(block).split("\n")
    assert re.match(r"the function op \(a\.py:1\): 21 of 22 .* 1 left", head)
    assert lines[:2] == ["  stage.op", "  stage.items[0]"] and lines[-1].startswith("  … 10 more")


@quick
def test_kept_places_stay_and_say_so(stage):
    play(stage, "alias = op\nitems = [op]")
    old = stage.op
    with rebind_everywhere(old, stage.new, keep=("stage.alias", "stage.items*")) as rebinding:
        assert stage.alias is stage.items[0] is old
        assert {row.reason for row in rebinding.left} == {KEPT}


@pytest.mark.parametrize("asked", ["keep", "only"])
def test_a_path_that_names_no_place_is_refused(stage, asked):
    with pytest.raises(ValueError, match="'stage.typo'.* stage.op"):
        rebind_everywhere(stage.op, stage.new, **{asked: "stage.typo"}).__enter__()
    assert stage.op() == "old"


WRAPPERS = {
    "a default": "def wrap(f=op): return 'new ' + f()",
    "a keyword default": "def wrap(*, f=op): return 'new ' + f()",
    "an attribute": "class W:\n def __call__(self): return 'new ' + self.f()\n"
    "wrap = W(); wrap.f = op",
    "__wrapped__": "def wrap(): return 'new ' + wrap.__wrapped__()\nwrap.__wrapped__ = op",
    "a global name": "original = op\ndef wrap(): return 'new ' + original()",
    "a helper beside it": "original = op\ndef helper(): return original()\n"
    "def wrap(): return 'new ' + helper()",
    "a list": "originals = [op]\ndef wrap(): return 'new ' + originals[0]()",
    "a dict": "originals = {'op': op}\ndef wrap(): return 'new ' + originals['op']()",
    "functools.wraps": "def make(f):\n @functools.wraps(f)\n def wrapper(): return 'new ' + f()\n"
    " return wrapper\nwrap = make(op)",
}


@quick
@pytest.mark.parametrize("source", WRAPPERS.values(), ids=WRAPPERS.keys())
def test_a_replacement_still_reaches_the_original_through(stage, source):
    play(stage, "alias = op\n" + source)
    with rebind_everywhere(stage.op, stage.wrap) as rebinding:
        assert stage.alias() == "new old"
        assert NEEDED_BY_NEW in {row.reason for row in rebinding.left}
    assert stage.alias() == "old"


OWN = {
    "an attribute": "def op(): return original.__self__.tag\nop.__self__ = op",
    "a keyword default": "def op(*, k=None): return k.tag\nop.__kwdefaults__['k'] = op",
    "a default": "def op(me=None): return me.tag\nop.__defaults__ = (op,)",
    "its closure": "def make():\n def op(): return op.tag\n return op\nop = make()",
}


@quick
@pytest.mark.parametrize("source", OWN.values(), ids=OWN.keys())
def test_what_the_old_function_refers_to_itself_with_stays(stage, source):
    play(stage, f"{source}\nop.tag = 'old'\noriginal = alias = op")
    play(stage, "def wrap(): return 'new ' + original()")
    with rebind_everywhere(stage.op, stage.wrap) as rebinding:
        assert stage.alias() == "new old"
        assert NEEDED_BY_OLD in {row.reason for row in rebinding.left}


@quick
@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
def test_an_exception_inside_restores_and_goes_on(stage, error):
    play(stage, "items = [op]")
    before, old = list_bindings(stage.op), stage.op
    with pytest.raises(error), rebind_everywhere(old, stage.new):
        raise error
    assert list_bindings(old) == before


@quick
def test_rebindings_nest(stage):
    play(stage, "items = [op]\ndef third(): return 'third'")
    before, old = list_bindings(stage.op), stage.op
    with rebind_everywhere(old, stage.new, only="stage.items*"):
        with rebind_everywhere(stage.new, stage.third, only="stage.items*"):
            assert stage.items[0]() == "third"
        assert stage.items[0]() == "new"
    assert list_bindings(old) == before


@quick
def test_a_place_that_somebody_else_changed_is_left_and_named(stage):
    play(stage, "alias = op")
    old = stage.op
    with rebind_everywhere(old, stage.new) as block:
        stage.alias = 5
    assert (stage.op, stage.alias) == (old, 5)
    assert [row.path for row in block.kept] == ["stage.alias"]
    assert "stage.alias" in repr(block).splitlines()[-1]


# What a program does in the block -> the places that are then the program's own.
CHANGES = {
    "": [],
    "del alias": ["stage.alias"],
    "alias = 5": ["stage.alias"],
    "alias, more = new, 3": [],
    "items.clear()": ["stage.items[0]", "stage.items[2]"],
    "items.insert(0, 7)": [],
    "del items[0]": ["stage.items[0]"],
    "items.append(8); items.reverse()": [],
    "items[:] = [items[0]]": ["stage.items[2]"],
    "queue.rotate(1)": [],
    "queue.clear()": ["stage.queue[0]"],
    "table.clear()": ["stage.table['key']"],
    "table['key'], table['more'] = 4, 5": ["stage.table['key']"],
    "members.clear()": ["stage.members{member}"],
    "del Kind.action": ["stage.Kind.action"],
    "Kind.action, Kind.more = 3, 4": ["stage.Kind.action"],
    "del one.action": ["stage.one.action"],
    "one.more = one.action": [],
    "one.__dict__.clear()": ["stage.one.action"],
    "user.__defaults__ = None": ["stage.user.__defaults__[0]"],
    "user.__defaults__ = (6,)": ["stage.user.__defaults__[0]"],
    "action_of_closure(5)": ["stage.closed.<closure>.action"],
    "del alias, items, table, one, Kind": ["stage.alias"],
    "alias = 5; raise KeyError": ["stage.alias"],
}


@quick
@pytest.mark.parametrize("change", CHANGES)
def test_what_the_program_changes_in_the_block_is_its_own_and_the_rest_comes_back(stage, change):
    play(
        stage,
        """
        from collections import deque
        alias, items, queue, table, members = op, [op, 1, op], deque([op, 2]), {"key": op}, {op}
        class Kind: action = op
        class Other: pass
        one = Other()
        one.action = op
        def user(x=op): return x
        def closure(action):
            def closed(): return action
            def put(value):
                nonlocal action
                action = value
            return closed, put
        closed, action_of_closure = closure(op)
        """,
    )
    old, new = stage.op, stage.new
    with contextlib.suppress(KeyError), rebind_everywhere(old, new) as block:
        changed = [row.path for row in block.changed]
        exec(change, vars(stage))
    assert stage.op is old
    kept = [row.path for row in block.kept]
    assert len(kept) == len(CHANGES[change])
    if "closure" not in change:
        assert kept == CHANGES[change]
    found = {row.path for row in list_bindings(old).rows}
    if not change:
        assert found >= set(changed)
    assert (kept == []) == ("Your code changed" not in repr(block))


@quick
def test_a_rebinding_is_entered_once_at_a_time_and_again_later(stage):
    rebinding = rebind_everywhere(stage.op, stage.new)
    for _ in range(2):
        with rebinding, pytest.raises(RuntimeError, match="already active"):
            rebinding.__enter__()
        assert stage.op() == "old"


def test_what_must_not_be_rebound_is_refused_in_one_sentence(stage, refused):
    def rebinds(*args, **options):
        return rebind_everywhere(*args, **options).__enter__()

    op, new, bind = stage.op, stage.new, rebind_everywhere
    refused(ValueError, "replaced by itself", bind, op, op)
    refused(TypeError, "the function op can be called, but a list cannot", bind, op, [])
    refused(TypeError, "the class int is built in", bind, int, float)
    refused(TypeError, "the module stage is a module", bind, stage, print)
    refused(ValueError, "the interpreter shares", bind, None, print)
    refused(TypeError, "only must be a path such as", bind, op, new, only=[3])
    refused(ValueError, 'search must be "thorough" or "scan"', bind, op, new, search="quick")
    refused(ValueError, "no visible place holds the function <lambda>", rebinds, lambda: 0, print)


@quick
def test_swapped_code_runs_on_every_route_and_comes_back(stage):
    play(stage, "items = [op]\ndef donor(): return 'donor'")
    before = list_bindings(stage.op)
    with code_swapped(stage.op, stage.donor) as function:
        assert function is stage.op
        assert stage.op() == stage.items[0]() == "donor"
    assert stage.op() == "old"
    assert list_bindings(stage.op) == before


@quick
def test_code_that_the_program_sets_inside_a_swap_stays(stage):
    play(stage, "def donor(): return 'donor'")
    with code_swapped(stage.op, stage.donor):
        stage.op.__code__ = stage.new.__code__
    assert stage.op() == "new"


@quick
@pytest.mark.parametrize("order", itertools.permutations(range(3)))
def test_swaps_of_one_function_end_in_any_order(stage, order):
    first = stage.op.__code__
    swaps = [code_swapped(stage.op, eval(f"lambda: {number}")) for number in range(3)]
    for swap in swaps:
        swap.__enter__()
    active = [0, 1, 2]
    for number in order:
        swaps[number].__exit__(None, None, None)
        active.remove(number)
        assert stage.op() == (active[-1] if active else "old")
    assert stage.op.__code__ is first


def test_code_that_does_not_fit_is_refused(stage, refused):
    def outer():
        return stage

    with pytest.raises(ValueError, match="op has 0 .* the donor has 1"):
        code_swapped(stage.op, outer)
    refused(TypeError, "the function len is not a Python function", code_swapped, len, stage.op)


def test_builtins_and_the_house_s_own_names_are_left():
    with pytest.raises(ValueError, match=f"len .{PYTHONS}"):
        rebind_everywhere(len, max, only="builtins.len").__enter__()
    with pytest.raises(ValueError, match=OURS):
        code_swapped(rebind_everywhere, list_bindings)

"""A rebinding replaces an object wherever it is found, and puts it back afterwards."""

import functools
import gc
import sys
import types

import pytest

from helpers.capture.references.place_patterns import KEPT, NOT_SELECTED
from helpers.capture.references.rebind import NEEDED_BY_NEW, rebind_everywhere


@pytest.fixture
def app(monkeypatch):
    """Put a module into a heap that is small because the rest is set aside."""
    gc.collect()
    gc.freeze()
    module = types.ModuleType("made_app")
    source = """
import functools

def op(value=0):
    return "old"

def new(value=0):
    return "new"

def wrapper(value=0):
    return saved(value)

@functools.cache
def cached(value):
    return op(value)

@functools.cache
def other(value):
    return value

saved = op
items = [op, 1]
table = {"op": op}
"""
    exec(source, vars(module))
    monkeypatch.setitem(sys.modules, "made_app", module)
    yield module
    gc.unfreeze()


def list_paths(bindings):
    return sorted(row.path for row in bindings)


ALL = ["made_app.items[0]", "made_app.op", "made_app.saved", "made_app.table['op']"]


def read_places(app):
    return [app.op(), app.saved(), app.items[0](), app.table["op"]()]


def test_every_place_is_replaced_in_the_block_and_restored_after_it(app):
    rebinding = rebind_everywhere(app.op, app.new)
    assert (rebinding.changed, rebinding.left, rebinding.kept) == ((), (), ())
    with rebinding as entered:
        assert entered is rebinding
        assert read_places(app) == ["new"] * 4
        assert list_paths(rebinding.changed) == ALL
        assert all(row.rebindable for row in rebinding.changed)
    assert read_places(app) == ["old"] * 4
    assert rebinding.kept == ()


def test_a_scan_finds_only_global_names(app):
    with rebind_everywhere(app.op, app.new, search="scan") as rebinding:
        assert read_places(app) == ["new", "new", "old", "old"]
    assert list_paths(rebinding.changed) == ["made_app.op", "made_app.saved"]
    assert read_places(app) == ["old"] * 4


def test_kept_places_stay_and_have_their_reason(app):
    with rebind_everywhere(app.op, app.new, keep="made_app.items*") as rebinding:
        assert read_places(app) == ["new", "new", "old", "new"]
    assert [(row.path, row.reason) for row in rebinding.left] == [("made_app.items[0]", KEPT)]


def test_only_selected_places_change(app):
    with rebind_everywhere(app.op, app.new, only=["made_app.op"]) as rebinding:
        assert read_places(app) == ["new", "old", "old", "old"]
    assert list_paths(rebinding.changed) == ["made_app.op"]
    assert {row.reason for row in rebinding.left} == {NOT_SELECTED}
    assert len(rebinding.left) == 3


def test_what_the_replacement_calls_stays(app):
    with rebind_everywhere(app.op, app.wrapper) as rebinding:
        assert app.op() == "old"
        assert app.saved() == "old"
    assert [(row.path, row.reason) for row in rebinding.left] == [("made_app.saved", NEEDED_BY_NEW)]


def test_what_the_program_writes_in_the_block_stays_and_is_listed(app):
    with rebind_everywhere(app.op, app.new) as rebinding:
        app.saved = len
        app.items.insert(0, "moved")
        app.table["op"] = rebinding.old
    assert app.saved is len
    assert app.items[1]() == app.table["op"]() == app.op() == "old"
    assert list_paths(rebinding.kept) == ["made_app.saved"]


def test_an_error_in_the_block_restores_everything(app):
    with pytest.raises(KeyError), rebind_everywhere(app.op, app.new):
        raise KeyError
    assert read_places(app) == ["old"] * 4


def test_a_block_is_left_once(app, refused):
    rebinding = rebind_everywhere(app.op, app.new)
    refused(RuntimeError, "not active", rebinding.__exit__, None, None, None)
    with rebinding:
        pass
    refused(RuntimeError, "not active", rebinding.__exit__, None, None, None)


def test_caches_that_may_have_old_answers_are_named(app):
    def list_caches():
        with rebind_everywhere(app.op, app.new) as rebinding:
            return rebinding._caches

    app.other(1)
    assert list_caches() == ()
    app.cached(1)
    assert list_caches() == ("made_app.cached",)
    app.cached.cache_clear()
    assert list_caches() == ()


def test_a_cached_function_itself_may_have_old_answers(app):
    app.own = functools.cache(app.op)
    app.own(1)
    with rebind_everywhere(app.op, app.new) as rebinding:
        assert rebinding._caches == ("made_app.op",)


REFUSED = {
    "itself": (ValueError, "itself", len, len),
    "a shared value": (ValueError, "shares", 3, 4),
    "a module": (TypeError, "is a module", types, sys),
    "a built-in class": (TypeError, "built in", int, float),
    "no function for a function": (TypeError, "can be called", functools.wraps, []),
    "a shared replacement": (ValueError, "which is shared", [1], None),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_objects_that_must_stay_are_refused(refused, kind):
    error, words, old, new = REFUSED[kind]
    refused(error, words, rebind_everywhere, old, new)


def test_arguments_are_checked_before_anything_is_searched(app, refused):
    refused(ValueError, "search must be", lambda: rebind_everywhere(app.op, app.new, search="all"))
    refused(TypeError, "keep", lambda: rebind_everywhere(app.op, app.new, keep=3))
    refused(TypeError, "only", lambda: rebind_everywhere(app.op, app.new, only=3))


def test_patterns_that_match_nothing_and_objects_without_a_place_are_refused(app, refused):
    typo = rebind_everywhere(app.op, app.new, keep="made_app.typo")
    refused(ValueError, "made_app.typo", typo.__enter__)
    everything = rebind_everywhere(app.op, app.new, keep="*")
    refused(ValueError, "can be rebound", everything.__enter__)
    assert read_places(app) == ["old"] * 4

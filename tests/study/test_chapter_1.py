"""helpers/study/chapter_1: what the judges count as a holder, and what they restore."""

import functools
import inspect
import sys
from types import ModuleType

import pytest

from helpers.study.chapter_1.default_finder import _list_defaults
from helpers.study.chapter_1.rebinding import _rebind_everywhere
from helpers.study.chapter_1.who_kept import _refers_to


def op(x):
    return x


def with_default(f=op):
    return f


def with_keyword_default(*, f=op):
    return f


def make_closure(f):
    return lambda: f


class Layer:
    call = staticmethod(op)


HOLDERS = {
    "the op": op,
    "default": with_default,
    "keyword-only default": with_keyword_default,
    "cell": make_closure(op),
    "partial": functools.partial(op, 1),
    "dict": {"op": op},
    "class": Layer,
}
OTHERS = {
    "partial with the op as an argument": functools.partial(map, op),
    "nested dict": {"table": {"op": op}},
    "function that reads the name": lambda: op,
    "text": "op",
}


@pytest.mark.parametrize("name", HOLDERS)
def test_a_holder_refers_to_the_op(name):
    assert _refers_to(HOLDERS[name], op)


@pytest.mark.parametrize("name", OTHERS)
def test_what_refers_to_it_by_a_detour_is_no_holder(name):
    assert not _refers_to(OTHERS[name], op)


def test_defaults_are_those_of_the_signature():
    def fn(a, /, b, c=1, *rest, d, e=2, **more):
        later = 3
        return later

    parameters = inspect.signature(fn).parameters.values()
    expected = [(p.name, p.default) for p in parameters if p.default is not p.empty]
    assert _list_defaults(fn) == expected == [("c", 1), ("e", 2)]
    assert _list_defaults(lambda a: a) == []


def test_an_error_in_the_block_restores_every_name(monkeypatch):
    old, new = op, with_default  # the globals of this module are rebound as well
    module = ModuleType("held")
    module.one = module.two = old
    module.other = new
    monkeypatch.setitem(sys.modules, "held", module)
    with pytest.raises(KeyError), _rebind_everywhere(old, new):
        assert module.one is module.two is new and op is new
        raise KeyError
    assert module.one is module.two is old and module.other is new and op is old

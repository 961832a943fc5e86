"""Every kind of holder is found and named; hostile neighbours are left alone."""

import re
import sys
import textwrap
import types

import pytest

from helpers.capture.references import binding_list, holder_search
from helpers.capture.references.binding_list import build_binding_graph, list_bindings
from helpers.capture.references.holder_search import find_holders
from helpers.safety.restoring import HiddenFromSearch
from tests.pythons import finished

# The whole heap is looked through: here it is that of a fresh interpreter, without frameworks.
pytestmark = pytest.mark.own_process(sharing="a_small_heap")

START = """
import collections, functools, types
def op(): return "old"
def new(): return "new"
"""

# kind, path, what makes the place, an expression that reads it (empty: cannot be rebound)
CASES = [
    ("module attribute", "alias", "alias = op", "alias"),
    ("hidden module attribute", "hid.go", "hid = types.ModuleType('hid'); hid.go = op", "hid.go"),
    ("class attribute", "Box.go", "class Box: go = op", "Box.go"),
    ("class attribute", "Box.go", "class Box: go = staticmethod(op)", "Box.go"),
    ("class attribute", "Box.go", "class Box: go = classmethod(op)", "vars(Box)['go'].__func__"),
    ("instance attribute", "Box.go.fget", "class Box: go = property(op)", ""),
    ("instance attribute", "box.go", "class Box: pass\nbox = Box(); box.go = op", "box.go"),
    ("instance attribute", "Box.go.func", "class Box: go = functools.cached_property(op)",
     "vars(Box)['go'].func"),
    ("function attribute", "f.__wrapped__", "def f(): pass\nf.__wrapped__ = op", "f.__wrapped__"),
    ("function attribute", "f.__wrapped__", "f = functools.lru_cache(op)", "f.__wrapped__"),
    ("C-level holder", "f(inside the C object)", "f = functools.lru_cache(op)", ""),
    ("instance attribute", "box.go",
     "class Box: __slots__ = ('go', 'empty')\nbox = Box(); box.go = op", ""),
    ("local variable", "steps.held",
     "def walk(held):\n yield held\nsteps = walk(op); next(steps)", ""),
    ("local variable", "work.held", "def work(held): return lambda: held, 1 / 0\n"
     "try: work(op)\nexcept Exception as error: kept = error", ""),
    ("dict value", "work.known['a']", "def work(it): known = {'a': it}; 1 / 0\n"
     "try: work(op)\nexcept Exception as error: kept = error",
     "kept.__traceback__.tb_next.tb_frame.f_locals['known']['a']"),
    ("dict value", "f.registry[str]",
     "@functools.singledispatch\ndef f(x): pass\nf.register(str, op)", "f.dispatch(str)"),
    ("default argument", "f.__defaults__[1]", "def f(a=1, b=op): pass", "f.__defaults__[1]"),
    ("keyword default", "f.__kwdefaults__['k']", "def f(*, k=op): pass", "f.__kwdefaults__['k']"),
    ("closure cell", "outer.<locals>.inner.held",
     "def outer(held):\n def inner(): return held\n return inner\nf = outer(op)", "f()"),
    ("partial", "p.func", "p = functools.partial(op)", "p.func"),
    ("bound method", "m.__func__", "m = types.MethodType(op, 3)", ""),
    ("bound method", "m.__self__", "m = types.MethodType(print, op)", ""),
    ("dict value", "table['a']", "table = {'a': op}", "table['a']"),
    ("dict value", "table[7]", "table = collections.defaultdict(int, {7: op})", "table[7]"),
    ("dict value", "table[<tuple>]", "table = {(1, 2): op}", "table[1, 2]"),
    ("dict key", "table{key}", "table = {op: 1}", ""),
    ("list item", "items[1]", "items = [0, op]", "items[1]"),
    ("list item", "table['a'][0]", "table = {'a': [op]}", "table['a'][0]"),
    ("set member", "items{member}", "items = {op, 1}", "next(x for x in items if x != 1)"),
    ("frozenset member", "items{member}", "items = frozenset([op])", ""),
    ("tuple item", "items[1]", "items = (0, op)", ""),
    ("tuple item", "p[0]", "P = collections.namedtuple('P', 'x')\np = P(op)", ""),
]  # fmt: skip


@pytest.fixture
def stage(monkeypatch):
    module = types.ModuleType("stage")
    monkeypatch.setitem(sys.modules, "stage", module)
    exec(START, vars(module))
    return module


def play(stage, source):
    exec(textwrap.dedent(source), vars(stage))


def rows(obj):
    return list_bindings(obj).rows


def paths(obj):
    return {row.path for row in rows(obj)}


def test_the_scan_finds_names_in_modules_and_nothing_else(stage):
    play(stage, "alias = op\nitems = [op]")
    assert [place.binding.path for place in holder_search.scan_modules(stage.op)] == [
        "stage.alias",
        "stage.op",
    ]
    found = {row.path: row.scan for row in rows(stage.op)}
    assert found == {"stage.alias": True, "stage.op": True, "stage.items[0]": False}


def test_nothing_is_found_for_an_object_that_only_a_local_holds():
    def lonely():
        return None

    assert rows(lonely) == ()
    assert list_bindings(lonely).note.endswith(binding_list.UNSEEN)


def test_the_title_tells_a_patch_from_what_it_wraps_and_the_note_a_cycle(stage):
    source = "def wrap(f):\n    @functools.wraps(f)\n    def inner(): return f()\n    return inner"
    exec(compile(source, "/own/plugin.py", "exec"), vars(stage))
    stage.op = stage.wrap(stage.op)
    assert list_bindings(stage.op).title.endswith(" op (plugin.py:2)")
    assert list_bindings(stage.op.__wrapped__).title.endswith(" op")
    assert binding_list.CYCLE not in list_bindings(stage.op).note
    play(stage, "class Box:\n __slots__ = 'it'\n def __getattr__(self, name): 1 / 0")
    play(stage, "def own():\n box = Box(); box.it = [box]; return box")
    assert binding_list.CYCLE in list_bindings(stage.own()).note


def test_a_traceback_or_a_generator_is_the_reason_and_no_copy_of_the_variables_stays(stage):
    source = "def walk(held):\n    yield 1\n    held = 0\n    yield held\nsteps = walk(op)"
    exec(compile(source, "/own/plugin.py", "exec"), vars(stage))
    next(stage.steps)
    play(stage, "def work(held): 1 / 0\ntry: work(op)\nexcept Exception as error: kept = error")
    reasons = {row.reason for row in rows(stage.op) if row.kind == "local variable"}
    of_generator, of_traceback = sorted(reasons, key=lambda reason: "ZeroDivisionError" in reason)
    assert "generator" in of_generator and of_generator.endswith("plugin.py:2")
    assert "ZeroDivisionError" in of_traceback and of_traceback.endswith("stage.kept")
    next(stage.steps)
    del stage.kept
    assert paths(stage.op) == {"stage.op"}


def test_arrays_that_view_an_array_or_contain_an_object_are_named(stage):
    play(stage, "import numpy\na = numpy.ones(4)\nclass Box: pass\nbox = Box()")
    play(stage, "views = {'v': (a[:2],)}\nrows = [numpy.array([[None, box]])]")
    assert paths(stage.a) == {"stage.a", "stage.views['v'][0].base"}
    assert paths(stage.box) == {"stage.box", "stage.rows[0][1]"}


def test_a_lambda_that_keeps_an_object_has_its_line(stage):
    source = "def make(held):\n    return lambda: held\nf = make(op)"
    exec(compile(source, "/own/plugin.py", "exec"), vars(stage))
    assert "stage.make.<locals>.<lambda plugin.py:2>.held" in paths(stage.op)


def test_containers_that_the_collector_does_not_track_are_looked_into(stage):
    play(stage, "it = bytes(99)\na = {'k': it}; b = [{'k': it}]")
    play(stage, "c = {'a': {'k': it}}; d = ((it,),)")
    play(stage, "class Box:\n def __getattr__(self, name): 1 / 0\nbox = Box()")
    play(stage, "vars(box)['inside'] = {'k': it}")
    found = {"a['k']", "b[0]['k']", "c['a']['k']", "d[0][0]", "box.inside['k']"}
    assert {f"stage.{name}" for name in found} <= paths(stage.it)


def test_a_cell_is_one_place_however_many_functions_share_it(stage):
    source = "def outer(held):\n def one(): return held\n def two(): return held\n return one, two"
    play(stage, f"{source}\npair = outer(op)")
    (cell,) = [place for place in find_holders(stage.op) if place.kind == "closure cell"]
    assert cell.owners == ("stage.outer.<locals>.one", "stage.outer.<locals>.two")
    assert "stage.outer.<locals>.two.held" in cell.paths


def test_the_search_never_finds_itself(stage):
    places = find_holders(stage.op)
    assert {place.binding.path for place in find_holders(stage.op)} == {"stage.op"}
    assert all(isinstance(place, HiddenFromSearch) for place in places)


def test_scanning_imports_nothing_and_wakes_no_lazy_module(stage, monkeypatch):
    class Lazy(types.ModuleType):
        def __getattribute__(self, name):
            raise AssertionError(f"somebody asked for {name}")

    lazy = Lazy("lazy")
    types.ModuleType.__dict__["__dict__"].__get__(lazy)["go"] = stage.op
    monkeypatch.setitem(sys.modules, "lazy", lazy)
    before = set(sys.modules)
    assert paths(stage.op) == {"stage.op", "lazy.go"}
    assert set(sys.modules) == before


def test_an_object_with_a_crowd_of_holders_is_listed_up_to_a_limit_that_is_told(stage, monkeypatch):
    play(stage, "crowd = [[op] for _ in range(700)]")
    assert len(list_bindings(stage.op).rows) == 701
    monkeypatch.setattr(binding_list, "MOST_HOLDERS", 500)
    listing = list_bindings(stage.op)
    assert len(listing.rows) <= 501
    assert re.search(r"\b\d+ more objects", listing.note)


def test_classes_and_modules_can_be_looked_up_too(stage):
    play(stage, "class Box: pass\nclass Small(Box): pass\nalias = Box\nbox = Box()")
    assert {"stage.Box", "stage.alias"} <= paths(stage.Box)
    assert "sys.modules['stage']" in paths(stage)


def test_the_graph_has_an_arrow_from_every_place(stage):
    play(stage, "items = [op]")
    graph = build_binding_graph(stage.op)
    assert [node.label for node in graph.nodes[1:]] == ["stage.op", "stage.items[0]"]
    assert [node.kind for node in graph.nodes] == ["function", "name", "name"]
    arrows = [(edge.label, edge.target) for edge in graph.edges]
    assert arrows == [("module attribute", "object"), ("list item", "object")]


def test_the_history_of_a_notebook_is_no_place():
    pytest.importorskip("IPython")
    script = """
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        run = lambda line: shell.run_cell(line, store_history=True)
        run("def op(): pass")
        for _ in range(4):
            run("op")
        run("from helpers.capture.references.binding_list import list_bindings")
        run("print([row.path for row in list_bindings(op).rows])")
        run("print(Out[2] is op and _2 is op)")
    """
    done = finished([sys.executable, "-c", textwrap.dedent(script)], timeout=120)
    assert {"['__main__.op']", "True"} <= {*done.stdout.splitlines()}, done.stderr

"""What the standard library can hold an object in: each holder is found under its true name.

Where C code keeps an object out of the collector's sight, the exhibit says so.
"""

import gc
import random
import signal
import sys
import types
import weakref

import pytest

from helpers.capture.references.binding_list import ONLY_COLLECTOR, UNSEEN, list_bindings
from tests.samples import sample

pytestmark = pytest.mark.own_process(sharing="a_small_heap")

quick = pytest.mark.usefixtures("small_heap")
COUNTED = 400  # objects more that the collector may have counted; 700 make it run
NEST = sample(60, 2000)
START = """
import asyncio, codecs, collections, concurrent.futures, contextlib, contextvars, copyreg, ctypes
import dataclasses, enum, functools, heapq, io, itertools, json, logging, operator, queue
import sys, threading, types, typing, warnings, weakref
class Plain: pass
def op(*args, **options): return 1
"""

# what makes the holder `it`, and the path under which `op` must be found in it
HOLDERS = {
    "it['a']": "it = {'a': op}",
    "it['a'] of an OrderedDict": "it = collections.OrderedDict(a=op)",
    "it['a'] of a defaultdict": "it = collections.defaultdict(int, a=op)",
    "it.default_factory": "it = collections.defaultdict(op)",
    "it.maps[1]['a']": "it = collections.ChainMap({}, {'a': op})",
    "it{key}": "it = collections.Counter([op])",
    "it.data['a']": "it = collections.UserDict(a=op)",
    "it.data[0]": "it = collections.UserList([op])",
    "it['a'] behind a view": "it = types.MappingProxyType({'a': op})",
    "it['a'] of a subclass": "class D(dict): pass\nit = D(a=op)",
    "table['a']": "table = {'a': op}; it = table.values()",
    "it[1]": "it = collections.deque([1, op])",
    "it[0] of a subclass": "class D(collections.deque): pass\nit = D([op])",
    "it.queue[0]": "it = queue.Queue(); it.put(op)",
    "it[0][1]": "it = []; heapq.heappush(it, (1, op))",
    "it[0] of a namedtuple": "it = collections.namedtuple('P', 'x')(op)",
    "it.func": "it = functools.partial(op)",
    "it.args[0]": "it = functools.partial(print, op)",
    "it.keywords['k']": "it = functools.partial(print, k=op)",
    "it.go.func": "class it: go = functools.partialmethod(op)",
    "it.go.func of a cached_property": "class it: go = functools.cached_property(op)",
    "it.__wrapped__": "it = functools.lru_cache(op)",
    "it(its cache)": "it = functools.lru_cache(lambda: op); it()",
    "it(its cache)[0]": "it = functools.lru_cache(lambda x: 1); it(op)",
    "it.obj": "it = functools.cmp_to_key(lambda a, b: 0)(op)",
    "<lambda>.registry[int]": "it = functools.singledispatch(lambda x: 1); it.register(int, op)",
    "it.__callback__": "kept = Plain(); it = weakref.ref(kept, op)",
    "it.data[<ReferenceType>]": "kept = Plain(); it = weakref.WeakKeyDictionary({kept: op})",
    "it.function": "it = threading.Timer(9, op)",
    "it._target": "it = threading.Thread(target=op)",
    "it.go": "class C: __slots__ = 'go'\nit = C(); it.go = op",
    "it.go of an instance": "it = Plain(); it.go = op",
    "it.go of a class": "class it: go = op",
    "it.go.fget": "class it: go = property(op)",
    "it.go.fset": "class it: go = property(None, op)",
    "it.go.fdel": "class it: go = property(None, None, op)",
    "it.go of a classmethod": "class it: go = classmethod(op)",
    "it.go of a staticmethod": "class it: go = staticmethod(op)",
    "it.__func__": "it = staticmethod(op)",
    "make.<locals>.inner.h": "def make(h):\n def inner(): return h\n return inner\nit = make(op)",
    "it.__defaults__[0]": "def it(a=op): pass",
    "it.__kwdefaults__['a']": "def it(*, a=op): pass",
    "it.__annotations__[1]": "def it(a: op): pass",
    "it.__annotations__['a']": "class it: a: op",
    "it.h": "def g(h):\n yield\nit = g(op); next(it)",
    "it.h of a coroutine": "async def g(h): pass\nit = g(op)",
    "it.h of an async generator": "async def g(h):\n yield\nit = g(op)",
    "it(on its value stack)":
    "def ask(): return op\ndef g():\n print(ask(), (yield))\nit = g(); next(it)",
    "contextvars.copy_context()[it]": "it = contextvars.ContextVar('it'); it.set(op)",
    "signal.getsignal(SIGUSR1)": "import signal; signal.signal(signal.SIGUSR1, op)",
    "it.a": "it = types.SimpleNamespace(a=op)",
    "it.__self__[0]": "it = [op].append",
    "it.__self__": "it = types.MethodType(print, op)",
    "it.__func__ of a bound method": "it = types.MethodType(op, 3)",
    "it.args[0] of an exception": "it = ValueError(op)",
    "it.__context__.args[0]": "it = ValueError(1); it.__context__ = KeyError(op)",
    "it.__cause__.args[0]": "it = ValueError(1); it.__cause__ = KeyError(op)",
    "it.__notes__[0]": "it = ValueError(1); it.__notes__ = [op]",
    "it.exceptions[0].args[0]": "it = ExceptionGroup('g', [ValueError(op)])",
    "it.value": "it = StopIteration(op)",
    "fails.h": "def fails(h): 1 / 0\ntry: fails(op)\nexcept Exception as e: it = e",
    "fails.h of a bare traceback": "def fails(h): 1 / 0\n"
    "try: fails(op)\nexcept Exception as e: it = e.__traceback__",
    "it._objects": "it = ctypes.py_object(op)",
    "it.emit": "it = logging.Handler(); it.emit = op",
    "it.filters[0]": "it = logging.getLogger('stage'); it.filters[:] = [op]",
    "it.stop": "it = slice(op)",
    "it.__args__[0]": "it = list[op]",
    "it.__metadata__[0]": "it = typing.Annotated[int, op]",
    "it.a of a dataclass": "@dataclasses.dataclass\nclass it: a: object = op",
    "it.__dataclass_fields__['a'].default_factory":
    "@dataclasses.dataclass\nclass it: a: list = dataclasses.field(default_factory=op)",
    "it._exit_callbacks[0][1]": "it = contextlib.ExitStack(); it.push(op)",
    "it._done_callbacks[0]": "it = concurrent.futures.Future(); it.add_done_callback(op)",
    "it._result": "it = concurrent.futures.Future(); it.set_result(op)",
    "it._result of asyncio":
    "loop = asyncio.new_event_loop(); it = loop.create_future(); it.set_result(op); loop.close()",
    "it._initializer": "it = concurrent.futures.ThreadPoolExecutor(1, initializer=op)",
    "it.object_hook": "it = json.JSONDecoder(object_hook=op)",
    "it.raw.extra": "it = io.BufferedReader(io.BytesIO()); it.raw.extra = op",
    # Iterators keep it in C; the path tells through what.
    "it(inside the C object)[0]": "it = iter([op])",
    "it(inside the C object)": "it = map(op, [])",
    "it(inside the C object) of filter": "it = filter(op, [])",
    "it(inside the C object) of repeat": "it = itertools.repeat(op)",
    "it(inside the C object)[0](inside the C object)[0]": "it = zip([op])",
    "it(inside the C object) of groupby": "it = itertools.groupby([1], op)",
    "it(inside the C object) of a Token":
    "v = contextvars.ContextVar('v'); v.set(op); it = v.set(None)",
}  # fmt: skip
REGISTRIES = {
    "gc.callbacks[0]": ("gc", "callbacks"),
    "sys.meta_path[": ("sys", "meta_path"),
    "sys.path_hooks[": ("sys", "path_hooks"),
}
HOOKS = {
    "sys.excepthook": ("sys", "excepthook"),
    "sys.displayhook": ("sys", "displayhook"),
    "sys.unraisablehook": ("sys", "unraisablehook"),
    "threading.excepthook": ("threading", "excepthook"),
    "warnings.showwarning": ("warnings", "showwarning"),
}
HIDDEN = {  # C code keeps it where nobody can ask
    "atexit": "import atexit; atexit.register(op)",
    "sqlite3": "import sqlite3; it = sqlite3.connect(':memory:'); it.create_function('f', 0, op)",
    "a code object": "it = (lambda: 1).__code__.replace(co_consts=(op,))",
}


@pytest.fixture
def small_heap():
    """Set aside what was there before: a search finds the same in the rest, and sooner."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def stage(monkeypatch):
    module = types.ModuleType("stage")
    monkeypatch.setitem(sys.modules, "stage", module)
    exec(START, vars(module))
    before = signal.getsignal(signal.SIGUSR1)
    yield module
    signal.signal(signal.SIGUSR1, before)


def paths(obj):
    return [row.path for row in list_bindings(obj).rows]


@quick
@pytest.mark.parametrize("case", HOLDERS)
def test_each_holder_is_found_under_its_name(stage, case):
    exec(HOLDERS[case], vars(stage))
    path = case.partition(" of a")[0].partition(" of ")[0].partition(" behind")[0]
    whole = path if path.startswith(("weakref.", "contextvars.", "signal.")) else f"stage.{path}"
    assert whole in paths(stage.op)


@pytest.mark.parametrize("path", REGISTRIES)
def test_lists_of_the_interpreter_are_found(stage, path):
    home, name = REGISTRIES[path]
    registry = getattr(sys.modules[home], name)
    registry.append(stage.op)
    try:
        assert any(found.startswith(path) for found in paths(stage.op))
    finally:
        registry.remove(stage.op)


def test_the_registry_of_finalizers_is_found(stage):
    exec("kept = Plain(); weakref.finalize(kept, op)", vars(stage))
    assert "weakref.finalize._registry[<finalize>].func" in paths(stage.op)


@pytest.mark.parametrize("path", HOOKS)
def test_hooks_of_the_interpreter_are_found(stage, monkeypatch, path):
    home, name = HOOKS[path]
    monkeypatch.setattr(sys.modules[home], name, stage.op)
    assert path in paths(stage.op)


@quick
@pytest.mark.parametrize("case", HIDDEN)
def test_what_c_code_hides_is_said_not_to_be_seen(stage, case):
    exec(HIDDEN[case], vars(stage))
    listing = list_bindings(stage.op)
    assert [row.path for row in listing.rows] == ["stage.op"] and UNSEEN in listing.note


WRAPS = {  # what is put around a holder, and how a path to it begins
    "[0, {}]": "[1]",
    "(0, {})": "[1]",
    "{{'k': {}}}": "['k']",
    "collections.deque([{}])": "[0]",
    "types.SimpleNamespace(n={})": ".n",
    "functools.partial(print, {})": ".args[0]",
    "types.MappingProxyType({{'m': {}}})": "['m']",
    "ValueError({})": ".args[0]",
    "collections.OrderedDict(o={})": "['o']",
    "slice(None, {})": ".stop",
}


@quick
@pytest.mark.parametrize("seed", range(NEST))
def test_a_path_through_nested_holders_leads_to_the_object(stage, seed):
    draw = random.Random(seed)
    stage.thing = stage.Plain()
    source, path = "thing", ""
    for _ in range(draw.randint(1, 4)):
        wrap = draw.choice(list(WRAPS))
        source, path = wrap.format(source), WRAPS[wrap] + path
    exec(f"it = {source}", vars(stage))
    found = paths(stage.thing)
    assert sorted(found) == sorted(["stage.thing", f"stage.it{path}"])
    assert eval(f"it{path}", vars(stage)) is stage.thing


def in_its_own_frame():
    big = Plain()
    try:
        raise ValueError("x")
    except ValueError as error:
        kept = error  # noqa: F841
    return weakref.ref(big)


def in_a_ring():
    first, second = Plain(), Plain()
    first.other, second.other = second, first
    first.load = big = Plain()
    return weakref.ref(big)


def in_its_own_closure():
    big = Plain()

    def inner():
        return inner, big

    return weakref.ref(big)


def in_a_generator_of_its_own():
    big = Plain()

    def steps():
        me = yield
        yield me, big

    running = steps()
    next(running)
    running.send(running)
    return weakref.ref(big)


class Plain:
    """What can be referred to weakly."""


GARBAGE = {
    in_its_own_frame: "big",
    in_a_ring: "load",
    in_its_own_closure: "big",
    in_a_generator_of_its_own: "big",
}


@quick
@pytest.mark.parametrize("enabled", [False, True])
@pytest.mark.parametrize("make", GARBAGE, ids=lambda make: make.__name__)
def test_looking_at_garbage_collects_none_of_it(make, enabled):
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    gc.collect()  # so that none is due
    try:
        known = make()
        state, count = felt(), gc.get_count()[0]
        listing = list_bindings(known())
        assert known() is not None and felt() == state
        assert gc.get_count()[0] - count < COUNTED  # no automatic collection comes nearer
        assert [(row.name, row.garbage) for row in listing.rows] == [(GARBAGE[make], True)]
        assert ONLY_COLLECTOR in listing.note
        gc.collect()
        assert known() is None
    finally:
        (gc.enable if before else gc.disable)()


def felt():
    collections = [generation["collections"] for generation in gc.get_stats()]
    kept = gc.get_threshold(), gc.get_freeze_count(), gc.get_debug(), len(gc.garbage)
    return gc.isenabled(), collections, kept, list(gc.callbacks)


def test_what_something_reaches_is_not_called_garbage(stage):
    source = "a, b = Plain(), Plain()\na.other, b.other = b, a\na.load = op\nroot = [b]\ndel a, b"
    exec(source, vars(stage))
    listing = list_bindings(stage.op)
    assert "stage.root[0].other.load" in [row.path for row in listing.rows]
    assert ONLY_COLLECTOR not in listing.note


def test_a_running_call_that_keeps_a_cycle_is_enough():
    first, second = Plain(), Plain()
    first.other, second.other = second, first
    first.load = big = Plain()
    assert not any(row.garbage for row in list_bindings(big).rows)


def test_looking_keeps_nothing_alive_and_leaves_no_garbage(stage):
    exec("it = [op]; kept = ValueError(1); kept.__context__ = KeyError(op)", vars(stage))
    enabled = gc.isenabled()
    gc.disable()
    try:
        list_bindings(stage.op)
        gc.collect()
        before = sys.getrefcount(stage.op), len(gc.get_objects())
        for _ in range(10):
            list_bindings(stage.op)
        garbage = gc.collect()
        after = sys.getrefcount(stage.op), len(gc.get_objects())
        assert garbage == 0 and after[0] == before[0] and abs(after[1] - before[1]) < 10
    finally:
        (gc.enable if enabled else gc.disable)()


def test_a_snapshot_of_a_frame_s_names_is_left_as_the_program_made_it(stage):
    exec("def g(held):\n mine = 1\n yield\nit = g(op); next(it)", vars(stage))
    snapshot = stage.it.gi_frame.f_locals
    snapshot["mine"] = 2
    assert "stage.it.held" in paths(stage.op)
    assert snapshot["mine"] == 2

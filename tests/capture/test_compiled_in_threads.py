"""A watched call that calls the user's compiled functions, in threads too: they run on after it."""

import itertools
import random
import threading
from functools import partial

import pytest

from helpers import watch_breaks, watch_compile, watch_fixes, watch_rewriting
from helpers.capture.torch.dynamo_messages import RESUME_GLOBAL
from helpers.internals import torch_private
from helpers.mini.frame_hook import put_back
from tests.samples import sample

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.own_process(sharing="torch")

VERBS = watch_breaks, watch_compile, watch_rewriting, lambda f: watch_fixes({"as it is": (f, f)})
SIZES = 2, 3, 5, 7


@pytest.fixture(autouse=True)
def fresh():
    torch_private.reset()
    yield
    put_back()


def in_thread(call):
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()


def double(x):
    return x * 2


def broken(x):
    y = x * 2
    torch._dynamo.graph_break()
    return y + 0


def twice_broken(x):
    y = x.sin()
    torch._dynamo.graph_break()
    y = y * 0 + x
    torch._dynamo.graph_break()
    return y * 2


def compile_new(function, counts):
    """Compile a copy of a function with a backend that counts; so each has its own code object."""
    copy = type(function)(function.__code__.replace(), function.__globals__, function.__name__)

    def backend(graph, inputs):
        counts.append(1)
        return graph.forward

    return torch.compile(copy, backend=backend)


def draw_program(seed):
    """Return a function to watch, and the compiled functions that it calls, some called before."""
    draw, counts = random.Random(seed), []
    own = [compile_new(draw.choice((double, broken, twice_broken)), counts) for _ in range(2)]
    nested = compile_new(double, counts)

    def around(x):
        return nested(x) + 0 * own[0](x)

    own.append(nested)
    own.append(torch.compile(around, backend="eager"))
    for compiled in own:
        if draw.random() < 0.4:
            compiled(torch.ones(draw.choice(SIZES)))
    steps = [
        (draw.random() < 0.5, draw.choice(own), draw.choice(SIZES))
        for _ in range(draw.randint(2, 5))
    ]

    def watched():
        for threaded, compiled, size in steps:
            call = partial(compiled, torch.ones(size))
            in_thread(call) if threaded else call()
        return torch.ones(2) + 1

    return watched, own, counts


@pytest.mark.parametrize("seed", range(sample(8, 100)))
def test_compiled_functions_run_and_hit_after_a_verb(seed):
    watched, own, counts = draw_program(seed)
    try:
        VERBS[seed % len(VERBS)](watched)
    except ValueError as error:
        assert "no new code" in str(error)
    for compiled, size in itertools.product(own, SIZES):
        assert compiled(torch.ones(size)).tolist() == [2.0] * size
    before = len(counts)
    for compiled, size in itertools.product(own, SIZES):
        compiled(torch.ones(size))
    assert len(counts) == before


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("is_known", [False, True])
def test_a_thread_and_another_size(verb, is_known):
    compiled = compile_new(broken, [])
    if is_known:
        compiled(torch.ones(7))

    def watched():
        in_thread(lambda: compiled(torch.ones(3)))
        return compiled(torch.ones(4))

    verb(watched)
    assert [compiled(torch.ones(size)).shape[0] for size in (3, 4, 5, 7)] == [3, 4, 5, 7]


def test_what_was_compiled_before_a_threaded_call_still_hits():
    counts = []
    compiled = compile_new(double, counts)
    compiled(torch.ones(7))

    def watched():
        in_thread(lambda: compiled(torch.ones(3)))
        return compiled(torch.ones(4))

    names = set(globals())
    watch_breaks(watched)
    new = set(globals()) - names
    assert not [name for name in new if name.startswith(("__compiled_fn", "__resume_at"))]
    before = len(counts)
    compiled(torch.ones(7))
    assert len(counts) == before


def test_a_running_call_keeps_its_names():
    started, go, errors = threading.Event(), threading.Event(), []

    @torch.compiler.disable
    def pause(x):
        if threading.current_thread() is not threading.main_thread():
            started.set()
            go.wait()
        return x

    def paused(x):
        y = pause(x * 2)
        return y + 1

    compiled = torch.compile(paused, backend="eager")

    def run():
        try:
            compiled(torch.ones(3))
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=run)

    def watched():
        compiled(torch.ones(3))
        thread.start()
        started.wait()
        return torch.ones(3) * 2

    watch_breaks(watched)
    go.set()
    thread.join()
    assert not errors


def test_new_code_with_a_dict_among_its_constants_is_listed():
    compiled = compile_new(double, [])

    def watched():
        in_thread(lambda: compiled(torch.ones(3)))
        return 1

    listing = watch_rewriting(watched).model
    assert any(RESUME_GLOBAL.match(row.argument) for row in listing.rows)
    assert {row.depth for row in listing.rows} > {"0", "1"}

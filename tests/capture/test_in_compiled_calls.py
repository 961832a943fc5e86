"""Verbs inside and around compiled calls: Dynamo never translates a frame of ours."""

import contextlib
import gc
import io
import subprocess
import sys
import textwrap
import weakref

import pytest

import helpers
from helpers.capture.cpython import tracer_costs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.own_process(sharing="torch")
HOUSE = helpers.__path__[0]


def step(x):
    x = x + 1
    torch._dynamo.graph_break()
    return x * 2


def prints(x):
    x = x + 1
    print("between two graphs")
    return x * 2


def double(x):
    return x * 2


class Block(torch.nn.Module):
    def forward(self, x):
        y = x.sin()
        torch._dynamo.graph_break()
        return y + [value * 2 for value in (y, x)][0]


class Counting:
    """A user's own backend, which counts the graphs that it gets."""

    def __init__(self):
        self.graphs = 0

    def __call__(self, graph, inputs):
        self.graphs += 1
        return graph.forward


def watching_ops(fn, x):
    with helpers.watching_ops() as seen:
        fn(x)
    return seen


def call_under_tracers(fn):
    """Call a function under the tracers of watch_tracers, without its clock."""
    for wanted in ("profile", "calls", "lines", "opcodes"):
        tracer_costs._call_traced(fn, fn.__code__, set(), wanted)
    return helpers.show_table("T", {"calls": 4})


AROUND = {
    "show_journey": helpers.show_journey,
    "watch_call": helpers.watch_call,
    "watch_calls": lambda fn, x: helpers.watch_calls({"call": (fn, x)}),
    "show_call_diff": lambda fn, x: helpers.show_call_diff(
        helpers.watch_call(fn, x), helpers.watch_call(fn, x)
    ),
    "watch_ops": helpers.watch_ops,
    "watching_ops": watching_ops,
    "show_op_graph": lambda fn, x: helpers.show_op_graph("Ops", call=helpers.watch_ops(fn, x)),
    "watch_fixes": lambda fn, x: helpers.watch_fixes({"same": (fn, fn)}, x),
    "watch_mutations": lambda fn, x: helpers.watch_mutations({"call": (fn, x)}),
    "watch_frames of a caller": lambda fn, x: helpers.watch_frames(lambda: fn(x)),
    "watch_stack of a caller": lambda fn, x: helpers.watch_stack(lambda: fn(x)),
    "watch_names of a caller": lambda fn, x: helpers.watch_names(lambda: fn(x)),
    "tracers of a caller": lambda fn, x: call_under_tracers(lambda: fn(x)),
}
# watch_mutations compiles this around a module, apart from what the program compiles.
COMPILED_APART = {"_copy_function.<locals>.<lambda>"}
PROGRAMS = {"a break": lambda: step, "a print": lambda: prints, "a module": Block}


@contextlib.contextmanager
def hearing_frames():
    """List the files of the frames that Dynamo is asked about in the block."""
    entrance, heard = torch._dynamo.convert_frame.CatchErrorsWrapper, []
    real = entrance.__call__

    def asked(wrapper, frame, *rest, **more):
        heard.append((frame.f_code.co_filename, frame.f_code.co_qualname))
        return real(wrapper, frame, *rest, **more)

    entrance.__call__ = asked
    try:
        yield heard
    finally:
        entrance.__call__ = real


def start_anew() -> Counting:
    torch._dynamo.reset()
    torch._dynamo.pgo.reset_code_state()
    torch._dynamo.utils.counters.clear()
    return Counting()


def state(backend) -> tuple:
    counters = {name: dict(counts) for name, counts in torch._dynamo.utils.counters.items()}
    sizes = {key: repr(value) for key, value in torch._dynamo.pgo.get_code_state().items()}
    return {name: counts for name, counts in counters.items() if counts}, sizes, backend.graphs


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_frame_of_ours_is_translated_around_a_compiled_call(program):
    x, wrong = torch.ones(3), {}
    for name, use in AROUND.items():
        backend = start_anew()
        compiled = torch.compile(PROGRAMS[program](), backend=backend)
        with contextlib.redirect_stdout(io.StringIO()):
            compiled(x)
            before = state(backend)
            with hearing_frames() as heard:
                use(compiled, x).text()
        ours = {qualname for file, qualname in heard if file.startswith(HOUSE)}
        ours -= COMPILED_APART
        if ours or state(backend) != before:
            wrong[name] = ours, before, state(backend)
    assert not wrong


def test_watch_fixes_does_not_call_the_users_backend():
    backend, x = start_anew(), torch.ones(3)
    compiled = torch.compile(step, backend=backend)
    ledger = helpers.watch_fixes({"same": (compiled, compiled)}, x)
    assert ledger.model.word("same", "result") == "same" and backend.graphs == 0
    nested = torch.compile(double, backend=backend)
    helpers.watch_fixes({"same": (lambda x: nested(x) + 1, lambda x: 1 + nested(x))}, x)
    assert backend.graphs == 0 and torch._dynamo.eval_frame._stance.stance == "default"


def test_sizes_that_the_copy_met_do_not_make_the_program_dynamic():
    backend = start_anew()
    helpers.watch_mutations({"call": (step, torch.ones(3))})
    helpers.watch_mutations({"call": (step, torch.ones(5))})
    assert not torch._dynamo.pgo.get_code_state()
    graphs = []
    compiled = torch.compile(double, backend=lambda graph, _: graphs.append(graph) or graph.forward)
    for size in (3, 4):
        helpers.watch_mutations({"call": (double, torch.ones(9))})
        compiled(torch.ones(size))
    assert len(graphs) == 2 and backend.graphs == 0


def names_inside(x):
    return helpers.show_names("x")


INSIDE = {
    "watch_call": lambda x: helpers.watch_call(double, x),
    "watch_ops": lambda x: helpers.watch_ops(double, x),
    "watching_ops": lambda x: watching_ops(double, x),
    "watch_frames": lambda x: helpers.watch_frames(double, x),
    "show_bytecode": lambda x: helpers.show_bytecode(double),
    "show_names": names_inside,
    "watch_breaks": lambda x: helpers.watch_breaks(double, x),
    "show_table": lambda x: helpers.show_table("T", {"a": 1}),
}


@pytest.mark.parametrize("name", INSIDE)
def test_a_verb_in_a_compiled_function_is_a_break_and_no_more(name):
    backend, said = start_anew(), []

    def program(x):
        y = x + 1
        said.append(INSIDE[name](y))
        return y * 2

    compiled = torch.compile(program, backend=backend)
    with hearing_frames() as heard:
        for _ in range(2):
            assert compiled(torch.ones(3)).tolist() == [4.0, 4.0, 4.0]
    assert not {qualname for file, qualname in heard if file.startswith(HOUSE)}
    assert len(said) == 2 and said[0].text()


def test_a_verb_imported_before_torch_is_not_translated_either():
    program = """
        from helpers import watch_ops
        import torch

        @torch.compile(backend="eager")
        def program(x):
            y = x + 1
            print(len(watch_ops(torch.relu, y).model.rows))
            return y * 2

        print(program(torch.ones(2)).tolist())
        print(torch._dynamo.utils.counters["frames"]["total"])
    """
    told = [sys.executable, "-c", textwrap.dedent(program)]
    ended = subprocess.run(told, capture_output=True, text=True, check=True)
    ops, value, frames = ended.stdout.splitlines()
    assert (ops, value) == ("1", "[4.0, 4.0]") and int(frames) <= 4


def test_watch_tracers_says_that_it_iterated_a_generator():
    ended = []

    def count(n):
        try:
            yield from range(n)
        finally:
            ended.append(n)

    said = helpers.watch_tracers(count, 3).model.note
    assert ended and tracer_costs.ITERATED in said
    for name in ("watch_names", "watch_frames", "watch_stack"):
        assert "generator" in getattr(helpers, name)(count, 3).text()


def test_watching_traces_collects_nothing():
    tf = pytest.importorskip("tensorflow")

    class Held:
        pass

    held = Held()
    held.itself = held
    weak = weakref.ref(held)
    gc.disable()
    try:
        del held
        before = gc.get_stats()[2]["collections"]
        with helpers.watching_traces() as seen:
            tf.function(lambda x: x + 1)(tf.constant(1))
        assert gc.get_stats()[2]["collections"] == before and weak() is not None
    finally:
        gc.enable()
    assert seen.model.traces == 1


def test_parameters_and_optimizer_state_keep_no_mark_of_dynamo():
    start_anew()
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3))
    optimizer = torch.optim.Adam(model.parameters())
    x = torch.ones(2, 3)

    def train(x):
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()

    train(x)
    state = [value for one in optimizer.state.values() for value in one.values()]
    tensors = [*model.parameters(), *model.buffers(), *state]
    helpers.watch_rewriting(lambda x: model(x), x)
    for use in (helpers.watch_breaks, helpers.watch_compile):
        use(model, x)
        use(optimizer.step)
        use(lambda x: torch.func.functional_call(model, dict(model.named_parameters()), (x,)), x)
    assert not [attributes for attributes in map(vars, tensors) if attributes]


def test_the_marks_that_the_program_made_stay():
    start_anew()
    model, x = torch.nn.Linear(3, 3), torch.ones(2, 3)
    torch.compile(model, backend="eager")(x)
    before = [dict(vars(one)) for one in model.parameters()]
    helpers.watch_breaks(model, x)
    assert [dict(vars(one)) for one in model.parameters()] == before


def test_why_a_generator_is_not_compiled_is_told_each_time():
    start_anew()

    def count(x):
        yield x + 1

    def other(x):
        yield x + 2

    x = torch.ones(2)
    first = helpers.watch_breaks(count, x).text()
    list(torch.compile(other, backend="eager")(x))
    assert helpers.watch_breaks(count, x).text() == first
    assert "gave no reason" not in " ".join(first.split())


def test_what_dynamo_skips_in_the_block_is_not_said_to_be_of_before():
    start_anew()

    def count(x):
        yield x + 1

    x = torch.ones(2)
    model = torch.nn.Sequential(torch.nn.Linear(2, 2))
    model.compile(backend="eager")
    generating = torch.compile(count, backend="eager")
    for call in (lambda: list(generating(x)), lambda: model(x)):
        with helpers.watching_breaks() as seen:
            call()
        said = " ".join(seen.text().split())
        assert "Dynamo skipped" in said and "earlier" not in said and "before" not in said


def test_a_journey_keeps_no_argument_alive():
    class Held:
        pass

    held = Held()
    weak = weakref.ref(held)
    gc.disable()
    try:
        shown = helpers.show_journey(lambda one: one is not None, held)
        del held
        assert weak() is None and shown.text()
    finally:
        gc.enable()

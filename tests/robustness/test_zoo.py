"""Every verb that looks at an object bears awkward ones, and refuses misuse in one sentence.

The everyday suite draws some objects for each verb; `COURSE_SAMPLES=whole` puts all of them to all.
"""

import contextlib
import random

import pytest

import helpers
from tests.robustness import zoo
from tests.robustness.rendering import fault_of
from tests.samples import sample

pytestmark = pytest.mark.long


def holds(thing):
    """Hold a thing in a local, a list and a cell."""
    kept = [thing]

    def inner():
        return kept

    return inner


def small(n=3):
    """Add a few numbers."""
    total = 0
    for i in range(n):
        total += i
    return total


def raised_by(thing):
    """Return an error whose frame holds the thing."""
    try:
        holds(thing)(1)
    except TypeError as error:
        return error


def quietly(verb, *things):
    """Call a verb that returns a function, and that function; return what the verb gave."""
    made = verb(lambda *args: 1)
    with contextlib.suppress(Exception):
        made(*things)
    return made


def tf_function(*args):
    import tensorflow as tf

    return tf.function(lambda *args: 1)


def inside(block, thing):
    """Hold a thing in a watched block; return what was recorded."""
    with block as seen:
        holds(thing)
    return seen


def replaced(verb, thing):
    """Put a function in the place of the thing for a moment; return the table of what changed."""
    with verb(thing, lambda *args: 1) as block:
        pass
    return helpers.show_table("T", {"changed": str(block)[:1000]})


def way():
    """Return a way that changes nothing."""
    return contextlib.nullcontext()


def beside(thing, x):
    """Compute something beside a thing."""
    kept = [thing]  # noqa: F841
    return x + 1


def ones():
    import torch

    return torch.ones(2)


def compiled_beside(thing):
    """Return a compiled function that was called with the thing."""
    import torch

    torch._dynamo.reset()
    compiled = torch.compile(beside, backend="eager")
    compiled(thing, ones())
    return compiled


def traced_graph(thing):
    return helpers.show_graph(tf_function(), thing)


def two_calls(thing):
    return [helpers.watch_call(holds, thing) for _ in range(2)]


PLAIN = {
    "show_table": lambda thing: helpers.show_table("T", {"a": thing, "b": [thing]}),
    "show_names": lambda thing: helpers.show_names("thing"),
    "watch_names": lambda thing: helpers.watch_names(holds, thing),
    "show_bindings": helpers.show_bindings,
    "show_binding_map": helpers.show_binding_map,
    "show_code": helpers.show_code,
    "show_bytecode": helpers.show_bytecode,
    "watch_stack": lambda thing: helpers.watch_stack(holds, thing),
    "watch_frames": lambda thing: helpers.watch_frames(holds, thing),
    "show_frame": lambda thing: helpers.show_frame(raised_by(thing).__traceback__.tb_frame),
    "show_traceback": lambda thing: helpers.show_traceback(raised_by(thing)),
    "watch_tracers": lambda thing: helpers.watch_tracers(holds, thing),
    "show_evaluator": helpers.show_evaluator,
    "watch_hooked": lambda thing: helpers.watch_hooked(holds, thing),
    "predict": lambda thing: helpers.predict("q?", ["a", "b"], run=lambda: thing),
    "check": lambda thing: list(helpers.check)[0](thing),
    "show_job": helpers.show_job,
    "show_registry": helpers.show_registry,
    "show_frames": lambda thing: (lambda held: helpers.show_frames(2))(thing),
    "plot_ratios": lambda thing: helpers.plot_ratios("T", {"one": 1.0, "other": thing}),
    "plot_curve": lambda thing: helpers.plot_curve("T", [1.0, thing], "step"),
    "rebind_everywhere": lambda thing: replaced(helpers.rebind_everywhere, thing),
    "code_swapped": lambda thing: replaced(helpers.code_swapped, thing),
    "watch_callers": lambda thing: helpers.watch_callers(
        {"r": lambda: thing}, lambda route: type(route()).__name__, {"i": way}
    ),
    "watch_routes": lambda thing: helpers.watch_routes(
        thing, repr, {"r": lambda: thing}, {"r": lambda: thing}, {"i": way}
    ),
    "watch_specialising": lambda thing: helpers.watch_specialising(holds, {"a": (thing,)}, times=2),
    "watch_costs": lambda thing: helpers.watch_costs(lambda: thing, {"a": lambda: thing}),
    "watch_calls": lambda thing: helpers.watch_calls({"a": (holds, thing)}),
    "show_call_diff": lambda thing: helpers.show_call_diff(*two_calls(thing)),
    "watching_ops": lambda thing: inside(helpers.watching_ops(), thing),
}
# They look at nothing of the caller's: they show a process, the course's data, or a text's run.
WITHOUT_OBJECT = {
    *("show_c_api", "show_environment", "show_imports_then_and_now", "show_interceptions"),
    *("show_rosetta", "startup_switches", "watch_in_child", "call_in_child"),
}
OF_TORCH = {
    "show_fx": helpers.show_fx,
    "show_compiled": helpers.show_compiled,
    "show_guards": helpers.show_guards,
    "watch_recompiles": lambda thing: quietly(helpers.watch_recompiles, thing),
    "watch_compile": lambda thing: helpers.watch_compile(holds, thing),
    "watch_breaks": lambda thing: helpers.watch_breaks(holds, thing),
    "show_grad_fn": helpers.show_grad_fn,
    "watch_ops": lambda thing: helpers.watch_ops(lambda x: None, thing),
    "show_journey": lambda thing: helpers.show_journey(lambda x: x, thing),
    "guard_function": lambda thing: helpers.guard_function(compiled_beside(thing))(thing, ones()),
    "show_op_graph": lambda thing: helpers.show_op_graph("T", a=helpers.watch_ops(holds, thing)),
    "watch_rewriting": lambda thing: helpers.watch_rewriting(beside, thing, ones()),
    "watch_inductor": lambda thing: helpers.watch_inductor(beside, thing, ones()),
    "watch_fixes": lambda thing: helpers.watch_fixes({"same": (beside, beside)}, thing, ones()),
    "watch_guard_sets": lambda thing: helpers.watch_guard_sets(
        beside, (thing, ones()), always=lambda *args: True
    ),
    "watching_breaks": lambda thing: inside(helpers.watching_breaks(), thing),
    "watching_recompiles": lambda thing: inside(helpers.watching_recompiles(), thing),
}
OF_TENSORFLOW = {
    "watch_traces": lambda thing: quietly(helpers.watch_traces, thing),
    "would_trace": lambda thing: helpers.would_trace(tf_function(), thing),
    "watch_mutations": lambda thing: helpers.watch_mutations({"a": (lambda x: None, thing)}),
    "show_graph": helpers.show_graph,
    "show_graph of a call": lambda thing: helpers.show_graph(tf_function(), thing),
    "show_autograph": helpers.show_autograph,
    "watch_call": lambda thing: helpers.watch_call(lambda x: None, thing),
    "show_graph_steps": helpers.show_graph_steps,
    "show_graph_steps of a call": lambda thing: helpers.show_graph_steps(tf_function(), thing),
    "show_graph_diff": lambda thing: helpers.show_graph_diff(traced_graph(3), traced_graph(thing)),
    "watch_optimisation": lambda thing: helpers.watch_optimisation(tf_function(), thing),
    "watch_variables": lambda thing: helpers.watch_variables({"a": lambda *args: thing}, runs=2),
    "watch_race": lambda thing: helpers.watch_race(lambda *args: thing, runs=2),
    "op_routes": lambda thing: helpers.op_routes(lambda x: thing, [1.0]),
    "watching_traces": lambda thing: inside(helpers.watching_traces(), thing),
}
MISUSE = {
    "show_names": (lambda: helpers.show_names("no_such_name"), lambda: helpers.show_names(3)),
    "show_names of none": (lambda: helpers.show_names(),),
    "watch_names": (lambda: helpers.watch_names(len), lambda: helpers.watch_names(None)),
    "watch_stack": (lambda: helpers.watch_stack(3), lambda: helpers.watch_stack(None)),
    "watch_frames": (lambda: helpers.watch_frames(len), lambda: helpers.watch_frames(1)),
    "show_bytecode": (lambda: helpers.show_bytecode(3), lambda: helpers.show_code("x")),
    "show_frame": (lambda: helpers.show_frame(small), lambda: helpers.show_traceback("e")),
    "predict": (lambda: helpers.predict("q?", ["a"], run=lambda: "a"), lambda: helpers.predict(3)),
    "watch_hooked": (lambda: helpers.watch_hooked(3), lambda: helpers.watch_tracers(1)),
    "show_fx": (lambda: helpers.show_fx(3), lambda: helpers.show_compiled(3)),
    "show_guards": (lambda: helpers.show_guards(small), lambda: helpers.show_guards(3)),
    "watch_compile": (lambda: helpers.watch_compile(len), lambda: helpers.watch_breaks(3)),
    "watch_ops": (lambda: helpers.watch_ops(3), lambda: helpers.watch_ops()),
    "watch_traces": (lambda: helpers.watch_traces(3), lambda: helpers.would_trace(3)),
    "show_graph": (lambda: helpers.show_graph(3), lambda: helpers.show_autograph(3)),
    "show_op_graph": (lambda: helpers.show_op_graph("T"), lambda: helpers.show_op_graph("T", a=3)),
}


HUGE = {"a million items", "a million keys"}  # Dynamo and TensorFlow look at each item


def faults(verb, call, makers) -> dict:
    """Return object -> what is wrong, of a seeded part of the objects."""
    drawn = random.Random(verb).sample(sorted(makers), sample(6, 12))
    found = {name: fault_of(lambda name=name: call(makers[name]())) for name in drawn}
    return {name: words for name, words in found.items() if words}


def _small(makers) -> dict:
    return {name: maker for name, maker in makers.items() if name not in HUGE}


@pytest.mark.parametrize("verb", PLAIN)
def test_verb_bears_awkward_objects(verb):
    assert not faults(verb, PLAIN[verb], zoo.MAKERS)


@pytest.mark.parametrize("verb", OF_TORCH)
def test_verb_of_torch_bears_awkward_objects(verb):
    pytest.importorskip("torch._dynamo")  # before TensorFlow
    assert not faults(verb, OF_TORCH[verb], _small(zoo.MAKERS) | zoo.torch_makers())


@pytest.mark.parametrize("verb", OF_TENSORFLOW)
def test_verb_of_tensorflow_bears_awkward_objects(verb):
    pytest.importorskip("torch._dynamo")  # before TensorFlow
    pytest.importorskip("tensorflow")
    assert not faults(verb, OF_TENSORFLOW[verb], _small(zoo.MAKERS) | zoo.tensorflow_makers())


@pytest.mark.parametrize("verb", MISUSE)
def test_misuse_is_refused_in_one_sentence(verb):
    pytest.importorskip("torch._dynamo")  # before TensorFlow
    for call in MISUSE[verb]:
        assert not fault_of(call, refused=True)

"""One program through Python, tf.function, Dynamo and fx's proxy tracer -> what each recorded.

TensorFlow runs in a child interpreter (it and torch disturb each other); its recordings come back
as data. What the second call gives is held against what plain Python gives.
"""

import importlib
import inspect
from collections import namedtuple
from dataclasses import make_dataclass
from functools import cache, partial

from helpers.capture.text.value import short_repr
from helpers.capture.torch.fx_graph import target_name
from helpers.capture.torch.guard_tree import copied
from helpers.internals import torch_private
from helpers.model.tables import Column, Entry, Ledger, Listing, Verdict
from helpers.safety import progress
from helpers.safety.arguments import real_type_name
from helpers.safety.children import ask, tell_starter

MARKS = (
    ("changed", "Python's answer, recorded anew for this call"),
    ("failed", "not what Python gives, or leaves behind"),
    ("refused", "an error, while recording or at this call"),
)
LONGEST = 240  # seconds that the child may take


# Programs that mean the same to every recorder: plain Python operators on `x`. Each is called
# twice; between the two calls one thing changes, or something is left behind.
RATE = 2.0
seen = []


def _number_if(x, n):
    return x * 2 if n > 0 else x + 1


def _tensor_if(x):
    return x * 2 if x[0] > 0 else x + 1


def _loop(x, n):
    for _ in range(n):
        x = x * 2
    return x


def _tensor_loop(x):
    while x[0] < 10:
        x = x * 2
    return x


def _global_number(x):
    return x * RATE


def _side_effect(x):
    seen.append("called")
    return x * 2


def _shape(x):
    return x * len(x)


# The arguments of two calls (a list stands for a tensor); the `rate` holds from the second.
Program = namedtuple("Program", "words fn first second rate", defaults=[2.0])
PROGRAMS = (
    Program("if on a number", _number_if, ([1.0, 2.0], 1), ([1.0, 2.0], -1)),
    Program("if on a tensor", _tensor_if, ([1.0, 2.0],), ([-1.0, 2.0],)),
    Program("loop of n rounds", _loop, ([1.0, 2.0], 1), ([1.0, 2.0], 3)),
    Program("loop until a tensor says", _tensor_loop, ([6.0, 2.0],), ([1.0, 2.0],)),
    Program("a global changes", _global_number, ([1.0, 2.0],), ([1.0, 2.0],), 5.0),
    Program("append to a list", _side_effect, ([1.0, 2.0],), ([1.0, 2.0],)),
    Program("len(x), and x grows", _shape, ([1.0, 2.0],), ([1.0, 2.0, 3.0],)),
)


# The ops of each graph, and how many graphs came in call two; the numbers of both calls; how much
# stood in the list; the type of what was raised.
Recording = namedtuple("Recording", "graphs later results left raised")


def recordings() -> Ledger:
    """Run programs twice through Python, tf.function, Dynamo and fx; judge the second call.

    TensorFlow runs in a child interpreter; RuntimeError if that dies.
    """
    made, entries = _record_all(), []
    for at, program in enumerate(PROGRAMS):
        verdicts = (_verdict(each[at], made["Python"][at]) for each in made.values())
        entries.append(Entry(program.words, tuple(verdicts)))
    title = "The second call of each program, held against Python's"
    return Ledger(title, "program", tuple(made), tuple(entries), marks=MARKS)


RECORDED = {"recorder": "recorder", "graphs": "graphs", "ops": "their operations"}
Recorded = make_dataclass("Recorded", RECORDED, frozen=True)


def recorded_listing(program: str) -> Listing:
    """List what each recorder of `watch_recorders` wrote down of one of its programs.

    KeyError lists the programs.
    """
    names = [one.words for one in PROGRAMS]
    if program not in names:
        raise KeyError(f"{short_repr(program)} (the programs are {', '.join(names)})")
    rows = []
    for recorder, each in _record_all().items():
        made = each[names.index(program)]
        told = " | ".join(", ".join(graph) or "(none)" for graph in made.graphs)
        raised = f"raised {made.raised}" if made.raised else ""
        words = " · ".join(filter(None, (told, raised))) or "nothing"
        rows.append(Recorded(recorder, len(made.graphs), words))
    columns = tuple(Column(name, words, name == "ops") for name, words in RECORDED.items())
    note = "| stands between two graphs." if any(" | " in row.ops for row in rows) else ""
    return Listing(f"What each recorded: {program}", columns, tuple(rows), note)


def _verdict(recording: Recording, python: Recording) -> Verdict:
    if recording.raised:
        return Verdict(f"refused: {recording.raised}", "refused")
    if (recording.results, recording.left) != (python.results, python.left):
        return Verdict("wrong", "failed")
    return Verdict("right, recorded again", "changed") if recording.later else Verdict("right")


@cache
def _record_all() -> dict[str, tuple[Recording, ...]]:
    torch_private.refuse_late_dynamo()
    import torch

    ways = {
        "Python": partial(_record_each, lambda fn, graphs: fn, torch.tensor),
        "tf.function": _record_in_child,
        "Dynamo": partial(_record_each, _use_dynamo, torch.tensor),
        "fx.symbolic_trace": partial(_record_each, _use_fx, torch.tensor),
    }
    return {name: run() for name, run in progress.counted("recorder", ways.items())}


def _record_each(record, tensor) -> tuple[Recording, ...]:
    """Run both calls of each program. `record(fn, graphs)` returns what to call instead of `fn`."""
    return tuple(_recording(program, record, tensor) for program in PROGRAMS)


def _recording(program, record, tensor) -> Recording:
    global RATE
    graphs, results, first, raised = [], [], 0, ""
    seen.clear()
    try:
        call = record(program.fn, graphs)
        for args, rate in ((program.first, 2.0), (program.second, program.rate)):
            RATE = rate
            given = [tensor(a) if isinstance(a, list) else a for a in args]
            results.append(tuple(float(number) for number in call(*given)))
            first = first or len(graphs)
    except Exception as error:
        raised = real_type_name(error)
    finally:
        RATE = 2.0
    return Recording(tuple(graphs), len(graphs) - first, tuple(results), len(seen), raised)


def _use_dynamo(fn, graphs):
    import torch

    def backend(graph, examples):
        graphs.append(_fx_ops(graph))
        return graph.forward

    return torch.compile(copied(fn), backend=backend, dynamic=False)


def _use_fx(fn, graphs):
    """Trace at the first call, as fx does: numbers are fixed, tensors are stand-ins."""
    import torch.fx

    made = []

    def call(*args):
        if not made:
            named = zip(inspect.signature(fn).parameters, args, strict=True)
            fixed = {name: value for name, value in named if not torch.is_tensor(value)}
            made.append(torch.fx.symbolic_trace(fn, concrete_args=fixed or None))
            graphs.append(_fx_ops(made[0]))
        return made[0](*args)

    return call


def _fx_ops(graph) -> tuple[str, ...]:
    return tuple(target_name(n.target) for n in graph.graph.nodes if n.op.startswith("call_"))


def _use_tensorflow(fn, graphs):
    import tensorflow as tf

    made = tf.function(fn)
    unseen = {"Placeholder", "Identity", "NoOp", "Const"}

    def call(*args):
        before = made.experimental_get_tracing_count()
        result = made(*args)
        if made.experimental_get_tracing_count() > before:
            ops = made.get_concrete_function(*args).graph.get_operations()
            graphs.append(tuple(op.type for op in ops if op.type not in unseen))
        return result.numpy()

    return call


def _record_in_child() -> tuple[Recording, ...]:
    reply = ask({"source": f"from {__name__} import tell; tell()"}, LONGEST)
    if (recorded := reply.last("recorded")) is None:
        why = (reply.last("error") or f"it ended with {reply.ended.code}, or late").strip()
        raise RuntimeError(f"the child with TensorFlow told nothing: {why.splitlines()[-1]}")
    for data in recorded:
        data |= {name: tuple(map(tuple, data[name])) for name in ("graphs", "results")}
    return tuple(Recording(**data) for data in recorded)


def tell() -> None:
    """In the child: tell the recordings of tf.function."""
    tf = importlib.import_module("tensorflow")
    made = _record_each(_use_tensorflow, tf.constant)
    tell_starter(recorded=[one._asdict() for one in made])

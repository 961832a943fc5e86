"""The five steps of the mini-Dynamo: what is asked, hints, a finished sample, known mistakes."""

from helpers.study.chapter_4.step_judges import (
    judge_binary_op,
    judge_guards,
    judge_lookup,
    judge_receives,
    judge_recorder,
)
from helpers.study.check import Exercise, Mistake, edited

BINARY_OP = """from helpers.mini.dynamo import OPERATORS, Known


def binary_op(trace, sign, left, right):
    fn = OPERATORS[sign]
    if isinstance(left, Known) and isinstance(right, Known):
        return Known(fn(left.value, right.value))
    return trace.record(fn, left, right)
"""
RECORDER = """from torch import fx
from helpers.mini.dynamo import written


class Recorder:
    def __init__(self):
        self.graph, self.inputs = fx.Graph(), {}

    def input(self, source):
        self.inputs[source] = self.graph.placeholder(f"arg{len(self.inputs)}")
        return self.inputs[source]

    def call(self, fn, args, kwargs):
        add = self.graph.call_method if isinstance(fn, str) else self.graph.call_function
        nodes = tuple(written(value) for value in args)
        return add(fn, nodes, {name: written(value) for name, value in kwargs.items()})
"""
GUARDS = """import torch


def guards(source, value):
    if isinstance(value, torch.Tensor):
        return [
            f"type({source}) is torch.{type(value).__name__}",
            f"{source}.dtype is {value.dtype}",
            f"{source}.shape == {tuple(value.shape)}",
            f"{source}.requires_grad is {value.requires_grad}",
        ]
    if isinstance(value, float):
        return [f"type({source}) is float", f"{source}.hex() == {value.hex()!r}"]
    if value is None or isinstance(value, bool):
        return [f"{source} is {value}"]
    return [f"type({source}) is {type(value).__name__}", f"{source} == {value!r}"]
"""
LOOKUP = """def lookup(entries, values):
    misses = []
    for entry in entries:
        failing = [guard for guard in entry.guards if not guard.holds(values)]
        if not failing:
            return entry, misses
        misses.append(failing[0].text)
    return None, misses
"""
RECEIVES = """def receives(code, start, bound):
    live = [set() for _ in code.steps]
    for _ in code.steps:
        for at in reversed(range(len(live))):
            later = set().union(*(live[after] for after in code.after(at)))
            live[at] = (later - code.stores(at)) | code.reads(at)
    return [name for name in bound if name in live[start]]
"""


def _mistakes(sample: str, *wrong: tuple[str, str, str]) -> tuple[Mistake, ...]:
    return tuple(Mistake(edited(sample, old, new), says) for old, new, says in wrong)


STEP_EXERCISES = (
    Exercise(
        "dynamo_binary_op",
        judge_binary_op,
        "What is known is computed now; what needs a tensor went into the graph.",
        (
            "Which of the two operands can you compute with while there are no numbers?",
            "Both operands Known: compute with their .value, and wrap the result in Known again.",
            "Otherwise trace.record(fn, left, right) puts the call into the graph and returns a "
            "symbolic tensor. Keep the order: left first.",
        ),
        _mistakes(
            BINARY_OP,
            ("trace.record(fn, left, right)", "trace.record(fn, right, left)", "eager torch gives"),
            ("Known(fn(left.value, right.value))", "fn(left.value, right.value)", "in Known"),
            ("return trace", "trace", "returned None"),
            (" and isinstance(right, Known)", "", "under("),
            ("isinstance(left, Known) and isinstance(right, Known)", "False", "left the graph"),
            ("fn(left.value, right.value)", "fn(right.value, left.value)", "eager torch gives"),
        ),
    ),
    Exercise(
        "dynamo_recorder",
        judge_recorder,
        "Your graph holds the same calls as the finished one's, and gives eager's numbers.",
        (
            "self.graph.placeholder(name) adds an input node. Who needs to know which is which?",
            "Note each input: self.inputs[source] = node, in order. written(value) turns a "
            "symbolic value into its node or its constant.",
            "self.graph.call_method(fn, args, kwargs) if fn is a str, else "
            "self.graph.call_function(fn, args, kwargs), both with a tuple and a dict of written "
            "values.",
        ),
        _mistakes(
            RECORDER,
            ("self.graph.call_method if isinstance(fn, str) else ", "", "keywords("),
            ("for value in args", "for value in args[::-1]", "eager torch gives"),
            ("{name: written(value) for name, value in kwargs.items()}", "{}", "graph of keywords"),
            (
                'self.inputs[source] = self.graph.placeholder(f"arg{len(self.inputs)}")\n'
                "        return self.inputs[source]",
                'return self.graph.placeholder(f"arg{len(self.inputs)}")',
                "must keep its node",
            ),
            ("return self.inputs[source]", "return", "input must return the node"),
            ("return self.inputs[source]", "return source", "input must return the node"),
            ("return add", "add", "call must return the node"),
        ),
    ),
    Exercise(
        "dynamo_guards",
        judge_guards,
        "Whatever would make the graph wrong makes a guard fail, and other numbers do not.",
        (
            "Which properties of a tensor may the function have looked at while it was traced?",
            "A tensor: its type, dtype, shape and requires_grad. A number: its type and its value.",
            "1 == 1.0 == True, and 0.0 == -0.0. type(k) is … tells the first apart, and k.hex() "
            "the second.",
        ),
        _mistakes(
            GUARDS,
            ('            f"{source}.dtype is {value.dtype}",\n', "", "by_dtype("),
            ('            f"{source}.shape == {tuple(value.shape)}",\n', "", "by_shape("),
            (
                '            f"{source}.requires_grad is {value.requires_grad}",\n',
                "",
                "by_gradient(",
            ),
            (
                '[f"type({source}) is {type(value).__name__}", f"{source} == {value!r}"]',
                '[f"{source} == {value!r}"]',
                "by_number(",
            ),
            ('f"{source}.hex() == {value.hex()!r}"', 'f"{source} == {value!r}"', "divided("),
            (
                '[f"type({source}) is {type(value).__name__}"',
                '[f"type({source}) is number"',
                "raised NameError",
            ),
            (
                "if value is None or isinstance(value, bool)",
                "if value is True",
                "write 'k is None'",
            ),
            ('[f"{source} is {value}"]', 'f"{source} is {value}"', "a list of texts"),
            ("{source} == {value!r}", "{source} != {value!r}", "is not even true"),
            (
                '            f"{source}.dtype is {value.dtype}",\n',
                '            f"{source}.tolist() == {value.tolist()}",\n',
                "compiles again",
            ),
        ),
    ),
    Exercise(
        "dynamo_lookup",
        judge_lookup,
        "Yours finds the entries that the finished one finds, and the same guards fail first.",
        (
            "Of each entry you need to know one thing: the first guard that does not hold.",
            "guard.holds(values) tells, guard.text is what to report, in the order of the entries.",
            "next((g for g in entry.guards if not g.holds(values)), None) is the first failing "
            "guard. None means that the entry fits: return it at once.",
        ),
        _mistakes(
            LOOKUP,
            ("failing[0].text", "failing[-1].text", "the first failing guards are"),
            ("failing[0].text", "failing[0]", "append guard.text"),
            ("return None, misses", "return None, None", "a list of texts"),
            ("        misses.append(failing[0].text)\n", "", "the first failing guards are"),
            ("if not failing:", "if len(failing) < 2:", "fits, and yours found"),
            ("return entry, misses", "return entry", "return a pair"),
        ),
    ),
    Exercise(
        "dynamo_receives",
        judge_receives,
        "The rest of each function receives what it can still read, and nothing else.",
        (
            "Which names does the rest of the function read before it stores them itself?",
            "Go backwards. Before a step, live is (live after it - what it stores) | what it "
            "reads.",
            "Start with an empty set per step. code.after(at) gives no, one or two positions: "
            "unite their sets. A loop jumps back, so go through all steps again until nothing "
            "changes. Then keep the names of bound that are in live[start].",
        ),
        _mistakes(
            RECEIVES,
            ("if name in live[start]", "", "which nothing reads any more"),
            ("    for _ in code.steps:\n", "    for _ in range(1):\n", "can still be read"),
            ("(later - code.stores(at)) | code.reads(at)", "code.reads(at)", "can still be read"),
            ("later - code.stores(at)", "later", "which nothing reads any more"),
            (
                "later = set().union(*(live[after] for after in code.after(at)))",
                "later = live[code.after(at)[0]] if code.after(at) else set()",
                "can still be read",
            ),
        ),
    ),
)

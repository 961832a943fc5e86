"""The five steps of the mini-Dynamo: a learner's part runs in the finished one.

Torch is imported when a step is judged, not before.
"""

from collections.abc import Callable
from dataclasses import replace

from helpers.capture.said import said
from helpers.study.check import Exercise, Mistake, Untried, edited, tried


def _differs(fn, calls, parts, graph=True) -> str:
    """Return how `fn`, compiled with the learner's part, parts from eager torch, if it does."""
    from helpers.mini.dynamo import duel

    try:
        return duel.differs(fn, calls, parts, graph)
    except Untried:
        raise
    except Exception as error:
        return f"{duel.shown(fn, calls[0])} raised {said(error)}"


def _function(judge: Callable) -> Callable:
    """Let a judge see only functions."""

    def checked(answer):
        if not callable(answer):
            return f"give the function itself, not {type(answer).__name__}"
        return judge(answer)

    return checked


@_function
def _judge_binary_op(answer):
    from helpers.mini.dynamo import PARTS, duel

    parts = replace(PARTS, binary_op=lambda *args: tried(answer(*args)))
    x, y = duel.numbers()
    programs = [
        (duel.minus, (x, y)),
        (duel.folded, (x, 5)),
        (duel.under, (x, 2)),
        (duel.toy, (x, y)),
    ]
    return _first(_differs(fn, [args], parts) for fn, args in programs)


def _first(verdicts) -> str | None:
    return next((words for words in verdicts if words), None)


@_function
def _judge_recorder(answer):
    from helpers.mini.dynamo import PARTS, duel

    if not isinstance(answer, type):
        return "give the class itself, such as check.dynamo_recorder(Recorder)"

    class Tried(answer):
        def input(self, *args):
            return tried(super().input(*args))

        def call(self, *args):
            return tried(super().call(*args))

    x, y = duel.numbers()
    programs = [(fn, (x, y)) for fn in (duel.minus, duel.toy, duel.keywords, duel.joined)]
    return _first(_differs(fn, [args], replace(PARTS, recorder=Tried)) for fn, args in programs)


@_function
def _judge_guards(answer):
    from helpers.mini import dynamo
    from helpers.mini.dynamo import duel

    parts = replace(dynamo.PARTS, guards=lambda source, value: list(tried(answer(source, value))))
    x, _ = duel.numbers()
    same = dynamo.compile(duel.by_shape, parts=parts)
    for values in (x, x + 1):
        same(values)
    if len(same.entries) != 1:
        return (
            f"another tensor of the same kind compiles again, because of the guard "
            f"{same.misses[0]!r}; guard what decides the graph, not the numbers or the object"
        )
    for fn, calls in duel.changes():
        if because := _differs(fn, calls, parts, graph=False):
            return f"{because}. So after {duel.shown(fn, calls[0])} a guard has to fail"
    return None


@_function
def _judge_lookup(answer):
    from helpers.mini import dynamo
    from helpers.mini.dynamo import duel

    x, _ = duel.numbers()
    calls = [(x, 1), (x, 2), (x.double(), 1), (x, 2.0)]
    compiled = dynamo.compile(duel.scaled)
    for args in calls:
        compiled(*args)
    entries = compiled.entries
    for asked in (entries, entries[:1], []):
        for args in (*calls, (x[:1], 1), (x, True), (x, None)):
            want, misses = dynamo.PARTS.lookup(asked, args)
            got = tried(answer(list(asked), args))
            if because := _other_find(got, want, misses, asked):
                return f"with {len(asked)} entries, {duel.shown(duel.scaled, args)}: {because}"
    return None


def _other_find(got, want, misses, entries) -> str | None:
    if not isinstance(got, tuple) or len(got) != 2:
        return "return a pair: the entry or None, and the list of texts"
    entry, texts = got
    if entry is not want:
        return f"{_which(want, entries)} fits, and yours found {_which(entry, entries)}"
    if list(texts) != misses:
        return f"the first failing guards are {misses}, and yours are {list(texts)}"
    return None


def _which(entry, entries) -> str:
    if entry is None:
        return "no entry"
    known = [other is entry for other in entries]
    return f"entry {known.index(True)}" if any(known) else "no entry of this list"


@_function
def _judge_receives(answer):
    from helpers.mini import dynamo
    from helpers.mini.dynamo import duel

    for fn in (duel.branch, duel.stored_again, duel.looped, duel.one_way):
        code = dynamo.Code(fn.__code__)
        starts = [i for i, s in enumerate(code.steps) if s.opname == "STORE_FAST" or s.target > i]
        for start in (at + 1 for at in starts):
            bound = [n for n in fn.__code__.co_varnames if _bound_before(code, n, start)]
            want = dynamo.PARTS.receives(code, start, bound)
            got = tried(answer(code, start, list(bound)))
            if because := _other_names(got, want):
                return f"the rest of {fn.__name__} from line {code.steps[start].line}: {because}"
    args, parts = duel.numbers(), replace(dynamo.PARTS, receives=answer)
    got = dynamo.compile(duel.branch, parts=parts)(*args)
    alike = duel.same(got, duel.branch(*args))
    return None if alike else f"{duel.shown(duel.branch, args)} differs from eager torch"


def _bound_before(code, name, start) -> bool:
    arguments = code.code.co_varnames[: code.code.co_argcount]
    return name in arguments or any(name in code.stores(at) for at in range(start))


def _other_names(got, want) -> str | None:
    if not isinstance(got, (list, tuple)):
        return f"return a list of names, not {type(got).__name__}"
    if missing := [name for name in want if name not in got]:
        return f"{missing[0]} can still be read, and yours does not hand it over"
    if extra := [name for name in got if name not in want]:
        return f"yours hands over {extra[0]}, which nothing reads any more before it is stored"
    return None if list(got) == list(want) else f"keep the order of bound: {list(want)}"


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
        _judge_binary_op,
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
            ("Known(fn(left.value, right.value))", "fn(left.value, right.value)", "folded("),
            (" and isinstance(right, Known)", "", "under("),
            ("isinstance(left, Known) and isinstance(right, Known)", "False", "left the graph"),
            ("fn(left.value, right.value)", "fn(right.value, left.value)", "eager torch gives"),
        ),
    ),
    Exercise(
        "dynamo_recorder",
        _judge_recorder,
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
                "raised",
            ),
        ),
    ),
    Exercise(
        "dynamo_guards",
        _judge_guards,
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
                '            f"{source}.dtype is {value.dtype}",\n',
                '            f"{source}.tolist() == {value.tolist()}",\n',
                "compiles again",
            ),
        ),
    ),
    Exercise(
        "dynamo_lookup",
        _judge_lookup,
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
            ("failing[0].text", "failing[0]", "the first failing guards are"),
            ("        misses.append(failing[0].text)\n", "", "the first failing guards are"),
            ("if not failing:", "if len(failing) < 2:", "fits, and yours found"),
            ("return entry, misses", "return entry", "return a pair"),
        ),
    ),
    Exercise(
        "dynamo_receives",
        _judge_receives,
        "The rest of each function receives what it can still read, and nothing else.",
        (
            "Which names does the rest of the function read before it stores them itself?",
            "Go backwards. Before a step, live is (live after it - what it stores) | what it "
            "reads.",
            "code.after(at) gives one or two positions: unite them. A loop jumps back, so repeat "
            "until nothing changes.",
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

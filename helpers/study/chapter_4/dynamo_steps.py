"""The five steps of the mini-Dynamo: what is judged, what a pass is told, hints."""

from helpers.study.chapter_4.judge_binary_op import judge_binary_op
from helpers.study.chapter_4.judge_guards import judge_guards
from helpers.study.chapter_4.judge_lookup import judge_lookup
from helpers.study.chapter_4.judge_receives import judge_receives
from helpers.study.chapter_4.judge_recorder import judge_recorder, recorded
from helpers.study.check import Exercise

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
        picture=recorded,
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
    ),
)

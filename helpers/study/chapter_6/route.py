"""Chapter 6: which way does a call take? Judged by an X-ray of the very call."""

import re

from helpers.capture.frameworks.call_recorder import call_tree
from helpers.capture.text.value import brief
from helpers.model.calls import ROUTES, CallTree
from helpers.safety.arguments import is_a
from helpers.study.answers import by_name, in_order
from helpers.study.check import Exercise

MANY = 100
WHY = {
    "fast path": "C reads all that arrives at the door itself: tensors, numbers, variables",
    "fallback": "FastPathExecute raised inside: C could not read an argument, Python converted it",
    "function": "the whole graph is one op, and quick_execute runs it",
    "direct": "Python called quick_execute itself, for an op that is no function",
    "graph": "nothing ran: a node was written into a graph",
    "refused": "C raised, and there was no second way",
    "no door": "no op was asked for at either door",
}
_KNOWN = {  # of the calls of the chapter: a learner may have made others of these names
    "tf.add(a, 1.0)": "fast path",
    "tf.sin([1.0])": "fallback",
    "tf.sin(variable)": "fast path",
    "tf.add(a, tf.constant(1))": "refused",
    "doubled(a)": "function",
    "tf.constant(1.0)": "no door",
    "double in a graph": "graph",
}
CONVERTED = "here a wrapper made a tensor of each argument, before the door"


def _judge_route(answers, calls):
    if not calls:
        return "there are no calls to judge: run the cell that makes them"
    given = {name: _plain(one) for name, one in by_name(answers, calls, "the answer").items()}
    for name, answer in given.items():
        if not (is_a(answer, str) and re.sub(r" ×\d+$", "", answer) in ROUTES):
            return f"{name}: {brief(answer)} is no route; the routes are {', '.join(ROUTES)}"
    for name, answer in given.items():
        tree = call_tree(calls[name])
        truth = _route(tree)
        if _KNOWN.get(name, truth) != truth:
            return f"{name} takes another way by now: run the cells again that make the calls"
        if answer not in (truth, tree.route):
            return f"{name} does not take the route {answer!r}: {_why(truth, tree)}"
    return None


def _plain(answer):
    """Return a route as the X-ray writes it: `.routes` is a tuple, with one for each node."""
    if is_a(answer, tuple, list) and answer:
        items = in_order(answer, MANY, "a route")
        answer = items[0] if all(one == items[0] for one in items) else answer
    if not is_a(answer, str):
        return answer
    return re.sub(r" ?[x×*] ?(\d+)$", r" ×\1", " ".join(answer.lower().split()))


def _route(tree: CallTree) -> str:
    """Return the route of a call; nodes of one graph are one route."""
    return tree.routes[0] if len(set(tree.routes)) == 1 else tree.route


def _why(truth: str, tree: CallTree) -> str:
    """Return why a call takes its route; what only some calls do is said of those alone."""
    converts = truth == "fast path" and tree.count("convert_to_tensor")
    return WHY.get(truth, truth) + f"; {CONVERTED}" * bool(converts)


ROUTE = Exercise(
    "route",
    _judge_route,
    "You read a route off a call. The X-ray of each agrees.",
    (
        "For each call ask: does an op run now, or is it only written down? Is it one op of a "
        "kernel, or a whole function?",
        "The fast path takes tensors, and numbers and variables beside them. What else is among "
        "the arguments, and do the dtypes meet?",
        "A list of numbers that arrives at the door falls back. tf.constant makes a tensor of a "
        "number, or of such a list, at neither door. Whoever is in doubt asks "
        "watch_call(...).model.route.",
    ),
)

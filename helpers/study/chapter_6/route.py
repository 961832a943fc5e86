"""Chapter 6: which way does a call take? Judged by an X-ray of the very call."""

import re

from helpers.capture.frameworks.call_tree import call_tree
from helpers.model.calls import ROUTES
from helpers.study.check import Exercise, tried

WHY = {
    "fast path": "what arrives at the door are tensors, numbers or variables (tf.add converts "
    "beforehand), and C reads these itself",
    "fallback": "FastPathExecute raised inside: an argument was a list, and Python converted it",
    "function": "the whole graph is one op, and quick_execute runs it",
    "direct": "Python called quick_execute itself, for an op that is no function",
    "graph": "nothing ran: a node was written into a graph",
    "refused": "C raised, and there was no second way",
    "no door": "no op was asked for at either door",
}


def _judge_route(answers, calls):
    if not isinstance(answers, dict) or set(answers) != set(calls):
        return f"give a dict with a route for each of: {', '.join(calls)}"
    for name, run in calls.items():
        answer = _plain(tried(answers[name]))
        if answer not in ROUTES:
            return f"{name}: {answer!r} is no route; the routes are {', '.join(ROUTES)}"
        truth = _route(run)
        if answer != truth:
            return f"{name} does not take the route {answer!r}: {WHY.get(truth, truth)}"
    return None


def _plain(answer):
    """Return a route without its count: `.route` says `graph ×2` for two nodes."""
    return re.sub(r" ×\d+$", "", answer) if isinstance(answer, str) else answer


def _route(run) -> str:
    """Return the route of a call; nodes of one graph are one route."""
    tree = call_tree(run)
    return tree.routes[0] if len(set(tree.routes)) == 1 else tree.route


ROUTE = Exercise(
    "route",
    _judge_route,
    "You read a route off a call. The X-ray of each agrees.",
    (
        "For each call ask: does an op run now, or is it only written down? Is it one op of a "
        "kernel, or a whole function?",
        "The fast path takes tensors, and numbers and variables beside them. What else is among "
        "the arguments, and do the dtypes meet?",
        "A list that arrives at the door falls back. tf.constant makes a tensor without an op. "
        "Whoever is in doubt asks watch_call(...).model.route.",
    ),
)

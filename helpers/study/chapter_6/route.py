"""Chapter 6: which way does a call take? Judged by an X-ray of the very call."""

import re

from helpers.capture.frameworks.call_recorder import call_tree
from helpers.model.calls import ROUTES
from helpers.study.check import Exercise, Unfit
from helpers.study.engine import check_guess

WHY = {
    "fast path": "C reads all that arrives at the door itself: tensors, numbers, variables",
    "fallback": "FastPathExecute raised inside: C could not read an argument, Python converted it",
    "function": "the whole graph is one op, and quick_execute runs it",
    "direct": "Python called quick_execute itself, for an op that is no function",
    "graph": "nothing ran: a node was written into a graph",
    "refused": "C raised, and there was no second way",
    "no door": "no op was asked for at either door",
}
CONVERTED = "here a wrapper made a tensor of each argument, before the door"


def _judge_route(answers, calls):
    if not calls:
        raise Unfit("there are no calls to judge: run the cell that makes them")
    trees = {name: call_tree(call) for name, call in calls.items()}
    truth = {name: _plain(tree.routes or tree.route) for name, tree in trees.items()}

    def why(name, guess):
        converts = truth[name] == "fast path" and trees[name].count("convert_to_tensor")
        return WHY.get(truth[name], "") + f"; {CONVERTED}" * bool(converts)

    return check_guess(answers, truth, why, ROUTES, _plain)


def _plain(route):
    """Return a route as the X-ray names it: it may be given with a count, or once for each node."""
    if isinstance(route, (tuple, list)) and len(set(map(str, route))) == 1:
        route = route[0]
    if not isinstance(route, str):
        return route
    return re.sub(r" ?[x×*] ?\d+$", "", " ".join(route.lower().split()))


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

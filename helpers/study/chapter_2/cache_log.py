"""A learner's cache of traces and a sequence of calls -> a ledger of what came of each call."""

from helpers.model.ledger import Entry, Ledger, Verdict
from helpers.model.traces import MARKS
from helpers.study.chapter_2.call_sequences import Sequence, arguments
from helpers.study.chapter_2.known_sequences import sequences, steps_of

SHOWN = (1, 2)  # another shape; lengths without a relaxed key


def cache_log(my_function) -> Ledger:
    """Run a few sequences on the learner's function: which calls ran its body?"""
    shown = [(sequences()[at], steps_of(at)) for at in SHOWN]
    entries = [entry for one in shown for entry in _entries(my_function, *one)]
    title = "What your cache did, beside TensorFlow's"
    return Ledger(title, "call", ("yours", "TensorFlow's"), tuple(entries), marks=MARKS)


def _entries(my_function, sequence: Sequence, steps):
    ran = []

    def body(*args):
        ran.append(args)
        return sequence.body(*args)

    mine, seen = my_function(body), 0
    for step, call in zip(steps, sequence.calls, strict=True):
        mine(*arguments(call))
        verdict = "hit" if len(ran) == seen else "trace"
        seen = len(ran)
        pair = (_verdict(verdict), _verdict(step.verdict))
        yield Entry(step.arguments, pair, sequence.shows)


def _verdict(word: str) -> Verdict:
    return Verdict(word, "changed" if word == "trace" else "plain")

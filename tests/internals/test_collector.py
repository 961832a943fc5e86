"""helpers/internals/collector.py: a collection that the program asked for is the program's."""

import gc
import sys

from helpers.internals.collector import CollectorWatch


class Finalized:
    """An object in a cycle, whose finaliser calls `note`."""

    def __init__(self, note):
        self.cycle, self.note = self, note

    def __del__(self):
        self.note()


def run_collector(collect):
    """Return what a profiler is told while a finaliser runs, and after the collection."""
    answers = []
    with CollectorWatch() as collector:
        Finalized(lambda: answers.append(collector.runs_by_itself("call", None)))
        earlier = sys.getprofile()
        sys.setprofile(lambda frame, event, argument: collector.runs_by_itself(event, argument))
        try:
            collect()
        finally:
            sys.setprofile(earlier)
        answers.append(collector.runs_by_itself("call", None))
    return answers


def test_a_finaliser_in_a_collection_of_the_program_is_not_left_out():
    assert run_collector(gc.collect) == [False, False]


def test_a_finaliser_in_a_collection_by_itself_is_left_out():
    def allocate():
        threshold = gc.get_threshold()
        gc.set_threshold(1)
        [[number] for number in range(9)]
        gc.set_threshold(*threshold)

    gc.collect()
    assert run_collector(allocate) == [True, False]


def test_the_callback_is_gone_after_the_block():
    before = list(gc.callbacks)
    with CollectorWatch():
        assert len(gc.callbacks) == len(before) + 1
    assert gc.callbacks == before

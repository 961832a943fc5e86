"""The stack of a machine of handlers is what CPython kept, and shows what a handler did wrong."""

import gc
import weakref

from helpers.capture.cpython.machine_steps import MOST_STEPS
from helpers.capture.cpython.stack_run import record_stack_run
from helpers.mini import vm


def summed(items):
    total = 0
    for item in items:
        total = total + item
    print("the sum:", total)
    return total


def stepped(n):
    i = found = 0
    while i < n:
        i += 1
        if i == 2:
            continue
        if i > 4:
            break
        found = found - i
    return found


def test_handler_that_is_missing_is_told():
    class Few:
        def LOAD_CONST(self, value):
            self.push(value)

    run = record_stack_run(vm.machine(Few)().run, summed, [1])
    assert "STORE_FAST" in run.outcome
    assert [step.opname for step in run.steps] == ["LOAD_CONST"]


def test_error_goes_to_the_handler_that_the_table_names():
    def risky(items):
        try:
            return 100 + items[0]
        except IndexError:
            return -1

    steps = record_stack_run(vm.Machine().run, risky, []).steps
    raised = next(n for n, step in enumerate(steps) if step.ending.startswith("raises"))
    assert steps[raised].stack[0] == "100" and steps[raised].taken == 2
    target = int(steps[raised].handler.split()[2].rstrip(","))
    assert steps[raised + 1].offset == target
    assert steps[raised + 1].raised == steps[raised].offset
    assert steps[raised + 1].left == steps[raised].line and steps[-1].raised == -1


def test_endless_program_is_cut_and_nothing_is_kept_alive():
    class Thing:
        pass

    def endless(thing):
        while True:
            thing

    thing = Thing()
    run = record_stack_run(vm.Machine().run, endless, thing)
    assert len(run.steps) == MOST_STEPS and f"{MOST_STEPS:,}" in run.note
    gone = weakref.ref(thing)
    del thing
    gc.collect()
    assert gone() is None

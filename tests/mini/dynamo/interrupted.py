"""Ctrl-C at random moments of compiling and calling -> what was left behind, and what is wrong.

`python -m tests.mini.dynamo.interrupted --moments 300 --seed 0`
"""

import argparse
import logging
import random
import signal
import sys
import time

import torch

from helpers.mini import dynamo, frame_hook
from helpers.mini.dynamo import global_state
from helpers.mini.frame_hook import slot

X = torch.arange(6.0).reshape(2, 3)
LAYER = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())


class Box:
    """Something with a class that is guarded."""

    k = 2


BOX = Box()


def program(x, k):
    y = torch.sin(x) * k + BOX.k
    if y.sum() > 0:
        y = LAYER(y) - 1
    for step in range(3):
        y = y * step + x
    return y


def first_call(compiled):
    dynamo.compile(program)(X, 3)


def cached_calls(compiled):
    for k in (1, 2.0, 1, 2.0, True):
        compiled(X, k)


def hooked_block(compiled):
    with dynamo.hooked(only=[program]):
        program(X, 3)
        program(X, 4)


def module(compiled):
    dynamo.compile(LAYER)(X)


RUNS = {run.__name__: run for run in (first_call, cached_calls, hooked_block, module)}


def left() -> dict:
    """Return all that has to be as it was."""
    return {
        "the evaluator": slot.address_installed(),
        "torch's modes": global_state.unusual_state(),
        "a fake mode": torch._C._len_torch_dispatch_stack(),
        "gradients": torch.is_grad_enabled(),
        "the logger of fakes": logging.getLogger("torch._subclasses.fake_tensor").disabled,
        "SIGINT": signal.getsignal(signal.SIGINT),
        "the code": id(program.__code__),
        "tracers": (sys.gettrace(), sys.getprofile()),
    }


def interrupted(run, compiled, seconds: float) -> bool:
    """Run it, and press Ctrl-C after so many seconds; return whether it came through."""

    over = False

    def press(number, frame):
        if not over:
            handler = signal.getsignal(signal.SIGINT)
            handler(signal.SIGINT, frame)

    kept = signal.signal(signal.SIGALRM, press)
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))
            run(compiled)
        finally:
            over = True
        return False
    except KeyboardInterrupt:  # it may come as late as that line
        return True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, kept)


def faults(moments: int, seed: int) -> tuple[list[str], int]:
    """Interrupt at so many moments; return what was wrong after one, and how often it came."""
    rng, found, came = random.Random(seed), [], 0
    names = [name for name in RUNS if name != "hooked_block" or frame_hook.available()]
    compiled = dynamo.compile(program)
    wanted = {k: program(X, k) for k in (1, 2.0, True)}
    longest = {}
    for name in names:
        RUNS[name](compiled)
        start = time.perf_counter()
        RUNS[name](dynamo.compile(program))
        longest[name] = time.perf_counter() - start
    before = left()
    for moment in range(moments):
        name = names[moment % len(names)]
        if moment % 20 == 0:
            compiled = dynamo.compile(program)  # so that first calls are cut as well
        came += interrupted(RUNS[name], compiled, rng.uniform(0, 1.05 * longest[name]))
        now = left()
        found += [
            f"moment {moment}, {name}: {what} is {now[what]}, not {before[what]}"
            for what in before
            if now[what] != before[what]
        ]
        for k, want in wanted.items():
            if not torch.equal(compiled(X, k), want) or not torch.equal(program(X, k), want):
                found.append(f"moment {moment}, {name}: another result for k = {k}")
        if compiled.why not in ("", "a graph break inside a loop"):
            found.append(f"moment {moment}, {name}: {compiled.why}")
        if found:
            break
    return found, came


def main() -> int:
    """Print what was wrong; 1 if anything was."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--moments", type=int, default=300)
    asked.add_argument("--seed", type=int, default=0)
    given = asked.parse_args()
    found, came = faults(given.moments, given.seed)
    print(*found, sep="\n")
    print(f"{given.moments} moments, {came} interrupts came through, {len(found)} faults")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())

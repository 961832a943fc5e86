"""Interrupts at random moments of `with watching(…)`: is the hook off after each?

Run as `python -m tests.mini.frame_hook.interrupts --moments 300 --seed 0`.
"""

import argparse
import random
import signal

from helpers.mini.frame_hook import hooks, installed, watching

LONGEST = 80e-6  # seconds: about what one block takes


def add(a, b):
    return a + b


def block(asked: list):
    """Switch a hook on and off once, and be interrupted meanwhile, or just before or after."""
    hook = watching(lambda code, arguments: asked.append(code), only=[add])
    with hook:
        for n in range(5):
            add(n, n)


def interrupted(seconds: float) -> bool:
    """Run a block with an interrupt after so many seconds; return whether it came."""
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            for _ in range(50):
                block([])
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        return True
    return False


def left_on(moments: int, seed: int) -> tuple[int, int]:
    """Return how many interrupts came, and how many of them have left a hook on."""
    dice, came, left = random.Random(seed), 0, 0
    for _ in range(moments):
        came += interrupted(1e-6 + dice.random() * LONGEST)
        asked = []
        add(1, 1)
        left += installed()[0].name != "_PyEval_EvalFrameDefault" or bool(asked)
        block(asked)
        left += len(asked) != 5
    return came, left


if __name__ == "__main__":
    reader = argparse.ArgumentParser()
    reader.add_argument("--moments", type=int, default=300)
    reader.add_argument("--seed", type=int, default=0)
    given = reader.parse_args()
    assert hooks.available()
    came, left = left_on(given.moments, given.seed)
    print(f"{came} of {given.moments} interrupts came; {left} left something on")
    raise SystemExit(bool(left))

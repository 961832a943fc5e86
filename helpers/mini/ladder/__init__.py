"""A machine in seven steps: each step a class of handlers that are named for opcodes.

`Loop` is the given part: it fetches, dispatches and unwinds. `STEPS` are finished handlers, idea by
idea; a learner's own class takes the place of any of them. `plain` hides what only differs between
3.11, 3.12 and 3.13.
"""

from helpers.mini.ladder.loop import Loop, Missing, machine
from helpers.mini.ladder.plain import Plain, plain, plain_names
from helpers.mini.ladder.steps import STEPS, opcodes

__all__ = [
    "STEPS",
    "Loop",
    "Missing",
    "Plain",
    "machine",
    "opcodes",
    "plain",
    "plain_names",
]

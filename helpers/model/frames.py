"""Calls, returns, yields and exceptions of one run -> steps with all frames as cards."""

from dataclasses import dataclass

from helpers.model.stage import Card
from helpers.model.timeline import Step


@dataclass(frozen=True)
class FrameStep(Step):
    """One event. `cards`: the frames on the stack, the first call at the bottom.

    `shelf`: the frames of generators that wait off the stack. `handed`: the words of the value that
    a frame hands down to what called it, "" for none.
    """

    cards: tuple[Card, ...] = ()
    shelf: tuple[Card, ...] = ()
    handed: str = ""

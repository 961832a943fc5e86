"""How much of a sample is drawn: enough for a change that one makes, or more of it when asked.

COURSE_SAMPLES=whole asks, as the weekly workflow does; `course.py test --all` sets it to `all`: the
long tests run, with the few samples.
"""

import os

WHOLE = os.environ.get("COURSE_SAMPLES") == "whole"


def sample(few: int, whole: int) -> int:
    """Return how many samples a test draws; all of them are seeded."""
    return whole if WHOLE else few

"""How much of a sample is drawn: enough for a change that one makes, or all of it when asked.

`COURSE_SAMPLES=whole` in the environment asks, as in
`COURSE_SAMPLES=whole python3 course.py test tests/capture/test_traces.py`.
"""

import os


def sample(few: int, whole: int) -> int:
    """Return how many samples a test draws; all of them are seeded."""
    return whole if os.environ.get("COURSE_SAMPLES") == "whole" else few

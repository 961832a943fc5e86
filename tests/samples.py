"""How much of a sample is drawn: enough for a change that one makes, or more of it when asked.

`python3 course.py test --all` asks, also with the path of a file; it sets COURSE_SAMPLES=whole.
"""

import os

WHOLE = os.environ.get("COURSE_SAMPLES") == "whole"


def sample(few: int, whole: int) -> int:
    """Return how many samples a test draws; all of them are seeded."""
    return whole if WHOLE else few

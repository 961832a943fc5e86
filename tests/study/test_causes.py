"""A check names a cause only where it has measured it: neighbours of the known mistakes.

Each answer is wrong in another way than the one that the words are about.
"""

import pytest

from tests.study.folded import EXERCISES, verdict
from tests.study.mistakes import made

pytestmark = pytest.mark.own_process(by="chapter", sharing="judges")

# exercise, words that would be false, and the pieces of its solution to exchange
OTHERS = (
    ("default_finder", "fn.__defaults__ is None", "    found = []\n", "    found = [] + 5\n"),
    ("default_finder", "keyword-only", "fn.__defaults__ or ()", "()"),
    ("rebinding", "==", "    try:\n", "    raise ValueError('own')\n    try:\n"),
    ("rebinding", "finally", "            space[key] = old\n", "            pass\n"),
    (
        "who_kept",
        "staticmethod",
        "        try:\n",
        "        raise TypeError('own')\n        try:\n",
    ),
    ("break_surgery", "where avoids", "y > 0, y, 0", "y > 0, y, 1"),
    ("break_surgery", "no gradient leads", "y > 0, y, 0", "y >= 0, y, 0"),
    ("one_compile", "2 means", "y * warm", "y * min(1.0, model.calls / 10)"),
    ("dynamo_guards", "may look at", "(source, value):\n", "(source, value):\n    1 / 0\n"),
    ("op_logger", "bytes", "        log.append", "        op_type in log or log.append"),
    ("tape", "walk from", "reversed(self.ops)", "self.ops"),
    ("every_step", "float32", "max(number, 1)", "(number + 1)"),
    ("vm_operators", "pop it first", "ARITHMETIC[sign](left, right))", "left)"),
)


@pytest.mark.parametrize(
    ("chapter", "name", "words", "pieces"),
    [(EXERCISES[name].chapter, name, words, pieces) for name, words, *pieces in OTHERS],
)
def test_another_mistake_is_not_given_this_cause(chapter, name, words, pieces):
    outcome = verdict(name, made(EXERCISES[name].solution, *pieces))
    assert outcome.state == "failed"
    assert words not in outcome.because, outcome.because

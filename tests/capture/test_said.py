"""An exception in one line: the sentence, without places, addresses or numbers that change."""

import pytest

from helpers.capture.text.error import error_message


class Broken(Exception):
    def __str__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("no"), "ValueError: no"),
        (KeyError(), "KeyError"),
        (Broken(), "Broken (its message raised RuntimeError)"),
        (ValueError("<f at 0x7f00> is odd"), "ValueError: <f> is odd"),
        (
            ValueError(
                'in user code:\n\n    File "/x/y.py", line 1, in f  *\n        f()\n\n'
                "    ValueError: not so"
            ),
            "ValueError: not so",
        ),
        (
            ValueError(
                "Graph execution error:\n\nDetected at node a/b defined at (most recent call)\n"
                "<stack traces unavailable>\nassertion failed: 1\n\t [[{{node a}}]] [Op:__f_12]"
            ),
            "ValueError: assertion failed: 1",
        ),
    ],
)
def test_the_sentence_is_kept(error, words):
    assert error_message(error) == words

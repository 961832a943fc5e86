"""What the tests of wrong uses share."""

import re

import pytest

from helpers.mini import oneflow as flow


def caught(run, stage, words):
    """Assert that run() raises exactly an OpError, at a stage, with words in one sentence."""
    with pytest.raises(flow.OpError) as caught:
        run()
    message = str(caught.value)
    for word in words:
        assert word in message, message
    assert caught.value.stage == stage, message
    assert "\n" not in message
    assert not re.search(r"/tmp|0x[0-9a-f]", message), message

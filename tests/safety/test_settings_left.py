"""helpers/safety/settings_left.py: what an answer sets for the whole process, and leaves so."""

import os
import sys

import numpy
import pytest
import tensorflow
import torch

from helpers.safety import settings_left

torch.compiler.set_stance("default")  # loads what holds the stance

CHANGES = {
    "the recursion limit": lambda: sys.setrecursionlimit(sys.getrecursionlimit() + 1),
    "the working folder": lambda: os.chdir(os.sep),
    "NumPy's handling of errors": lambda: numpy.seterr(all="raise"),
    "torch's default dtype": lambda: torch.set_default_dtype(torch.float64),
    "whether tf.functions run eagerly": lambda: tensorflow.config.run_functions_eagerly(True),
    "the stance of torch.compile": lambda: torch.compiler.set_stance("force_eager"),
}


def test_each_setting_that_is_watched_is_changed_here():
    assert set(CHANGES) == {setting.name for setting in settings_left.WATCHED}


@pytest.mark.parametrize("name", CHANGES)
def test_what_was_changed_is_told_and_put_back(name):
    before = settings_left.read()
    assert settings_left.left(before) == ""
    CHANGES[name]()
    assert settings_left.read()[name] != before[name]
    assert settings_left.left(before).startswith(f"your code changed {name}, and left it so")
    assert settings_left.read() == before

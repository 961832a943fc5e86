"""helpers/study/chapter_5/kernel_verdicts.py: a right kernel passes, others may be caught."""

import numpy as np
import pytest

from helpers.study.chapter_5.kernel_verdicts import judge_in_tensorflow, judge_in_torch

pytestmark = pytest.mark.own_process(sharing="tensorflow")

X = np.array([-1.0, 2.0], np.float32)
LINES = {
    "right": "return args[0] * 2",
    "another dtype": "return args[0].astype('float64')",
    "writes": "args[0][:] = 7; return args[0] * 1",
}
KNOWN = {"right": ("passes", "passes"), "another dtype": ("passes", "caught")}
KERNELS = {name: f"def forward(args):\n    {line}" for name, line in LINES.items()}


@pytest.mark.filterwarnings("ignore")
def test_torch_is_damaged_by_a_kernel_that_writes_and_opcheck_catches_it():
    found = {name: tuple(judge_in_torch(text, X).values()) for name, text in KERNELS.items()}
    assert found == KNOWN | {"writes": ("damages", "caught")} and X[0] == -1


def test_tensorflow_protects_its_input_eagerly_and_not_in_a_graph():
    pytest.importorskip("tensorflow")
    found = {name: tuple(ways.values()) for name, ways in judge_in_tensorflow(KERNELS, X).items()}
    assert found == KNOWN | {"writes": ("passes", "damages")}

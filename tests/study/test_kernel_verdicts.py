"""helpers/capture/kernel_verdicts: a kernel that keeps its promise passes, others may be caught."""

import numpy as np
import pytest

from helpers.study.chapter_5 import kernel_verdicts

pytestmark = pytest.mark.own_process(sharing="tensorflow")

X = np.array([-1.0, 2.0], np.float32)


def kernel(line):
    return f"def forward(args):\n    {line}"


def test_an_error_is_caught_and_its_absence_passes():
    assert kernel_verdicts.verdict_on(lambda x: 1 / 0, X) == "caught"
    assert kernel_verdicts.verdict_on(lambda x: 1, X) == "passes"


@pytest.mark.filterwarnings("ignore")
def test_torch_passes_what_is_right_and_opcheck_catches_another_dtype():
    right = kernel_verdicts.in_torch(kernel("return args[0] * 2"), X)
    assert right == {"torch called": "passes", "torch opcheck": "passes"}
    wrong = kernel_verdicts.in_torch(kernel("return args[0].astype('float64')"), X)
    assert wrong == {"torch called": "passes", "torch opcheck": "caught"}


def test_tensorflow_passes_what_is_right_and_its_graph_catches_another_dtype():
    pytest.importorskip("tensorflow")
    lines = {"right": "return args[0] * 2", "wrong": "return args[0].astype('float64')"}
    found = kernel_verdicts.in_tensorflow({name: kernel(line) for name, line in lines.items()}, X)
    assert found == {
        "right": {"TF eager": "passes", "TF graph": "passes"},
        "wrong": {"TF eager": "passes", "TF graph": "caught"},
    }


WRITES = kernel("args[0][:] = 7; return args[0] * 1")


def test_torch_is_damaged_by_a_kernel_that_writes_into_its_input():
    found = kernel_verdicts.in_torch(WRITES, X)
    assert found == {"torch called": "damages", "torch opcheck": "caught"} and X[0] == -1


def test_tensorflow_protects_its_input_eagerly_and_not_in_a_graph():
    pytest.importorskip("tensorflow")
    found = kernel_verdicts.in_tensorflow({"writes": WRITES}, X)
    assert found == {"writes": {"TF eager": "passes", "TF graph": "damages"}}

"""What is counted between TensorFlow's own C++ and the C API, and that the slots are put back."""

import pytest

tf = pytest.importorskip("tensorflow")

from helpers.mini.eager import step_counts  # noqa: E402
from helpers.mini.eager.step_counts import STEPS, counted  # noqa: E402

SLOTS = step_counts._find_slots()
pytestmark = [
    pytest.mark.own_process(sharing="tensorflow"),
    pytest.mark.skipif(not SLOTS, reason="no slots that can be rebound here"),
]


def test_the_op_object_is_made_once_and_used_again():
    a = tf.ones([2])
    counts, made = counted(lambda: tf.negative(a), 20)
    assert counts["TFE_Execute"] == counts["TFE_OpAddInput"] == 20
    assert counts["TFE_NewOp"] == counts["TFE_DeleteOp"] == 0 and made == ()
    assert counts["op objects"] == 1


def test_ops_that_c_runs_by_itself_are_counted_and_named():
    assert counted(lambda: tf.constant(1.0), 3) == (dict.fromkeys((*STEPS, "op objects"), 0), ())
    counts, made = counted(lambda: tf.constant([1.0, 2.0]), 3)
    assert counts["TFE_NewOp"] == counts["TFE_Execute"] == 3 and made == ("_EagerConst",)
    assert counts["op objects"] == 3


def test_slots_are_put_back_also_after_an_error(refused):
    def held():
        return [step_counts.POINTER.from_address(SLOTS[name]).value for name in STEPS]

    a, runs = tf.ones([2]), []

    def fails_late():
        runs.append(tf.negative(a))
        if len(runs) > 2:
            raise ZeroDivisionError

    counted(lambda: tf.negative(a), 1)  # fills the slots that nobody had called through
    before = held()
    refused(ZeroDivisionError, "^$", counted, fails_late, 5)
    assert held() == before

"""The X-ray of a call: its route, the same each time, and nothing left behind."""

import gc
import sys

import pytest

from helpers.capture.frameworks.call_recorder import call_tree, calls_diff, calls_ledger
from tests.model.pairs import made_up

pytestmark = pytest.mark.own_process(sharing="tensorflow")
torch = pytest.importorskip("torch")
tf = pytest.importorskip("tensorflow")


@pytest.fixture(scope="module")
def a():
    return tf.constant([[1.0, 2.0], [3.0, 4.0]])


def product(x, y):
    return x @ y


def in_a_graph(op, *values):
    with tf.Graph().as_default():
        return op(*(tf.constant(value) for value in values))


def cases(a) -> dict[str, tuple]:
    traced = tf.function(product)
    return {
        "fast path": (tf.matmul, a, a),
        "fallback": (tf.negative, [1.0]),
        "function": (traced, a, a),
        "graph ×2": (in_a_graph, tf.negative, 1.0),
        "refused": (tf.matmul, a, tf.ones([3, 1])),
        "no door": (a.numpy,),
        "direct": (lambda: tf.constant(0.0, shape=[3]),),
        "direct ×3": (lambda: tf.constant(True, shape=[2]),),
        "fast path ×2": (lambda: a @ a + 1.0,),
        "graph ×3, function": (lambda: tf.function(lambda x: -x, autograph=False)(a),),
    }


def test_every_route_is_named(a):
    for route, (fn, *args) in cases(a).items():
        found = call_tree(fn, *args)
        assert found.route in (route, route.replace("×3", "×4")), found.title


def test_the_wrappers_of_matmul_are_found_in_order(a):
    names = [call.path for call in call_tree(tf.matmul, a, a).calls]
    layers = ["weak_tensor_ops.wrapper", "traceback_utils.error_handler", "math_ops.matmul"]
    layers += ["gen_math_ops.mat_mul", "_pywrap_tfe.TFE_Py_FastPathExecute"]
    assert [names.index(layer) for layer in layers] == sorted(map(names.index, layers))


def test_the_operator_calls_all_of_matmul_and_more(a):
    matmul, operator = call_tree(tf.matmul, a, a), call_tree(product, a, a)
    diff = calls_diff(matmul, operator)
    assert all(pair.right for pair in diff.pairs)  # nothing of matmul is missing
    assert any("binary_op_wrapper" in line for line in made_up(diff))
    assert len(operator.calls) > len(matmul.calls)


def test_the_ledger_marks_what_differs(a):
    ledger = calls_ledger({"a": (tf.negative, a), "list": (tf.negative, [1.0])})
    assert ledger.word("TFE_Py_FastPathExecute", "list") == "×1, raised"
    assert ledger.word("TFE_Py_Execute", "a") == "–"
    route = next(entry for entry in ledger.entries if entry.subject == "route")
    assert [verdict.tone for verdict in route.verdicts] == ["plain", "changed"]


def test_profiler_and_collector_are_as_before(a):
    def mine(frame, event, argument):
        pass

    sys.setprofile(mine)
    gc.disable()
    try:
        call_tree(tf.matmul, a, a)
        assert sys.getprofile() is mine and not gc.isenabled()
    finally:
        gc.enable()
        sys.setprofile(None)


def test_what_cannot_be_compared_is_refused(a, refused):
    refused(TypeError, "watch_calls needs a dict", calls_ledger, [a])
    with pytest.raises(TypeError, match="show_call_diff needs two calls of watch_call, not int"):
        calls_diff(call_tree(a.numpy), 3)


def test_a_case_that_raises_says_so_among_the_landmarks(a):
    ledger = calls_ledger({"fits": (tf.negative, a), "too many": (lambda: a, 1)})
    told = {entry.subject: [v.word for v in entry.verdicts] for entry in ledger.entries}
    assert told["raised"][0] == "–" and told["raised"][1] == "TypeError"
    assert "raised" not in [e.subject for e in calls_ledger({"fits": (tf.negative, a)}).entries]


def test_a_count_that_was_cut_says_so_among_the_landmarks():
    def many():
        for _ in range(20_001):
            torch.is_tensor(1)

    ledger = calls_ledger({"many": many, "few": (torch.ones, 1)})
    assert ledger.note == "Only some calls of many are counted (depth=, only=, most=)."

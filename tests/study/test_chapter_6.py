"""helpers/study/chapter_6: the judges leave TensorFlow as it was, whatever an answer does."""

from types import MappingProxyType

import pytest

from helpers import check
from helpers.capture.tensorflow.op_callbacks import DOORS, callbacks
from helpers.study.chapter_6.gradients import functions
from tests.study.folded import EXERCISES, verdict
from tests.study.mistakes import edited

tf = pytest.importorskip("tensorflow")


def doors():
    from tensorflow.python import pywrap_tfe

    return [getattr(pywrap_tfe, door) for door in DOORS]


def never_leaves():
    from tensorflow.python.framework import op_callbacks

    log = []

    class Block:
        def __enter__(self):
            op_callbacks.add_op_callback(lambda *args, **kwargs: log.append(args[0]))
            return log

        def __exit__(self, *error):
            return None

    return Block()


def breaks_a_door():
    from tensorflow.python import pywrap_tfe

    pywrap_tfe.TFE_Py_FastPathExecute = None
    raise RuntimeError("gone")


@pytest.mark.parametrize("answer", [never_leaves, breaks_a_door, None, 3, lambda: 5])
def test_a_bad_logger_fails_and_leaves_nothing_behind(answer):
    before, kept = callbacks(), doors()
    assert check.op_logger(answer).model.state == "failed"
    assert (callbacks(), doors()) == (before, kept)
    assert (tf.constant(1) + 1).numpy() == 2


def patches_the_tape():
    tf.GradientTape.gradient = lambda *args, **kwargs: None
    tf.GradientTape.forgotten = True
    raise RuntimeError("gone")


def test_a_patched_gradient_tape_is_as_before():
    before = dict(vars(tf.GradientTape))
    assert check.tape(patches_the_tape).model.state == "failed"
    assert dict(vars(tf.GradientTape)) == before


@pytest.mark.parametrize("answer", [never_leaves, breaks_a_door, None, 3, int])
def test_a_bad_tape_fails_and_leaves_nothing_behind(answer):
    before, kept = callbacks(), doors()
    assert check.tape(answer).model.state == "failed"
    assert (callbacks(), doors()) == (before, kept)


def test_the_tape_is_compared_with_gradient_tape_on_twenty_functions():
    assert len(functions()) >= 20

    class Borrowed:
        """GradientTape itself, behind the exercise's interface."""

        def __enter__(self):
            self.tape = tf.GradientTape()
            self.tape.__enter__()
            self.tape.watch(sources)
            return self

        def __exit__(self, *error):
            self.tape.__exit__(None, None, None)

        def gradient(self, y, x):
            return None

    sources = tf.constant(1.0)
    outcome = check.tape(Borrowed).model
    ones = [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    assert f"for y = x itself, yours gives None, GradientTape gives {ones}" in outcome.because


@pytest.mark.parametrize("answers", [None, {}, {"a": "graph"}, "graph"])
def test_answers_that_are_no_dict_of_the_calls_are_named(answers):
    outcome = check.route(answers, {"f()": lambda: None}).model
    assert outcome.state == "failed"
    assert "the answer must be a dict with the keys f()" in outcome.because


@pytest.mark.parametrize("answer", ["Fast path", " fast  path", ("fast path",), ["fast path"] * 2])
def test_a_route_in_another_form_is_taken(answer):
    calls = {"sin": lambda: tf.sin(tf.constant(1.0))}
    assert check.route(MappingProxyType({"sin": answer}), calls).model.state == "passed"


def test_a_route_that_is_not_given_is_named():
    calls = dict.fromkeys(("f()", "g()"), lambda: None)
    outcome = check.route({"f()": "no door", "g()": ...}, calls).model
    assert outcome.state == "untried" and "Replace the ... of g()" in outcome.more
    assert "'g()' is missing" in check.route({"f()": "no door"}, calls).model.because
    assert "no calls to judge" in check.route({}, {}).model.because


def test_a_route_that_the_calls_do_not_have_is_explained():
    outcome = check.route({"f()": "graph"}, {"f()": lambda: None}).model
    assert "no op was asked for at either door" in outcome.because
    assert check.route({"f()": "no door"}, {"f()": lambda: None}).model.state == "passed"
    assert check.route({"f()": ...}, {"f()": lambda: None}).model.state == "untried"


def test_a_route_may_be_given_with_its_count():
    def two_nodes():
        with tf.Graph().as_default():
            return tf.negative(tf.constant(1.0))

    assert check.route({"two": "graph ×2"}, {"two": two_nodes}).model.state == "passed"
    assert check.route({"two": "graph ×"}, {"two": two_nodes}).model.state == "failed"


@pytest.mark.parametrize("slow", [lambda rows, state, gain: state, 5])
def test_a_slow_loop_that_is_not_the_given_one_is_told(slow):
    outcome = check.slow_loop(dict.fromkeys("abcdefgh", "stays"), lambda *given: None, slow).model
    assert outcome.state == "failed" and "slow is no longer the loop" in outcome.because


def test_who_removes_the_callbacks_of_others_is_told():
    from tensorflow.python.framework import op_callbacks

    class Clears:
        def __enter__(self):
            self.log = []
            op_callbacks.add_op_callback(self.write)
            return self.log

        def write(self, op_type, inputs, attrs, outputs, op_name=None, graph=None):
            self.log.append(op_type)

        def __exit__(self, *error):
            op_callbacks.clear_op_callbacks()

    assert "remove only your own" in check.op_logger(Clears).model.because
    assert callbacks() == []


def test_a_gradient_that_is_no_tensor_is_told_without_a_tip():
    answer = edited(EXERCISES["tape"].solution, "grads.get(x._id)", "[grads.get(x._id)]")
    because = verdict("tape", answer).because
    assert "yours gives no tensor (list)" in because and "Think" not in because

"""helpers/study/chapter_6: the checks leave TensorFlow as it was, whatever an answer does."""

from types import MappingProxyType

import pytest

from helpers import check
from helpers.capture.tensorflow.eager_context import read_callbacks
from helpers.internals.tensorflow_private import ENTRY_POINTS
from helpers.study.chapter_6 import eager_call
from tests.study.folded import EXERCISES, verdict

tf = pytest.importorskip("tensorflow")


def doors():
    from tensorflow.python import pywrap_tfe

    return [getattr(pywrap_tfe, door) for door in ENTRY_POINTS]


class NeverLeaves:
    def __enter__(self):
        from tensorflow.python.framework import op_callbacks

        self.log = []
        op_callbacks.add_op_callback(lambda *args, **kwargs: self.log.append(args[0]))
        return self.log

    def __exit__(self, *error):
        return None


@pytest.mark.parametrize("exercise", ["op_logger", "tape"])
@pytest.mark.parametrize("answer", [NeverLeaves, None, lambda: 5])
def test_a_bad_answer_fails_and_leaves_nothing_behind(exercise, answer):
    before, kept = read_callbacks(), doors()
    assert getattr(check, exercise)(answer).model.state == "failed"
    assert (read_callbacks(), doors()) == (before, kept)
    assert (tf.constant(1) + 1).numpy() == 2


@pytest.mark.parametrize("answers", [None, {"a": "graph"}])
def test_answers_without_the_calls_as_keys_are_named(answers):
    outcome = check.route(answers, {"f()": lambda: None}).model
    assert outcome.state == "failed"
    assert "f()" in outcome.because


@pytest.mark.parametrize("answer", ["Fast path", ["fast path"] * 2])
def test_a_route_in_another_form_is_accepted(answer):
    calls = {"sin": lambda: tf.sin(tf.constant(1.0))}
    assert check.route(MappingProxyType({"sin": answer}), calls).model.state == "passed"


def test_a_missing_route_is_named():
    calls = dict.fromkeys(("f()", "g()"), lambda: None)
    outcome = check.route({"f()": "no door", "g()": ...}, calls).model
    assert outcome.state == "untried" and "g()" in outcome.more
    assert "'g()' is missing" in check.route({"f()": "no door"}, calls).model.because
    assert check.route({}, {}).model.state == "failed"


# ------------------------------------------------------------------ execute, in a child

DONE = EXERCISES["execute"].solution.replace("def my_execute(", "def done(")
HEAD = "\n\ndef my_execute(op_name, inputs, attrs=(), num_outputs=1):\n    "
CALL = "done(op_name, inputs, attrs, num_outputs)"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (f"return tuple({CALL})", "it must return a list of EagerTensors, not tuple"),
        (
            f"try:\n        return {CALL}\n    except Exception:\n        return []",
            "yours gives [], TensorFlow gives 'raises InvalidArgumentError",
        ),
        (
            f"try:\n        return {CALL}\n    except Exception as error:\n"
            "        raise ValueError(str(error)) from None",
            "yours gives 'raises ValueError",
        ),
        ("raise SystemExit(3)", "Neg: exit code 3"),
        ("import os; os.abort()", "Neg: the process ended itself: SIGABRT"),
        ("while True: pass", "it did not end within"),
    ],
)
def test_the_mistake_of_a_hand_made_call_is_named(body, says, monkeypatch):
    monkeypatch.setattr(eager_call, "SECONDS", 1 if "while" in body else eager_call.SECONDS)
    outcome = verdict("execute", DONE + HEAD + body)
    assert outcome.state == "failed" and says in outcome.because


def test_a_hand_made_call_may_print():
    body = f"print('x' * 10**5, flush=True)\n    return {CALL}"
    assert verdict("execute", DONE + HEAD + body).state == "passed"
    assert verdict("execute", HEAD + "return ...").state == "untried"

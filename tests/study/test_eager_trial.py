"""A hand-made eager call is judged in a child: whatever it does there, a sentence comes back."""

import pytest

from helpers.study.chapter_6 import eager_trial
from helpers.study.chapter_6.eager_trial import UNTRIED
from tests.study.folded import EXERCISES, verdict

pytest.importorskip("tensorflow")
DONE = EXERCISES["execute"].solution.replace("def my_execute(", "def done(")
HEAD = "\n\ndef my_execute(op_name, inputs, attrs=(), num_outputs=1):\n    "
CALL = "done(op_name, inputs, attrs, num_outputs)"


def borrows(op_name, inputs, attrs=(), num_outputs=1):
    from helpers.mini import eager

    return eager.execute(op_name, inputs, attrs, num_outputs)


def stub(op_name, inputs, attrs=(), num_outputs=1):
    return ...


def leaves(op_name, inputs, attrs=(), num_outputs=1):
    raise SystemExit(3)


def hangs(op_name, inputs, attrs=(), num_outputs=1):
    while True:
        pass


def no_arguments():
    return []


@pytest.mark.parametrize(
    ("fn", "says"),
    [
        (stub, UNTRIED),
        (borrows, "helpers.mini.eager.execute.execute did it for you"),
        (leaves, "Neg, without attributes: exit code 3"),
        (no_arguments, "Neg, without attributes: yours raised TypeError"),
    ],
)
def test_what_is_wrong_is_told(fn, says):
    assert says in eager_trial.why_not(fn)


def test_what_else_it_does_is_its_own_affair():
    body = f"print('x' * 10**5, flush=True)\n    return {CALL}"
    assert verdict("execute", DONE + HEAD + body).state == "passed"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (f"return tuple({CALL})", "it must return a list of EagerTensors, not tuple"),
        (f"return [one.numpy() for one in {CALL}]", "it must return a list of EagerTensors"),
        (f"return {CALL} if attrs == () else None", "must return a list of EagerTensors, not None"),
        (
            f"try:\n        return {CALL}\n    except Exception:\n        return []",
            "yours raises nothing, TensorFlow raises InvalidArgumentError",
        ),
        (
            f"try:\n        return {CALL}\n    except Exception as error:\n"
            "        raise ValueError(str(error)) from None",
            "yours raises ValueError",
        ),
        (
            f"return [done('Abs', [one])[0] if attrs and one.dtype.is_floating else one "
            f"for one in {CALL}]",
            "yours gives",
        ),
    ],
)
def test_what_is_wrong_beside_a_finished_call_is_told(body, says):
    outcome = verdict("execute", DONE + HEAD + body)
    assert outcome.state == "failed"
    assert says in outcome.because


def test_an_endless_call_is_stopped(monkeypatch):
    monkeypatch.setattr(eager_trial, "SECONDS", 1)
    assert "it did not end in time" in eager_trial.why_not(hangs)


@pytest.mark.parametrize("bad", [int, print, lambda: 1])
def test_what_is_no_function_is_named(bad):
    with pytest.raises(TypeError, match="no function made by def"):
        eager_trial.why_not(bad)

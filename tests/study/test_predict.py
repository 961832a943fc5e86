"""helpers/study/predict.py and the choice it shows: the answer comes from running the code.

Each question of a notebook has its reason in a file, and no cell holds it.
"""

import ast
import html
import json
import re
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.study.predict import predict, show_predictions
from helpers.study.stored_reasons import NO_REASON, read_all_reasons, read_reasons
from tests.study.folded import NOTEBOOKS

predict_module = import_module("helpers.study.predict")  # the name there is the function's


def ask(run, *choices, **more):
    return predict("What comes?", choices, run=run, **more)


def raises():
    print("printed before")
    raise KeyError("missing")


@pytest.mark.parametrize(
    ("run", "choices", "answer"),
    [
        (lambda: "old", ("old", "new"), "old"),
        (lambda: 4, ("3", "4"), "4"),
        (lambda: [1, "a"], ("[1, 'a']", "[]"), "[1, 'a']"),
        (lambda: "a", ("'a'", "b"), "'a'"),
        (lambda: print(" hello\n"), ("hello", "x"), "hello"),
        (lambda: None, ("None", "x"), "None"),
        (raises, ("KeyError", "0"), "KeyError"),
    ],
)
def test_answer_is_what_running_gave(run, choices, answer):
    assert ask(run, *choices).answer == answer


def test_run_is_executed_once_and_prints_nothing(capsys):
    calls = []
    ask(lambda: (calls.append(1), print("a spoiler"), "old")[2], "old", "new")
    assert calls == [1] and capsys.readouterr().out == ""


def test_answer_that_is_no_choice_is_refused_by_name(refused):
    refused(ValueError, "'5'.*'3', '4'$", ask, lambda: 5, "3", "4")
    refused(ValueError, r"KeyError \('missing'\).*'3', '4'$", ask, raises, "3", "4")


@pytest.mark.parametrize(
    ("question", "choices", "error", "words"),
    [
        ("q", ["one"], ValueError, "^predict: choices "),
        ("q", ["one", "one"], ValueError, "^predict: choices .*different"),
        ("q", ["1", 2], TypeError, "choice .*text.* int"),
        (None, ["1", "2"], TypeError, "question .*text.* NoneType"),
    ],
)
def test_misuse_is_said_in_one_sentence(question, choices, error, words, refused):
    refused(error, words, predict, question, choices, run=lambda: 1)


def test_text_keeps_the_answer_back(snapshot):
    shown = repr(ask(lambda: "new", "old", "new", why={"new": "A name is looked up."}))
    assert shown.count("new") == 1 and "looked up" not in shown
    assert shown == snapshot


def test_reveal_says_answer_and_why_without_quotes(snapshot):
    told = ask(lambda: "new", "old", "new", why={"new": "A name is looked up."}).reveal()
    assert repr(told) == told == snapshot(name="returned")
    assert repr(ask(raises, "0", "KeyError").reveal()) == snapshot(name="raised")


def test_the_last_question_can_be_revealed_without_a_name_for_it(refused):
    first = predict("First?", ["1", "2"], run=lambda: 1)
    second = predict("Second?", ["1", "2"], run=lambda: 2)
    assert predict.reveal() == second.reveal() and predict.reveal("First") == first.reveal()
    again = predict("First?", ["1", "2"], run=lambda: 2)
    assert predict.reveal() == again.reveal() != first.reveal()
    refused(ValueError, "'Third'", predict.reveal, "Third")


def decide(asked, number):
    """Choose and check, as the page does it; return what the kernel answers."""
    form = asked._widget()
    form._handle_custom_msg({"said": number, "press": "1"}, [])
    return form.told


def test_what_was_decided_is_kept_and_told(monkeypatch):
    monkeypatch.setattr(predict_module, "_ASKED", {})
    predict_module._read_decided.cache_clear()
    questions = ["The first?", "The second?", "The third?"]
    first, second, _ = (predict(q, ["a", "b"], run=lambda: "b") for q in questions)
    assert decide(first, 0) == decide(second, 1) == {"press": "1", "why": ""}
    assert decide(first, 2) == decide(first, None) == {}, "no such choice"
    rows = [(row.mark, row.said, row.was) for row in show_predictions().model.rows]
    assert rows == [("✗", "a", "b"), ("✓", "b", "b"), ("–", "nothing yet", "decide first")]
    assert re.findall(r"\d", show_predictions().model.note) == ["2", "3", "1"]
    again = predict(questions[0], ["a", "b"], run=lambda: "b")
    assert again.said == "a" and (again._widget().picked, again._widget().checked) == (0, True)
    other = predict(questions[0], ["c", "d"], run=lambda: "d")
    assert other.said == "" and other._widget().picked == -1, "that was another question"


def test_a_run_that_only_makes_a_coroutine_is_refused(refused):
    async def later():
        return "a"

    refused(TypeError, "coroutine", predict, "Later?", ["a", "b"], run=later)


def asked_in(path):
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and "predict(" in source:
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "predict":
                    yield node


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_each_question_has_its_reason_apart_from_its_cell(path):
    calls = list(asked_in(path))
    assert calls, "no prediction was found, so nothing was compared"
    assert not [call.lineno for call in calls if any(k.arg == "why" for k in call.keywords)]
    asked = [ast.literal_eval(call.args[0]) for call in calls]
    reasons_file = f"helpers/study/reasons/{int(path.stem[:2])}.toml"
    assert asked == list(read_reasons(int(path.stem[:2]))), (
        f"{reasons_file}: another order, or stale"
    )


def stored_predictions():
    """Yield question, choices and shown outcome of each prediction that a notebook stores."""
    for path in NOTEBOOKS:
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            for output in cell.get("outputs", ()):
                page = "".join(output.get("data", {}).get("text/html", ()))
                if "What happened when it ran" in page:
                    choices = [text_of(item) for item in ITEM.findall(page)]
                    yield (
                        text_of(QUESTION.search(page)[1]),
                        choices,
                        text_of(OUTCOME.search(page)[1]),
                    )


ITEM = re.compile(r"<li[^>]*>(.*?)</li>", re.DOTALL)
QUESTION = re.compile(r"<p[^>]*>(.*?)</p>", re.DOTALL)
OUTCOME = re.compile(r"<details.*?<p[^>]*>(.*?)</p>", re.DOTALL)
BY_WORDS = {
    question.replace("`", ""): question for number in range(8) for question in read_reasons(number)
}


def text_of(markup):
    return html.unescape(re.sub(r"<[^>]*>", "", markup)).replace("`", "")


def test_a_reason_is_shown_with_its_answer_and_with_no_other():
    """False 26: the cells 5[24], 5[35], 5[4] and 6[27], run again, kept the reason of before."""
    found = list(stored_predictions())
    assert len(found) == len(BY_WORDS)
    for words, choices, _ in found:
        question = BY_WORDS[words]
        _, reasons = read_all_reasons()[question]
        for answer in choices:
            shown = predict(question, choices, run=lambda answer=answer: answer).model.why
            assert shown == reasons.get(answer, NO_REASON)


def test_each_stored_answer_has_its_reason():
    for words, _, outcome in stored_predictions():
        assert NO_REASON not in outcome, words


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("A ReLU of -inf should be 0. What does this one return?", "0.0"),
        (
            "train(x, t) fails, because there is no gradient rule. What has been computed by then?",
            "the loss and w2's gradient",
        ),
        ("The loss fell. What are first.weight.grad and last.weight.grad?", "numbers and numbers"),
        (
            "What happens when you call execute(name, [a]) with a traced tf.function's name?",
            "NotFoundError",
        ),
    ],
)
def test_a_cell_that_runs_again_later_does_not_explain_its_first_answer(question, answer):
    asked = predict(question, [answer, "what it was at first"], run=lambda: answer)
    assert asked.model.why == NO_REASON and str(asked.reveal()).endswith(NO_REASON)


CHOICES = st.lists(st.text(max_size=8), min_size=2, max_size=5, unique=True)


@given(CHOICES, st.data())
def test_an_own_reason_belongs_to_its_choice(choices, data):
    explained = data.draw(st.lists(st.sampled_from(choices), unique=True))
    reasons = {choice: f"because of number {n}" for n, choice in enumerate(explained)}
    answer = data.draw(st.sampled_from(choices))
    shown = predict("An own question?", choices, run=lambda: answer, why=reasons).model.why
    expected = NO_REASON if reasons else ""
    assert shown == reasons.get(answer, expected)


@pytest.mark.parametrize(
    ("why", "error", "words"),
    [
        ("because", TypeError, r"^predict: why .*dict.*\{'a': 'because …'\}"),
        ({"c": "because"}, ValueError, "^predict: why .*'c'"),
        ({"a": 3}, TypeError, "reason .*text.* int"),
    ],
)
def test_a_wrong_reason_is_refused_in_one_sentence(why, error, words, refused):
    refused(error, words, predict, "What?", ["a", "b"], run=lambda: "a", why=why)


def test_a_question_of_the_course_brings_its_reason_along():
    [(question, reasons), *_] = read_reasons(3).items()
    [(answer, reason)] = reasons.items()
    choices = [answer, "another"]
    assert predict(question, choices, run=lambda: answer).model.why == reason
    assert "\n" not in reason
    own = {answer: "mine"}
    assert predict(question, choices, run=lambda: answer, why=own).model.why == "mine"
    assert predict("One of the learner's?", ["yes", "no"], run=lambda: "yes").model.why == ""

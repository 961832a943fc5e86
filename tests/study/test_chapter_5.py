"""helpers/study/chapter_5: trials agree with torch, and judges survive what they are given."""

import numpy as np
import pytest

from helpers import check, op_folder
from helpers.mini import oneflow as flow
from helpers.study import chapter_5
from helpers.study.chapter_5.op_files import op_files
from helpers.study.chapter_5.relu import relu_files
from helpers.study.chapter_5.run_op import gradient, loading, numerical

X = np.array([-2.0, -1.0, 0.5, 3.0])


def test_gradient_of_a_trial_is_the_numerical_one():
    with loading("user_relu", relu_files()) as api:
        dy = np.arange(4.0)
        mine = gradient(api.user_relu_forward, X, [dy])
        assert np.allclose(mine, numerical(api.user_relu_forward, X, [dy]), atol=1e-8)
        assert mine.tolist() == [0, 0, 2, 3]


def test_a_trial_leaves_no_trace_in_the_session():
    before = flow.op_types(), flow.get_all_variables()
    assert chapter_5.train_through(relu_files()) == 2.0
    assert (flow.op_types(), flow.get_all_variables()) == before


def test_right_op_with_another_way_to_say_it_passes():
    # tanh by way of exp is a sigmoid, too
    files = op_files("user_sigmoid", "(1 + np.tanh(x / 2)) / 2", "y * dy - y * y * dy")
    assert check.sigmoid(files).model.state == "passed"


@pytest.mark.parametrize("exercise", ["sigmoid", "leaky", "split"])
@pytest.mark.parametrize(
    "answer", [None, 5, {}, [], {"a": "b"}, "files", {1: 2}], ids=lambda a: str(a)[:10]
)
def test_what_is_no_dict_of_files_is_refused_in_words(exercise, answer):
    outcome = getattr(check, exercise)(answer).model
    assert outcome.state == "failed" and "must be a dict with the keys" in outcome.because


@pytest.mark.parametrize("exercise", ["sigmoid", "leaky", "split"])
def test_what_is_no_dict_is_not_said_to_have_raised(exercise):
    assert getattr(check, exercise)(5).model.because.startswith("the answer must be a dict")


@pytest.mark.parametrize("exercise", ["sigmoid", "leaky", "split"])
@pytest.mark.parametrize("text", ["", "raise SystemExit", "def (", "import nothing_there", "\x00"])
def test_files_that_cannot_be_loaded_are_told_in_words(exercise, text):
    names = (f"user_{exercise}_{end}" for end in ("op_def.py", "py_api.py", "py_kernel.py"))
    outcome = getattr(check, exercise)(dict.fromkeys(names, text)).model
    assert outcome.state == "failed" and outcome.because


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "def user_sigmoid_forward",
            "def sigmoid",
            "user_sigmoid_py_api.py must define user_sigmoid_forward",
        ),
        ("return op", "op", "user_sigmoid_forward returned None; it must return a blob"),
        ("return op", "return [], op", "user_sigmoid_forward returned []; it must return a blob"),
        (
            "return op.InferAndTryRun().SoleOutputBlob()",
            "return ()",
            "user_sigmoid_forward returned (); it must return a blob",
        ),
    ],
)
def test_wrapper_of_another_name_or_without_a_blob_is_told_in_words(old, new, said):
    files = op_files("user_sigmoid", "1 / (1 + np.exp(-x))", "y * (1 - y) * dy")
    files["user_sigmoid_py_api.py"] = files["user_sigmoid_py_api.py"].replace(old, new)
    outcome = check.sigmoid(files).model
    assert (outcome.state, outcome.because) == ("failed", said)


def test_relu_goes_back_without_a_product():
    kernels = {}
    exec(relu_files()["user_relu_py_kernel.py"], kernels)
    assert kernels["backward"]((np.array([0.0, 2.0]), np.array([np.inf, 3.0]))).tolist() == [0, 3]


def test_one_untried_file_is_untried():
    answer = op_files("user_sigmoid", "x", "dy") | {"user_sigmoid_py_api.py": ...}
    assert check.sigmoid(answer).model.state == "untried"


def test_forgotten_pieces_fail_at_six_different_stages():
    stages = [row["stage"] for row in chapter_5.without_each_piece().values()]
    assert set(stages) == {"define", "build", "infer", "backward", "run", "none"}


def test_broken_ops_are_broken_in_one_place_and_say_so():
    for name, files in chapter_5.broken_ops().items():
        with pytest.raises(flow.OpError, match=name):
            chapter_5.run_with_gradient(name, files)


def test_folder_holds_what_is_given_and_nothing_else():
    op_folder("an_op", {"old.py": "1"})
    place = op_folder("an_op", {"new.py": "2"})
    assert repr(place) == "a temporary directory with an_op/ (new.py)"


@pytest.mark.parametrize(
    ("name", "files", "error"),
    [
        ("../up", {}, ValueError),
        ("an_op", {"a/b": ""}, ValueError),
        ("", {}, ValueError),
        ("an_op", {"a.py": None}, TypeError),
    ],
)
def test_folder_of_wrong_things_is_refused(name, files, error):
    with pytest.raises(error, match="must"):
        op_folder(name, files)

"""helpers/study/chapter_5: trials leave no trace, and judges survive what they are given."""

from collections import UserDict
from types import MappingProxyType

import numpy as np
import pytest

from helpers import check, op_folder
from helpers.mini import oneflow as flow
from helpers.mini.oneflow.session import session
from helpers.study import chapter_5
from helpers.study.chapter_5.op_jobs import gradient, load_op_in_fresh_session
from helpers.study.chapter_5.op_texts import op_files
from helpers.study.chapter_5.relu import STAGES, WHY, relu_files, train_through

SIGMOID = op_files("user_sigmoid", "1 / (1 + np.exp(-x))", "y * (1 - y) * dy")


def test_gradient_of_a_trial_is_that_of_the_rule_and_no_trace_is_left():
    before = [*session().registry.ops], flow.get_all_variables()
    with load_op_in_fresh_session("user_relu", relu_files()) as api:
        x, dy = np.array([-2.0, -1.0, 0.5, 3.0]), np.arange(4.0)
        assert gradient(api.user_relu_forward, x, [dy]).tolist() == [0, 0, 2, 3]
    assert train_through(relu_files()) == 2.0
    assert chapter_5.run_op("user_relu", relu_files(), x).tolist() == [0, 0, 0.5, 3]
    assert ([*session().registry.ops], flow.get_all_variables()) == before


@pytest.mark.parametrize(
    "files",
    [
        # tanh by way of exp is a sigmoid, too
        op_files("user_sigmoid", "(1 + np.tanh(x / 2)) / 2", "y * dy - y * y * dy"),
        MappingProxyType(SIGMOID),
        UserDict(SIGMOID),
    ],
    ids=["another formula", "a proxy", "another mapping"],
)
def test_a_right_op_in_another_form_passes(files):
    outcome = check.sigmoid(files).model
    assert outcome.state == "passed", outcome.because


@pytest.mark.parametrize("answer", [None, {"a": "b"}], ids=str)
def test_what_is_no_dict_of_files_is_refused_in_words(answer):
    outcome = check.sigmoid(answer).model
    assert outcome.state == "failed"
    assert "dict" in outcome.because and all(name in outcome.because for name in SIGMOID)


@pytest.mark.parametrize("text", ["", "raise SystemExit", "def ("])
def test_files_that_cannot_be_loaded_are_told_in_words(text):
    outcome = check.sigmoid(dict.fromkeys(SIGMOID, text)).model
    assert outcome.state == "failed" and outcome.because


def test_without_an_answer_it_is_said_what_to_give_and_an_untried_part_is_named():
    for exercise in chapter_5.EXERCISES:
        outcome = exercise().model
        assert outcome.state == "failed" and "_judge" not in outcome.because
    assert check.gradient_names(("out", "out", "in")).model.state == "passed"
    outcome = check.gradient_names(["out", ..., "in"]).model
    assert outcome.state == "untried" and "of output_grad" in outcome.more
    assert check.sigmoid(SIGMOID | {"user_sigmoid_py_api.py": ...}).model.state == "untried"


def test_each_piece_is_missed_at_its_stage_and_no_wrong_stage_is_confirmed():
    rows = chapter_5.without_each_piece()
    right = {piece: row["stage"] for piece, row in rows.items()}
    assert set(right.values()) == set(STAGES)
    assert check.forgotten(MappingProxyType(right)).model.state == "passed"
    for piece in rows:
        for stage in set(STAGES) - {right[piece]}:
            said = check.forgotten(right | {piece: stage}).model.because
            assert piece in said and repr(stage) in said and WHY[piece] in said


def test_broken_ops_are_broken_in_one_place_and_say_so(refused):
    for name, files in chapter_5.broken_ops().items():
        refused(flow.OpError, name, chapter_5.run_with_gradient, name, files)


def test_folder_holds_what_is_given_and_nothing_else(refused):
    refused(ValueError, "must", op_folder, "../up", {})
    refused(TypeError, "must", op_folder, "an_op", {"a.py": None})
    op_folder("an_op", {"old.py": "1"})
    place = op_folder("an_op", {"new.py": "2"})
    assert repr(place) == "a temporary directory with an_op/ (new.py)"


@pytest.mark.parametrize("part", ["wrapper", "kernel", "gradient rule"])
def test_relu_so_far_is_that_of_the_chapter(part):
    files, module, job, example = chapter_5.relu_so_far(part)
    assert [op.name for op in job.job.ops].count("myrelu") == 1
    assert ("user_relu_py_kernel.py" in files) == (part != "wrapper")
    assert ("REGISTER_USER_OP_GRAD" in files["user_relu_op_def.py"]) == (part == "gradient rule")
    if part == "wrapper":  # a kernel may come later
        assert chapter_5.failing_stage(job, example) == "run"
        files |= {"user_relu_py_kernel.py": relu_files()["user_relu_py_kernel.py"]}
        module = flow.experimental.custom_op_module("user_relu", op_folder("user_relu", files))
        module.py_def().py_api().py_kernel().build_load()
    assert job(example).tolist() == [0, 0, 0, 1, 2]

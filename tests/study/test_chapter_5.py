"""helpers/study/chapter_5: trials agree with torch, and judges survive what they are given."""

from collections import OrderedDict, UserDict
from types import MappingProxyType

import numpy as np
import pytest

from helpers import check, op_folder
from helpers.mini import oneflow as flow
from helpers.study import chapter_5
from helpers.study.chapter_5.choosing import drawn
from helpers.study.chapter_5.differ import parted
from helpers.study.chapter_5.forgotten import STAGES, WHY
from helpers.study.chapter_5.inputs import cases, plain
from helpers.study.chapter_5.op_files import op_files
from helpers.study.chapter_5.relu import relu_files, train_through
from helpers.study.chapter_5.run_op import gradient, loading, numerical

X = np.array([-2.0, -1.0, 0.5, 3.0])


class Answers(np.ndarray):
    """An array that answers for itself."""

    shape = dtype = property(lambda self: 1 / 0)


def test_what_is_no_array_or_no_name_is_refused_in_one_sentence():
    for wrong in (3, "x", [1.0], None, object(), np.float64(1)):
        with pytest.raises(TypeError, match="x must be a NumPy array, not "):
            chapter_5.run_op("user_relu", relu_files(), wrong)
    for name in ("output", "output_grad", "argument"):
        with pytest.raises(TypeError, match=f"{name} must be text, not "):
            relu_files(**{name: 10**5000})
    told = chapter_5.run_op("user_relu", relu_files(), X.view(Answers))
    assert told.tolist() == [0, 0, 0.5, 3]


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


FORMS = (MappingProxyType, OrderedDict, UserDict)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_any_mapping_is_a_dict_of_files(form):
    files = op_files("user_sigmoid", "1 / (1 + np.exp(-x))", "y * (1 - y) * dy")
    assert check.sigmoid(form(files)).model.state == "passed"
    stages = {row["without"]: row["stage"] for row in chapter_5.without_each_piece().values()}
    assert check.forgotten(form(stages)).model.state == "passed"


@pytest.mark.parametrize("exercise", chapter_5.EXERCISES, ids=lambda exercise: exercise.name)
def test_without_an_answer_it_is_said_what_to_give_and_not_what_the_judge_is_called(exercise):
    outcome = exercise().model
    assert outcome.state == "failed" and "_judge" not in outcome.because


def test_names_may_come_in_one_tuple_and_what_is_left_is_named():
    assert check.gradient_names(("out", "out", "in")).model.state == "passed"
    outcome = check.gradient_names(["out", ..., "in"]).model
    assert outcome.state == "untried" and "of output_grad" in outcome.more


def test_no_wrong_stage_is_confirmed():
    rows = chapter_5.without_each_piece()
    for piece, row in rows.items():
        early = STAGES[: STAGES.index(row["stage"])]
        for stage in set(STAGES) - {row["stage"]}:
            guess = {name: other["stage"] for name, other in rows.items()} | {piece: stage}
            said = check.forgotten(guess).model.because
            assert said.startswith(f"without {piece} it is not {stage!r}: ")
            why = WHY[piece].too_early if stage in early else WHY[piece].too_late
            assert why and said.endswith(why)


@pytest.mark.parametrize(
    ("mine", "right", "said"),
    [
        (np.nan, np.nan, None),
        (-0.0, 0.0, None),
        (np.inf, np.inf, None),
        (np.inf, 1e308, "yours gives inf, numpy gives 1e+308"),
        (0.0, np.nan, "yours gives 0, numpy gives nan"),
        (0.1, 0.1 + 1e-15, None),
        (np.float32(0.1), 0.1, "yours gives 0.100000001, numpy gives 0.1 (yours is as exact as"),
        (1e-30, 2e-30, "yours gives 1e-30, numpy gives 2e-30"),
    ],
)
def test_two_numbers_part_by_more_than_rounding(mine, right, said):
    mine, right = np.array([mine], np.float64), np.array([right])
    found = parted("forward", "numpy", mine, right, {"x": right}, right, {})
    assert found is None if said is None else said in found


def test_another_dtype_is_told_as_such():
    x = np.zeros(2)
    found = parted("forward", "numpy", x.astype("float32"), x, {"x": x}, x, {})
    assert found == "forward of float64[2]: yours gives float32[2], numpy gives float64[2]"


def test_every_gradient_has_both_signs_and_a_zero():
    for case in [plain(2), *cases(2)[:3]]:
        for dy in case.dys:
            assert dy.min() < 0 < dy.max() and dy.shape == case.x.shape
        assert (case.dys[0] == 0).any() and not np.array_equal(*case.dys)


def test_lists_of_kernels_have_none_one_and_several_that_match():
    counts = [sum(map(bool, (p(op) for p in predicates))) for predicates, op in drawn()]
    assert min(counts.count(number) for number in range(3)) > 10


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


@pytest.mark.parametrize("part", ["wrapper", "kernel", "gradient rule"])
def test_relu_so_far_is_that_of_the_chapter(part):
    files, module, job, example = chapter_5.relu_so_far(part)
    assert [op.name for op in job.ops].count("myrelu") == 1
    assert ("user_relu_py_kernel.py" in files) == (part != "wrapper")
    assert ("REGISTER_USER_OP_GRAD" in files["user_relu_op_def.py"]) == (part == "gradient rule")
    if part == "wrapper":  # a kernel may come later
        assert chapter_5.failing_stage(job, example) == "run"
        files |= {"user_relu_py_kernel.py": relu_files()["user_relu_py_kernel.py"]}
        module = flow.experimental.custom_op_module("user_relu", op_folder("user_relu", files))
        module.py_def().py_api().py_kernel().build_load()
    assert job(example).tolist() == [0, 0, 0, 1, 2]


@pytest.mark.parametrize("part", ["rule", "", None, []])
def test_there_is_no_other_part(part):
    with pytest.raises(ValueError, match="wrapper, kernel, gradient rule"):
        chapter_5.relu_so_far(part)


def test_wrong_arguments_of_the_helpers_are_one_sentence_each():
    with pytest.raises(TypeError, match="x must be a NumPy array, not None"):
        gradient(lambda blob: blob, None, ())
    with pytest.raises(TypeError, match="dys must be a tuple of NumPy arrays, not None"):
        gradient(lambda blob: blob, np.ones(2), None)
    with pytest.raises(TypeError, match="kernel must be True or False, not ndarray"):
        train_through(relu_files(), kernel=np.ones(2))


def test_what_cannot_be_called_or_does_not_fit_is_said():
    with pytest.raises(TypeError, match="failing_stage needs a job function, not int"):
        chapter_5.failing_stage(5)
    with pytest.raises(TypeError, match="the wrapper must be a function of blobs, not NoneType"):
        gradient(None, np.ones(2), [np.ones(2)])
    with pytest.raises(ValueError, match=r"dys\[0\] has shape \(3,\) .* output 0 has \(2,\)"):
        gradient(lambda blob: blob, np.ones(2), [np.ones(3)])

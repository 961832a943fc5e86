"""The hand-made eager call gives what TensorFlow gives: values, dtypes, words for what is wrong."""

import subprocess
import sys
from dataclasses import replace

import pytest

pytestmark = pytest.mark.own_process(sharing="tensorflow")

tf = pytest.importorskip("tensorflow")

from helpers.mini import eager  # noqa: E402
from helpers.mini.eager import execute  # noqa: E402
from helpers.study.chapter_6 import op_cases  # noqa: E402
from helpers.study.chapter_6.op_cases import have_same_values, py_execute, raised, raw_op  # noqa: E402


def mine(case, outputs):
    return execute(case.op, list(case.inputs), case.attrs, outputs)


def wrong_cases():
    """Yield the calls, each with one input of another dtype, or of a shape that is too big."""
    strange = tf.constant("text"), tf.reshape(tf.range(2.0 * 3 * 5), (2, 1, 3, 1, 5))
    for case in op_cases.cases():
        for place, given in enumerate(case.inputs):
            if isinstance(given, list) or given.dtype == tf.resource:
                continue
            for other, says in zip(strange, ("a string", "five dimensions"), strict=True):
                inputs = (*case.inputs[:place], other, *case.inputs[place + 1 :])
                yield replace(case, inputs=inputs, wrong=f"input {place} is {says}")


@pytest.fixture(scope="module")
def outputs():
    return {case.op: len(raw_op(case)) for case in op_cases.cases()}


def parted(cases, theirs, outputs):
    """Yield the calls after which the two differ, in values or in the exception."""
    for case in cases:
        number = outputs[case.op]
        errors = raised(theirs, case), raised(mine, case, number)
        if errors[0] != errors[1]:
            yield case.words, errors
        elif not errors[0][0] and not have_same_values(mine(case, number), theirs(case)):
            yield case.words, "another value"


def test_it_gives_what_raw_ops_gives(outputs):
    cases = op_cases.cases(1)
    assert len({case.op for case in cases}) >= 60
    assert list(parted(cases, raw_op, outputs)) == []


def test_a_wrong_input_gives_the_words_of_raw_ops(outputs):
    wrong = list(wrong_cases())
    assert sum(bool(raised(raw_op, case)[0]) for case in wrong) > 90
    assert list(parted(wrong, raw_op, outputs)) == []


A = tf.constant([[1.0, 2.0], [3.0, 4.0]])


def py(op, inputs, attrs=(), outputs=1):
    return py_execute(op_cases.Case(op, tuple(inputs), attrs), outputs)


@pytest.mark.parametrize(
    ("op", "inputs", "attrs", "outputs"),
    [
        ("MatMull", [A, A], (), 1),
        ("MatMul", [A, tf.constant([[1.0]])], (), 1),
        ("MatMul", [A, 1.0], (), 1),
        ("MatMul", [A, tf.Variable(A)], (), 1),
        ("MatMul", [A, A], (), 0),
        ("Softmax", [tf.constant([1])], (), 1),
        ("Unique", [tf.constant([1])], ("out_idx", tf.int32), 1),
        ("Cast", [A], ("DstT", 999), 1),
        ("Cast", [A], (), 1),
        ("VarHandleOp", [], (), 1),
        ("Const", [], ("value", A), 1),
    ],
)
def test_the_error_is_tensorflows_own_letter_for_letter(op, inputs, attrs, outputs):
    theirs = raised(py, op, inputs, attrs, outputs)
    assert theirs[0] and raised(execute, op, inputs, attrs, outputs) == theirs


def test_a_registered_function_is_an_op_by_its_name():
    concrete = tf.function(lambda x: x * 2.0 + 1.0).get_concrete_function(tf.TensorSpec([2, 2]))
    name = concrete.name.decode() if isinstance(concrete.name, bytes) else concrete.name
    assert (execute(name, [A])[0].numpy() == concrete(A).numpy()).all()
    for inputs in ([], [A, A]):
        assert raised(execute, name, inputs) == raised(py, name, inputs)
    del concrete
    assert raised(execute, name, [A])[0] == "NotFoundError"


def test_it_runs_where_tf_device_says():
    with tf.device("/device:CPU:0"):
        assert execute("Neg", [A])[0].device.endswith("CPU:0")
    with tf.device("/job:elsewhere"):
        assert raised(execute, "Neg", [A]) == raised(py, "Neg", [A])
    with tf.device("/device:GPU:99"):  # soft placement
        assert execute("Neg", [A])[0].shape == A.shape
    with pytest.raises(ValueError, match="Unknown attribute 'nonsense'"):
        with tf.device("nonsense"):
            execute("Neg", [A])


@pytest.mark.parametrize(
    ("op", "inputs", "attrs", "outputs", "says"),
    [
        ("MatMul", [A, A, A], (), 1, r"MatMul takes 2 inputs \(a, b\), got 3"),
        ("MatMul", [A], (), 1, r"MatMul takes 2 inputs \(a, b\), got 1"),
        ("Neg", [], (), 1, r"Neg takes 1 input \(x\), got 0"),
        ("NoOp", [A], (), 0, r"NoOp takes 0 inputs \(none\), got 1"),
        ("AddN", [A], (), 1, "input inputs of AddN is a list of tensors, not EagerTensor"),
        ("AddN", [[A, 1]], (), 1, "Item 1 is type: int"),
        ("Neg", [[A]], (), 1, "Item 0 is type: list"),
        ("MatMul", [A, A], ["transpose_a", True], 1, "attrs must be a tuple .* not list"),
        ("MatMul", [A, A], None, 1, "attrs must be a tuple .* not NoneType"),
        ("MatMul", [A, A], ("T", tf.float64), 1, "attr T of MatMul says float64, but input a is"),
        ("AddN", [[A, A]], ("T", tf.int32), 1, "attr T of AddN says int32, but input inputs is"),
        ("Cumsum", [A, A], ("exclusive", 2**70), 1, "Expecting bool value"),
        ("StringToHashBucketFast", [tf.constant("a")], ("num_buckets", 2**70), 1, "fit 64 bits"),
    ],
)
def test_what_could_kill_is_told_in_a_sentence(op, inputs, attrs, outputs, says, refused):
    errors = TypeError, ValueError, OverflowError, tf.errors.OpError
    refused(errors, says, execute, op, inputs, attrs, outputs)


def test_without_the_guard_a_third_input_kills():
    source = (
        "import tensorflow as tf; from helpers.mini.eager import run; a = tf.ones((2, 2));"
        "print('alive', flush=True); run('MatMul', [a, a, a], (), 1)"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, check=False)
    assert done.stdout == b"alive\n" and done.returncode < 0


@pytest.mark.parametrize(
    ("kind", "attr", "value"),
    [("Bool", "transpose_a", 1), ("Bool", "transpose_a", None), ("Type", "T", "float32")],
)
def test_a_value_of_another_type_is_refused_in_tensorflows_words(kind, attr, value):
    a = tf.eye(2)
    theirs = raised(py_execute, op_cases.Case("MatMul", (a, a), (attr, value)), 1)
    assert raised(eager.parsed, kind, attr, value, False, " [Op:MatMul]") == theirs


def test_a_parsed_value_is_as_c_wants_it():
    assert eager.parsed("String", "separator", "ü") == b"\xc3\xbc"
    assert eager.parsed("Type", "T", tf.int32) == tf.int32.as_datatype_enum
    assert eager.parsed("Int", "strides", (1, 2), is_list=True) == [1, 2]

"""TensorFlow's own words reach the reader whole: the cause, the hint and the user's line."""

import os
import re

import pytest

import helpers
from helpers.capture.text.error import describe_error
from helpers.study.expected_errors import expect

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.own_process(sharing="tensorflow")
ONE, TWO, MATRIX = tf.constant(1.0), tf.ones(2), tf.ones((2, 3))
ONLY_VECTORS = [tf.TensorSpec([None], tf.float32)]


def matmul(x):
    return tf.matmul(x, tf.ones((9, 9)))


def outer(x):
    return matmul(x)  # the line below is the one


def must_be_positive(x):
    tf.debugging.assert_positive(x, message="pay attention")
    return x


def gather(i):
    return tf.gather(tf.range(3), i)


def only_if(x):
    if x > 0:
        y = x
    return y


def two_dtypes(x):
    if x > 0:  # noqa: SIM108 - AutoGraph names the branches
        y = x
    else:
        y = tf.constant(1)
    return y


def grow(x):
    for _ in tf.range(3):
        x = tf.concat([x, x], 0)
    return x


def makes_variable(x):
    return tf.Variable(1.0) * x


def to_numpy(x):
    return x.numpy()


def plain_if(x):
    return x if x > 0 else -x


def leak(x):
    tensors = []
    tf.function(lambda y: tensors.append(y + 1), autograph=False)(x)
    return tensors[0] + 1


def keras_layer(x):
    import keras

    return keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])(x)


def keras_model(x):
    import keras

    class Wrong(keras.Model):
        def call(self, x):
            return tf.matmul(x, tf.ones((9, 9)))

    return Wrong()(x)


def keras_fit(x):
    import keras

    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(loss="mse")
    return model.fit(x, tf.ones((2, 3, 5)), verbose=0)


def of_dataset(x):
    return [*tf.data.Dataset.range(2).map(lambda n: tf.debugging.check_numerics(x / 0, "not so"))]


def of_python(x):
    return tf.py_function(lambda v: {}["missing"], [x], tf.float32)


def of_session(x):
    with tf.Graph().as_default():
        total = tf.compat.v1.Variable(1.0)
        with tf.compat.v1.Session() as session:
            return session.run(total)


def of_xla(x):
    return tf.strings.length(tf.strings.as_string(x))


def as_it_is(x):
    return x


def binary(kind):
    return tf.raw_ops.Mod(x=tf.constant([1], kind), y=tf.constant([1], kind))


left, right = (lambda x: x + 1), (lambda x: x + 1)
function, signed = tf.function, tf.function(as_it_is, input_signature=ONLY_VECTORS)
PLAIN = {"autograph": False}

# name: (what raises, what must be said)
ERRORS = {
    "shapes, eagerly": (lambda: matmul(MATRIX), "In[0]: [2,3]", "In[1]: [9,9]", "[Op:MatMul]"),
    "shapes, in a graph": (lambda: function(outer)(MATRIX), "are 3 and 9", "tf.ones((9, 9))"),
    "assertion": (
        lambda: function(must_be_positive)(-ONE),
        "pay attention",
        "Condition x > 0 did not hold",
        'tf.debugging.assert_positive(x, message="pay attention")',
    ),
    "index": (lambda: function(gather)(7), "indices = 7 is not in [0, 3)", "tf.gather(tf.range(3)"),
    "dtypes": (lambda: TWO + tf.constant([1, 2]), "a float tensor but is a int32", "[Op:AddV2]"),
    "no kernel": (
        lambda: binary(tf.bfloat16),
        "Could not find device",
        "All kernels registered for op Mod",
        "T in [DT_DOUBLE]",
    ),
    "dtype not allowed": (
        lambda: tf.raw_ops.Angle(input=tf.constant([1.0])),
        "list of allowed values: complex64",
        "DT_COMPLEX128",
    ),
    "no file": (lambda: tf.io.read_file("nowhere.txt"), "nowhere.txt; No such file"),
    "uninitialized": (
        lambda: of_session(ONE),
        "the variable is uninitialized",
        "total = tf.compat.v1.Variable(1.0)",
    ),
    "undefined in a branch": (lambda: function(only_if)(ONE), "in the else branch", "if x > 0:"),
    "two dtypes": (lambda: function(two_dtypes)(ONE), "int32 in the else branch", "if x > 0:"),
    "grows in a loop": (lambda: function(grow)(TWO), "set_loop_options", "for _ in tf.range(3):"),
    "if without AutoGraph": (
        lambda: function(plain_if, **PLAIN)(ONE),
        "as a Python `bool` is not allowed",
        "your source code may not be visible to AutoGraph",
    ),
    "iterates": (lambda: function(lambda x: [*x], **PLAIN)(TWO), "Iterating over a symbolic"),
    "binding": (
        lambda: signed(MATRIX),
        "TensorSpec(shape=(2, 3)",
        "for signature: (x: TensorSpec(",
    ),
    "too many": (lambda: signed(1.0, 2.0), "too many positional", "for signature: (x: TensorSpec("),
    "no type": (lambda: function(as_it_is)({1}), "a generic TraceType for {1}", "Tracing Protocol"),
    "variable": (
        lambda: function(makes_variable)(ONE),
        "singleton tf.Variables",
        "created outside tf.function",
        "return tf.Variable(1.0) * x",
    ),
    "leak": (lambda: leak(ONE), "out of scope", "defined in FuncGraph(name=", "tensors.append(y"),
    "attribute": (lambda: function(to_numpy)(ONE), "no attribute 'numpy'", "return x.numpy()"),
    "keras layer": (
        lambda: keras_layer(tf.ones((2, 4))),
        "Exception encountered when calling",
        "expected axis -1 of input shape to have value 3",
        "received input with shape (2, 4)",
        "inputs=tf.Tensor(shape=(2, 4)",
    ),
    "keras model": (
        lambda: keras_model(MATRIX),
        "Wrong.call()",
        "In[1]: [9,9]",
        "x=tf.Tensor(shape",
    ),
    "keras fit": (lambda: keras_fit(MATRIX), "[2,3,5]", "model.fit(x, tf.ones((2, 3, 5))"),
    "dataset": (lambda: of_dataset(ONE), "passed to MapDataset", "not so", "Tensor had Inf"),
    "python": (lambda: function(of_python)(ONE), "KeyError: 'missing'"),
    "xla": (
        lambda: function(of_xla, jit_compile=True)(ONE),
        "No registered 'AsString' OpKernel",
        "TF_DUMP_GRAPH_PREFIX",
        "tf.strings.as_string(x)",
    ),
    "value": (lambda: tf.constant(object()), "Attempt to convert a value", "unsupported type"),
    "reshape": (lambda: function(lambda x: tf.reshape(x, [7]))(TWO), "2 elements to shape [7]"),
    "two lambdas": (
        lambda: tf.autograph.to_graph(left),
        "identical signatures",
        "defining each lambda on a single line",
        "The matching definitions were: Match 0: lambda x: x + 1 Match 1: lambda x: x + 1",
    ),
    "no memory": (lambda: tf.zeros([10**6] * 3), "OOM when allocating", "1000000,1000000,1000000"),
}


def raised_by(run) -> Exception:
    try:
        run()
    except Exception as error:
        return error
    pytest.fail("nothing was raised")


@pytest.mark.parametrize("name", ERRORS)
def test_the_cause_the_hint_and_the_users_line_are_said(name):
    run, *essentials = ERRORS[name]
    told = [describe_error(raised_by(run)) for _ in range(2)]
    assert [part for part in essentials if part not in told[0]] == [], told[0]
    assert told[0].startswith(type(raised_by(run)).__name__)
    same = [re.sub(r"MapDataset:\d+|dense(_\d+)?|sequential(_\d+)?", "", words) for words in told]
    assert same[0] == same[1]
    assert not re.search(r"site-packages|0x[0-9a-f]{6}|function_node|__inference|\x1b", told[0])
    assert os.path.dirname(__file__) not in told[0] and "File " not in told[0]


def row_of_a_ledger(fn, x) -> str:
    kept = helpers.watch_traces(fn)
    raised_by(lambda: kept(x))
    return kept.model.entries[0].note


def row_of_a_block(fn, x) -> str:
    with helpers.watching_traces() as seen:
        raised_by(lambda: tf.function(fn)(x))
    return seen.model.entries[-1].note


def printed(fn, x, capsys) -> str:
    with expect(Exception):
        tf.function(fn)(x)
    return capsys.readouterr().out


def test_each_verb_that_shows_an_error_shows_it_whole(capsys):
    cases = [
        (outer, MATRIX, ERRORS["shapes, in a graph"]),
        (only_if, ONE, ERRORS["undefined in a branch"]),
    ]
    for fn, x, (_, *essentials) in cases:
        told = {
            "watch_traces": row_of_a_ledger(fn, x),
            "watching_traces": row_of_a_block(fn, x),
            "show_graph": str(raised_by(lambda: helpers.show_graph(fn, x))),  # noqa: B023
            "expect": printed(fn, x, capsys),
        }
        for verb, words in told.items():
            assert [part for part in essentials if part not in words] == [], (verb, words)
    said = str(raised_by(lambda: helpers.show_autograph(left)))
    assert ERRORS["two lambdas"][-1] in said
    shown = helpers.watch_variables(
        {
            "a": lambda v, one: tf.raw_ops.CheckNumerics(
                tensor=(v - v) / (v - v), message="not a number"
            )
        },
        runs=2,
    )
    assert "not a number : Tensor had NaN values" in shown.model.entries[0].verdicts[0].word


def test_a_row_of_an_error_has_the_names_the_shapes_and_the_dtypes():
    kept = helpers.watch_traces(tf.function(lambda images, n: n, input_signature=ONLY_VECTORS * 2))
    for args, kwargs in (
        ((MATRIX, True), {}),
        ((TWO, {1}), {}),
        ((TWO,), {"k": [ONE]}),
        ((1, 2, 3), {}),
    ):
        raised_by(lambda: kept(*args, **kwargs))  # noqa: B023
    assert [entry.arguments for entry in kept.model.entries] == [
        "images=float32 (2, 3), n=True",
        "images=float32 (2,), n=set",
        "images=float32 (2,), k=[float32 ()]",
        "images=1, n=2, 3",
    ]

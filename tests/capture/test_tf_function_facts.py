"""What chapter 2 says of tf.function is so on this TensorFlow; one test per claim of its source."""

import inspect

import numpy as np
import pytest

from helpers.capture.tensorflow.mutations import mutations_ledger
from helpers.capture.tensorflow.traces import watch

tf = pytest.importorskip("tensorflow")
t = tf.constant


@pytest.fixture(autouse=True)
def quiet():
    logger, level = tf.get_logger(), tf.get_logger().level
    logger.setLevel("ERROR")
    yield
    logger.setLevel(level)


def counts(calls, fn=lambda *a, **k: tf.constant(0), **options):
    """Return how many traces there were after each call."""
    traced = tf.function(fn, autograph=False, **options)
    found = []
    for args in calls:
        traced(*args)
        found.append(traced.experimental_get_tracing_count())
    return found


# ------------------------------------------------------------------ eager


def test_tensorflow_runs_eagerly_by_default():
    assert tf.executing_eagerly()


def test_a_name_that_was_never_defined_is_a_name_error():
    with pytest.raises(NameError, match="function_t"):
        eval("function_t(1, 2, 3)")


def test_eager_values_do_not_know_how_they_were_made_but_the_tape_does():
    x = t(3.0)
    with pytest.raises(AttributeError, match="undefined when eager"):
        (x * x).op  # noqa: B018
    with pytest.raises(RuntimeError, match="GradientTape"):
        tf.gradients(x * x, x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x).numpy() == 6
    with tf.Graph().as_default():
        assert (t(3.0) * 2.0).op.type == "Mul"


# ------------------------------------------------------------------ three things


def test_wrapper_has_the_same_signature_and_is_no_function():
    def fn(x, n=1, *, k: int = 2):
        return x

    assert inspect.signature(tf.function(fn)) == inspect.signature(fn)
    assert type(tf.function(fn)).__name__ == "Function"
    assert not inspect.isfunction(tf.function(fn))


def test_nothing_is_traced_at_decoration_not_even_with_an_input_signature():
    spec = tf.TensorSpec((None, 4), tf.int32)
    traced = tf.function(lambda x: x, input_signature=[spec], autograph=False)
    assert traced.experimental_get_tracing_count() == 0
    traced(tf.zeros((1, 4), tf.int32))
    traced(tf.zeros((7, 4), tf.int32))
    assert traced.experimental_get_tracing_count() == 1
    with pytest.raises(TypeError, match="Can not cast TensorSpec"):
        traced(tf.zeros((7, 3), tf.int32))


def test_function_concrete_function_and_graph_are_three_things():
    traced = tf.function(lambda x: x + 1, autograph=False)
    concrete = traced.get_concrete_function(t(1))
    names = [type(thing).__name__ for thing in (traced, concrete, concrete.graph)]
    assert names == ["Function", "ConcreteFunction", "FuncGraph"]
    assert traced.experimental_get_tracing_count() == 1


def test_same_types_are_reused_and_the_body_does_not_run():
    ran = []
    assert counts([(t(1),), (t(2),), (t(3),)], lambda x: ran.append(1) or x) == [1, 1, 1]
    assert len(ran) == 1


def test_the_key_is_a_context_and_a_function_type():
    traced = tf.function(lambda x: x, autograph=False)
    traced(t(1))
    ((context, function_type),) = traced._function_cache._primary
    assert type(context).__name__ == "FunctionContext"
    assert type(function_type).__name__ == "FunctionType"


def test_a_concrete_function_of_any_length_serves_later_calls():
    traced = tf.function(lambda x: x, autograph=False)
    traced.get_concrete_function(tf.TensorSpec([None], tf.float32))
    traced(tf.ones([2]))
    traced(tf.ones([5]))
    assert traced.experimental_get_tracing_count() == 1


def test_specs_are_given_as_arguments_and_not_as_a_list():
    def fn(x):
        return tf.reduce_sum(x)

    spec = tf.TensorSpec([None], tf.float32)
    traced = tf.function(fn)
    of_tensor = traced.get_concrete_function(spec)
    of_list = traced.get_concrete_function([spec])
    assert of_tensor is not of_list and traced.experimental_get_tracing_count() == 2


def test_a_branch_on_a_tensor_needs_autograph():
    def branch(x):
        if tf.reduce_sum(x) <= 1:
            return x * x
        else:
            return x - 1

    traced = tf.function(branch)
    ops = [op.type for op in traced.get_concrete_function(t([0.5])).graph.get_operations()]
    assert "StatelessIf" in ops
    assert traced(t([0.5])).numpy() == [0.25] and traced(t([3.0])).numpy() == [2.0]
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(branch, autograph=False)(t([1.0]))


def test_a_concrete_function_checks_dtype_but_not_shape():
    concrete = tf.function(lambda x: x + 1, autograph=False).get_concrete_function(tf.ones([2]))
    assert concrete(tf.ones([3])).numpy().tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(tf.errors.InvalidArgumentError):
        concrete(tf.ones([2], tf.int32))


def test_python_arguments_stay_in_the_signature_held_to_the_traced_value():
    @tf.function
    def power(x, n, *, bias=1.0):
        return x**n + bias

    x = t(5.0)
    concrete = power.get_concrete_function(tf.TensorSpec([], tf.float32), 2, bias=0.0)
    for args, kwargs in [((x, 2), {}), ((x,), {"n": 2}), ((x, 2.0), {}), ((x, t(2)), {})]:
        assert concrete(*args, **kwargs, bias=0.0).numpy() == 25
    with pytest.raises(TypeError, match="Can not cast 3 to Literal"):
        concrete(x, 3, bias=0.0)


def test_defaults_are_not_filled_in_for_a_concrete_function():
    concrete = tf.function(lambda x, n=2: x * n).get_concrete_function(t(1.0))
    with pytest.raises(TypeError):
        concrete.function_type.bind(t(1.0))


# ------------------------------------------------------------------ keys


def test_a_python_number_retraces_for_every_new_value_and_only_then():
    assert counts([(1,), (2,), (1,), (3,)]) == [1, 2, 2, 3]
    assert counts([(t(1),), (t(2),), (t(3),)]) == [1, 1, 1]


@pytest.mark.parametrize(("values", "dtype"), [((1, 1.0, True), "int32"), ((True, 1, 1.0), "bool")])
def test_one_and_true_share_a_key_so_the_first_one_decides(values, dtype):
    traced = tf.function(lambda x: tf.constant(x), autograph=False)
    assert [traced(value).dtype.name for value in values] == [dtype] * 3
    assert traced.experimental_get_tracing_count() == 1


def test_an_annotation_of_int_changes_nothing():
    def fn(x, y: int):
        return x + y

    assert counts([(t(1), 1), (t(1), 2), (t(1), 1)], fn) == [1, 2, 2]


def test_shapes_retrace_and_relaxed_ones_do_so_once():
    calls = [(tf.ones([n]),) for n in (2, 3, 2, 4, 5)]
    assert counts(calls) == [1, 2, 2, 3, 4]
    assert counts(calls, reduce_retracing=True) == [1, 2, 2, 2, 2]
    assert counts([(n,) for n in (1, 2, 3)], reduce_retracing=True) == [1, 2, 3]


def test_a_dict_is_like_its_parts():
    a, b = t(1), t(2)
    assert counts([({"a": a, "b": b},), ({"b": a, "a": b},)]) == [1, 1]
    assert counts([({"a": a},), ({"a": a, "b": b},), ({"a": b},)]) == [1, 2, 2]
    assert counts([({"a": a},), ({"c": a},)]) == [1, 2]
    assert counts([({"a": a},), ({"a": tf.ones([2])},), ({"a": a},)]) == [1, 2, 2]


def test_a_list_is_not_a_tuple_and_objects_are_their_own():
    assert counts([([1],), ((1,),)]) == [1, 2]
    things = [type("Thing", (), {})() for _ in range(2)]
    assert counts([(things[0],), (things[1],), (things[0],)]) == [1, 2, 2]


def test_another_graph_is_another_context_and_a_device_is_not():
    kept = watch(lambda x: x, autograph=False)
    kept(t(1))
    with tf.device("/cpu:0"):
        kept(t(1))
    with tf.Graph().as_default():
        kept(t(1))
    assert kept.model.verdicts == ("trace", "hit", "trace")


def test_a_value_from_outside_is_frozen_while_a_variable_is_not():
    space = {"flag": 1.0, "v": tf.Variable(1.0)}
    traced = tf.function(lambda x: x + space["flag"] + space["v"], autograph=False)
    assert traced(t(0.0)).numpy() == 2
    space["flag"] = 100.0
    space["v"].assign(10.0)
    assert traced(t(0.0)).numpy() == 11 and traced.experimental_get_tracing_count() == 1


# ------------------------------------------------------------------ the graph


def test_nodes_of_the_source_are_the_nodes_of_the_graph():
    def to_get_faster(x, y, b):
        x = tf.matmul(x, y)
        x = x + b
        return x

    specs = [tf.TensorSpec(shape) for shape in ([1, 2], [2, 2], [2, 1])]
    graph = tf.function(to_get_faster).get_concrete_function(*specs).graph
    listed = [(list(node.input), node.name) for node in graph.as_graph_def().node]
    assert listed == [
        ([], "x"),
        ([], "y"),
        ([], "b"),
        (["x", "y"], "MatMul"),
        (["MatMul", "b"], "add"),
        (["add"], "Identity"),
    ]


def test_running_eagerly_reaches_the_function_and_traces_nothing():
    kinds = []
    traced = tf.function(lambda x: kinds.append(tf.is_symbolic_tensor(x)) or x, autograph=False)
    traced(t(1))
    tf.config.run_functions_eagerly(True)
    try:
        traced(t(1))
    finally:
        tf.config.run_functions_eagerly(False)
    assert kinds == [True, False] and traced.experimental_get_tracing_count() == 1


def test_python_print_is_for_the_trace_and_tf_print_for_every_run(capfd):
    @tf.function
    def fn(x, y: int):
        print("py")
        tf.print("tf")
        return x + y

    for y in (1, 2, 1):
        fn(t(1), y)
    captured = capfd.readouterr()
    assert captured.out.count("py") == 2 and captured.err.count("tf") == 3


def test_tf1_placeholders_are_in_compat_and_only_in_a_graph():
    with pytest.raises(AttributeError, match="placeholder"):
        tf.placeholder  # noqa: B018
    with pytest.raises(TypeError, match="dtype"):
        tf.compat.v1.placeholder(shape=(None, 5))
    with pytest.raises(RuntimeError, match="eager"):
        tf.compat.v1.placeholder(tf.float32, (None, 5))


def test_static_shapes_may_agree_where_the_dynamic_ones_do_not():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, (None, 5))
        y = tf.matmul(x, x)
        assert session.run(y, {x: np.eye(5)}).trace() == 5
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(y, {x: np.ones((2, 5))})


def test_side_effects_happen_once_per_trace():
    seen = []
    assert counts([(t(1),)] * 3, lambda x: seen.append(x) or x) == [1, 1, 1]
    assert len(seen) == 1
    with pytest.raises(TypeError, match="out of scope"):
        seen[0] + 1


def test_a_variable_may_be_created_on_the_first_call_only():
    with pytest.raises(ValueError, match="singleton"):
        tf.function(lambda x: tf.Variable(1.0) + x, autograph=False)(t(1.0))


# ------------------------------------------------------------------ modified input


def append(x):
    x.append(t(1))
    return t(0)


def extend(x):
    x += [t(1)]
    return t(0)


def reverse(x):
    x.reverse()
    return t(0)


def set_item(x):
    x[0] = x[0] + 1
    return t(0)


def new_key(x):
    x["new"] = t(1)
    return t(0)


def update(x):
    x.update(new=t(1))
    return t(0)


def pop(x):
    return x.pop("a")


def nested(x):
    x["inner"]["new"] = t(1)
    return t(0)


def nested_list(x):
    x["l"].append(t(1))
    return t(0)


def star(*x):
    x[0].append(t(1))
    return t(0)


def keyword(*, x={"a": 1}):  # noqa: B006 - the default is what is modified
    x["new"] = t(1)
    return t(0)


def default(x, seen=[]):  # noqa: B006
    seen.append(1)
    return t(0)


def shallow_nested(x):
    x = dict(x)
    x["inner"]["new"] = t(1)
    return t(0)


def shallow(x):
    x = dict(x)
    x["new"] = t(1)
    return t(0)


def deep(x):
    x = tf.nest.map_structure(lambda leaf: leaf, x)
    x["inner"]["new"] = t(1)
    return t(0)


class Box:
    def __init__(self):
        self.items = []


def attribute(x):
    x.items.append(1)
    return t(0)


outside = []


def closure(x):
    outside.append(x)
    return t(0)


LIST, DICT, INNER = [t(1), t(2)], {"a": t(1)}, {"inner": {"a": t(1)}}
CAUGHT = {
    "append": (append, LIST),
    "+=": (extend, LIST),
    "reverse": (reverse, LIST),
    "item": (set_item, LIST),
    "new key": (new_key, DICT),
    "update": (update, DICT),
    "pop": (pop, DICT),
    "nested dict": (nested, INNER),
    "list in a dict": (nested_list, {"l": [t(1)]}),
    "*args": (star, LIST),
    "keyword-only": keyword,
    "default list": (default, t(1)),
    "shallow copy, nested write": (shallow_nested, INNER),
}
ALLOWED = {"shallow copy, flat write": (shallow, DICT), "nested copy": (deep, INNER)}


@pytest.mark.parametrize("name", CAUGHT)
def test_a_modified_list_or_dict_is_caught_and_the_callers_is_unchanged(name):
    ledger = mutations_ledger({name: CAUGHT[name]})
    assert ledger.word(name, "called as it is") == "no error; caller's changed"
    assert ledger.word(name, "tf.function") == "ValueError; caller's unchanged"
    assert ledger.entries[0].note.startswith("it names ")


@pytest.mark.parametrize("name", ALLOWED)
def test_a_copy_may_be_modified(name):
    ledger = mutations_ledger({name: ALLOWED[name]})
    assert {v.word for v in ledger.entries[0].verdicts} == {"no error; caller's unchanged"}


def test_attributes_and_closures_escape():
    ledger = mutations_ledger({"attribute": (attribute, Box()), "closure": (closure, t(1))})
    assert ledger.word("attribute", "tf.function") == "no error; caller's changed"
    assert ledger.word("closure", "tf.function") == "no error; a graph tensor leaked"
    assert ledger.word("closure", "called as it is") == "no error; caller's changed"


def test_a_dataset_maps_without_the_check():
    def mapped(fn):
        return lambda x: list(tf.data.Dataset.from_tensors(x).map(fn))

    ledger = mutations_ledger({"new key": (new_key, DICT)}, {"Dataset.map": mapped})
    assert ledger.word("new key") == "no error; caller's unchanged"


def test_the_message_names_the_parameter_and_no_trace_is_kept():
    traced = tf.function(new_key)
    for _ in range(2):
        with pytest.raises(ValueError) as raised:
            traced({"a": t(1)})
        assert "new_key(x) should not modify its Python input arguments." in str(raised.value)
        assert str(raised.value).strip().endswith("parameter(s) were modified: x")
    assert traced.experimental_get_tracing_count() == 0


def test_run_eagerly_a_modified_list_is_the_callers_own():
    mine = [t(1)]
    tf.config.run_functions_eagerly(True)
    try:
        tf.function(append)(mine)
    finally:
        tf.config.run_functions_eagerly(False)
    assert len(mine) == 2


def test_a_list_that_becomes_a_tuple_is_caught_by_another_error():
    def swap(x):
        x["a"] = tuple(x["a"])
        return t(0)

    with pytest.raises(TypeError, match="nested structure"):
        tf.function(swap)({"a": [1]})

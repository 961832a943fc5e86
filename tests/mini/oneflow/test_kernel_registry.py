"""REGISTER_USER_KERNEL: an op gets the one kernel whose predicate is true of it, or an error."""

import numpy as np
import pytest

from helpers.capture.oneflow.registry_graph import build_registry_graph
from helpers.mini import oneflow as flow
from helpers.mini.oneflow.registry import collect
from tests.mini.oneflow.folders import RELU, load, predict, write

HEAD = """
import numpy as np
import oneflow as flow

dtype = flow.HobDataType("in", 0)


def halve(args):
    return args[0] / 2


def halve_whole(args):
    return args[0] // 2


def register(function, predicate):
    chain = flow.REGISTER_USER_KERNEL("user_relu_forward")
    chain.SetCreateFn(function).SetIsMatchedHob(predicate)


"""
FLOATS = HEAD + 'register(halve, (dtype == "float32") | (dtype == np.float64))\n'
BOTH = FLOATS + 'register(halve_whole, (dtype == "int8") & (flow.HobDeviceTag() == "cpu"))\n'
TWICE = BOTH + 'register(halve_whole, ~(dtype != "int8"))\n'


def loaded(folder, kernel):
    return load(write(folder, {**RELU, "py_kernel.py": kernel}))


def half_of(op, values, dtype):
    return predict(op.api.relu, ((len(values),), dtype))(np.array(values, dtype)).tolist()


def test_the_kernel_is_chosen_by_dtype(tmp_path):
    op = loaded(tmp_path, BOTH)
    assert half_of(op, [3, -3], "float32") == [1.5, -1.5]
    assert half_of(op, [3, -3], "float64") == [1.5, -1.5]
    assert half_of(op, [3, -3], "int8") == [1, -2]


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (BOTH, "Cannot find the kernel matching Current OperatorConf"),
        (TWICE, "There are more than one kernels matching Current OperatorConf"),
    ],
)
def test_none_and_several_are_refused_with_the_predicates(kernel, words, tmp_path):
    op = loaded(tmp_path, kernel)
    with pytest.raises(flow.OpError, match=words) as told:
        half_of(op, [3], "int32" if kernel is BOTH else "int8")
    assert "op_type_name: user_relu_forward, device: cpu, in_0: int" in str(told.value)
    assert 'halve() (user_relu/user_relu_py_kernel.py) if (HobDataType("in", 0)' in str(told.value)
    assert told.value.stage == "run"


def test_the_picture_has_a_box_for_each_kernel(tmp_path):
    loaded(tmp_path, BOTH)
    graph = build_registry_graph()
    details = [graph.node(f"kernel of user_relu_forward {n}").detail for n in (1, 2)]
    assert details == [f"{name}() · user_relu_py_kernel.py" for name in ("halve", "halve_whole")]
    assert [edge.label for edge in graph.edges if edge.label.startswith("if ")][1] == (
        'if (HobDataType("in", 0) == "int8") & (HobDeviceTag() == "cpu")'
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("register(halve, True)", "SetIsMatchedHob.*True$"),
        ('register(halve, dtype == "text")', "HobDataType.*'text'"),
        ('register(halve, dtype in ("int8", "int32"))', "HobDataType"),
        ('register(halve, (dtype == "int8") | "int32")', "HobDataType.*'int32'"),
        ('flow.REGISTER_USER_KERNEL("a").SetIsMatchedHob(dtype == "int8")', "SetCreateFn"),
    ],
)
def test_a_wrong_registration_is_refused_in_words(line, words, tmp_path, refused):
    refused(flow.OpError, words, loaded, tmp_path, HEAD + line)


def test_a_kernel_is_registered_in_a_kernel_file_only(refused):
    words = '"user_relu_forward".*py_kernel.py'
    refused(flow.OpError, words, flow.REGISTER_USER_KERNEL, "user_relu_forward")
    with collect("py_kernel.py", "a.py") as registered:
        chain = flow.REGISTER_USER_KERNEL("a").SetCreateFn(abs)
        chain.SetIsMatchedHob(flow.HobDeviceTag() == "gpu")
    assert [str(kernel) for kernel in registered] == ["abs() (/a.py)"]
